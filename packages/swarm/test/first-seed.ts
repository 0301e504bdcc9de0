/** What a commit explores: seeds and cases of its own, so that each explores others; all with STCI_SWARM_FULL=1. */

import { spawnSync } from 'node:child_process';
import { commitSeed } from '@stci/swarm';
import { isFullSwarm as isFull } from '@stci/testkit';

/** CI names it (and prints it); else it is the commit's too, or the first where there is no repository. */
export function firstSeed(): number {
  const named = Number(process.env['STCI_SWARM_FROM']);
  if (named > 0) return named;
  const cwd = new URL('.', import.meta.url);
  const { status, stdout } = spawnSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8', cwd });
  return status === 0 ? commitSeed(stdout) : 1;
}

export { isFull };

/** From `first` up to and without `end`. */
export function range(first: number, end: number, step = 1): readonly number[] {
  return Array.from({ length: Math.ceil((end - first) / step) }, (_, index) => first + index * step);
}

/** A share of the moments, and always those that tell apart how it can come out, whatever the commit. */
export function sweep(moments: readonly number[], n: number, telling: readonly number[]): readonly number[] {
  return [...new Set([...telling, ...share(moments, n)])];
}

/** Every nth of the cases, by the commit from the first, the second, …: at least one. */
export function share<T>(cases: readonly T[], n: number): readonly T[] {
  const each = isFull ? 1 : Math.min(n, cases.length);
  const first = firstSeed() % each;
  return cases.filter((_, index) => index % each === first);
}
