/**
 * The user's side of `--pty`: his terminal is raw once the rank has its own, so that every key is a byte for the
 * program, and is put back whatever ends the run. What is typed before waits for that, but Ctrl-C is for stcirun. Modes
 * are set by stty: those of Node's `setRawMode` translate line ends of the output, which programs that draw do
 * themselves.
 */

import { spawnSync } from 'node:child_process';
import type { OutputSink, SignalActions, StdinSource } from '@stci/core/run';
import { StciError, type AllocatedJob, type FrontEnd, type JobMap } from '@stci/interface';
import { isTerminal } from '../../process/descriptor.js';
import { framedInput, onPty, PTY_FIXED, PTY_RESIZABLE, sizeFrame, type PtyKind, type WindowSize } from './pty-host.js';
import { inForeground, StdinPump } from './stdin-pump.js';

/** Setting a terminal takes as long only where it hangs. */
const STTY_MS = 2000;

type Reader = Pick<FrontEnd, 'writeStdin' | 'closeStdin'>;

/** Throws STCI_USAGE where there is no terminal to give, or nobody to have it. */
export function checkPty({ size }: JobMap): void {
  if (!isTerminal(0)) {
    const text = '--pty: standard input is not a terminal. Leave --pty out: ranks read pipes and files.';
    throw new StciError('STCI_USAGE', text);
  }
  if (size === 1) return;
  throw new StciError('STCI_USAGE', `--pty is for one rank, and the job has ${size}. Write -n 1.`);
}

/** The job with its program on a terminal as large as the user's. */
export function ptyJob(spec: AllocatedJob): AllocatedJob {
  return { ...spec, apps: spec.apps.map((app) => onPty(app, { ...spec.env, ...app.env }['SHELL'], windowSize())) };
}

export class Pty {
  /** As stty wrote them; undefined: they are as they were. */
  #modes: string | undefined;
  #isRunning = false;
  /** Unknown until the rank has its terminal. */
  #kind: PtyKind | undefined;
  #pump: StdinPump | undefined;
  #reader: Reader | undefined;
  readonly #onExit = (): void => this.#restore();
  readonly #onResized = (): void => {
    if (this.#kind === PTY_RESIZABLE) this.#reader?.writeStdin(sizeFrame(windowSize()));
  };

  /** The sink without the byte that says what terminal it is. */
  sink(inner: OutputSink): OutputSink {
    return {
      ...inner,
      started: (rank, pid) => {
        this.#kind = undefined;
        inner.started(rank, pid);
      },
      push: (rank, stream, chunk, wallMs, release) => {
        const [first] = chunk;
        const isFirst = stream === 'stdout' && this.#kind === undefined;
        const isKind = isFirst && (first === PTY_RESIZABLE || first === PTY_FIXED);
        if (isKind) this.#onReady(first);
        inner.push(rank, stream, isKind ? chunk.subarray(1) : chunk, wallMs, release);
      },
    };
  }

  stdin(frontEnd: FrontEnd): StdinSource {
    this.#reader = frontEnd;
    this.#pump = new StdinPump({
      writeStdin: (chunk) => frontEnd.writeStdin(this.#kind === PTY_RESIZABLE ? framedInput(chunk) : chunk),
      closeStdin: () => frontEnd.closeStdin(),
    });
    return {
      start: () => {
        this.#isRunning = true;
        process.on('exit', this.#onExit);
        process.on('SIGWINCH', this.#onResized);
      },
      drain: () => this.#pump?.drain(),
      stop: () => {
        this.#isRunning = false;
        this.#pump?.stop();
        process.off('exit', this.#onExit);
        process.off('SIGWINCH', this.#onResized);
        this.#restore();
      },
    };
  }

  /** While stcirun is stopped, the terminal is the shell's. */
  actions(actions: SignalActions): SignalActions {
    return {
      ...actions,
      pause: (on) => {
        if (on) this.#restore();
        else if (this.#isRunning && this.#kind !== undefined) this.#makeRaw();
        actions.pause(on);
      },
    };
  }

  #onReady(kind: PtyKind): void {
    const isFirst = this.#kind === undefined;
    this.#kind = kind;
    this.#onResized();
    if (!isFirst) return;
    this.#makeRaw();
    this.#pump?.start();
  }

  /** Makes the terminal raw, but not from the background, which would stop stty. */
  #makeRaw(): void {
    if (this.#modes !== undefined || !inForeground()) return;
    this.#modes = stty('-g');
    stty('raw', '-echo');
  }

  #restore(): void {
    if (this.#modes !== undefined && inForeground()) stty(this.#modes);
    this.#modes = undefined;
  }
}

function windowSize(): WindowSize {
  const [rows = 0, columns = 0] = stty('size')?.split(' ').map(Number) ?? [];
  return { rows, columns };
}

/** What stty says of the terminal that is our standard input; undefined where it has gone. */
function stty(...words: readonly string[]): string | undefined {
  const { status, stdout } = spawnSync('stty', words, { stdio: ['inherit', 'pipe', 'ignore'], timeout: STTY_MS });
  return status === 0 ? stdout.toString().trim() : undefined;
}
