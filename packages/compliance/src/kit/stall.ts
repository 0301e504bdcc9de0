/**
 * A watch over a test file that a component's author runs with Node: a call that does not return is named, with the
 * promise, the example, and the file and line where it is, and the process ends with 1. Slow calls are none that hang:
 * each step of a check is progress, and time counts in which this process has a processor. A thread sees that nothing
 * goes on, and asks the debugger of this process where it is: JavaScript that runs in a loop can be asked, and nothing
 * is needed in what is watched.
 */

import { closeSync, writeSync } from 'node:fs';
import { Session } from 'node:inspector';
import { fileURLToPath } from 'node:url';
import { Worker, isMainThread, workerData } from 'node:worker_threads';
import { isOwnPath } from './failure.js';

/** Processor time without a turn of the event loop, or a step of a check. */
const STALL_MS = 10_000;
/** Time of the same, where the call waits. */
const WAIT_MS = 6 * STALL_MS;
const LOOK_MS = 250;
/** Time for the debugger's answers; then the process is killed. */
const ANSWER_MS = 2000;
const NAME_BYTES_MAX = 1000;
const EXAMPLE_BYTES_MAX = 4000;
const FRAMES_MAX = 5;

/** Progress, and lengths of the name of what runs and of the example. */
const PROGRESS = 0;
const LENGTH = 1;
const EXAMPLE_LENGTH = 2;

interface Shared {
  readonly counts: Int32Array;
  readonly name: Uint8Array;
  readonly example: Uint8Array;
}

const encoder = new TextEncoder();
let shared: Shared | undefined;

/** Something goes on, in this test. Costs next to nothing. */
export function progress(test?: string): void {
  if (shared === undefined) return;
  if (test !== undefined) {
    const { written } = encoder.encodeInto(test, shared.name);
    Atomics.store(shared.counts, LENGTH, written);
    Atomics.store(shared.counts, EXAMPLE_LENGTH, 0);
  }
  Atomics.add(shared.counts, PROGRESS, 1);
}

export function isWatched(): boolean {
  return shared !== undefined;
}

/** On this promise and example. */
export function working(example: string): void {
  if (shared === undefined) return;
  Atomics.store(shared.counts, EXAMPLE_LENGTH, encoder.encodeInto(example, shared.example).written);
  progress();
}

/** Starts the thread, once; it does not keep the process alive. */
export function watchForStalls(): void {
  if (shared !== undefined) return;
  shared = {
    counts: new Int32Array(new SharedArrayBuffer(12)), name: new Uint8Array(new SharedArrayBuffer(NAME_BYTES_MAX)),
    example: new Uint8Array(new SharedArrayBuffer(EXAMPLE_BYTES_MAX)),
  };
  new Worker(new URL(import.meta.url), { workerData: { ...shared, stallMs: STALL_MS }, execArgv: [] }).unref();
  setInterval(() => progress(), LOOK_MS).unref();
}

/** A call on the stack: `neighbours (/path/index.js:12)`. */
interface Place {
  readonly name: string;
  readonly path: string;
  readonly line: number;
}

function watch({ counts, name, example, stallMs }: Shared & { readonly stallMs: number }): void {
  const busyMs = (): number => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  };
  let last = -1;
  let [beforeMs, busyBeforeMs, hungMs, waitedMs] = [performance.now(), busyMs(), 0, 0];
  const timer = setInterval(() => {
    const [count, nowMs, busyNowMs] = [Atomics.load(counts, PROGRESS), performance.now(), busyMs()];
    // A machine that slept, or a thread that could not run, says nothing.
    const passedMs = Math.min(nowMs - beforeMs, 2 * LOOK_MS);
    const ranMs = Math.min(busyNowMs - busyBeforeMs, passedMs);
    [beforeMs, busyBeforeMs] = [nowMs, busyNowMs];
    if (count === last) [hungMs, waitedMs] = [hungMs + ranMs, waitedMs + passedMs];
    else [last, hungMs, waitedMs] = [count, 0, 0];
    if (hungMs < stallMs && waitedMs < stallMs * (WAIT_MS / STALL_MS)) return;
    clearInterval(timer);
    const text = (bytes: Uint8Array, at: number): string =>
      new TextDecoder().decode(bytes.slice(0, Atomics.load(counts, at)));
    report({ test: text(name, LENGTH), example: text(example, EXAMPLE_LENGTH), hungMs: Math.max(hungMs, waitedMs) });
  }, LOOK_MS);
}

interface Hung {
  readonly test: string;
  readonly example: string;
  readonly hungMs: number;
}

/** Tells where the main thread is, and ends the process from there. */
function report(hung: Hung): void {
  const kill = (): void => void process.kill(process.pid, 'SIGKILL');
  setTimeout(() => {
    tell(hung, []);
    kill();
  }, ANSWER_MS);
  const session = new Session();
  session.connectToMainThread();
  const urls = new Map<string, string>();
  session.on('Debugger.scriptParsed', ({ params: { scriptId, url } }) => void urls.set(scriptId, url));
  session.on('Debugger.paused', ({ params: { callFrames } }) => {
    tell(hung, callFrames.flatMap(({ functionName: name, location: { scriptId, lineNumber } }) => {
      const url = urls.get(scriptId) ?? '';
      return url.startsWith('file:') ? [{ name, path: fileURLToPath(url), line: lineNumber + 1 }] : [];
    }));
    const [inner] = callFrames;
    if (inner === undefined) return kill();
    const { callFrameId } = inner;
    // Not `exit`: what waits for the process's end could not go on. Node would say that it waits for the debugger.
    closeSync(2);
    session.post('Debugger.evaluateOnCallFrame', { callFrameId, expression: 'process.reallyExit(1)' });
  });
  session.post('Debugger.enable', () => session.post('Debugger.pause'));
}

let isTold = false;

function tell({ test, example, hungMs }: Hung, places: readonly Place[]): void {
  if (isTold) return;
  isTold = true;
  const own = places.filter(({ path }) => isOwnPath(path)).slice(0, FRAMES_MAX);
  const lines = own.map(({ name, path, line }) => `    in ${name === '' ? 'a function' : name} (${path}:${line})\n`);
  const seconds = Math.round(hungMs / 1000);
  const what = `a call has not returned for ${seconds} s. Look for a loop or a wait that never ends.`;
  const of = example === '' ? '' : `    ${example}\n`;
  writeSync(1, `\nFAIL ${test}\n    ${what}\n${of}${lines.join('')}`);
}

const given = workerData as (Shared & { readonly stallMs: number }) | null;
if (!isMainThread && given?.stallMs !== undefined) watch(given);
