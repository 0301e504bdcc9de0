/**
 * Runs the program of probe.ts on all hosts of an allocation by one step of Slurm, as jobs start their agents, beside
 * what runs there. One task a host: each line of srun's output begins with the number of its task, and a task names its
 * host first. Standard input goes to all of them at once, so clocks are asked in rounds.
 */

import { spawn, type ChildProcess } from 'node:child_process';
import { printable } from '@stci/interface';
import { LineReader, slurmProgram, srunCommand, stepEnvironment } from '@stci/launcher-slurm';
import type { LabelledLine, SlurmParams } from '@stci/launcher-slurm';
import { hostFacts, type HostFacts } from './probe.js';
import { betterClock, makeNonce, type Clock } from './run-probe.js';

/** Of the step. */
const NAME = 'stci-doctor';
/** Slurm's words, and a host's, that are kept. */
const LINES_MAX = 12;
const FACTS_CHARS_MAX = 64 * 1024;
/** From the request to end to the kill: srun waits that long for tasks that do not end. */
const GRACE_MS = 3000;

/** What came from a host. */
export interface TaskResult {
  /** A task has begun there. */
  readonly isUp: boolean;
  readonly facts: HostFacts | undefined;
  /** Why its facts cannot be used. */
  readonly invalid: string | undefined;
  readonly clock: Clock | undefined;
  /** Why there is no node, in the words of host-program. */
  readonly noNode: string | undefined;
  /** Lines of the task's own standard error, and Slurm's words of it. */
  readonly lines: readonly string[];
}

export interface StepResult {
  readonly tasks: ReadonlyMap<string, TaskResult>;
  /** Slurm's words of no host. */
  readonly lines: readonly string[];
  /** The deadline has passed. */
  readonly isLate: boolean;
}

export interface StepProbeInit {
  readonly hosts: readonly string[];
  readonly program: string;
  readonly slurm: SlurmParams;
  readonly clocks: number;
  readonly deadlineMs: number;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

export function runStepProbe(init: StepProbeInit): Promise<StepResult> {
  return new Promise((resolve) => new StepProbe(init, resolve).start());
}

class StepProbe {
  readonly #init: StepProbeInit;
  readonly #mark: string;
  readonly #nonce = makeNonce();
  readonly #resolve: (result: StepResult) => void;
  readonly #tasks = new Map<string, Mutable<TaskResult>>();
  /** Task → host. */
  readonly #hosts = new Map<number, string>();
  /** Of a task: the first pieces of its facts, as srun breaks long lines. */
  readonly #begun = new Map<number, string>();
  readonly #lines: string[] = [];
  readonly #pending = new Set<string>();
  #child: ChildProcess | undefined;
  #step: string | undefined;
  #rounds = 0;
  #askedMs = 0;
  #isLate = false;
  #isOver = false;

  constructor(init: StepProbeInit, resolve: (result: StepResult) => void) {
    this.#init = init;
    this.#resolve = resolve;
    this.#mark = `STCI ${this.#nonce} `;
    for (const host of init.hosts) {
      const none = { facts: undefined, invalid: undefined, clock: undefined, noNode: undefined };
      this.#tasks.set(host, { isUp: false, ...none, lines: [] });
      this.#pending.add(host);
    }
  }

