/** Where hosts come from: framework `allocation` and its components. Front-ends alone load it. */

import type { AnyComponent } from '@stci/interface';
import { allocationGiven } from './given.js';
import { allocationMachine } from './machine.js';

export { allocate, type NamedHosts } from './allocate.js';
export { allocationFramework } from './framework.js';

export const allocationComponents: readonly AnyComponent[] = [allocationGiven, allocationMachine];
