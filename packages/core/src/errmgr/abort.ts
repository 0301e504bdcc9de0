/** Error manager `abort`: the first failure ends the job. What most parallel programs need, and the default. */

import { accept, defineComponent } from '@stci/interface';
import type { Decision } from '@stci/interface';
import { errmgrFramework } from './framework.js';

const END_JOB: Decision = { action: 'end-job' };

export const errmgrAbort = defineComponent({
  framework: errmgrFramework,
  name: 'abort',
  version: '1.0.0',
  frameworkVersion: 1,
  help: 'The first failure ends the job.',
  params: {},
  query: () => accept(50),
  create: () => ({ policy: 'abort', decide: () => END_JOB }),
});
