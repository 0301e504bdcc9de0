/** Ranks folded for messages: `0-3,7,9-12`. */

/** `ranks` in any order; duplicates are shown once. */
export function foldRanks(ranks: readonly number[]): string {
  const sorted = [...new Set(ranks)].sort((a, b) => a - b);
  const parts: string[] = [];
  let first = 0;
  for (let i = 1; i <= sorted.length; i += 1) {
    if (i < sorted.length && sorted[i] === (sorted[i - 1] as number) + 1) continue;
    const from = sorted[first];
    const to = sorted[i - 1];
    parts.push(from === to ? `${from}` : `${from}-${to}`);
    first = i;
  }
  return parts.join(',');
}
