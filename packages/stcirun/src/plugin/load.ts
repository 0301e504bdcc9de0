/**
 * Plugins as components: records made of the manifest, which load their module when they are asked. What is loaded is
 * the copy; what it exports is compared with the manifest.
 */

import { createRequire } from 'node:module';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { StciError, type AnyComponent, type AnyFramework, type PluginComponent } from '@stci/interface';
import { readReason } from '../files/read-file.js';
import { collectFiles } from './collect.js';
import { placed, pluginError } from './error.js';
import { findPlugin, MANIFEST_FILE, type FoundPlugin } from './find.js';
import { guardComponent, guardLoad, type FaultOwner } from './guard.js';
import { keepInside } from './inside.js';
import { readManifest, withoutDeclarations, type CodeDeclaration } from './manifest.js';
import type { CopyName } from './params.js';
import { isMeantAsRecord, recordProblems } from './record.js';
import { storedPlugin, storeFiles } from './store.js';
import { syntaxPlace } from './syntax.js';

/** A plugin whose manifest was read. Its copy is made, and its code loaded, when it is needed. */
export interface Plugin extends FoundPlugin, FaultOwner {
  readonly components: readonly AnyComponent[];
  /** Of its copy, which is made at the first call. Throws STCI_PLUGIN_*. */
  copy(): CopyName;
}

/** Opens a package here. Throws STCI_PLUGIN_INVALID. */
export function openPlugin(path: string, frameworks: readonly AnyFramework[]): Plugin {
  const found = findPlugin(path, frameworks);
  for (const [index, { module }] of found.manifest.components.entries()) {
    if (existsSync(join(found.directory, module))) continue;
    const at = `${join(path, MANIFEST_FILE)}: stci.components[${index}].module`;
    throw new StciError('STCI_PLUGIN_INVALID', `${at}: there is no ${module} in the package. Build it, or correct it.`);
  }
  let hash: string | undefined;
  const copy = (): CopyName => ({ path, hash: (hash ??= storeFiles(collectFiles(found))) });
  return asPlugin(found, copy, frameworks);
}

/** Opens a copy on this host. Throws STCI_PLUGIN_FAILED if there is none. */
export function openCopy(copy: CopyName, frameworks: readonly AnyFramework[]): Plugin {
  const { path, hash } = copy;
  const directory = storedPlugin(hash);
  if (directory === undefined) {
    throw pluginError(path, `there is no copy ${hash} on this host`, 'STCI_PLUGIN_FAILED');
  }
  const file = join(directory, MANIFEST_FILE);
  const own = readManifest(readFileSync(file, 'utf8'), file, frameworks);
  return asPlugin({ ...own, path, directory }, () => copy, frameworks);
}

function asPlugin(own: FoundPlugin, copy: () => CopyName, frameworks: readonly AnyFramework[]): Plugin {
  const { path } = own;
  const components = own.manifest.components.map((declared): AnyComponent => {
    const framework = frameworks.find(({ name }) => name === declared.framework) as AnyFramework;
    const { name, help, params = {}, args } = declared;
    let loaded: AnyComponent | undefined;
    const load = (): AnyComponent =>
      (loaded ??= loadComponent({ path, copy, declared, framework, owner: plugin }));
    return Object.freeze({
      framework, name, version: own.version, frameworkVersion: framework.version, help, params,
      ...(args !== undefined && { args }),
      query: (question) => load().query(question),
      create: (deps, values, request) => load().create(deps, values, request) as unknown,
    } satisfies AnyComponent);
  });
  const plugin: Plugin = { ...own, components, copy };
  return plugin;
}

/** Copies of which this process has loaded code: paths of their plugins by hash. */
const loaded = new Map<string, string>();

export function pathOfCopy(hash: string): string | undefined {
  return loaded.get(hash);
}

interface Declared {
  readonly path: string;
  copy(): CopyName;
  readonly declared: PluginComponent;
  readonly framework: AnyFramework;
  readonly owner: FaultOwner;
}

/** What the code of a package declares, whatever its manifest says of that. Throws STCI_PLUGIN_INVALID. */
export function codeDeclarations(path: string, frameworks: readonly AnyFramework[]): readonly CodeDeclaration[] {
  const found = findPlugin(path, frameworks, withoutDeclarations);
  const hash = storeFiles(collectFiles(found));
  return found.manifest.components.map((declared) => {
    const { help, params, args } = exportedRecord(path, hash, declared);
    return { help, params, ...(args !== undefined && { args }) };
  });
}

