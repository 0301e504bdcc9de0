/** The part of an agent that is loaded when its link is up: registry, roles. */

import { createComposition, roleFactory } from '@stci/core';
import { assembleRegistry } from './assembly.js';
import { agentPlugins } from './plugin/agent-plugins.js';

export const startRole = roleFactory(createComposition(assembleRegistry(), agentPlugins));
