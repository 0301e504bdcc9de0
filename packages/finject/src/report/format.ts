/** Numbers as people read them, and axes. */

/** Three digits that count: `4.21 ms`, `315 ms`, `1.73 s`. */
export function duration(ms: number | undefined): string {
  if (ms === undefined) return '–';
  if (Math.abs(ms) >= 1000) return `${trimmed(ms / 1000)} s`;
  return `${trimmed(ms)} ms`;
}

function trimmed(value: number): string {
  const size = Math.abs(value);
  return value.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : 2);
}

export function percent(share: number): string {
  const value = share * 100;
  return `${value === 0 || value >= 99.95 ? value.toFixed(0) : value.toFixed(1)} %`;
}

/** `1 repeat`, `3 repeats`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** A wall time, UTC. */
export function dateTime(wallMs: number): string {
  return Number.isFinite(wallMs) && Math.abs(wallMs) < 8.64e15
    ? new Date(wallMs).toISOString().replace('T', ' ').replace(/\.\d+Z$/, ' UTC') : '–';
}

/** Two decimals at most: coordinates. */
export function px(value: number): string {
  return String(Math.round(value * 100) / 100);
}

export interface Axis {
  readonly isLog: boolean;
  readonly ticks: readonly number[];
  at(value: number): number;
}

/** Axis from `min` to `max` of the values on `from`..`to`; logarithmic where they span much and are positive. */
export function axisOf(min: number, max: number, from: number, to: number, mayBeLog: boolean): Axis {
  if (mayBeLog && min > 0 && max / min > 50) return logAxis(min, max, from, to);
  const low = Math.min(0, min);
  const step = niceStep((max - low) / 6);
  const first = Math.floor(low / step);
  const last = Math.max(first + 1, Math.ceil(max / step));
  const scale = (to - from) / ((last - first) * step);
  return {
    isLog: false,
    ticks: Array.from({ length: last - first + 1 }, (_, i) => (first + i) * step),
    at: (value) => from + (value - first * step) * scale,
  };
}

function logAxis(min: number, max: number, from: number, to: number): Axis {
  const low = Math.floor(Math.log10(min));
  const high = Math.max(low + 1, Math.ceil(Math.log10(max)));
  return {
    isLog: true,
    ticks: Array.from({ length: high - low + 1 }, (_, i) => 10 ** (low + i)),
    at: (value) => from + ((Math.log10(value) - low) / (high - low)) * (to - from),
  };
}

/** The next of 1, 2, 5 times a power of ten. */
function niceStep(rough: number): number {
  if (!(rough > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const factor = [1, 2, 5, 10].find((one) => one * power >= rough * 0.999) ?? 10;
  return factor * power;
}
