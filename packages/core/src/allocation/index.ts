/** Where hosts come from: framework `allocation` and its components. Front-ends alone load it. */

import type { AnyComponent } from '@stci/interface';
import { allocationGiven } from './given.js';
import { allocationMachine } from './machine.js';
import { allocationLsf, allocationPbs } from './node-files.js';
import { allocationSlurm } from './slurm.js';

export { allocate, type NamedHosts } from './allocate.js';
export { allocationFramework } from './framework.js';
export { machineHost } from './machine.js';

export const allocationComponents: readonly AnyComponent[] = [
  allocationGiven, allocationLsf, allocationMachine, allocationPbs, allocationSlurm,
];
