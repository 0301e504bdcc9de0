/** Names of sets of processes: unguessable, because PMIx believes who knows one, and another for each job. */

import type { JobId } from '@stci/interface';

/** `token`: of the job, which nobody can guess. */
export function nspaceName(session: string, job: JobId, token: string): string {
  return `${session}-${job}-${token}`;
}
