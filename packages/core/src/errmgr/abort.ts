/** Error manager `abort`: the first failure ends the job. What most parallel programs need, and the default. */

import { accept, defineComponent } from '@stci/interface';
import { errmgrFramework } from './framework.js';
import { decideOnHost } from './host-policy.js';

export const errmgrAbort = defineComponent({
  framework: errmgrFramework,
  name: 'abort',
  version: '1.0.0',
  frameworkVersion: 1,
  help: 'The first failure ends the job.',
  params: {},
  query: () => accept(50),
  create: ({ hosts }) => ({
    policy: 'abort',
    toleratesFailures: false,
    decide: (_failure, context) => [context.of === 'session' ? decideOnHost(hosts, context) : { type: 'end-job' }],
  }),
});
