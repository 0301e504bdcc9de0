/** Names of sets of processes: unguessable, because PMIx believes who knows one, and another for each job. */

import type { JobId } from '@stci/interface';

/** By which libraries name their server. */
export const PMIX_SERVER = { nspace: 'stci', rank: 0 } as const;

/** `token`: of the job, which nobody can guess. */
export function nspaceName(session: string, job: JobId, token: string): string {
  return `${session}-${job}-${token}`;
}
