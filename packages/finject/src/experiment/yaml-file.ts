/**
 * An experiment file as plain values, each with its line and column. YAML 1.2, of which JSON is a part. Keys are
 * unique, tags are refused, and aliases are bounded, so that a small file cannot become large.
 */

import { LineCounter, isAlias, isMap, isScalar, isSeq, parseDocument } from 'yaml';
import type { Document, Node, Pair, YAMLError } from 'yaml';
import type { Problem, SourcePlace } from './contracts.js';

/** Longest file, characters: such a one is read in a second. */
export const FILE_CHARS_MAX = 250_000;
const ALIASES_MAX = 100;
const DEPTH_MAX = 50;
const ERRORS_MAX = 10;

export type Path = readonly (string | number)[];

export interface LoadedFile {
  /** Objects, arrays, strings, numbers, booleans, null; undefined if it could not be read. */
  readonly root: unknown;
  readonly problems: readonly Problem[];
  /** Of a value, or of the nearest above it that is there. */
  place(path: Path): SourcePlace;
  /** Of a key. */
  placeOfKey(path: Path): SourcePlace;
  /** A scalar as it was written: `0.10`. */
  source(path: Path): string | undefined;
}

export function loadFile(text: string, file: string): LoadedFile {
  if (text.length > FILE_CHARS_MAX) {
    return unreadable(file, `The file has ${text.length} characters; expected at most ${FILE_CHARS_MAX}. `
      + 'Put long lists into a trace file or a program.');
  }
  const lines = new LineCounter();
  let document: Document;
  try {
    // The parser's own search for keys that are given twice takes the square of their number.
    document = parseDocument(text, { lineCounter: lines, prettyErrors: false, stringKeys: true, uniqueKeys: false });
  } catch (thrown) {
    // Nesting beyond the stack.
    return unreadable(file, `The file can't be read: ${reason(thrown)}. Expected YAML or JSON.`);
  }
  return new YamlFile(document, lines, file);
}

/** A key that is misspelt, by its path, and what was meant. */
export interface KeyMend {
  readonly path: Path;
  readonly meant: string;
}

/** The file as it would be with these keys, each with the place of what was written. */
export function withKeys(loaded: LoadedFile, mends: readonly KeyMend[]): LoadedFile {
  const written = (path: Path): Path => path.map((step, at) => mends.find((mend) =>
    mend.path.length === at + 1 && mend.meant === step && mend.path.slice(0, -1).every((one, i) => one === path[i]))
    ?.path[at] ?? step);
  return {
    root: mends.reduce((root, mend) => renamed(root, mend.path, mend.meant), loaded.root),
    problems: loaded.problems,
    place: (path) => loaded.place(written(path)),
    placeOfKey: (path) => loaded.placeOfKey(written(path)),
    source: (path) => loaded.source(written(path)),
  };
}

/** A copy along the path. */
function renamed(value: unknown, [step, ...rest]: Path, meant: string): unknown {
  if (step === undefined) return value;
  if (Array.isArray(value)) return value.map((item: unknown, at) => (at === step ? renamed(item, rest, meant) : item));
  const entries = Object.entries(value as Readonly<Record<string, unknown>>);
  return Object.fromEntries(entries.map(([key, item]) => {
    if (key !== step) return [key, item];
    return rest.length === 0 ? [meant, item] : [key, renamed(item, rest, meant)];
  }));
}

function unreadable(file: string, text: string): LoadedFile {
  const place = { file, line: 1, column: 1 };
  return {
    root: undefined, problems: [{ place, text }], place: () => place, placeOfKey: () => place, source: () => undefined,
  };
}

class YamlFile implements LoadedFile {
  readonly root: unknown;
  readonly problems: readonly Problem[];
  readonly #document: Document;
  readonly #lines: LineCounter;
  readonly #file: string;

