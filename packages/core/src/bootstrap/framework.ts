/**
 * Framework `bootstrap` (STCI paper, III-B), mode one: what follows when a host does not come up. Its module is asked
 * by the controller before the job is launched, and never acts itself.
 */

import { defineFramework } from '@stci/interface';
import type { BootstrapPolicy, NoDeps } from '@stci/interface';

export const bootstrapFramework = defineFramework<BootstrapPolicy, NoDeps>({
  name: 'bootstrap',
  mode: 'one',
  version: 1,
  help: 'What follows when a host does not come up.',
  params: {
    collect: {
      type: 'duration',
      default: 1000,
      min: 0,
      max: 600_000,
      help: 'Before a launch that failed is ended, how long further failures are awaited, so that all are reported. '
        + 'Longer finds more bad hosts in one go, shorter returns sooner.',
    },
  },
});
