/**
 * Watch over plugins in a process of ours: an error that no caller catches is told as the plugin's; a thread tells a
 * call that does not return and ends the process, or has an agent that is a thread ended by its parent. Loaded only
 * where there are plugins; the thread is started with the first module of one.
 */

import { readlinkSync, writeSync } from 'node:fs';
import { isMainThread, MessageChannel, parentPort, Worker, type MessagePort } from 'node:worker_threads';
import { StciError } from '@stci/interface';
import { copyOf, placed, pluginError } from './error.js';
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

/** Code of a thread of its own. Names come as messages, also while the main thread hangs. */
const WATCH_CODE = `'use strict';
const { parentPort, workerData } = require('node:worker_threads');
const fs = require('node:fs');
const { marker, speaker, exitCode, task, port, isKept } = workerData;
let { timeoutMs } = workerData;
const names = new Map();
parentPort.on('message', ([id, name]) => {
  if (id === 0) timeoutMs = name;
  else names.set(id, name);
});
// Time in which the thread was ready to run, but other threads had the processors.
function waitedMs() {
  try {
    return Number(fs.readFileSync('/proc/self/task/' + task + '/schedstat', 'latin1').split(' ')[1]) / 1e6;
  } catch { return 0; }
}
let last = -1, hungMs = 0, beforeMs = performance.now(), waitedBeforeMs = waitedMs();
function look() {
  // Often enough to be late by a fraction only.
  const lookMs = Math.min(1000, timeoutMs / 20);
  setTimeout(look, lookMs);
  const [nowMs, waited] = [performance.now(), waitedMs()];
  // A stop of the process is no time that the call has taken.
  const countedMs = Math.min(nowMs - beforeMs, 2 * lookMs) - (waited - waitedBeforeMs);
  [beforeMs, waitedBeforeMs] = [nowMs, waited];
  const id = Atomics.load(marker, 0), count = Atomics.load(marker, 1);
  if (id !== 0 && count === last) hungMs += Math.max(0, countedMs);
  else [last, hungMs] = [count, 0];
  if (hungMs < timeoutMs) return;
  hungMs = -Infinity;
  end(names.get(id) + ' has not returned for ' + timeoutMs + ' ms (plugin.timeout).');
}
look();
function end(text) {
  // What is on its other end ends the thread that hangs.
  if (port !== undefined) return port.postMessage(text);
  const more = isKept ? ' Jobs with it end when it does.' : ' This process ends.';
  try { fs.writeSync(2, speaker + ': ' + text + more + '\\n'); } catch {}
  if (isKept) return parentPort.postMessage(text);
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

/** Watches over the plugins of this process, once. */
export function watchPlugins(init: WatchInit): void {
  if (isWatched) return;
  isWatched = true;
  let worker: Worker | undefined;
  watchCalls({
    onFault: init.onFault,
    onCall: (id, name) => {
      worker ??= startWatch(init);
      worker.postMessage([id, name]);
    },
  });
  process.on('exit', (status) => {
    if (tellOfExit(init.speaker, status)) process.exitCode = init.exitCode ?? status;
  });
}

/** Where a call ends this process, which nothing of ours does; true: it did. */
export function tellOfExit(speaker: string, status: number): boolean {
  const call = runningCall();
  if (call === undefined) return false;
  const text = `${call} has ended this process (exit code ${status}). A plugin's code throws errors, and ends none.`;
  try {
    writeSync(2, `${speaker}: ${text}\n`);
  } catch {
    // There is no reader to report it to.
  }
  return true;
}

/** `isKept`: the process is not ended; the thread posts what it says, a text for each call that does not return. */
export function startWatch(
  { timeoutMs, speaker, exitCode }: Omit<WatchInit, 'onFault'>, isKept = false,
): Worker {
  const port = isKept || isMainThread ? undefined : portToParent();
  const workerData = { marker, timeoutMs, speaker, exitCode, task: ownTask(), port, isKept };
  // The thread's own streams are not ours: an agent has none.
  const streams = { stdin: false, stdout: true, stderr: true };
  const transferList = port === undefined ? [] : [port];
  const worker = new Worker(WATCH_CODE, { eval: true, workerData, transferList, execArgv: [], ...streams });
  worker.on('error', () => undefined);
  worker.unref();
  return worker;
}

/** Port of an agent that is a thread: its parent ends it (platform-node/src/processes/agent-thread.ts). */
function portToParent(): MessagePort {
  const { port1, port2 } = new MessageChannel();
  parentPort?.postMessage(port1, [port1]);
  return port2;
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
  const path = pathOfCopy(copyOf(new Error('here')) ?? '');
  return path === undefined ? '' : `plugin ${path}`;
}

/** The error of a plugin, if what was thrown came from one; else as it is. */
export function attributed(thrown: unknown): unknown {
  if (thrown instanceof PluginFault) return thrown.error;
  if (thrown instanceof StciError || !(thrown instanceof Error)) return thrown;
  const path = pathOfCopy(copyOf(thrown) ?? '');
  if (path === undefined) return thrown;
  const text = `an error outside of any call: ${placed(thrown.message, thrown)}`;
  const error = pluginError(path, text, 'STCI_PLUGIN_FAILED');
  return Object.assign(error, { cause: thrown });
}
