/** Error manager `abort`: the first failure ends the job. What most parallel programs need, and the default. */

import { accept, builtinComponent } from '@stci/interface';
import { errmgrFramework } from './framework.js';
import { decideOnHost } from './host-policy.js';

export const errmgrAbort = builtinComponent({
  framework: errmgrFramework,
  name: 'abort',
  help: 'The first failure ends the job.',
  query: () => accept(50),
  create: ({ hosts }) => ({
    policy: 'abort',
    toleratesFailures: false,
    decide: (_failure, context) => [context.of === 'session' ? decideOnHost(hosts, context) : { type: 'end-job' }],
  }),
});
