/**
 * Checks of plain text: line length, white space, the head comment, explained lint exceptions, and no path of the
 * machine on which a file was written.
 */

import type { Finding, Tree } from './tree.js';

const LINE_CHARS_MAX = 120;
const CODE = /\.(ts|mjs|js|c|h|sh)$|^\.ci\/run$/;

export function checkLines(tree: Tree): Finding[] {
  return [...tree].filter(([path]) => path !== 'pnpm-lock.yaml').flatMap(([path, text]) => {
    const lines = text.split('\n');
    const findings = lines.flatMap((line, index) =>
      lineFaults(path, line).map((fault) => ({ path, line: index + 1, text: fault })));
    if (!text.endsWith('\n') || text.endsWith('\n\n')) {
      findings.push({ path, line: lines.length, text: 'must end with one newline' });
    }
    return findings;
  });
}

function lineFaults(path: string, line: string): string[] {
  const faults: string[] = [];
  if (/[ \t]$/.test(line)) faults.push('white space at its end');
  if (!CODE.test(path)) return faults;
  if (line.length > LINE_CHARS_MAX) faults.push(`${line.length} characters; at most ${LINE_CHARS_MAX}`);
  if (line.includes('\t')) faults.push('a tab; indent by two spaces');
  if (/eslint-disable/.test(line) && /^\s*(\/\/|\/\*)/.test(line) && !/ -- \S/.test(line)) {
    faults.push('a lint exception needs its reason: eslint-disable-next-line RULE -- why');
  }
  return faults;
}

/** Every source file begins with a comment that says what it is. */
export function checkHeads(tree: Tree): Finding[] {
  return [...tree]
    .filter(([path]) => /^packages\/[^/]+\/src\/.*\.ts$|^(scripts|lint|bench)\/.*\.mjs$/.test(path))
    .filter(([, text]) => !/^(#!.*\n)?\/\*\*/.test(text))
    .map(([path]) => ({ path, line: 1, text: 'must begin with a comment /** … */ that says what the file is' }));
}

/** `places`: directories of this machine that no committed file may name. */
export function checkPlaces(tree: Tree, places: readonly string[]): Finding[] {
  return [...tree].flatMap(([path, text]) =>
    text.split('\n').flatMap((line, index) => {
      const place = places.find((each) => line.includes(each));
      if (place !== undefined) return [{ path, line: index + 1, text: `names a place of this machine: ${place}` }];
      const registry = /https?:\/\/[^/\s]*(registry|npmjs|artifact|mirror)/i.exec(line);
      return registry === null ? [] : [{ path, line: index + 1, text: `names a registry: ${registry[0]}` }];
    }));
}
