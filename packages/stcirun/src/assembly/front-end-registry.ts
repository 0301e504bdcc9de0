/** The registry of the front-end: the agents', the defaults of options, sessions, and where hosts come from. */

import type { Registry } from '@stci/core';
import { allocationComponents, allocationFramework } from '@stci/core/allocation';
import { optionGroup } from '../cli/defaults.js';
import type { Plugin } from '../plugin/load.js';
import { mpiGroup, sessionGroup } from './front-end-params.js';
import { assembleRegistry } from './registry.js';

/** Throws STCI_PLUGIN_INVALID for components whose names others have. */
export function frontEndRegistry(plugins: readonly Plugin[] = []): Registry {
  return assembleRegistry({
    groups: [optionGroup, sessionGroup, mpiGroup], frameworks: [allocationFramework], components: allocationComponents,
  }, plugins);
}
