/** Framework `service`, mode many: what agents do for the programs of a job besides starting them, by plugins. */

import { defineFramework, type NoDeps, type ServiceModule } from '@stci/interface';

export const serviceFramework = defineFramework<ServiceModule, NoDeps>({
  name: 'service',
  mode: 'many',
  version: 1,
  scope: 'job',
  help: 'What agents do for the programs of a job besides starting them; of plugins.',
  params: {},
});
