/**
 * Processes of faults: those that last, such as a load, are guarded as tools are, and end with the fault; programs of
 * the system that do something and end.
 */

import {
  addressIndex, type Environment, type FaultAction, type Process, type ProcessEnd, type ProcessEvents,
} from '@stci/interface';
import type { Scope } from '../event/scope.js';
import { MARK_VARIABLE } from '../job/environment.js';
import type { AgentNode } from '../node/node.js';

/** Of all faults at one agent. */
const PROCESSES_MAX = 256;
const DEFAULT_PATH = '/usr/local/bin:/usr/bin:/bin';
/** Programs of administrators are not on everybody's path. */
const SYSTEM_PATH = '/usr/local/sbin:/usr/sbin:/sbin';
/** A program that is run to its end is killed after it. */
const RUN_MS = 4000;
/** Of what it says about its failure. */
const WORDS_MAX = 1000;

interface Started {
  /** Of the fault: its processes end with it. */
  readonly owner: Scope;
  /** Of its action. */
  readonly key: string;
  readonly process: Process;
  /** The fault does not have it any more. */
  release: () => void;
}

export class FaultProcesses {
  readonly #node: AgentNode;
  readonly #started = new Set<Started>();

  constructor(node: AgentNode) {
    this.#node = node;
  }

  /** Answers once: when all run, or with the reason why one does not, and then none does. */
  spawn(
    owner: Scope,
    { key, program, args, count }: Extract<FaultAction, { readonly type: 'spawn' }>,
    done: (problem?: string) => void,
  ): void {
    if (this.#started.size + count > PROCESSES_MAX) {
      return done(`${count} processes are too many: the faults of an agent have ${PROCESSES_MAX} at most`);
    }
    const { platform, sessionName, identity } = this.#node;
    const { PATH = DEFAULT_PATH } = platform.env.variables;
    const mark = `${sessionName}-${identity.job}-${addressIndex(identity.self)}.`;
    let isAnswered = false;
    const answer = (problem?: string): void => {
      if (isAnswered) return;
      isAnswered = true;
      if (problem !== undefined) this.#endThose((each) => each.owner === owner && each.key === key);
      done(problem);
    };
    for (let i = 0; i < count; i++) {
      const events: ProcessEvents = {
        onError: (error) => answer(error.message),
        onExit: () => {
          this.#forget(started);
          process.signal('SIGKILL', 'group'); // What it has started.
        },
        onOutput: () => undefined, onOutputEnd: () => undefined, onStdinDrain: () => undefined,
        onStdinClosed: () => undefined,
      };
      const process: Process = platform.processes.spawn({
        program, args, env: { PATH, [MARK_VARIABLE]: mark }, wdir: '/', stdin: 'null', stdout: 'null', stderr: 'null',
        lifetime: 'guarded',
      }, events);
      const started: Started = { owner, key, process, release: () => undefined };
      if (process.pid <= 0) continue;
      this.#started.add(started);
      started.release = owner.hold(`process ${program}`, () => this.#end(started));
    }
    platform.clock.soon(() => answer());
  }

  /**
   * Answers once, when it has ended. It goes on when the fault is over and when this agent ends: it may be what undoes
   * the fault.
   */
  run(
    { program, args, apartFrom }: Extract<FaultAction, { readonly type: 'run' }>, done: (problem?: string) => void,
  ): void {
    const { env, processes, clock } = this.#node.platform;
    const refusal = apartFrom === undefined ? undefined : sharedNetwork(env, apartFrom);
    if (refusal !== undefined) return done(refusal);
    const { PATH = DEFAULT_PATH } = env.variables;
    let words = '';
    let ended: ProcessEnd | undefined;
    let isSilent = false;
    let answer: typeof done | undefined = done;
    const tell = (problem?: string): void => {
      timer.cancel();
      answer?.(problem);
      answer = undefined;
    };
    const timer = clock.after(RUN_MS, () => {
      process.signal('SIGKILL', 'process');
      tell(`${program} did not end within ${RUN_MS} ms`);
    });
    const events: ProcessEvents = {
      onError: (error) => tell(error.message),
      onExit: (end) => {
        ended = end;
        if (isSilent) tell(failureOf(program, end, words));
      },
      onOutput: (_stream, chunk) => (words += String.fromCharCode(...chunk.subarray(0, WORDS_MAX - words.length))),
      onOutputEnd: () => {
        isSilent = true;
        if (ended !== undefined) tell(failureOf(program, ended, words));
      },
      onStdinDrain: () => undefined, onStdinClosed: () => undefined,
    };
    const process = processes.spawn({
      program, args, env: { PATH: `${PATH}:${SYSTEM_PATH}` }, wdir: '/', stdin: 'null', stdout: 'null', stderr: 'pipe',
      lifetime: 'apart',
    }, events);
    process.readable(true);
  }

  end(owner: Scope, key: string, done: (problem?: string) => void): void {
    this.#endThose((each) => each.owner === owner && each.key === key);
    done();
  }

  #endThose(isMeant: (started: Started) => boolean): void {
    for (const each of this.#started) if (isMeant(each)) this.#end(each);
  }

  #end(started: Started): void {
    if (this.#forget(started)) started.process.signal('SIGKILL', 'group');
  }

  /** Whether it was there. */
  #forget(started: Started): boolean {
    started.release();
    return this.#started.delete(started);
  }
}

/** Why this host has no network that is known to be another one. */
function sharedNetwork({ hostname, network }: Environment, other: string): string | undefined {
  if (network === undefined || other === '') return `the system does not tell whether ${hostname} has a network apart`;
  return network === other ? `${hostname} shares the network of the machine of the controller` : undefined;
}

function failureOf(program: string, { status, signal }: ProcessEnd, words: string): string | undefined {
  if (status === 0) return undefined;
  const [line = ''] = words.trim().split('\n');
  return `${program} ended by ${signal ?? `exit code ${status}`}${line === '' ? '' : `: ${line}`}`;
}
