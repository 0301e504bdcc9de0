/** Where a package is: a path, or a name as Node finds it in node_modules. */

import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/** As npm has them, those of its first years with capital letters too: never a path that leads elsewhere. */
const PACKAGE_NAME = /^(?:@[a-z0-9-~][\w.~-]*\/)?[a-z0-9-~][\w.~-]*$/iu;
const NAME_CHARS_MAX = 214;

export function isPackageName(text: string): boolean {
  return text.length <= NAME_CHARS_MAX && PACKAGE_NAME.test(text);
}

/** The absolute path that `text` stands for in `base`: a path that exists there, else a package found from there. */
export function locatePlugin(base: string, text: string): string {
  const path = resolve(base, text);
  if (existsSync(path) || !isPackageName(text)) return path;
  return findPackage(base, text) ?? path;
}

/** `name` is one of a package. Directory of that in the node_modules of `base` or a directory above. */
export function findPackage(base: string, name: string): string | undefined {
  for (let at = base; ; at = dirname(at)) {
    const path = join(at, 'node_modules', name);
    if (existsSync(path)) return path;
    if (dirname(at) === at) return undefined;
  }
}
