/**
 * Bootstrap policy `shrink`: the job goes on with the hosts that come up, as long as there are enough of them.
 */

import { accept, defineComponent } from '@stci/interface';
import type { BootstrapPolicy } from '@stci/interface';
import { counted } from '../job/text.js';
import { bootstrapFramework } from './framework.js';

export const bootstrapShrink = defineComponent({
  framework: bootstrapFramework,
  name: 'shrink',
  version: '1.0.0',
  frameworkVersion: 1,
  help: 'The job runs on the hosts that come up, if they are enough.',
  params: {
    min: {
      type: 'int',
      default: 1,
      min: 1,
      max: 1_000_000,
      help: 'Hosts that must come up; with fewer the launch is ended.',
    },
  },
  query: () => accept(10, 'only by name'),
  create: (_deps, params): BootstrapPolicy => ({
    policy: 'shrink',
    decide: (_failure, { hostsLeft }) => (hostsLeft >= (params['min'] as number) ? 'shrink' : 'abort'),
    reasonOf: (_failure, { hostsLeft }) => `at most ${counted(hostsLeft, 'host')} can come up, fewer than the `
      + `${params['min']} that --min-hosts (bootstrap.shrink.min) asks for`,
  }),
});
