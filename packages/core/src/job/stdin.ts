/** Which ranks read the caller's standard input: none that others have spawned. */

import type { Rank, StdinTo } from '@stci/interface';

/** `size`: of the job as it was launched. */
export function takesStdin(
  { stdin, size }: { readonly stdin: StdinTo; readonly size: number }, rank: Rank,
): boolean {
  return rank < size && (stdin.to === 'all' || (stdin.to === 'rank' && stdin.rank === rank));
}
