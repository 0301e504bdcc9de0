/**
 * Bootstrap policy `abort`, the default: a host that does not come up ends the launch, with every failure found.
 */

import { accept, defineComponent } from '@stci/interface';
import type { BootstrapPolicy } from '@stci/interface';
import { bootstrapFramework } from './framework.js';

export const bootstrapAbort = defineComponent({
  framework: bootstrapFramework,
  name: 'abort',
  version: '1.0.0',
  frameworkVersion: 1,
  help: 'A host that does not come up ends the launch; all failures found are reported.',
  params: {},
  query: () => accept(50),
  create: (): BootstrapPolicy => ({ policy: 'abort', decide: () => 'abort' }),
});
