/**
 * tidy: checks of the repository that ESLint does not make. Run by `npm run lint`; each check has a bad sample in
 * packages/testkit/test/tidy.test.ts. The verdict is of the files alone, not of the machine, the user or the place.
 */

import { checkFolderKnots, checkFolderSizes, checkFolderTable, checkFolders } from './folders.js';
import { checkCycles, checkDirections } from './imports.js';
import { checkLockfile, checkManifests, checkReferences } from './manifests.js';
import { checkMarkdown } from './markdown.js';
import { checkHeads, checkLines, checkPlaces } from './text.js';
import { readTree, show } from './tree.js';
import type { Finding, Tree } from './tree.js';

export function findings(tree: Tree): Finding[] {
  return [
    ...checkDirections(tree),
    ...checkCycles(tree),
    ...checkFolderSizes(tree),
    ...checkFolders(tree),
    ...checkFolderKnots(tree),
    ...checkFolderTable(tree),
    ...checkManifests(tree),
    ...checkReferences(tree),
    ...checkLockfile(tree),
    ...checkMarkdown(tree),
    ...checkLines(tree),
    ...checkHeads(tree),
    ...checkPlaces(tree),
  ];
}

/** Prints the findings below `root`; returns the exit code. */
export function tidy(root: string): number {
  const tree = readTree(root);
  const found = findings(tree);
  for (const finding of found) process.stderr.write(`${show(finding)}\n`);
  process.stdout.write(`tidy: ${tree.size} files, ${found.length} findings\n`);
  return found.length === 0 ? 0 : 1;
}
