/** The value of bootcom.ws.ports. */

/** Format `40000-40100`, checked by the parameter's rule; empty: any port. */
export function portRange(text: string): readonly [number, number] | undefined {
  const [low, high] = text.split('-').map(Number);
  return low === undefined || high === undefined ? undefined : [low, high];
}
