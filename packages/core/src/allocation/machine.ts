/** Component `machine` of framework `allocation`: this machine, with a slot a processor as a hint. */

import { accept, builtinComponent } from '@stci/interface';
import type { AllocationDeps, HostSpec } from '@stci/interface';
import { THIS_MACHINE } from '../job/slots.js';
import { allocationFramework } from './framework.js';

export function machineHost({ hostname, cpuCount }: AllocationDeps['thisMachine']): HostSpec {
  return { name: hostname, slots: Math.max(1, cpuCount), slotsBound: false, origin: THIS_MACHINE };
}

export const allocationMachine = builtinComponent({
  framework: allocationFramework,
  name: 'machine',
  help: 'This machine alone.',
  query: () => accept(10),
  create: ({ thisMachine }) => ({
    place: `this machine, ${thisMachine.hostname}`,
    takesNames: false,
    hosts: () => [machineHost(thisMachine)],
  }),
});
