/**
 * Makes the package of a new plugin from a template (packages/stcirun/templates): one for each framework that plugins
 * are for. A template is a package that works, of a component `sample` in a package `my-sample`; both names are
 * replaced. Nothing that exists is overwritten.
 */

import { createRequire } from 'node:module';
import { existsSync, mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { didYouMean } from '@stci/core';
import { StciError } from '@stci/interface';
import { jsonText } from '../process/print.js';
import { readReason } from '../files/read-file.js';

/** As npm has them, without the old ones: `my-topology`, `@lab/my-topology`. */
const PACKAGE_NAME = /^(?:@[a-z0-9][a-z0-9._-]*\/)?[a-z][a-z0-9._-]*$/u;
const PACKAGE_CHARS_MAX = 100;

/** What the test and editors find: the contracts, what component packages import, the suites. */
const LINKED = ['interface', 'core', 'compliance'];

export interface NewPlugin {
  readonly framework: string;
  /** Of the package. */
  readonly name: string;
  /** Of the package to be made; its parent exists. */
  readonly directory: string;
  readonly isTypeScript: boolean;
  /** Of this installation's stcirun. */
  readonly root: string;
  /** Names of components that the framework has; it is one that plugins are for. */
  taken(): readonly string[];
}

export interface MadePlugin {
  readonly component: string;
  /** Paths below the directory. */
  readonly files: readonly string[];
}

/** The name of its component: the package's, without scope, and without what is neither a letter nor a digit. */
export function componentNameOf(packageName: string): string {
  return packageName.replace(/^@[^/]*\//u, '').replace(/[^a-z0-9]/gu, '');
}

/** Throws STCI_USAGE, or STCI_PLUGIN_INVALID where a file cannot be written. */
export function makePlugin(plugin: NewPlugin): MadePlugin {
  const { framework, name, directory, root, isTypeScript } = plugin;
  const templates = join(root, 'templates');
  checkFramework(framework, readdirSync(templates).sort());
  const component = checkName(plugin);
  const source = join(templates, framework);
  const named = (text: string): string => text.replaceAll('my-sample', name).replaceAll(/\bsample\b/gu, component);
  const texts = new Map(readdirSync(source).map((file) => [file, named(readFileSync(join(source, file), 'utf8'))]));
  const files = isTypeScript ? asTypeScript(texts) : texts;
  try {
    mkdirSync(directory, { mode: 0o755 });
    for (const [file, text] of files) {
      mkdirSync(dirname(join(directory, file)), { recursive: true, mode: 0o755 });
      // With any umask: what a group may write is refused as a plugin.
      writeFileSync(join(directory, file), text, { flag: 'wx', mode: 0o644 });
    }
    link(root, directory);
  } catch (thrown) {
    throw new StciError('STCI_PLUGIN_INVALID', `plugin ${directory}: it cannot be made: ${readReason(thrown)}.`);
  }
  return { component, files: [...files.keys()].sort() };
}

function checkFramework(framework: string, known: readonly string[]): void {
  if (known.includes(framework)) return;
  const hint = didYouMean(framework, known) || ` Plugins are for ${known.join(', ')}.`;
  throw new StciError('STCI_USAGE', `There is no template of framework '${framework}'.${hint}`);
}

function checkName({ framework, name, directory, taken }: NewPlugin): string {
  if (!PACKAGE_NAME.test(name) || name.length > PACKAGE_CHARS_MAX) {
    throw new StciError('STCI_USAGE', `'${name}' is no name of a package. Expected a letter, then a-z, 0-9 and -, such `
      + `as my-${framework}; with a scope, @lab/my-${framework}.`);
  }
  const component = componentNameOf(name);
  if (taken().includes(component)) {
    throw new StciError('STCI_USAGE', `Package '${name}' would have component ${framework}:${component}, which STCI `
      + `has. Choose another name, such as my-${component}.`);
  }
  if (existsSync(directory)) {
    const text = `${directory} exists, and nothing is overwritten. Choose another --dir, or remove it.`;
    throw new StciError('STCI_USAGE', text);
  }
  if (!existsSync(dirname(directory))) {
    throw new StciError('STCI_USAGE', `There is no directory ${dirname(directory)}. Make it first, or choose another `
      + '--dir.');
  }
  return component;
}

/** A link to each package of this installation that has it. */
function link(root: string, directory: string): void {
  const find = createRequire(join(root, 'package.json'));
  const scope = join(directory, 'node_modules/@stci');
  mkdirSync(scope, { recursive: true, mode: 0o755 });
  for (const name of LINKED) symlinkSync(packageOf(find.resolve(`@stci/${name}`)), join(scope, name));
}

function packageOf(file: string): string {
  let at = dirname(file);
  while (!existsSync(join(at, 'package.json'))) at = dirname(at);
  return at;
}

const TS_CONFIG = {
  compilerOptions: {
    target: 'ES2022', module: 'NodeNext', strict: true, skipLibCheck: true, rootDir: 'src', outDir: 'dist', types: [],
  },
  include: ['src'],
};

/** The JavaScript form is there as `dist`, so that the package can be used before it is compiled. */
function asTypeScript(texts: ReadonlyMap<string, string>): Map<string, string> {
  const files = new Map<string, string>();
  for (const [file, text] of texts) {
    const built = text.replaceAll('./index.js', './dist/index.js');
    if (file === 'index.js') {
      files.set('src/index.ts', typed(text));
      files.set('dist/index.js', text);
    } else if (file === 'package.json') {
      const json = JSON.parse(built) as { scripts: object };
      const scripts = { build: 'npx -y -p typescript@5.9.3 tsc -p .', ...json.scripts };
      files.set(file, jsonText({ ...json, files: ['dist'], scripts }));
    } else if (file === 'README.md') {
      files.set(file, text.replace('| `index.js` |', '| `src/index.ts` |')
        .replace('\nTry it', '\nAfter a change: `npm run build`, which makes `dist/index.js`. Try it'));
    } else {
      files.set(file, built);
    }
  }
  files.set('tsconfig.json', jsonText(TS_CONFIG));
  return files;
}

/** Types that stand in comments of JavaScript, `@type` before a `let` or `const`, where TypeScript has them. */
function typed(text: string): string {
  return text.replace(/^\/\/ @ts-check\n/u, '')
    .replaceAll(/^ *\/\*\* @type \{(.*)\} \*\/\n( *(?:export )?(?:const|let) \w+)/gmu, '$2: $1');
}
