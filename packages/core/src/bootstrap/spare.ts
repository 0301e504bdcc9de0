/**
 * Bootstrap policy `spare`: a spare host of the allocation takes the place of one that does not come up.
 */

import { accept, defineComponent } from '@stci/interface';
import type { BootstrapPolicy } from '@stci/interface';
import { bootstrapFramework } from './framework.js';

export const bootstrapSpare = defineComponent({
  framework: bootstrapFramework,
  name: 'spare',
  version: '1.0.0',
  frameworkVersion: 1,
  help: 'A spare host takes the place of one that does not come up; without one left the launch is ended.',
  params: {},
  query: () => accept(10, 'only by name'),
  create: (): BootstrapPolicy => ({
    policy: 'spare',
    decide: (_failure, { sparesLeft }) => (sparesLeft > 0 ? 'spare' : 'abort'),
    reasonOf: () => 'no spare host is left (--spares)',
  }),
});
