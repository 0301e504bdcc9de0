/** Where a package is: a path, or a name as Node finds it in node_modules. */

import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

const PACKAGE_NAME = /^(?:@[a-z0-9-~][\w.~-]*\/)?[a-z0-9-~][\w.~-]*$/u;

/** The absolute path that `text` stands for in `base`: a path that exists there, else a package found from there. */
export function locatePlugin(base: string, text: string): string {
  const path = resolve(base, text);
  if (existsSync(path) || !PACKAGE_NAME.test(text)) return path;
  return findPackage(base, text) ?? path;
}

/** Directory of a package in the node_modules of `base` or a directory above. */
export function findPackage(base: string, name: string): string | undefined {
  for (let at = base; ; at = dirname(at)) {
    const path = join(at, 'node_modules', name);
    if (existsSync(path)) return path;
    if (dirname(at) === at) return undefined;
  }
}