  constructor(document: Document, lines: LineCounter, file: string) {
    this.#document = document;
    this.#lines = lines;
    this.#file = file;
    const twice = keysGivenTwice(document.contents).map((offset) =>
      ({ place: this.#at(offset), text: 'This key is given twice. Remove one of the two.' }));
    const problems = onePerLine(
      [...document.errors, ...document.warnings].map((error) => this.#problem(error)).concat(twice));
    if (problems.length === 0) {
      try {
        this.root = checkDepth(document.toJS({ maxAliasCount: ALIASES_MAX }), 0);
      } catch (thrown) {
        const place = this.#at(0);
        problems.push({ place, text: `The file's aliases (*name) can't be followed: ${reason(thrown)}. Write out what `
          + 'they stand for.' });
      }
    }
    this.problems = problems;
  }

  place(path: Path): SourcePlace {
    return this.#at(this.#find(path).offset);
  }

  placeOfKey(path: Path): SourcePlace {
    const { node } = this.#find(path.slice(0, -1));
    const pair = isMap(node) ? pairOf(node.items, path.at(-1)) : undefined;
    return pair === undefined ? this.place(path) : this.#at(offsetOf(pair.key) ?? 0);
  }

  source(path: Path): string | undefined {
    const { node, isWhole } = this.#find(path);
    return isWhole && isScalar(node) ? node.source : undefined;
  }

  #find(path: Path): { node: Node | undefined; offset: number; isWhole: boolean } {
    let node = this.#resolved(this.#document.contents);
    let offset = offsetOf(node) ?? 0;
    for (const step of path) {
      const pair = isMap(node) ? pairOf(node.items, step) : undefined;
      const next: unknown = pair === undefined && isSeq(node) ? node.items[Number(step)] : pair?.value;
      if (pair === undefined && next === undefined) return { node, offset, isWhole: false };
      offset = offsetOf(next) ?? offsetOf(pair?.key) ?? offset;
      node = this.#resolved(next);
    }
    return { node, offset, isWhole: true };
  }

  #resolved(node: unknown): Node | undefined {
    return isAlias(node) ? node.resolve(this.#document) : (node ?? undefined) as Node | undefined;
  }

  #at(offset: number): SourcePlace {
    const { line, col } = this.#lines.linePos(offset);
    return { file: this.#file, line: Math.max(1, line), column: Math.max(1, col) };
  }

  #problem({ code, message, pos: [offset] }: YAMLError): Problem {
    const text = code === 'TAG_RESOLVE_FAILED' ? 'Tags (!name) have no meaning here. Remove it.'
      : message.includes('call stack') ? `It nests too deep. Expected at most ${DEPTH_MAX} levels.`
      : code === 'MULTIPLE_DOCS' ? 'A second document begins here (---). Expected one.'
      : `${message.replace(/\.$/, '')}. Expected YAML 1.2 or JSON; within braces a text with brackets or commas needs `
        + 'quotes, such as "n[1-4]".';
    return { place: this.#at(offset), text };
  }
}

function pairOf(items: readonly Pair[], key: string | number | undefined): Pair | undefined {
  return items.find((pair) => isScalar(pair.key) && String(pair.key.value) === String(key));
}

function offsetOf(node: unknown): number | undefined {
  return isScalar(node) || isMap(node) || isSeq(node) || isAlias(node) ? node.range?.[0] : undefined;
}

/** Offsets of those that stand behind a key of the same name. */
function keysGivenTwice(root: unknown): number[] {
  const offsets: number[] = [];
  const waiting: unknown[] = [root];
  while (waiting.length > 0) {
    const node = waiting.pop();
    if (isSeq(node)) for (const item of node.items) waiting.push(item);
    if (!isMap(node)) continue;
    const keys = new Set<string>();
    for (const { key, value } of node.items) {
      waiting.push(value);
      const name = isScalar(key) ? String(key.value) : undefined;
      if (name === undefined) continue;
      if (keys.has(name)) offsets.push(offsetOf(key) ?? 0);
      keys.add(name);
    }
  }
  return offsets;
}

/** What follows the first error of a line is mostly its consequence. */
function onePerLine(problems: readonly Problem[]): Problem[] {
  const lines = new Set<number>();
  const sorted = [...problems].sort((a, b) => a.place.line - b.place.line || a.place.column - b.place.column);
  const first = sorted.filter(({ place: { line } }) => !lines.has(line) && lines.add(line));
  return first.slice(0, ERRORS_MAX);
}

/** Throws for what contains itself, by aliases, and for what is nested deeper than any experiment. */
function checkDepth(value: unknown, depth: number): unknown {
  if (depth > DEPTH_MAX) throw new RangeError(`they nest deeper than ${DEPTH_MAX} levels`);
  if (typeof value === 'object' && value !== null) {
    for (const item of Object.values(value)) checkDepth(item, depth + 1);
  }
  return value;
}

function reason(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message.split('\n', 1)[0]! : String(thrown);
}
