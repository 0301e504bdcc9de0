/** The registry of the front-end: the agents', the defaults of options, and sessions. */

import type { Registry } from '@stci/core';
import { assembleRegistry } from '../assembly.js';
import { sessionGroup } from '../session/params.js';
import { optionGroup } from './defaults.js';

export function frontEndRegistry(): Registry {
  return assembleRegistry([optionGroup, sessionGroup]);
}
