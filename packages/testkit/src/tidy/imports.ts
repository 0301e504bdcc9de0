/**
 * Import directions, read from the files' text independently of ESLint: static, re-exporting, dynamic and type imports.
 * Finds imports that the tables forbid, imports of another package's files, and cycles of files.
 */

import { posix } from 'node:path';
import { OWNERS, moduleOf, ruleOf } from './house.js';
import type { PackageRule } from './house.js';
import type { Finding, Tree } from './tree.js';

interface Import {
  readonly specifier: string;
  readonly line: number;
}

/** Comments, templates, strings, words, and other characters: enough to distinguish an import from text about one. */
const TOKEN = new RegExp([
  /\/\*[\s\S]*?\*\/|\/\/[^\n]*/, /`(?:[^`\\]|\\[\s\S])*`/, /'(?:[^'\\\n]|\\.)*'/, /"(?:[^"\\\n]|\\.)*"/, /[\w$]+/, /\S/,
].map((each) => each.source).join('|'), 'g');

/** The specifiers that `text` imports: strings after `from`, `import` and `import(`. */
export function importsOf(text: string): Import[] {
  const found: Import[] = [];
  let before = '';
  let last = '';
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    if (/^\/[/*]/.test(token)) continue;
    const follows = last === 'from' || last === 'import' || (last === '(' && before === 'import');
    if (/^['"]/.test(token) && follows) {
      found.push({ specifier: token.slice(1, -1), line: text.slice(0, index).split('\n').length });
    }
    before = last;
    last = token;
  }
  return found;
}

/** Imports that the rules forbid. */
export function checkDirections(tree: Tree): Finding[] {
  return packageSources(tree).flatMap((source) => {
    const { path, packageName, text } = source;
    const rule = ruleOf(packageName);
    if (rule === undefined) return [{ path, line: 0, text: `packages/${packageName} has no rule in tidy/house.ts` }];
    return importsOf(text).flatMap(({ specifier, line }) => {
      const wrong = judge(specifier, source, rule);
      return wrong === undefined ? [] : [{ path, line, text: `import of '${specifier}': ${wrong}` }];
    });
  });
}

function judge(specifier: string, { path, packageName, inside }: Source, rule: PackageRule): string | undefined {
  const isTest = inside.startsWith('test/');
  if (specifier.startsWith('.')) return judgeRelative(specifier, path, packageName, isTest);
  if (specifier.startsWith('node:')) {
    const free = isTest || (rule.free !== undefined && inside.startsWith(rule.free));
    return free ? undefined : 'only platform-node, stcirun, compliance, testkit and tests touch node:*; use Platform';
  }
  if (specifier.startsWith('@stci/')) {
    if (/\/(dist|src)\b/.test(specifier)) return 'no deep imports; a package is what its exports say';
    if (isTest || mayImport(rule, specifier)) return undefined;
    return `packages/${packageName} may import only ${rule.workspace.join(', ') || 'nothing'}`;
  }
  const name = moduleOf(specifier);
  const place = rule.external[name];
  if (place !== undefined && (isTest || inside.startsWith(place))) return undefined;
  return OWNERS[name] ?? `packages/${packageName} may not use ${name} here: see tidy/house.ts`;
}

/** `*` at the end of an entry matches anything. */
function mayImport(rule: PackageRule, specifier: string): boolean {
  return rule.workspace.some((entry) =>
    entry.endsWith('*') ? specifier.startsWith(entry.slice(0, -1)) : specifier === entry);
}

/** A relative import stays in its package; a test may reach its own package's dist. */
function judgeRelative(specifier: string, path: string, packageName: string, isTest: boolean): string | undefined {
  const target = posix.join(posix.dirname(path), specifier);
  if (!target.startsWith(`packages/${packageName}/`)) return 'leaves its package; import the package by its name';
  if (!isTest && !target.startsWith(`packages/${packageName}/src/`)) return 'leaves src';
  return undefined;
}

/** Files that import each other in a cycle, types included. */
export function checkCycles(tree: Tree): Finding[] {
  const graph = new Map<string, string[]>();
  for (const { path, text } of packageSources(tree)) {
    const targets = importsOf(text)
      .filter(({ specifier }) => specifier.startsWith('.'))
      .map(({ specifier }) => posix.join(posix.dirname(path), specifier).replace(/\.js$/, '.ts'));
    graph.set(path, targets.filter((target) => tree.has(target)));
  }
  return findCycles(graph).map((cycle) => ({
    path: cycle[0] as string,
    line: 0,
    text: `a cycle of files: ${[...cycle, cycle[0]].join(' → ')}; move what both need into a third`,
  }));
}

/** One cycle for each back edge of a depth-first walk. */
export function findCycles(graph: ReadonlyMap<string, Iterable<string>>): string[][] {
  const cycles: string[][] = [];
  const done = new Set<string>();
  const stack: string[] = [];
  const walk = (node: string): void => {
    if (stack.includes(node)) {
      cycles.push(stack.slice(stack.indexOf(node)));
      return;
    }
    if (done.has(node)) return;
    stack.push(node);
    for (const next of graph.get(node) ?? []) walk(next);
    stack.pop();
    done.add(node);
  };
  for (const node of graph.keys()) walk(node);
  return cycles;
}

export interface Source {
  readonly path: string;
  readonly packageName: string;
  /** Path below the package: `src/…` or `test/…`. */
  readonly inside: string;
  readonly text: string;
}

export function packageSources(tree: Tree): Source[] {
  return [...tree].flatMap(([path, text]) => {
    const match = /^packages\/([^/]+)\/((?:src|test)\/.*\.ts)$/.exec(path);
    return match === null ? [] : [{ path, packageName: match[1] as string, inside: match[2] as string, text }];
  });
}
