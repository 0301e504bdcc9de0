/** The registry of the front-end: the agents', and the defaults of options. */

import type { Registry } from '@stci/core';
import { assembleRegistry } from '../assembly.js';
import { optionGroup } from './defaults.js';

export function frontEndRegistry(): Registry {
  return assembleRegistry([optionGroup]);
}