/** The record of this component that its module exports, in a copy. Throws STCI_PLUGIN_INVALID. */
function exportedRecord(path: string, hash: string, declared: PluginComponent): AnyComponent {
  const directory = storedPlugin(hash);
  if (directory === undefined) throw pluginError(path, 'its copy was removed', 'STCI_PLUGIN_FAILED');
  loaded.set(hash, path);
  const exported = guardLoad(path, declared.module, () => loadModule(path, directory, declared.module));
  const values: readonly unknown[] = [exported, ...Object.values(exported as object).flat()];
  for (const value of values) checkRecord(value, path, declared);
  const all = values.filter(isComponent);
  const found = all.find((one) => one.framework.name === declared.framework && one.name === declared.name);
  if (found !== undefined) return found;
  const names = all.map((one) => `${one.framework.name}:${one.name}`).join(', ');
  throw pluginError(path, `${declared.module} exports no component ${declared.framework}:${declared.name}, which its `
    + `${MANIFEST_FILE} declares. It exports ${names === '' ? 'no record made by defineComponent' : names}`);
}

/** Throws STCI_PLUGIN_INVALID. */
function loadComponent({ path, copy, declared, framework, owner }: Declared): AnyComponent {
  const label = `${declared.framework}:${declared.name}`;
  const found = exportedRecord(path, copy().hash, declared);
  if (found.frameworkVersion !== framework.version) {
    throw pluginError(path, `${label} was written for version ${found.frameworkVersion} of framework `
      + `${framework.name}, which is at version ${framework.version}. Update the plugin`);
  }
  const wrong = (['help', 'params', 'args'] as const).flatMap((member) =>
    differences(declared[member] ?? {}, found[member] ?? {}, member));
  if (wrong.length > 0) {
    const text = wrong.join('; and in ');
    throw pluginError(path, `${label}: ${MANIFEST_FILE} and ${declared.module} differ in ${text}. Make them equal`);
  }
  return guardComponent({ ...found, framework }, path, owner);
}

function loadModule(path: string, directory: string, module: string): unknown {
  const file = join(directory, module);
  try {
    keepInside(directory);
    return createRequire(file)(file) as unknown;
  } catch (thrown) {
    const text = `${module} cannot be loaded: ${loadText(thrown, directory, module)}`;
    throw Object.assign(pluginError(path, text), { cause: thrown });
  }
}

function loadText(thrown: unknown, directory: string, module: string): string {
  const { code, message = String(thrown) } = (thrown ?? {}) as { readonly code?: string; readonly message?: string };
  if (code === 'ERR_REQUIRE_ESM') {
    return `ES modules as plugins need Node 20.19 or newer, and this is ${process.version}. Update Node, or use `
      + 'CommonJS';
  }
  if (code === 'ERR_REQUIRE_ASYNC_MODULE') return 'a plugin cannot have await outside of functions';
  const missing = /^Cannot find (?:module|package) '(?:\/[^']*\/plugins\/[0-9a-f]{16}\/node_modules\/)?([^'./][^']*)'/u
    .exec(message)?.[1]?.replace(/\/(?:index\.js|package\.json)$/u, '');
  if (missing !== undefined) {
    const name = missing.split('/').slice(0, missing.startsWith('@') ? 2 : 1).join('/');
    return `it imports '${missing}', which is not among what is copied. Run npm install ${name} in the package, so `
      + 'that it is a dependency, or bundle it';
  }
  const text = readReason(new Error(message.split('\n', 1)[0]));
  const found = placed(text, thrown);
  const at = found === text && thrown instanceof SyntaxError ? syntaxPlace(directory, module) : undefined;
  return at === undefined ? found : `${text} (${at})`;
}

/** Throws STCI_PLUGIN_INVALID for a value that is meant as the record of this component, and is none. */
function checkRecord(value: unknown, path: string, { framework, name, module }: PluginComponent): void {
  if (!isMeantAsRecord(value)) return;
  const own = (value['framework'] as { readonly name?: unknown } | null | undefined)?.name ?? framework;
  if (own !== framework || (value['name'] ?? name) !== name) return;
  const problems = recordProblems(value, framework);
  if (problems.length === 0) return;
  throw pluginError(path, `${module}: the record of ${framework}:${name}: ${problems.join('; ')}`);
}

function isComponent(value: unknown): value is AnyComponent {
  if (typeof value !== 'object' || value === null) return false;
  const { framework, name, create, query } = value as Partial<AnyComponent>;
  return typeof framework?.name === 'string' && typeof name === 'string' && typeof create === 'function'
    && typeof query === 'function';
}

/** The members in which two values of plain data differ, with both. */
function differences(declared: unknown, found: unknown, at: string): readonly string[] {
  const isPlain = (value: unknown): boolean => typeof value !== 'object' || value === null;
  if (isPlain(declared) || isPlain(found) || Array.isArray(declared) !== Array.isArray(found)) {
    const text = (value: unknown): string => (value === undefined ? 'nothing' : JSON.stringify(value));
    return declared === found ? [] : [`${at}: ${text(declared)} there, ${text(found)} here`];
  }
  const [a, b] = [declared, found] as Readonly<Record<string, unknown>>[];
  const keys = new Set([...Object.keys(a as object), ...Object.keys(b as object)]);
  return [...keys].flatMap((key) => differences(a?.[key], b?.[key], `${at}.${key}`));
}
