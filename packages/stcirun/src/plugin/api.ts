/**
 * What plugins import of STCI: the modules of the running program, by a symbol of this process. In the cache stand
 * packages with their names whose exports are these, as ES modules, whose exports must be written out, and as CommonJS.
 */

import * as component from '@stci/core/component';
import * as contracts from '@stci/interface';

const KEY = 'stci.plugin.api';

const MODULES: Readonly<Record<string, object>> = {
  '@stci/core/component': component,
  '@stci/interface': contracts,
};

(globalThis as Record<symbol, unknown>)[Symbol.for(KEY)] = MODULES;

/** Texts of the packages by path in a node_modules. */
export function standIns(): Readonly<Record<string, string>> {
  const files: Record<string, string> = {};
  for (const [name, module] of Object.entries(MODULES)) {
    const [scope = '', of = '', part = 'index'] = name.split('/');
    const subpath = name.split('/').length > 2 ? `./${part}` : '.';
    const at = `${scope}/${of}`;
    const own = `globalThis[Symbol.for(${JSON.stringify(KEY)})][${JSON.stringify(name)}]`;
    const names = Object.keys(module).filter((key) => key !== 'default').sort();
    const lines = names.map((key) => `export const ${key} = api.${key};\n`);
    files[`${at}/${part}.mjs`] = `const api = ${own};\n${lines.join('')}`;
    files[`${at}/${part}.cjs`] = `module.exports = ${own};\n`;
    files[`${at}/package.json`] = `${JSON.stringify({
      name: at, exports: { [subpath]: { import: `./${part}.mjs`, require: `./${part}.cjs` } },
    })}\n`;
  }
  return files;
}
