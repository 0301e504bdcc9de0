/**
 * Runs a program of `hostProgram` on one host, over the system's ssh client or here, and collects its results: facts,
 * clock, and the phase in which it failed. The deadline counts from the start; a program that exceeds it is killed.
 */

import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { KexTimer, sshCommand, STEP_LINE } from '@stci/launcher-ssh';
import type { KeyExchange, SshFacts, SshParams, SshPhase } from '@stci/launcher-ssh';
import { printable, type HostSpec, type ProcessEnd, type SignalName } from '@stci/interface';

const TEXT_CHARS_MAX = 256 * 1024;
const LINES_MAX = 12;
/** Lines that ssh prints because it was made verbose. */
const NOISE = /^(Authenticated to |Transferred: sent |Bytes per second: |Connection to .* closed\.)/u;

export interface Clock {
  /** The host's clock less ours. */
  readonly offsetMs: number;
  /** Half of the round trip: the error of the offset. */
  readonly errorMs: number;
}

export interface ProbeResult<Facts> {
  readonly facts: Facts | undefined;
  /** Why the facts that it sent cannot be used. */
  readonly invalid: string | undefined;
  readonly clock: Clock | undefined;
  readonly kex: KeyExchange | undefined;
  /** In which it ended. */
  readonly phase: SshPhase;
  readonly isLate: boolean;
  readonly end: ProcessEnd;
  readonly lines: readonly string[];
  readonly banner: string;
  readonly report: SshFacts['report'];
  readonly flooded: boolean;
}

/** How to run it there. `argument`: as RemoteStart.hash. */
export function probeCommand(
  host: HostSpec, ssh: SshParams, nonce: string, program: string, argument = '-',
): readonly string[] {
  const start = { nonce, hash: argument, bundleBytes: 0, ownNode: process.execPath, node: ssh.node, program };
  return sshCommand(host, { ...ssh, steps: true }, start);
}

export function makeNonce(): string {
  return randomBytes(8).toString('hex');
}

export interface ProbeInit<Facts> {
  readonly nonce: string;
  readonly deadlineMs: number;
  /** Checks the facts that the host sent. Throws. */
  readonly read: (text: string) => Facts;
  /** Number of clock readings; the one with the shortest round trip is the most accurate. */
  readonly clocks: number;
  /** What the program is sent when it asks, once. */
  readonly answer?: () => string;
}

export function runProbe<Facts>(command: readonly string[], init: ProbeInit<Facts>): Promise<ProbeResult<Facts>> {
  return new Promise((resolve) => new Probe(init, resolve).start(command));
}

/** The better one of a reading so far and the one that comes now, asked for at `askedMs`. */
export function betterClock(clock: Clock | undefined, askedMs: number, thereMs: number): Clock | undefined {
  const nowMs = Date.now();
  const errorMs = (nowMs - askedMs) / 2;
  const offsetMs = thereMs - (nowMs + askedMs) / 2;
  const isBetter = Number.isFinite(offsetMs) && (clock === undefined || errorMs < clock.errorMs);
  return isBetter ? { offsetMs, errorMs } : clock;
}

class Probe<Facts> {
  readonly #init: ProbeInit<Facts>;
  readonly #mark: string;
  readonly #resolve: (result: ProbeResult<Facts>) => void;
  #ask: () => void = () => undefined;
  #answer: (() => void) | undefined;
  #kill: () => void = () => undefined;
  #text = '';
  #errText = '';
  #banner = '';
  #lines: string[] = [];
  #phase: SshPhase = 'connect';
  readonly #kexTimer = new KexTimer(performance.now());
  #kex: KeyExchange | undefined;
  #facts: Facts | undefined;
  #invalid: string | undefined;
  #report: SshFacts['report'];
  #clock: Clock | undefined;
  #asked = 0;
  #askedMs = 0;
  #isLate = false;
  #flooded = false;
  #noClient: string | undefined;

