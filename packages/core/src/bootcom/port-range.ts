/** Ranges of ports, such as the value of bootcom.ws.ports. */

/** Format `40000-40100`, checked by the parameter's rule; empty: any port. */
export function portRange(text: string): readonly [number, number] | undefined {
  const [low, high] = text.split('-').map(Number);
  return low === undefined || high === undefined ? undefined : [low, high];
}

const PORT_MAX = 65_535;

/** What is wrong with such a text; undefined: nothing. */
export function portsProblem(text: string): string | undefined {
  if (text === '') return undefined;
  const match = /^(\d{1,5})-(\d{1,5})$/.exec(text);
  const low = Number(match?.[1] ?? 0);
  const high = Number(match?.[2] ?? 0);
  if (low >= 1 && low <= high && high <= PORT_MAX) return undefined;
  return `${JSON.stringify(text)} is no range of ports. Expected LOW-HIGH within 1..${PORT_MAX}, such as 40000-40100.`;
}
