/** Framework `fault` (STCI paper, IV-B), mode keyed: kinds of faults that experiments inject. Its modules are pure. */

import { defineFramework, type FaultModule, type NoDeps } from '@stci/interface';

export const faultFramework = defineFramework<FaultModule, NoDeps>({
  name: 'fault',
  mode: 'keyed',
  version: 1,
  help: 'Kinds of faults that finject injects into a running job.',
  params: {},
});
