/**
 * tidy: checks of the repository that ESLint does not make. Run by `npm run lint`; each check has a bad sample in
 * packages/testkit/test/tidy.test.ts.
 */

import { homedir } from 'node:os';
import { dirname } from 'node:path';
import { checkCycles, checkDirections } from './imports.js';
import { checkLockfile, checkManifests, checkReferences } from './manifests.js';
import { checkMarkdown } from './markdown.js';
import { checkHeads, checkLines, checkPlaces } from './text.js';
import { readTree, show } from './tree.js';
import type { Finding, Tree } from './tree.js';

/** Directories that are the same on every machine. */
const COMMON = ['', 'tmp', 'home', 'usr', 'opt', 'var', 'mnt', 'srv'];

export function findings(tree: Tree, places: readonly string[]): Finding[] {
  return [
    ...checkDirections(tree),
    ...checkCycles(tree),
    ...checkManifests(tree),
    ...checkReferences(tree),
    ...checkLockfile(tree),
    ...checkMarkdown(tree),
    ...checkLines(tree),
    ...checkHeads(tree),
    ...checkPlaces(tree, places),
  ];
}

/** Directories of this checkout and its user: `/home/kim/`, `/data/stci/`, `/data/`. */
export function placesOf(root: string, home: string): string[] {
  const first = root.split('/')[1] ?? '';
  const candidates = [`${root}/`, `${dirname(root)}/`, `${home}/`, ...(COMMON.includes(first) ? [] : [`/${first}/`])];
  return candidates.filter((place) => !COMMON.some((name) => place === `/${name}/`) && place !== '//');
}

/** Prints the findings below `root`; returns the exit code. */
export function tidy(root: string): number {
  const tree = readTree(root);
  const found = findings(tree, placesOf(root, homedir()));
  for (const finding of found) process.stderr.write(`${show(finding)}\n`);
  process.stdout.write(`tidy: ${tree.size} files, ${found.length} findings\n`);
  return found.length === 0 ? 0 : 1;
}
