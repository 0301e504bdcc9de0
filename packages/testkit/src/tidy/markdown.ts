/** Markdown: one `# Title` per file, and relative links (with their anchors) that resolve. */

import { posix } from 'node:path';
import type { Finding, Tree } from './tree.js';

export function checkMarkdown(tree: Tree): Finding[] {
  return [...tree].filter(([path]) => path.endsWith('.md')).flatMap(([path, text]) => {
    const lines = withoutCode(text);
    return [...checkTitle(path, lines), ...checkLinks(path, lines, tree)];
  });
}

function checkTitle(path: string, lines: readonly string[]): Finding[] {
  const titles = lines.filter((line) => /^# /.test(line)).length;
  return titles === 1 ? [] : [{ path, line: 0, text: `has ${titles} lines that begin with "# "; one is its title` }];
}

function checkLinks(path: string, lines: readonly string[], tree: Tree): Finding[] {
  return lines.flatMap((line, index) =>
    [...line.matchAll(/\]\(([^)\s]+)\)/g)]
      .map((match) => match[1] as string)
      .filter((target) => !/^[a-z]+:/.test(target) && !resolves(path, target, tree))
      .map((target) => ({ path, line: index + 1, text: `the link ${target} leads nowhere` })));
}

function resolves(path: string, target: string, tree: Tree): boolean {
  const [file = '', anchor] = target.split('#');
  const place = file === '' ? path : posix.normalize(posix.join(posix.dirname(path), file)).replace(/\/$/, '');
  const text = tree.get(place);
  if (text === undefined) return anchor === undefined && [...tree.keys()].some((each) => each.startsWith(`${place}/`));
  return anchor === undefined || !place.endsWith('.md') || anchors(text).has(anchor);
}

/** Anchors of the headings, as forges make them. */
function anchors(text: string): Set<string> {
  const headings = withoutCode(text).flatMap((line) => /^#+ (.*)$/.exec(line)?.[1] ?? []);
  return new Set(headings.map((heading) =>
    heading.toLowerCase().replace(/[^\p{L}\p{N} _-]/gu, '').trim().replace(/ /g, '-')));
}

/** The lines, with those of fenced code emptied. */
function withoutCode(text: string): string[] {
  let fenced = false;
  return text.split('\n').map((line) => {
    const fence = /^\s*```/.test(line);
    if (fence) fenced = !fenced;
    return fence || fenced ? '' : line;
  });
}
