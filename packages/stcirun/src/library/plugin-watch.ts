/**
 * Watch over plugins in a process that is not ours: while jobs with plugins run, or are planned, their faults end these
 * jobs, and a call that does not return is told on standard error. Of the process only their errors are taken; it is
 * never ended.
 */

import type { Worker } from 'node:worker_threads';
import { StciError } from '@stci/interface';
import { PluginFault, watchCalls } from '../plugin/guard.js';
import type { Plugin } from '../plugin/load.js';
import { attributed, startWatch, tellOfExit } from '../plugin/watch.js';

const SPEAKER = 'stci';

interface Watched {
  readonly plugins: readonly Plugin[];
  /** Longest call, ms. */
  readonly timeoutMs: number;
  onFault(error: StciError): void;
}

export interface PluginWatch {
  /** The error of a plugin, if what was thrown came from one; else as it is. */
  attributed(thrown: unknown): unknown;
  release(): void;
}

const jobs = new Set<Watched>();
let worker: Worker | undefined;

/** `onFault` may be called several times, also while the plugin's code is running. */
export function watchOver(job: Watched): PluginWatch {
  jobs.add(job);
  if (jobs.size === 1) begin();
  else tellTimeout();
  for (const plugin of job.plugins) plugin.onFault = job.onFault;
  return {
    attributed,
    release: () => {
      if (!jobs.delete(job)) return;
      for (const plugin of job.plugins) if (plugin.onFault === job.onFault) plugin.onFault = undefined;
      if (jobs.size === 0) end();
      else tellTimeout();
    },
  };
}

function begin(): void {
  process.on('uncaughtException', onUncaught);
  process.on('exit', onExit);
  watchCalls({
    onFault: () => undefined,
    onCall: (id, name) => {
      worker ??= startWatch({ timeoutMs: longest(), speaker: SPEAKER }, true).on('message', onLate);
      worker.postMessage([id, name]);
      // Listening would keep the process.
      worker.unref();
    },
  });
}

function end(): void {
  process.off('uncaughtException', onUncaught);
  process.off('exit', onExit);
  watchCalls(undefined);
  void worker?.terminate();
  worker = undefined;
}

/** One thread watches the calls of all: none is late that is in time for one of them. */
function longest(): number {
  return Math.max(...[...jobs].map(({ timeoutMs }) => timeoutMs));
}

function tellTimeout(): void {
  worker?.postMessage([0, longest()]);
}

/** What no call of ours has thrown is told by its plugin's path only. */
function faultOf(plugin: unknown, error: StciError): boolean {
  const own = [...jobs].filter(({ plugins }) => plugins.some(({ path }) => path === plugin));
  for (const { onFault } of own) onFault(error);
  return own.length > 0;
}

/** The call has returned since. */
function onLate(text: string): void {
  const [, path = ''] = /^plugin (.*?): (?:the load of |[a-z]+:)/u.exec(text) ?? [];
  faultOf(path, new StciError('STCI_PLUGIN_FAILED', text, { data: { plugin: path } }));
}

function onExit(status: number): void {
  tellOfExit(SPEAKER, status);
}

/** What is not a plugin's is what it would be without us. */
function onUncaught(thrown: unknown): void {
  // The job has not been told if the caller was to take care of it; one that is over has no `onFault`.
  if (thrown instanceof PluginFault) return thrown.owner?.onFault?.(thrown.error);
  const error = attributed(thrown);
  if (error !== thrown && error instanceof StciError && faultOf(error.data['plugin'], error)) return;
  if (process.listenerCount('uncaughtException') > 1) return;
  process.off('uncaughtException', onUncaught);
  process.nextTick(() => {
    throw thrown;
  });
}
