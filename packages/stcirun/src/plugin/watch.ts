/**
 * Watch over plugins in a process of ours: an error that no caller catches is told as the plugin's; a thread tells a
 * call that does not return and ends the process. Loaded only where there are plugins; the thread is started with the
 * first module of one.
 */

import { readlinkSync, writeSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { StciError } from '@stci/interface';
import { pluginError } from './error.js';
import { marker, PluginFault, runningCall, watchCalls } from './guard.js';
import { pathOfCopy } from './load.js';

export interface WatchInit {
  /** Longest call, ms. */
  readonly timeoutMs: number;
  /** Who speaks, before a colon: `stcirun`. */
  readonly speaker: string;
  /** What the process ends with; undefined: an agent, which its parent reports with what it printed last. */
  readonly exitCode?: number;
  onFault(error: StciError): void;
}

const COPY = /\/plugins\/[0-9a-f]{16}\/([0-9a-f]{64})\//u;

/** Looks often enough to be late by a fraction only. */
const LOOKS = 20;
const LOOK_MS_MAX = 1000;

/** In a thread of its own. Names come as messages, also while the main thread hangs. */
const WATCH_CODE = `'use strict';
const { parentPort, workerData } = require('node:worker_threads');
const fs = require('node:fs');
const { marker, timeoutMs, lookMs, speaker, exitCode, task } = workerData;
const names = new Map();
parentPort.on('message', ([id, name]) => names.set(id, name));
// Time in which the thread was ready to run, but other threads had the processors.
function waitedMs() {
  try {
    return Number(fs.readFileSync('/proc/self/task/' + task + '/schedstat', 'latin1').split(' ')[1]) / 1e6;
  } catch { return 0; }
}
let last = -1, hungMs = 0, beforeMs = performance.now(), waitedBeforeMs = waitedMs();
const timer = setInterval(() => {
  const [nowMs, waited] = [performance.now(), waitedMs()];
  // A stop of the process is no time that the call has taken.
  const countedMs = Math.min(nowMs - beforeMs, 2 * lookMs) - (waited - waitedBeforeMs);
  [beforeMs, waitedBeforeMs] = [nowMs, waited];
  const id = Atomics.load(marker, 0), count = Atomics.load(marker, 1);
  if (id !== 0 && count === last) hungMs += Math.max(0, countedMs);
  else [last, hungMs] = [count, 0];
  if (hungMs < timeoutMs) return;
  clearInterval(timer);
  end(names.get(id) + ' has not returned for ' + timeoutMs + ' ms (plugin.timeout). This process ends.');
}, lookMs);
function end(text) {
  try { fs.writeSync(2, speaker + ': ' + text + '\\n'); } catch {}
  // The parent of an agent reads first.
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), 500);
  if (exitCode === undefined) return;
  try {
    const { Session } = require('node:inspector');
    const session = new Session();
    session.connectToMainThread();
    session.on('Debugger.paused', ({ params: { callFrames: [{ callFrameId }] } }) => {
      // Node would say that it waits for a debugger.
      try { fs.closeSync(2); } catch {}
      const expression = 'process.reallyExit(' + exitCode + ')';
      session.post('Debugger.evaluateOnCallFrame', { callFrameId, expression });
    });
    session.post('Debugger.enable');
    session.post('Debugger.pause');
  } catch {}
}
`;

let isWatched = false;

/** Of this process, once. */
export function watchPlugins(init: WatchInit): void {
  if (isWatched) return;
  isWatched = true;
  let worker: Worker | undefined;
  watchCalls({
    onFault: init.onFault,
    onCall: (id, name) => {
      worker ??= startThread(init);
      worker.postMessage([id, name]);
    },
  });
  process.on('exit', (status) => {
    const call = runningCall();
    if (call === undefined) return;
    // In a call nothing of ours ends a process.
    const text = `${call} has ended this process (exit code ${status}). A plugin's code throws errors, and ends none.`;
    process.exitCode = init.exitCode ?? status;
    try {
      writeSync(2, `${init.speaker}: ${text}\n`);
    } catch {
      // There is no reader to report it to.
    }
  });
}

function startThread({ timeoutMs, speaker, exitCode }: WatchInit): Worker {
  const lookMs = Math.min(LOOK_MS_MAX, timeoutMs / LOOKS);
  const workerData = { marker, timeoutMs, lookMs, speaker, exitCode, task: ownTask() };
  // Its own streams are not ours: an agent has none.
  const streams = { stdin: false, stdout: true, stderr: true };
  const worker = new Worker(WATCH_CODE, { eval: true, workerData, execArgv: [], ...streams });
  worker.on('error', () => undefined);
  worker.unref();
  return worker;
}

/** Number of this thread; empty where the system does not tell. */
function ownTask(): string {
  try {
    return readlinkSync('/proc/thread-self').split('/').at(-1) ?? '';
  } catch {
    return '';
  }
}

/** Who prints: the call that is running, else the plugin whose code is in the stack; empty: nobody. */
export function printingPlugin(): string {
  const running = runningCall();
  if (running !== undefined) return running;
  const path = pathOfCopy(COPY.exec(new Error('here').stack ?? '')?.[1] ?? '');
  return path === undefined ? '' : `plugin ${path}`;
}

/** The error of a plugin, if what was thrown came from one; else as it is. */
export function attributed(thrown: unknown): unknown {
  if (thrown instanceof PluginFault) return thrown.error;
  if (thrown instanceof StciError || !(thrown instanceof Error)) return thrown;
  const path = pathOfCopy(COPY.exec(thrown.stack ?? '')?.[1] ?? '');
  if (path === undefined) return thrown;
  const error = pluginError(path, `an error outside of any call: ${thrown.message}`, 'STCI_PLUGIN_FAILED');
  return Object.assign(error, { cause: thrown });
}
