/** Signals that ask a program to end: what it has started is ended first. */

import { constants } from 'node:os';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export type EndSignal = (typeof SIGNALS)[number];

/**
 * Awaits `work`, and `stop` once a signal has called it. Resolves to that signal. The next one calls `stop` again, and
 * then ends this process, whatever `work` still waits for.
 */
export async function interruptible(
  work: () => Promise<void>,
  stop: (signal: EndSignal) => Promise<void>,
): Promise<EndSignal | undefined> {
  let first: EndSignal | undefined;
  let stopped: Promise<void> | undefined;
  const interrupt = (signal: EndSignal): void => {
    const again = first;
    first ??= signal;
    const own = stop(signal);
    stopped ??= own;
    if (again !== undefined) void own.finally(() => process.exit(exitCodeOf(again)));
  };
  for (const signal of SIGNALS) process.on(signal, interrupt);
  try {
    await work();
  } finally {
    await stopped;
    for (const signal of SIGNALS) process.off(signal, interrupt);
  }
  return first;
}

/** What a shell reports of a program that ended by the signal. */
export function exitCodeOf(signal: EndSignal): number {
  return 128 + constants.signals[signal];
}
