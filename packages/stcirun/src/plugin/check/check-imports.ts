/**
 * Imports of a plugin's modules, found in their text: what is not in the package has to be Node's, of a dependency that
 * package.json declares, or one of the two modules of STCI that plugins may import.
 */

import { existsSync, readFileSync, statSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join, relative } from 'node:path';
import type { FoundPlugin } from '../find.js';
import type { Finding } from './findings.js';

const OF_STCI = ['@stci/core/component', '@stci/interface'];
/** Static and dynamic imports, `export … from`, `require`; in comments they are found, too, and that is rare. */
const IMPORT = /^(?!\s*(?:\/\/|\*|\/\*)).*?(?:\bfrom\s*|\bimport\s*\(?\s*|\brequire\s*\(\s*)(['"])([^'"\n]+)\1/u;
const ENDINGS = ['', '.js', '.cjs', '.mjs', '/index.js'];

/** Checks imports of the modules of its components, and of all in the package that they import. */
export function checkImports({ directory, manifest }: FoundPlugin): Finding[] {
  const declared = dependenciesOf(directory);
  const findings: Finding[] = [];
  const files = new Set(manifest.components.map(({ module }) => join(directory, module)));
  for (const file of files) {
    for (const [index, line] of readFileSync(file, 'utf8').split('\n').entries()) {
      const imported = IMPORT.exec(line)?.[2];
      if (imported === undefined) continue;
      if (imported.startsWith('.')) {
        const path = fileOf(join(dirname(file), imported));
        if (path !== undefined) files.add(path);
      }
      const text = problemOf(imported, file, directory, declared);
      if (text === undefined) continue;
      findings.push({ level: 'error', check: 'imports', file: `${relative(directory, file)}:${index + 1}`, text });
    }
  }
  return findings;
}

function problemOf(
  imported: string, file: string, directory: string, declared: ReadonlySet<string>,
): string | undefined {
  if (imported.startsWith('.')) {
    const path = fileOf(join(dirname(file), imported));
    if (path === undefined) return `there is no '${imported}'. Write the whole name of a file, with its ending.`;
    const isOutside = relative(directory, path).startsWith('..');
    return isOutside ? `'${imported}' is outside of the package, and reaches no other host. Move it in.` : undefined;
  }
  const isNode = imported.startsWith('node:') || builtinModules.includes(imported);
  if (isNode || OF_STCI.includes(imported)) return undefined;
  if (imported.startsWith('@stci/')) {
    return `'${imported}' is not for plugins. Of STCI they import ${OF_STCI.join(' and ')}.`;
  }
  const name = imported.split('/').slice(0, imported.startsWith('@') ? 2 : 1).join('/');
  return declared.has(name) ? undefined
    : `package '${name}' is no dependency in package.json. Run npm install ${name}, or bundle it.`;
}

function dependenciesOf(directory: string): ReadonlySet<string> {
  const json = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')) as Readonly<Record<string, object>>;
  const fields = ['dependencies', 'optionalDependencies', 'peerDependencies'];
  return new Set(fields.flatMap((field) => Object.keys(json[field] ?? {})));
}

function fileOf(path: string): string | undefined {
  return ENDINGS.map((ending) => `${path}${ending}`).find((each) => existsSync(each) && statSync(each).isFile());
}
