/** Where exploration begins: at seeds of this commit, so that each commit explores others. */

import { spawnSync } from 'node:child_process';
import { commitSeed } from '@stci/swarm';

/** CI names it (and prints it); else it is the commit's too, or the first where there is no repository. */
export function firstSeed(): number {
  const named = Number(process.env['STCI_SWARM_FROM']);
  if (named > 0) return named;
  const cwd = new URL('.', import.meta.url);
  const { status, stdout } = spawnSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8', cwd });
  return status === 0 ? commitSeed(stdout) : 1;
}
