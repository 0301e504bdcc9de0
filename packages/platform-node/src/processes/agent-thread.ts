/**
 * An agent in a worker thread of this process, linked by a message port. Each thread has its own platform and its own
 * guardian: when the thread is ended, its pipe to the guardian closes, and its tools end as those of a process would.
 */

import type { MessagePort, Worker } from 'node:worker_threads';
import type { AgentProcess, AgentProcessEvents, Channel } from '@stci/interface';
import { closedChannel } from '../channels/closed-channel.js';
import { lineSplitter } from '../channels/lines.js';
import { portChannel } from '../channels/port-channel.js';
import { openStdioChannel } from '../channels/stdio-channel.js';
import { builtin } from '../system/builtin.js';
import { isMainThread } from '../system/main-thread.js';

/** What is told of a thread before it is ended, in characters; the rest is cut. */
const REASON_CHARS_MAX = 8192;

/** Start data of a thread; anything else in `workerData` is not an agent's. */
interface AgentWorkerData {
  readonly stciPort: MessagePort;
}

function watch(worker: Worker, events: AgentProcessEvents, killed: () => boolean): void {
  const lines = lineSplitter((line) => events.onDiagnostic(line));
  worker.stderr.on('data', (chunk: Uint8Array) => lines.push(chunk));
  let running = false;
  let failed = false;
  worker.on('online', () => (running = true));
  worker.on('error', (error) => {
    const text = error.stack ?? String(error);
    if (running) return void lines.push(Buffer.from(`${text}\n`));
    failed = true;
    events.onError({ code: 'STCI_PROGRAM_SPAWN', message: `An agent thread could not be started: ${error.message}` });
  });
  // The port to what watches over it, where there is such: on it comes why it is to be ended from outside. It is there
  // before any code of a plugin, which may post whatever it likes.
  const { MessagePort, receiveMessageOnPort } = builtin('node:worker_threads');
  let watchdog: MessagePort | undefined;
  let isTold = false;
  const tell = (text: unknown): void => {
    if (isTold || typeof text !== 'string') return;
    isTold = true;
    lines.push(Buffer.from(`${text.slice(0, REASON_CHARS_MAX)}\n`));
    watchdog?.close();
    void worker.terminate();
  };
  worker.on('message', (port: unknown) => {
    if (watchdog !== undefined || !(port instanceof MessagePort)) return;
    watchdog = port.on('message', tell);
    port.unref();
  });
  worker.on('exit', (status) => {
    // What the port has kept: the thread's end may be told of before it is read.
    const next = (): { message: unknown } | undefined => watchdog && receiveMessageOnPort(watchdog);
    for (let kept = next(); kept !== undefined && !isTold; kept = next()) tell(kept.message);
    lines.end();
    if (!failed) events.onExit(killed() ? { signal: 'SIGKILL' } : { status });
  });
}

/** The code that a thread runs: a file, or a text with its arguments. */
export type ThreadMain = string | URL | { readonly code: string; readonly args: readonly string[] };

function notStarted(main: string | URL, events: AgentProcessEvents): AgentProcess {
  const message = `An agent thread could not be started: there is no file ${main}`;
  process.nextTick(() => events.onError({ code: 'STCI_PROGRAM_SPAWN', message }));
  return { pid: 0, channel: closedChannel('thread', 'thread', message), kill: () => {} };
}

/** Starts `main` in a thread, where `openAgentChannel` returns its channel. */
export function spawnAgentThread(main: ThreadMain, events: AgentProcessEvents): AgentProcess {
  const isFile = typeof main === 'string' || main instanceof URL;
  if (isFile && !builtin('node:fs').existsSync(main)) return notStarted(main, events);
  const { Worker, MessageChannel } = builtin('node:worker_threads');
  const { port1, port2 } = new MessageChannel();
  const workerData: AgentWorkerData = { stciPort: port2 };
  const options = {
    workerData,
    transferList: [port2],
    stderr: true,
    execArgv: [],
    // Node would close descriptors opened here although their sockets have closed them and the numbers are in use
    // again.
    trackUnmanagedFds: false,
  };
  const worker = isFile
    ? new Worker(main, options)
    : new Worker(main.code, { ...options, eval: true, argv: [...main.args] });
  const channel = portChannel(port1, `thread ${worker.threadId}`);
  let killed = false;
  watch(worker, events, () => killed);
  // A thread that never began leaves its end of the port open.
  worker.on('exit', () => port1.close());
  return {
    pid: process.pid,
    channel,
    kill: () => {
      killed = true;
      void worker.terminate();
    },
  };
}

/** The channel to the parent: a message port in a thread, else standard input and output. */
export function openAgentChannel(): Channel {
  if (isMainThread) return openStdioChannel();
  const { workerData } = builtin('node:worker_threads');
  const port = (workerData as Partial<AgentWorkerData> | null)?.stciPort;
  return port === undefined ? openStdioChannel() : portChannel(port, 'parent');
}
