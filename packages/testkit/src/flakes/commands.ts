/** Commands that are run one at a time, each in a process group of its own, and ended with all that they started. */

import { spawn } from 'node:child_process';
import { MARK_VARIABLE } from '@stci/compliance/record';
import { endAll } from '../runner/leftovers.js';
import { interruptible } from '../runner/signals.js';

const OUTPUT_CHARS_MAX = 20_000;
const MINUTE_MS = 60_000;

export interface CommandOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Resolve with the output whatever the exit code is. */
  readonly mayFail?: boolean;
}

export class Commands {
  readonly #mark = [process.env[MARK_VARIABLE] ?? [], `flakes-${process.pid}`].flat().join('/');
  #pid: number | undefined;
  #isStopped = false;

  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** Resolves to the end of its output; rejects if it fails, or at once after `stop`. */
  async run([command = '', ...args]: readonly string[], options: CommandOptions = {}): Promise<string> {
    if (this.#isStopped) throw new Error('stopped');
    const { cwd, env = process.env, mayFail = false } = options;
    const child = spawn(command, args, {
      cwd, env: { ...env, [MARK_VARIABLE]: this.#mark }, stdio: ['ignore', 'pipe', 'pipe'], detached: true,
    });
    this.#pid = child.pid;
    let output = '';
    const keep = (chunk: Buffer): void => {
      output = (output + chunk.toString()).slice(-OUTPUT_CHARS_MAX);
    };
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    const how = await new Promise<string>((resolve) => {
      child.once('error', (error) => resolve(error.message));
      child.once('close', (code, signal) => resolve(signal ?? (code === 0 ? '' : `exit code ${code}`)));
    });
    this.#pid = undefined;
    if (how !== '' && !mayFail) throw new Error(`${[command, ...args].join(' ')}: ${how}\n${output}`);
    return output;
  }

  /**
   * Does `work` until it is done, a signal asks this process to end, or `minutes` are over; then nothing that was
   * started runs any more. Resolves to whether a signal came.
   */
  async during(work: () => Promise<void>, minutes: number | undefined): Promise<boolean> {
    const timer = setTimeout(() => void this.stop(), (minutes ?? 0) * MINUTE_MS);
    if (minutes === undefined) clearTimeout(timer);
    try {
      return (await interruptible(work, () => this.stop())) !== undefined;
    } finally {
      clearTimeout(timer);
      if (this.#isStopped) await this.stop();
    }
  }

  /** Ends what runs, with all that it has started, and starts nothing any more. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.end();
  }

  /** Ends what runs, with all that it has started. */
  async end(): Promise<void> {
    if (this.#pid !== undefined) {
      try {
        process.kill(-this.#pid, 'SIGTERM');
      } catch {
        // The process has ended by itself meanwhile.
      }
    }
    await endAll(this.#mark);
  }
}
