/**
 * Plugins: components of packages outside. `--plugin PATH` names one. The paths travel among the parameters: each agent
 * loads the same, from the same paths of its own host. Their code runs as the user, as the programs that he starts do.
 */

import { createRequire } from 'node:module';
import { isAbsolute } from 'node:path';
import type { ParamGroup } from '@stci/core';
import { StciError, isErrorCode, type AnyComponent } from '@stci/interface';
import { callerDirectory, resolveFrom } from './run/caller-directory.js';

const PATHS = 'plugin.paths';

export const pluginGroup: ParamGroup = {
  name: 'plugin',
  help: 'Components of packages outside.',
  params: {
    paths: {
      type: 'list',
      default: [],
      scope: 'job',
      help: 'Absolute paths of packages, or files, whose components are added; what --plugin stands for. On the '
        + 'command line only.',
    },
  },
  rules: [{
    param: PATHS,
    check: (params) => {
      const given = params.entries().find(({ name }) => name === PATHS);
      return given === undefined || given.source === 'default' || given.source === 'command line' ? undefined
        : 'plugins are named on the command line only. Write --plugin PATH.';
    },
  }],
};

interface Pair {
  readonly key: string;
  readonly value: string;
}

/** What `--plugin` stands for. */
export function pluginPairs(paths: readonly string[] = []): (Pair & { readonly origin: string })[] {
  if (paths.length === 0) return [];
  const wdir = paths.every((path) => isAbsolute(path)) ? undefined : callerDirectory();
  const value = paths.map((path) => resolveFrom(wdir, path, '--plugin')).join(',');
  return [{ key: PATHS, value, origin: paths.map((path) => `--plugin ${path}`).join(' ') }];
}

/** A package, or file, that was loaded. */
export interface Plugin {
  readonly path: string;
  readonly components: readonly AnyComponent[];
}

/** The plugins that the command line names. Throws STCI_PLUGIN_INVALID. */
export function pluginsOf(mca: readonly Pair[]): Plugin[] {
  return loadPlugins(mca.flatMap(({ key, value }) => (key === PATHS ? value.split(',') : [])));
}

/** Those of parameters that an agent was sent, before its registry is made. Throws STCI_PLUGIN_INVALID. */
export function pluginsIn(snapshot: Readonly<Record<string, unknown>>): Plugin[] {
  const paths = snapshot[PATHS];
  return loadPlugins(Array.isArray(paths) ? paths.map(String) : []);
}

function loadPlugins(paths: readonly string[]): Plugin[] {
  return [...new Set(paths)].map((path) => ({ path, components: componentsOf(path) }));
}

/** Calls `assemble` with all components; where it throws, the error names the first plugin that does not fit. */
export function withPlugins<T>(plugins: readonly Plugin[], assemble: (added: readonly AnyComponent[]) => T): T {
  try {
    return assemble(plugins.flatMap(({ components }) => components));
  } catch (thrown) {
    for (const [index, { path }] of plugins.entries()) {
      try {
        assemble(plugins.slice(0, index + 1).flatMap(({ components }) => components));
      } catch (fault) {
        throw invalid(path, `it does not fit: ${fault instanceof Error ? fault.message : String(fault)}`);
      }
    }
    throw thrown;
  }
}

function componentsOf(path: string): AnyComponent[] {
  if (!isAbsolute(path)) throw invalid(path, 'the path is not absolute. Write --plugin PATH');
  let exported: object;
  try {
    exported = createRequire('/')(path) as object;
  } catch (thrown) {
    throw invalid(path, `it cannot be loaded: ${loadText(thrown, path)}`);
  }
  const found = Object.values(exported).flat().filter(isComponent);
  if (found.length > 0) return [...new Set(found)].map((component) => guarded(component, path));
  throw invalid(path, 'it exports no component. Expected records made by defineComponent');
}

function loadText(thrown: unknown, path: string): string {
  const { code, message } = thrown as { readonly code?: string; readonly message?: string };
  const [line = ''] = (message ?? String(thrown)).split('\n');
  if (code === 'MODULE_NOT_FOUND' && line.includes(`'${path}'`)) {
    return 'there is no such file, or directory with index.js or a package.json that names its "main"';
  }
  if (code === 'ERR_REQUIRE_ESM') return 'ES modules as plugins need Node 20.19 or newer';
  return line;
}

function isComponent(value: unknown): value is AnyComponent {
  if (typeof value !== 'object' || value === null) return false;
  const { framework, name, create, query, params } = value as Partial<AnyComponent>;
  return typeof framework?.name === 'string' && typeof name === 'string' && typeof create === 'function'
    && typeof query === 'function' && typeof params === 'object';
}

/** What it throws is an error that names it. A plugin has a class StciError of its own where it has a copy of STCI. */
function guarded(component: AnyComponent, path: string): AnyComponent {
  const within = <T>(call: () => T): T => {
    try {
      return call();
    } catch (thrown) {
      const { code, message } = thrown as { readonly code?: string; readonly message?: string };
      const text = `${component.framework.name}:${component.name}: ${message ?? String(thrown)}`;
      if (code === undefined || !isErrorCode(code)) throw invalid(path, text);
      throw new StciError(code, `plugin ${path}: ${text}`);
    }
  };
  return {
    ...component,
    query: (question) => within(() => component.query(question)),
    create: (deps, params, request) => within(() => component.create(deps, params, request) as unknown),
  };
}

function invalid(path: string, text: string): StciError {
  return new StciError('STCI_PLUGIN_INVALID', `plugin ${path}: ${text}.`.replace(/\.\.$/u, '.'), { data: { path } });
}
