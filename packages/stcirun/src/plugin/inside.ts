/**
 * A copy's code imports what is in the copy, what STCI gives it, and Node's own modules. Node would look for the rest
 * in the node_modules of each directory above the cache, and for `require` where NODE_PATH and the home directory say:
 * that is nobody's dependency, differs from host to host, and is judged by nobody.
 */

import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import Module, { builtinModules } from 'node:module';
import { dirname, isAbsolute, join } from 'node:path';
import { findPackage } from './locate.js';

/** The directory of copies, then that of one. */
const COPY = /^(.*\/plugins\/[0-9a-f]{16}\/)[0-9a-f]{64}\//u;
const IMPORT = /\b(?:from|import)\s*\(?\s*(['"])([^'"\n]+)\1/gu;
const MODULE = /\.[cm]?js$/u;

type Parent = { readonly filename?: string | null } | undefined;
type Resolve = (request: string, parent: Parent, ...rest: unknown[]) => string;

let isKept = false;

/** From now on `require` in a copy finds nothing outside, unless it names an absolute path. */
function keepRequire(): void {
  if (isKept) return;
  isKept = true;
  const loader = Module as unknown as { _resolveFilename: Resolve };
  const resolve = loader._resolveFilename;
  loader._resolveFilename = function keptInside(request, parent, ...rest) {
    const found = resolve.call(this, request, parent, ...rest);
    const [copy, store] = COPY.exec(parent?.filename ?? '') ?? [];
    if (copy === undefined || store === undefined || !isAbsolute(found) || isAbsolute(request)) return found;
    const isInside = [copy, join(store, 'node_modules/')].some((at) => found.startsWith(`${realpathSync(at)}/`));
    if (isInside) return found;
    throw Object.assign(new Error(`Cannot find module '${request}'`), { code: 'MODULE_NOT_FOUND' });
  };
}

/**
 * Before code of a copy runs; `name` is its package's. ES modules have no such hook: their imports are found in their
 * text, where something above the cache could be imported. Throws for the first that would be.
 */
export function keepInside(copy: string, name: string): void {
  keepRequire();
  const directory = realpathSync(copy);
  if (!hasPackages(dirname(dirname(directory)))) return;
  for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !MODULE.test(entry.name)) continue;
    const at = entry.parentPath ?? entry.path;
    for (const [, , imported = ''] of readFileSync(join(at, entry.name), 'utf8').matchAll(IMPORT)) {
      const own = packageOf(imported);
      if (own === undefined || own === name) continue;
      const found = findPackage(at, own);
      if (found !== undefined && isAbove(found, directory)) throw new Error(`Cannot find package '${imported}'`);
    }
  }
}

function hasPackages(from: string): boolean {
  for (let at = from; ; at = dirname(at)) {
    if (existsSync(join(at, 'node_modules'))) return true;
    if (dirname(at) === at) return false;
  }
}

function isAbove(found: string, directory: string): boolean {
  return ![directory, join(dirname(directory), 'node_modules')].some((at) => found.startsWith(`${at}/`));
}

/** undefined: a file, one of Node's, or what the package itself calls so. */
function packageOf(imported: string): string | undefined {
  if (/^[./#]|^[a-z]+:/u.test(imported) || builtinModules.includes(imported)) return undefined;
  return imported.split('/').slice(0, imported.startsWith('@') ? 2 : 1).join('/');
}
