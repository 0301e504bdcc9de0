/**
 * Folders of packages: how many files each has, which folders of core may import which others, and that the folders of
 * a package form no knot. The table of docs/architecture.md says the same.
 */

import { posix } from 'node:path';
import { findCycles, importsOf, packageSources } from './imports.js';
import { FILES_MAX, FILES_MAX_CORE, FOLDER_RULES } from './house.js';
import type { Finding, Tree } from './tree.js';

const DOCUMENT = 'docs/architecture.md';
const HOUSE = 'packages/testkit/src/tidy/house.ts';

/** Source folders with more files than somebody finds his way in. */
export function checkFolderSizes(tree: Tree): Finding[] {
  const sizes = new Map<string, number>();
  for (const { path, inside } of packageSources(tree)) {
    if (!inside.startsWith('src/')) continue;
    const folder = posix.dirname(path);
    sizes.set(folder, 1 + (sizes.get(folder) ?? 0));
  }
  return [...sizes].flatMap(([path, size]) => {
    const most = path.startsWith('packages/core/') ? FILES_MAX_CORE : FILES_MAX;
    return size <= most ? [] : [{ path, line: 0, text: `${size} files, ${most} at most: which concepts are in it?` }];
  });
}

/** Imports between folders of core that the table does not have, and rows of the table that no import needs. */
export function checkFolders(tree: Tree): Finding[] {
  const found: Finding[] = [];
  const used = new Map<string, Set<string>>();
  for (const { path, line, from, to } of folderImports(tree, 'core')) {
    if (from === '.' || from === to) continue;
    used.set(from, (used.get(from) ?? new Set()).add(to));
    if (FOLDER_RULES[from]?.includes(to) === true) continue;
    found.push({ path, line, text: `src/${from} may not import src/${to}: see FOLDER_RULES in tidy/house.ts` });
  }
  const folders = new Set(packageSources(tree).flatMap(({ packageName, inside }) =>
    packageName === 'core' && inside.startsWith('src/') ? [folderOf(inside)] : []));
  if (folders.size === 0) return found;
  for (const [folder, others] of Object.entries(FOLDER_RULES)) {
    const unused = folders.has(folder) ? others.filter((other) => used.get(folder)?.has(other) !== true) : ['it'];
    if (unused.length > 0) found.push({ path: HOUSE, line: 0, text: `${folder} does not import ${unused.join(', ')}` });
  }
  return found;
}

/** Folders of one package that import each other in a cycle. */
export function checkFolderKnots(tree: Tree): Finding[] {
  const packages = new Set(packageSources(tree).map(({ packageName }) => packageName));
  return [...packages].flatMap((packageName) => {
    const graph = new Map<string, Set<string>>();
    for (const { from, to } of folderImports(tree, packageName)) {
      if (from !== to) graph.set(from, (graph.get(from) ?? new Set()).add(to));
    }
    return findCycles(graph).map((cycle) => ({
      path: `packages/${packageName}/src`, line: 0, text: `a cycle of folders: ${[...cycle, cycle[0]].join(' → ')}`,
    }));
  });
}

/** The table of the document against the one here. */
export function checkFolderTable(tree: Tree): Finding[] {
  const document = tree.get(DOCUMENT);
  if (document === undefined) return [];
  return Object.entries(FOLDER_RULES).flatMap(([folder, others]) => {
    const row = new RegExp(`^\\| \`${folder}/\` \\|[^|\\n]+\\| (.*) \\|$`, 'm').exec(document)?.[1];
    const expected = others.map((other) => `\`${other}\``).join(', ') || 'nothing';
    const text = `expected a row | \`${folder}/\` | … | ${expected} |`;
    return row === expected ? [] : [{ path: DOCUMENT, line: 0, text }];
  });
}

interface FolderImport {
  readonly path: string;
  readonly line: number;
  /** Below src; `.` is src itself. */
  readonly from: string;
  readonly to: string;
}

function folderImports(tree: Tree, of: string): FolderImport[] {
  return packageSources(tree).flatMap(({ path, packageName, inside, text }) => {
    if (packageName !== of || !inside.startsWith('src/')) return [];
    return importsOf(text).filter(({ specifier }) => specifier.startsWith('.')).map(({ specifier, line }) => ({
      path, line, from: folderOf(inside), to: folderOf(posix.join(posix.dirname(inside), specifier)),
    }));
  });
}

function folderOf(inside: string): string {
  return posix.relative('src', posix.dirname(inside)) || '.';
}
