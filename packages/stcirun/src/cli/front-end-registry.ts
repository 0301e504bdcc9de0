/** The registry of the front-end: the agents', the defaults of options, and sessions. */

import type { Registry } from '@stci/core';
import { assembleRegistry } from '../assembly.js';
import { pluginsOf } from '../plugins.js';
import { sessionGroup } from '../session/params.js';
import { optionGroup } from './defaults.js';

/** With the plugins that pairs of `--mca` name. Throws STCI_PLUGIN_INVALID, or STCI_MCA_* if they do not fit. */
export function frontEndRegistry(mca: Parameters<typeof pluginsOf>[0] = []): Registry {
  return assembleRegistry([optionGroup, sessionGroup], pluginsOf(mca));
}
