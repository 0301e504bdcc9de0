/** Durations in messages: `250 ms`, `1.5 s`, `14 s`, `2 min 5 s`, `1 h 30 min`. */

const MINUTE_S = 60;
const HOUR_S = 60 * MINUTE_S;

/** Up to two minutes in seconds, as users write it; beyond, the two largest units. */
export function formatDuration(ms: number): string {
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  if (ms < 9950) return `${Math.round(ms / 100) / 10} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds <= 2 * MINUTE_S) return `${seconds} s`;
  if (seconds < HOUR_S) return twoUnits(seconds, MINUTE_S, 'min', 's');
  return twoUnits(Math.round(seconds / MINUTE_S), MINUTE_S, 'h', 'min');
}

function twoUnits(value: number, factor: number, large: string, small: string): string {
  const rest = value % factor;
  const main = `${Math.floor(value / factor)} ${large}`;
  return rest === 0 ? main : `${main} ${rest} ${small}`;
}
