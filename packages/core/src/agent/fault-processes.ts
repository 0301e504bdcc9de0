/** Processes that a fault starts, such as a load: guarded as tools are, and ended with the fault. */

import { addressIndex, type FaultAction, type Process, type ProcessEvents } from '@stci/interface';
import { MARK_VARIABLE } from '../job/environment.js';
import type { AgentNode } from './node.js';

/** Of all faults at one agent. */
const PROCESSES_MAX = 256;
const DEFAULT_PATH = '/usr/local/bin:/usr/bin:/bin';

interface Started {
  /** Of the fault, and of its action. */
  readonly owner: string;
  readonly key: string;
  readonly process: Process;
}

export class FaultProcesses {
  readonly #node: AgentNode;
  readonly #started = new Set<Started>();

  constructor(node: AgentNode) {
    this.#node = node;
  }

  /** Answers once: when all run, or with the reason why one does not, and then none does. */
  spawn(
    owner: string,
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
          this.#started.delete(started);
          process.signal('SIGKILL', 'group'); // What it has started.
        },
        onOutput: () => undefined, onOutputEnd: () => undefined, onStdinDrain: () => undefined,
        onStdinClosed: () => undefined,
      };
      const process: Process = platform.processes.spawn({
        program, args, env: { PATH, [MARK_VARIABLE]: mark }, wdir: '/', stdin: 'null', stdout: 'null', stderr: 'null',
        lifetime: 'guarded',
      }, events);
      const started: Started = { owner, key, process };
      if (process.pid > 0) this.#started.add(started);
    }
    platform.clock.soon(() => answer());
  }

  end(owner: string, key: string, done: (problem?: string) => void): void {
    this.#endThose((each) => each.owner === owner && each.key === key);
    done();
  }

  /** Of a fault that is over. */
  endAll(owner: string): void {
    this.#endThose((each) => each.owner === owner);
  }

  close(): void {
    this.#endThose(() => true);
  }

  #endThose(isMeant: (started: Started) => boolean): void {
    for (const each of this.#started) {
      if (!isMeant(each)) continue;
      each.process.signal('SIGKILL', 'group');
      this.#started.delete(each);
    }
  }
}
