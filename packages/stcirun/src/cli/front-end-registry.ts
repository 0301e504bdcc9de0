/** The registry of those who read a command line: what agents have, and the defaults of options. */

import type { Registry } from '@stci/core';
import { assembleRegistry } from '../assembly.js';
import { optionGroup } from './defaults.js';

export function frontEndRegistry(): Registry {
  return assembleRegistry([optionGroup]);
}
