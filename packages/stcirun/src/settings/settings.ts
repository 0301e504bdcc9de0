/**
 * The settings of a command: files, environment and command line are read; the plugins that they name are found, which
 * adds components and their parameters; then all values are resolved.
 */

import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import {
  createComposition, fileTexts, PLUGIN_COPIES, withResolved, type Composition, type ParamFile, type ParamInputs,
  type Registry,
} from '@stci/core';
import type { ParamSource } from '@stci/interface';
import { distrusted } from '@stci/platform-node';
import { frontEndRegistry } from '../assembly/front-end-registry.js';
import { pluginFrameworks } from '../assembly/registry.js';
import type { Variables } from '../cli/environment.js';
import { resolveFrom } from '../files/caller-directory.js';
import { checkJobCopies } from '../plugin/check-job.js';
import { pluginError } from '../plugin/error.js';
import type { Plugin } from '../plugin/load.js';
import { locatePlugin } from '../plugin/locate.js';
import { copyText, PATHS } from '../plugin/params.js';
import { readParams, resolveRead, type LoadedParams, type ParamsRequest, type ReadParams } from './params.js';

export interface Settings extends LoadedParams {
  readonly registry: Registry;
  readonly plugins: readonly Plugin[];
  readonly composition: Composition;
}

/**
 * `check`: of the registry, before values are resolved. Throws STCI_PARAM_*, STCI_MCA_COMPONENT_UNKNOWN and
 * STCI_PLUGIN_*.
 */
export async function loadSettings(
  request: ParamsRequest, wdir: string | undefined, env: Variables, check?: (registry: Registry) => void,
): Promise<Settings> {
  const read = readParams(request, wdir, env);
  const plugins = await findPlugins(read.inputs, wdir);
  if (plugins.length === 0) {
    const registry = frontEndRegistry();
    check?.(registry);
    // A job of a session without plugins may name some.
    const composition = createComposition(registry, { checkJob: checkJobCopies });
    return { ...resolveRead(registry, read), registry, plugins: [], composition };
  }
  const { pluginHooks } = await import('../plugin/hooks.js');
  const registry = frontEndRegistry(plugins);
  check?.(registry);
  const loaded = resolveRead(registry, withPaths(read, plugins.map(({ path }) => path)));
  return { ...loaded, registry, plugins, composition: createComposition(registry, pluginHooks) };
}

/** The plugins that are named, each once. Throws STCI_PLUGIN_INVALID. */
export async function findPlugins(inputs: ParamInputs, wdir: string | undefined): Promise<readonly Plugin[]> {
  const named = namedPlugins(inputs, wdir);
  if (named.length === 0) return [];
  const { openPlugin } = await import('../plugin/load.js');
  const frameworks = pluginFrameworks();
  const paths = [...new Set(named.map(({ base, text }) => locatePlugin(base, text)))];
  const opened = paths.map((path) => openPlugin(path, frameworks));
  return [...new Map(opened.map((plugin) => [plugin.directory, plugin])).values()];
}

/** As `loadSettings`, for what starts agents: the plugins are copied, and agents get the names of the copies. */
export async function loadRunSettings(...of: Parameters<typeof loadSettings>): Promise<Settings> {
  const settings = await loadSettings(...of);
  const { plugins, registry, params } = settings;
  if (plugins.length === 0) return settings;
  const value = [...new Set(plugins.map((plugin) => copyText(plugin.copy())))];
  const { source, origin = '' } = params.entries().find(({ name }) => name === PATHS) ?? { source: 'command line' };
  const copies = { name: PLUGIN_COPIES, value, source: source as ParamSource, origin };
  return { ...settings, params: withResolved(registry.catalog, params, [copies]) };
}

export interface NamedPlugin {
  /** What it is relative to. */
  readonly base: string;
  readonly text: string;
  /** Where it is named: `FILE:LINE`, or an option. */
  readonly origin: string;
}

/** The plugins that files and the command line name. Throws STCI_PARAM_*; STCI_PLUGIN_INVALID for a file's owner. */
export function readNamedPlugins(
  request: ParamsRequest, wdir: string | undefined, env: Variables,
): readonly NamedPlugin[] {
  return namedPlugins(readParams(request, wdir, env).inputs, wdir);
}

/**
 * The list of the file that goes before the others, and what the command line adds to it. An administrator's file has
 * the last word.
 */
function namedPlugins(inputs: ParamInputs, wdir: string | undefined): readonly NamedPlugin[] {
  const override = pathsOf('override', inputs.override);
  if (override !== undefined) return override;
  const amFiles = [...(inputs.amFiles ?? [])].reverse().map(({ path, text }) =>
    ({ path: resolveFrom(wdir, path, '--am'), text }));
  const file = firstOf([
    ...amFiles.map((one) => () => checkedPathsOf(one)),
    () => pathsOf('project file', inputs.project),
    () => pathsOf('user file', inputs.user),
    () => pathsOf('system file', inputs.system),
  ]);
  const pairs = (inputs.commandLine ?? []).filter(({ key }) => key === PATHS);
  const own = pairs.flatMap(({ value, origin = '--mca' }) => items(value).map((text) => ({ text, origin })));
  return [...(file ?? []), ...own.map((one) => ({ base: wdir ?? '/', ...one }))];
}

function firstOf<T>(all: readonly (() => T | undefined)[]): T | undefined {
  for (const one of all) {
    const found = one();
    if (found !== undefined) return found;
  }
  return undefined;
}

function items(value: string): readonly string[] {
  return value.split(',').map((item) => item.trim()).filter((item) => item !== '');
}

/** undefined: the file says nothing of plugins. What else is wrong with it is told by the resolver. */
function pathsOf(source: ParamSource, file: ParamFile | undefined): readonly NamedPlugin[] | undefined {
  if (file?.text?.includes(PATHS) !== true) return undefined;
  const found = fileTexts(source, file).texts.find(({ name }) => name === PATHS);
  return found && items(found.text).map((text) => ({ base: dirname(file.path), text, origin: found.origin }));
}

/** A file of --am is read whoever owns it, unless it names code to run. */
function checkedPathsOf(file: ParamFile): readonly NamedPlugin[] | undefined {
  const named = pathsOf('am file', file);
  if (named === undefined || named.length === 0) return named;
  for (const path of [file.path, dirname(file.path)]) {
    const wrong = distrusted(statSync(path));
    if (wrong === undefined) continue;
    const remedy = wrong.is === 'owner' ? 'Copy it into a directory of your own' : `To use it: chmod go-w ${path}`;
    throw pluginError(named[0]?.text ?? '', `${file.path} names it, and ${path} ${wrong.reason}. ${remedy}`);
  }
  return named;
}

/** The command line's value is shown with all that it means. */
function withPaths(read: ReadParams, paths: readonly string[]): ReadParams {
  const { commandLine = [] } = read.inputs;
  const own = commandLine.filter(({ key }) => key === PATHS);
  if (own.length === 0) return read;
  const origin = own.map((pair) => pair.origin ?? `--mca ${PATHS}=${pair.value}`).join(' ');
  const joined = { key: PATHS, value: paths.join(','), origin };
  return {
    ...read,
    inputs: { ...read.inputs, commandLine: [...commandLine.filter(({ key }) => key !== PATHS), joined] },
  };
}
