/** What becomes of a job of which a rank fails, for its MPI library. */

import type { Params } from '@stci/interface';

/** What the error manager does at the failure of a rank. */
export function policyOf(params: Params): string | undefined {
  const own = params.list('errmgr.tool');
  return (own.length > 0 ? own : params.list('errmgr'))[0];
}

/** Whether the loss of ranks is news for the others, and not the end of their job. */
export function isTolerant(params: Params): boolean {
  return ['notify', 'continue'].includes(policyOf(params) ?? '');
}
