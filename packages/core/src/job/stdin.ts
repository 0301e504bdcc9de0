/** Which ranks read the caller's standard input. */

import type { Rank, StdinTo } from '@stci/interface';

export function takesStdin(stdin: StdinTo, rank: Rank): boolean {
  return stdin.to === 'all' || (stdin.to === 'rank' && stdin.rank === rank);
}
