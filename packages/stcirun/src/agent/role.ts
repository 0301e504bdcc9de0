/** The part of an agent that is loaded when its link is up: registry, roles. */

import { createComposition, roleFactory } from '@stci/core';
import { assembleRegistry } from '../assembly/registry.js';
import { agentPlugins } from './agent-plugins.js';

export const startRole = roleFactory(createComposition(assembleRegistry(), agentPlugins));
