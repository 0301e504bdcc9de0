/** The part of an agent that is loaded when its link is up: registry, roles. */

import { createComposition, roleFactory } from '@stci/core';
import { assembleRegistry } from './assembly.js';
import { pluginsIn } from './plugins.js';

export const startRole = roleFactory(createComposition(assembleRegistry(), (snapshot) => {
  const plugins = pluginsIn(snapshot);
  return plugins.length === 0 ? undefined : assembleRegistry([], plugins);
}));
