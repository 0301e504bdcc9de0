/**
 * Error manager `continue`: what still runs stays, for ranks that do not need each other. A job that cannot produce
 * any more (its time is over, its output has no taker) ends all the same.
 */

import { accept, defineComponent } from '@stci/interface';
import type { Decision, Failure } from '@stci/interface';
import { errmgrFramework } from './framework.js';

function decide(failure: Failure): Decision {
  const over = ['timeout', 'interrupt', 'output'].includes(failure.kind);
  return { action: over ? 'end-job' : 'go-on' };
}

export const errmgrContinue = defineComponent({
  framework: errmgrFramework,
  name: 'continue',
  version: '1.0.0',
  frameworkVersion: 1,
  help: 'Ranks that are left go on; only a deadline or lost output ends the job.',
  params: {},
  query: () => accept(10, 'for those who ask for it'),
  create: () => ({ policy: 'continue', decide }),
});
