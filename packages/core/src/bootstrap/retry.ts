/**
 * Bootstrap policy `retry`: the agent is started again on the same host, for failures that pass by themselves.
 */

import { accept, defineComponent } from '@stci/interface';
import type { BootstrapPolicy } from '@stci/interface';
import { bootstrapFramework } from './framework.js';

export const bootstrapRetry = defineComponent({
  framework: bootstrapFramework,
  name: 'retry',
  version: '1.0.0',
  frameworkVersion: 1,
  help: 'An agent that does not come up is started again on the same host, then the launch is ended.',
  params: {
    count: {
      type: 'int',
      default: 2,
      min: 1,
      max: 100,
      help: 'Further starts of one agent before the launch is ended.',
    },
  },
  query: () => accept(10, 'only by name'),
  create: (_deps, params): BootstrapPolicy => ({
    policy: 'retry',
    decide: ({ attempts }) => (attempts <= (params['count'] as number) ? 'retry' : 'abort'),
    reasonOf: ({ host, attempts }) => `${host.name} was started ${attempts} times (bootstrap.retry.count)`,
  }),
});
