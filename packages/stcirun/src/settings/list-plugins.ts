/** The plugins that files and the command line name, each with what is wrong with it; none of their code is run. */

import { StciError } from '@stci/interface';
import { frontEndRegistry } from '../assembly/front-end-registry.js';
import { pluginFrameworks } from '../assembly/registry.js';
import { openPlugin, type Plugin } from '../plugin/load.js';
import { locatePlugin } from '../plugin/locate.js';
import type { NamedPlugin } from './settings.js';

export interface ListedPlugin {
  readonly path: string;
  /** `FILE:LINE`, or the option. */
  readonly namedAt: string;
  readonly name?: string;
  readonly version?: string;
  readonly api?: string;
  readonly components: readonly string[];
  /** SHA-256 of all its files, by which agents know it. */
  readonly hash?: string;
  readonly problems: readonly string[];
}

export function listPlugins(named: readonly NamedPlugin[]): readonly ListedPlugin[] {
  const opened: Plugin[] = [];
  return named.map(({ base, text, origin }) => {
    const path = locatePlugin(base, text);
    const problems: string[] = [];
    const attempt = <T>(call: () => T): T | undefined => {
      try {
        return call();
      } catch (thrown) {
        if (!(thrown instanceof StciError)) throw thrown;
        problems.push(...thrown.message.split('\n'));
        return undefined;
      }
    };
    const plugin = attempt(() => openPlugin(path, pluginFrameworks()));
    if (plugin === undefined) return { path, namedAt: origin, components: [], problems };
    const isAgain = opened.some(({ directory }) => directory === plugin.directory);
    if (isAgain) problems.push(`plugin ${path}: it is named before, and counts once.`);
    else if (attempt(() => frontEndRegistry([...opened, plugin])) !== undefined) opened.push(plugin);
    const hash = attempt(() => plugin.copy().hash);
    const { name, version, manifest: { api } } = plugin;
    const components = plugin.components.map((one) => `${one.framework.name}:${one.name}`);
    return { path, namedAt: origin, name, version, api, components, ...(hash !== undefined && { hash }), problems };
  });
}
