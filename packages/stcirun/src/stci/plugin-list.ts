/** `stci plugin list`: the plugins that configuration and `--plugin` name. */

import { ERROR_KINDS } from '@stci/interface';
import { createNodePlatform } from '@stci/platform-node';
import { mcaPairs } from '../cli/param-options.js';
import type { ListedPlugin } from '../settings/list-plugins.js';
import { pluginPairs } from '../plugin/params.js';
import { jsonText, printOut } from '../process/print.js';
import { callerDirectory } from '../files/caller-directory.js';
import { readNamedPlugins } from '../settings/settings.js';
import { commonFlags, paramFlags, StciCommand } from './base.js';

const HASH_CHARS = 12;

export class PluginListCommand extends StciCommand {
  static override readonly summary = 'the plugins that are used, where each is named, and what is wrong with it';
  static override readonly synopsis = '[--plugin PATH]... [--am FILE]... [--json]';
  static override readonly page = 'plugins.md';
  static override readonly details = `
Those of parameter plugin.paths in files, and of --plugin. None of their code is run; stci plugin check does so. Exit
code 0: nothing is wrong with any.

Example:
  stci plugin list --plugin ./my-topology
`;

  static override flags = {
    plugin: commonFlags.plugin,
    json: commonFlags.json,
    ...paramFlags,
  };

  async run(): Promise<number> {
    const { flags: { plugin = [], mca = [], am = [], json } } = await this.parse(PluginListCommand);
    const pairs = [...plugin.flatMap((path) => pluginPairs([path], true)), ...mcaPairs(mca)];
    const named = readNamedPlugins({ mca: pairs, am }, callerDirectory(), createNodePlatform().env.variables);
    const { listPlugins } = await import('../settings/list-plugins.js');
    const plugins = listPlugins(named);
    if (json === true) printOut(jsonText({ plugins }));
    else printOut(plugins.length === 0 ? 'no plugins are named\n' : plugins.map(pluginText).join(''));
    const isWrong = plugins.some(({ problems }) => problems.length > 0);
    return isWrong ? ERROR_KINDS.STCI_PLUGIN_INVALID.exitCode : 0;
  }
}

function pluginText({ path, namedAt, name, version, api, components, hash, problems }: ListedPlugin): string {
  const copy = hash === undefined ? '' : `, ${hash.slice(0, HASH_CHARS)}`;
  const what = name === undefined ? '' : `: ${name} ${version}, API ${api}${copy}`;
  const lines = [`named at ${namedAt}`, ...components, ...problems.map((problem) => `problem: ${problem}`)];
  return `${path}${what}\n${lines.map((line) => `  ${line}\n`).join('')}`;
}
