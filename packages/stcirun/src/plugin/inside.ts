/**
 * A copy's code imports what is in the copy, what STCI gives it, and Node's own modules. Node would look for the rest
 * in the node_modules of each directory above the cache, and for `require` where NODE_PATH and the home directory say:
 * that is nobody's dependency, differs from host to host, and is judged by nobody.
 */

import { mkdirSync, readdirSync, realpathSync } from 'node:fs';
import Module from 'node:module';
import { dirname, isAbsolute, join } from 'node:path';

/** The directory of copies, then that of one. */
const COPY = /^(.*\/plugins\/[0-9a-f]{16}\/)[0-9a-f]{64}\//u;

type Parent = { readonly filename?: string | null } | undefined;
type Resolve = (request: string, parent: Parent, ...rest: unknown[]) => string;

let isKept = false;

/** Keeps `require` in a copy from finding anything outside, from now on, unless it names an absolute path. */
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
 * Before code of a copy runs. ES modules have no such hook, but Node looks no farther than the first directory of a
 * package's name: what is installed above the cache has an empty one beside the copies, where an import of it fails.
 */
export function keepInside(copy: string): void {
  keepRequire();
  const store = dirname(realpathSync(copy));
  const own = join(store, 'node_modules');
  const known = new Set(packagesIn(own));
  for (let at = store; dirname(at) !== at;) {
    at = dirname(at);
    for (const name of packagesIn(join(at, 'node_modules'))) {
      if (!known.has(name)) mkdirSync(join(own, name), { recursive: true, mode: 0o700 });
    }
  }
}

/** Names of what an import finds there. */
function packagesIn(directory: string): readonly string[] {
  return namesIn(directory).flatMap((name) =>
    (name.startsWith('@') ? namesIn(join(directory, name)).map((inner) => `${name}/${inner}`) : [name]));
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory).filter((name) => !name.startsWith('.'));
  } catch {
    // The directory is not there, is none, or does not tell its names.
    return [];
  }
}
