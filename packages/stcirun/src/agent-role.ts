/** The part of an agent that is loaded when its link is up: registry, roles. */

import { createUniverse, roleStarter } from '@stci/core';
import { assembleRegistry } from './assembly.js';

export const startRole = roleStarter(createUniverse(assembleRegistry()));
