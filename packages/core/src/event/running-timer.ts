/**
 * Timer that counts only time in which this process ran: after a stop (Ctrl-Z) or a long stall, data that has arrived
 * meanwhile is read before a peer's deadline expires. As in bootcom/lease.ts.
 */

import type { Clock, Timer } from '@stci/interface';

/** Slices of a wait; a slice that ends late by more than its length counts once. */
const SLICES = 8;
const SLICE_MS_MAX = 1000;

/** Reports for each slice how much of it counts, until it is cancelled. */
export function everyRunning(clock: Clock, sliceMs: number, onSlice: (countedMs: number) => void): Timer {
  let timer: Timer;
  const arm = (): void => {
    const startMs = clock.nowMs();
    timer = clock.after(sliceMs, () => {
      const elapsedMs = clock.nowMs() - startMs;
      arm();
      onSlice(elapsedMs > 2 * sliceMs ? sliceMs : elapsedMs);
    });
  };
  arm();
  return { cancel: () => timer.cancel() };
}

/** Calls `fire` once, when this process has run for `delayMs` and input that is ready has been read. */
export function afterRunning(clock: Clock, delayMs: number, fire: () => void): Timer {
  const sliceMs = Math.min(delayMs / SLICES, SLICE_MS_MAX);
  let leftMs = delayMs;
  let isCancelled = false;
  const slices = everyRunning(clock, sliceMs, (countedMs) => {
    leftMs -= countedMs;
    // A sum of fractions may fall short of the whole.
    if (leftMs > sliceMs / 100) return;
    slices.cancel();
    clock.soon(() => !isCancelled && fire());
  });
  return {
    cancel: () => {
      isCancelled = true;
      slices.cancel();
    },
  };
}
