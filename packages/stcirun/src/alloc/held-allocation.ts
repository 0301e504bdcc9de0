/**
 * An allocation of Slurm that is asked for, then held until it is given back: by the process that asked for it, or by
 * one that got its two streams from that.
 */

import { spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import type { StciError } from '@stci/interface';
import { lineSplitter } from '@stci/platform-node';
import { SallocLog } from './salloc-words.js';

/** Time for Slurm to take an allocation back. */
const RELEASE_MS = 10_000;
/** Where Slurm revokes it, its step is told as well, and tells more: who watches here is told after that. */
const REVOKED_MS = 3000;
/** How salloc ended is known soon after the end of its words. */
const EXIT_MS = 50;

/** Period, in `sh`, of asking until Slurm's controller answers. */
const CANCEL_PERIOD_S = 5;
const CANCEL_S = 600;
const CANCEL = `i=0
until words=$(scancel "$1" 2>&1); do
  case $words in *'Invalid job id'* | *already*) exit ;; esac
  i=$((i + 1))
  [ $i -lt ${CANCEL_S / CANCEL_PERIOD_S} ] || exit
  sleep ${CANCEL_PERIOD_S}
done`;

export interface HeldStreams {
  /** The holder's pipe: nothing is written, its end gives the allocation back. */
  readonly keep: Writable;
  /** salloc's words; they end when it has ended. */
  readonly words: Readable;
}

export class HeldAllocation {
  readonly streams: HeldStreams;
  readonly log = new SallocLog();
  /** salloc has ended. */
  readonly ended: Promise<void>;
  /** SLURM_*, as a program that salloc runs has them, once there is an allocation. */
  variables: Readonly<Record<string, string>> = {};
  readonly #job: string | undefined;
  #isOver = false;
  /** Another process has it. */
  #isLeft = false;
  #release: Promise<boolean> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #onLost: ((error: StciError) => void) | undefined;

  /** `onWords`: remarks of Slurm; `job`: where salloc's words of it have been read by another process. */
  constructor(streams: HeldStreams, onWords: (text: string) => void, job?: string) {
    this.streams = streams;
    this.#job = job;
    const lines = lineSplitter((line) => {
      this.log.add(line).forEach(onWords);
      this.#check();
    });
    streams.keep.on('error', () => undefined);
    streams.words.on('data', (chunk: Uint8Array) => lines.push(chunk));
    this.ended = new Promise((resolve) => {
      const onEnd = (): void => {
        if (this.#isOver) return resolve();
        this.#isOver = true;
        lines.end();
        resolve();
        this.#check();
      };
      streams.words.on('end', onEnd).on('close', onEnd).on('error', onEnd);
    });
  }

  /** Number of the job in Slurm; undefined: salloc has not told it yet. */
  get job(): string | undefined {
    return this.#job ?? this.log.job ?? this.variables['SLURM_JOB_ID'];
  }

  /** Calls back once if the allocation ends before it is given back. */
  watch(onLost: (error: StciError) => void): void {
    this.#onLost = onLost;
    this.#check();
  }

  /** Another process has the streams now. */
  leave(): void {
    this.#isLeft = true;
    this.#onLost = undefined;
    this.streams.words.destroy();
    this.streams.keep.destroy();
  }

  /** Slurm has not confirmed a release in time. */
  get unconfirmed(): string {
    const { job } = this;
    if (job === undefined) return "Slurm has not confirmed that the request is withdrawn: see 'squeue --me'";
    return `Slurm has not confirmed that job ${job} has ended: 'scancel ${job}' when it answers again`;
  }

  /**
   * Gives it back, once. False: Slurm has not confirmed that in time. Then salloc goes on, if it has not given up, and
   * so does another process, for some minutes.
   */
  release(): Promise<boolean> {
    return (this.#release ??= this.#isLeft ? Promise.resolve(true) : this.#giveBack());
  }

  async #giveBack(): Promise<boolean> {
    this.#onLost = undefined;
    clearTimeout(this.#timer);
    // If salloc was killed, the job of Slurm is still there: in its queue, or with nobody else to give it back.
    const isHeld = !this.#isOver || this.log.revoked !== undefined;
    const isEnded = isHeld ? this.ended.then(() => !this.log.isGivenUp) : this.#cancel().then(() => true);
    // Not by `end`, which would be a shutdown of what several processes may have.
    this.streams.keep.destroy();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<false>((resolve) => {
      timer = setTimeout(() => resolve(false), RELEASE_MS);
    });
    const isReleased = await Promise.race([isEnded, late]);
    clearTimeout(timer);
    this.streams.words.destroy();
    if (!isReleased && isHeld) void this.#cancel();
    return isReleased;
  }

  /** Resolves when Slurm has answered, or is not asked any more. The process that asks it survives this one. */
  #cancel(): Promise<void> {
    const { job } = this;
    if (job === undefined) return Promise.resolve();
    return new Promise((resolve) => {
      const child = spawn('/bin/sh', ['-c', CANCEL, 'stci-scancel', job], { detached: true, stdio: 'ignore' });
      child.on('error', () => resolve()).on('exit', () => resolve()).unref();
    });
  }

  #check(): void {
    const { revoked } = this.log;
    if (this.#onLost === undefined || this.#timer !== undefined || (revoked === undefined && !this.#isOver)) return;
    this.#timer = setTimeout(() => {
      const onLost = this.#onLost;
      this.#onLost = undefined;
      onLost?.(this.log.loss(this.job));
    }, revoked === undefined ? EXIT_MS : REVOKED_MS);
  }
}
