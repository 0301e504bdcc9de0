/** Names of sets of processes: unguessable, because PMIx believes who knows one, and another for each job. */

import type { JobId, Rank } from '@stci/interface';

/** By which libraries name their server. */
export const PMIX_SERVER = { nspace: 'stci', rank: 0 } as const;

/** `token`: of the job, which nobody can guess; `first`: of the set's ranks, 0 of those that were launched with it. */
export function nspaceName(session: string, job: JobId, token: string, first: Rank): string {
  return `${session}-${job}-${token}${first === 0 ? '' : `-${first}`}`;
}
