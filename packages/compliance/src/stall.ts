/**
 * A watch over a test file that a component's author runs with Node: a call that does not return is named, with the
 * file and line where it is, and the process ends with 1. A thread sees that nothing goes on, and asks the debugger
 * of this process where it is: JavaScript that runs in a loop can be asked, and nothing is needed in what is watched.
 */

import { closeSync, writeSync } from 'node:fs';
import { Session } from 'node:inspector';
import { fileURLToPath } from 'node:url';
import { Worker, isMainThread, workerData } from 'node:worker_threads';
import { isOwnPath } from './failure.js';
import { patient } from './patience.js';

/** Without a turn of the event loop, a check of an example or a step of a test. */
const STALL_MS = 10_000;
const LOOK_MS = 250;
/** For the debugger's answers; then the process is killed. */
const ANSWER_MS = 2000;
const NAME_BYTES_MAX = 1000;
const FRAMES_MAX = 5;

/** Progress, and length of the name of what runs. */
const PROGRESS = 0;
const LENGTH = 1;

interface Shared {
  readonly counts: Int32Array;
  readonly name: Uint8Array;
}

let shared: Shared | undefined;

/** Something goes on, in this test. Costs next to nothing. */
export function progress(test?: string): void {
  if (shared === undefined) return;
  if (test !== undefined) {
    const { written } = new TextEncoder().encodeInto(test, shared.name);
    Atomics.store(shared.counts, LENGTH, written);
  }
  Atomics.add(shared.counts, PROGRESS, 1);
}

/** Starts the thread, once; it does not keep the process alive. */
export function watchForStalls(): void {
  if (shared !== undefined) return;
  shared = {
    counts: new Int32Array(new SharedArrayBuffer(8)), name: new Uint8Array(new SharedArrayBuffer(NAME_BYTES_MAX)),
  };
  new Worker(new URL(import.meta.url), { workerData: { ...shared, stallMs: patient(STALL_MS) }, execArgv: [] }).unref();
  setInterval(() => progress(), LOOK_MS).unref();
}

/** A call on the stack: `neighbours (/path/index.js:12)`. */
interface Place {
  readonly name: string;
  readonly path: string;
  readonly line: number;
}

function watch({ counts, name, stallMs }: Shared & { readonly stallMs: number }): void {
  let [last, sinceMs] = [Atomics.load(counts, PROGRESS), performance.now()];
  const timer = setInterval(() => {
    const [now, nowMs] = [Atomics.load(counts, PROGRESS), performance.now()];
    // A machine that slept, or a thread that could not run, says nothing.
    if (now !== last || nowMs - sinceMs > 2 * stallMs) [last, sinceMs] = [now, nowMs];
    if (nowMs - sinceMs < stallMs) return;
    clearInterval(timer);
    report(new TextDecoder().decode(name.slice(0, Atomics.load(counts, LENGTH))), stallMs);
  }, LOOK_MS);
}

/** Tells where the main thread is, and ends the process from there. */
function report(test: string, stallMs: number): void {
  const kill = (): void => void process.kill(process.pid, 'SIGKILL');
  setTimeout(() => {
    tell(test, stallMs, []);
    kill();
  }, ANSWER_MS);
  const session = new Session();
  session.connectToMainThread();
  const urls = new Map<string, string>();
  session.on('Debugger.scriptParsed', ({ params: { scriptId, url } }) => void urls.set(scriptId, url));
  session.on('Debugger.paused', ({ params: { callFrames } }) => {
    tell(test, stallMs, callFrames.flatMap(({ functionName: name, location: { scriptId, lineNumber } }) => {
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

function tell(test: string, stallMs: number, places: readonly Place[]): void {
  if (isTold) return;
  isTold = true;
  const own = places.filter(({ path }) => isOwnPath(path)).slice(0, FRAMES_MAX);
  const lines = own.map(({ name, path, line }) => `    in ${name === '' ? 'a function' : name} (${path}:${line})\n`);
  const what = `a call has not returned for ${stallMs / 1000} s. Look for a loop or a wait that never ends.`;
  writeSync(1, `\nFAIL ${test}\n    ${what}\n${lines.join('')}`);
}

const given = workerData as (Shared & { readonly stallMs: number }) | null;
if (!isMainThread && given?.stallMs !== undefined) watch(given);
