/** The mutants of a workspace's compiled code, those that a seed draws, and how one is shown. */

import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { join } from 'node:path';
import { mutationsOf, type Mutation } from './points.js';

/** All of these folders of packages/core/src, as they are compiled. */
export function findMutations(root: string, folders: readonly string[]): Mutation[] {
  return folders.flatMap((folder) => {
    const path = `packages/core/dist/${folder}`;
    if (!existsSync(join(root, path))) throw new Error(`there is no ${path}: is it built?`);
    const files = readdirSync(join(root, path)).filter((name) => name.endsWith('.js')).sort();
    return files.flatMap((name) => {
      const file = `${path}/${name}`;
      return mutationsOf(file, readFileSync(join(root, file), 'utf8'));
    });
  });
}

/** Draws each mutation by its id, so that changes elsewhere in the code hardly change the draw. */
export function draw(mutations: readonly Mutation[], seed: number, count: number): Mutation[] {
  const rank = ({ id }: Mutation): string => createHash('sha256').update(`${seed} ${id}`).digest('hex');
  const ranked = mutations.map((mutation) => [rank(mutation), mutation] as const);
  return ranked.sort(([a], [b]) => (a < b ? -1 : 1)).slice(0, count).map(([, mutation]) => mutation);
}

export function mutated(text: string, { start, end, replacement }: Mutation): string {
  return text.slice(0, start) + replacement + text.slice(end);
}

/** Where it is in the source, and its lines before and after. */
export function describe(root: string, mutation: Mutation): { readonly place: string; readonly diff: string[] } {
  const text = readFileSync(join(root, mutation.path), 'utf8');
  const lineStart = text.lastIndexOf('\n', mutation.start - 1) + 1;
  const from = text.slice(0, lineStart).split('\n').length - 1;
  const before = text.slice(lineStart, lineEnd(text, mutation.end));
  const after = mutated(text, mutation).slice(lineStart, lineEnd(text, mutation.end) + lengthChange(mutation));
  const lines = (sign: string, part: string): string[] => part.split('\n').map((line) => `${sign} ${line}`);
  const place = sourcePlace(root, mutation.path, from, mutation.start - lineStart);
  return { place, diff: [...lines('-', before), ...lines('+', after)] };
}

const lengthChange = ({ start, end, replacement }: Mutation): number => replacement.length - (end - start);

function lineEnd(text: string, offset: number): number {
  const found = text.indexOf('\n', offset);
  return found < 0 ? text.length : found;
}

/** Lines and columns from 0. */
function sourcePlace(root: string, path: string, line: number, column: number): string {
  const map = join(root, `${path}.map`);
  if (!existsSync(map)) return `${path}:${line + 1}`;
  const entry = new SourceMap(JSON.parse(readFileSync(map, 'utf8'))).findEntry(line, column);
  const original = 'originalLine' in entry ? entry.originalLine : line;
  return `${path.replace('/dist/', '/src/').replace(/\.js$/, '.ts')}:${original + 1}`;
}