  start(): void {
    const { deadlineMs, hosts, program, slurm } = this.#init;
    const params = { ...slurm, name: NAME, connectMs: deadlineMs / 2 };
    const bundle = { hash: '-', bytes: new Uint8Array(), node: process.execPath, holder: '' };
    const command = srunCommand(params, { hosts, nonce: this.#nonce, bundle, waitMs: 0, program });
    const env = stepEnvironment(process.env as Record<string, string>);
    const child = this.#child = spawn(command[0], command.slice(1), { stdio: 'pipe', env });
    // Hosts that answer do not wait for those that don't for the whole time.
    const patience = setTimeout(() => this.#next(), (deadlineMs * 2) / 3);
    const timer = setTimeout(() => this.#onLate(), deadlineMs);
    child.stdin?.on('error', () => undefined);
    const out = new LineReader((line) => this.#onLine(line));
    const err = new LineReader((line) => this.#onErrLine(line));
    child.stdout?.on('data', (chunk: Uint8Array) => out.push(chunk));
    child.stderr?.on('data', (chunk: Uint8Array) => err.push(chunk));
    child.on('error', (error) => this.#note(this.#lines, error.message));
    child.on('close', () => {
      clearTimeout(timer);
      clearTimeout(patience);
      err.end();
      this.#isOver = true;
      this.#resolve({ tasks: this.#tasks, lines: this.#lines, isLate: this.#isLate });
    });
  }

  /** A program of the step that hangs must not be left in it: after the grace period Slurm ends the step. */
  #onLate(): void {
    this.#isLate = true;
    this.#child?.kill('SIGTERM');
    setTimeout(() => {
      if (this.#isOver) return;
      this.#child?.kill('SIGKILL');
      if (this.#step === undefined) return;
      const scancel = slurmProgram(this.#init.slurm.client, 'scancel');
      spawn(scancel, [this.#step], { stdio: 'ignore' }).on('error', () => undefined).unref();
    }, GRACE_MS).unref();
  }

  #onLine({ task, text }: LabelledLine): void {
    if (task === undefined) return;
    const at = text.indexOf(this.#mark);
    const begun = this.#begun.get(task);
    if (at < 0 && begun === undefined) return;
    this.#begun.delete(task);
    const whole = at < 0 ? begun + text : text.slice(at + this.#mark.length);
    const [, word, rest = ''] = /^(\w+) ?(.*)$/su.exec(whole) ?? [];
    if (word === 'host') return this.#onHost(task, rest);
    const host = this.#hosts.get(task);
    const one = host === undefined ? undefined : this.#tasks.get(host);
    if (host === undefined || one === undefined) return;
    if (word === 'facts' && !rest.endsWith('}') && whole.length < FACTS_CHARS_MAX) {
      this.#begun.set(task, whole);
      return;
    }
    if (word === 'fail') one.noNode = printable(rest.replace(/^node /u, ''));
    else if (word === 'facts') this.#onFacts(one, rest);
    else if (word === 'clock') one.clock = betterClock(one.clock, this.#askedMs, Number(rest));
    else return;
    this.#pending.delete(host);
    if (this.#pending.size === 0) this.#next();
  }

  #onHost(task: number, words: string): void {
    const [host = '', step = ''] = words.split(' ');
    const one = this.#tasks.get(host);
    if (one === undefined) return;
    one.isUp = true;
    this.#hosts.set(task, host);
    if (/^\d+\.\d+$/.test(step)) this.#step ??= step;
  }

  #onFacts(one: Mutable<TaskResult>, text: string): void {
    try {
      one.facts = hostFacts(text);
    } catch (thrown) {
      one.invalid = printable((thrown as Error).message);
    }
  }

  /** The next round of clocks, of the hosts that have answered so far; the end after the last one. */
  #next(): void {
    const stdin = this.#child?.stdin;
    const able = [...this.#tasks].filter(([, { facts }]) => facts !== undefined);
    if (this.#rounds === this.#init.clocks || able.length === 0) {
      stdin?.end();
      return;
    }
    this.#rounds += 1;
    this.#pending.clear();
    for (const [host] of able) this.#pending.add(host);
    this.#askedMs = Date.now();
    stdin?.write('?');
  }

  /** A task's own, or srun's: `srun: error: h2: task 1: …` of a host, or of none. */
  #onErrLine({ task, text }: LabelledLine): void {
    const named = /^srun: error: ([^:\s]+): /u.exec(text)?.[1] ?? '';
    const one = this.#tasks.get(task === undefined ? named : this.#hosts.get(task) ?? '');
    if (one === undefined) this.#note(this.#lines, text);
    else one.lines = this.#note([...one.lines], text);
  }

  #note(lines: string[], line: string): string[] {
    if (line.trim() !== '') lines.push(printable(line.trimEnd()).slice(0, 1000));
    if (lines.length > LINES_MAX) lines.shift();
    return lines;
  }
}
