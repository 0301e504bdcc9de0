/** The plugins of an agent's process: empty until take-plugins.ts is loaded, which is where a session has some. */

import type { PluginHooks } from '@stci/core';

export const agentPlugins: { -readonly [Name in keyof PluginHooks]: PluginHooks[Name] } = {};