  constructor(init: ProbeInit<Facts>, resolve: (result: ProbeResult<Facts>) => void) {
    this.#init = init;
    this.#mark = `STCI ${init.nonce} `;
    this.#resolve = resolve;
  }

  start([program = '', ...args]: readonly string[]): void {
    const child = spawn(program, args, { stdio: 'pipe' });
    this.#ask = () => this.#askClock((text) => (text === undefined ? child.stdin.end() : child.stdin.write(text)));
    this.#answer = () => child.stdin.write(this.#init.answer?.() ?? '');
    this.#kill = () => child.kill('SIGKILL');
    const timer = setTimeout(() => {
      this.#isLate = true;
      this.#kill();
    }, this.#init.deadlineMs);
    child.stdin.on('error', () => undefined);
    child.stdout.setEncoding('utf8').on('data', (text: string) => this.#onText(text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => this.#onErrText(text));
    child.on('error', (error) => (this.#noClient = error.message));
    child.on('close', (status, signal) => {
      clearTimeout(timer);
      this.#onClose(status, signal);
    });
  }

  #onText(text: string): void {
    const parts = (this.#text + text).split('\n');
    this.#text = parts.pop() ?? '';
    for (const line of parts) this.#onLine(line);
    if (this.#text.length + this.#banner.length < TEXT_CHARS_MAX) return;
    this.#flooded = true;
    this.#text = '';
    this.#kill();
  }

  #onLine(line: string): void {
    const at = line.indexOf(this.#mark);
    if (at < 0 || this.#facts === undefined) this.#banner += at < 0 ? `${line}\n` : line.slice(0, at);
    if (at < 0) return;
    const [, word, rest = ''] = /^(\w+) ?(.*)$/su.exec(line.slice(at + this.#mark.length)) ?? [];
    if (word === 'shell') this.#phase = 'node';
    else if (word === 'fail') this.#report = { phase: 'node', text: rest.replace(/^node /u, '') };
    else if (word === 'facts') this.#onFacts(rest);
    else if (word === 'ask') this.#onAsk();
    else if (word === 'clock') this.#onClock(Number(rest));
  }

  #onAsk(): void {
    this.#answer?.();
    this.#answer = undefined;
  }

  #onFacts(text: string): void {
    this.#phase = 'handshake';
    try {
      this.#facts = this.#init.read(text);
      this.#ask();
    } catch (thrown) {
      this.#invalid = printable((thrown as Error).message);
      this.#kill();
    }
  }

  #askClock(write: (text: string | undefined) => void): void {
    this.#askedMs = Date.now();
    this.#asked += 1;
    write(this.#asked > this.#init.clocks ? undefined : '?');
  }

  #onClock(thereMs: number): void {
    this.#clock = betterClock(this.#clock, this.#askedMs, thereMs);
    this.#ask();
  }

  #onErrText(text: string): void {
    const parts = (this.#errText + text).split('\n');
    this.#errText = (parts.pop() ?? '').slice(-1000);
    for (const raw of parts) {
      const line = raw.trimEnd();
      if (line.startsWith('Authenticated to ') && this.#phase === 'connect') this.#phase = 'login shell';
      this.#kex ??= this.#kexTimer.onLine(line, performance.now());
      if (NOISE.test(line) || STEP_LINE.test(line)) continue;
      this.#lines.push(line);
      if (this.#lines.length > LINES_MAX) this.#lines.shift();
    }
  }

  #onClose(status: number | null, signal: NodeJS.Signals | null): void {
    if (this.#errText !== '') this.#onErrText('\n');
    if (this.#noClient !== undefined) this.#lines.push(this.#noClient);
    this.#resolve({
      facts: this.#facts,
      invalid: this.#invalid,
      clock: this.#clock,
      kex: this.#kex,
      phase: this.#phase,
      isLate: this.#isLate,
      end: signal === null ? { status: status ?? 0 } : { signal: signal as SignalName },
      lines: this.#lines,
      banner: this.#banner,
      report: this.#report,
      flooded: this.#flooded,
    });
  }
}
