/**
 * Error manager `continue`: the other ranks run on, for ranks that do not need each other. A job that has timed out,
 * was interrupted, or whose output cannot be written ends all the same.
 */

import { accept, defineComponent } from '@stci/interface';
import type { Failure, JobAction } from '@stci/interface';
import { errmgrFramework } from './framework.js';
import { decideOnHost } from './host-policy.js';

function decideOnJob(failure: Failure): JobAction {
  const over = ['timeout', 'interrupt', 'output'].includes(failure.kind);
  return { type: over ? 'end-job' : 'go-on' };
}

export const errmgrContinue = defineComponent({
  framework: errmgrFramework,
  name: 'continue',
  version: '1.0.0',
  frameworkVersion: 1,
  help: 'Ranks that are left go on; only a deadline or lost output ends the job.',
  params: {},
  query: () => accept(10, 'only by name'),
  create: ({ hosts }) => ({
    policy: 'continue',
    decide: (failure, context) => [context.of === 'session' ? decideOnHost(hosts, context) : decideOnJob(failure)],
  }),
});
