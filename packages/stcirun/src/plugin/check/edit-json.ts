/**
 * Changes of a JSON text that leave the rest of it as it is: the order of members, blanks, the end of the file. Only
 * for texts that JSON.parse takes.
 */

import { isDeepStrictEqual } from 'node:util';

type Fields = Readonly<Record<string, unknown>>;

/** A value's place in the text. */
interface Node {
  readonly start: number;
  readonly end: number;
  readonly value: unknown;
  /** Of an object. */
  readonly members?: ReadonlyMap<string, Node>;
  /** Of a list. */
  readonly items?: readonly Node[];
}

interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** `changes`: the place of an object by its keys, and the members that it is to have besides its others. */
export function editJson(
  text: string, changes: readonly { readonly at: readonly (string | number)[]; readonly members: Fields }[],
): string {
  const root = new Reader(text).value();
  const unit = /\n([ \t]+)\S/u.exec(text)?.[1] ?? '';
  const edits = changes.flatMap(({ at, members }): Edit[] => {
    let node: Node | undefined = root;
    for (const key of at) node = typeof key === 'number' ? node?.items?.[key] : node?.members?.get(key);
    return node === undefined ? [] : memberEdits(text, node, members, unit);
  });
  return edits.sort((a, b) => b.start - a.start)
    .reduce((result, { start, end, text: part }) => result.slice(0, start) + part + result.slice(end), text);
}

function memberEdits(text: string, node: Node, wanted: Fields, unit: string): Edit[] {
  const { members = new Map<string, Node>() } = node;
  const isLong = text.slice(node.start, node.end).includes('\n');
  const margin = isLong ? marginAt(text, node.start) : undefined;
  const added = Object.entries(wanted).filter(([key]) => !members.has(key))
    .map(([key, value]) => `${JSON.stringify(key)}: ${valueText(value, margin && margin + unit, unit)}`);
  const changed = Object.entries(wanted).flatMap(([key, value]) => {
    const own = members.get(key);
    return own === undefined ? [] : valueEdits(text, own, value, unit);
  });
  if (added.length === 0) return changed;
  const last = [...members.values()].at(-1);
  const start = last?.end ?? node.start + 1;
  const lead = margin === undefined ? ' ' : `\n${margin}${unit}`;
  return [...changed, { start, end: start, text: `${last === undefined ? '' : ','}${lead}${added.join(`,${lead}`)}` }];
}

/** Within an object as far as it has no member too many; else the value as a whole. */
function valueEdits(text: string, node: Node, wanted: unknown, unit: string): Edit[] {
  if (isDeepStrictEqual(node.value, wanted)) return [];
  const isSubset = isFields(wanted) && node.members !== undefined && node.members.size > 0
    && [...node.members.keys()].every((key) => Object.hasOwn(wanted, key));
  if (isSubset) return memberEdits(text, node, wanted as Fields, unit);
  const isLong = text.slice(node.start, node.end).includes('\n');
  const margin = isLong || marginAt(text, node.start) !== '' ? marginAt(text, node.start) : undefined;
  return [{ start: node.start, end: node.end, text: valueText(wanted, margin, unit) }];
}

/** `margin`: of the line that it begins in; undefined: all in one line. */
function valueText(value: unknown, margin: string | undefined, unit: string): string {
  if (margin === undefined || unit === '') return JSON.stringify(value);
  return JSON.stringify(value, undefined, unit).replaceAll('\n', `\n${margin}`);
}

function marginAt(text: string, at: number): string {
  const line = text.slice(text.lastIndexOf('\n', at) + 1);
  return /^[ \t]*/u.exec(line)?.[0] ?? '';
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  value(): Node {
    this.#blanks();
    const start = this.#at;
    const rest = /"(?:[^"\\]|\\.)*"|[^\s,\]}]+/uy;
    const first = this.#text[start];
    const inner = first === '{' ? { members: this.#members() } : first === '[' ? { items: this.#items() } : undefined;
    if (inner === undefined) {
      rest.lastIndex = start;
      this.#at += rest.exec(this.#text)?.[0].length ?? 1;
    }
    const end = this.#at;
    return { start, end, value: JSON.parse(this.#text.slice(start, end)) as unknown, ...inner };
  }

  #members(): ReadonlyMap<string, Node> {
    const members = new Map<string, Node>();
    this.#each('}', () => {
      const key = this.value().value as string;
      this.#blanks();
      this.#at += 1;
      members.set(key, this.value());
    });
    return members;
  }

  #items(): readonly Node[] {
    const items: Node[] = [];
    this.#each(']', () => items.push(this.value()));
    return items;
  }

  /** Reads from the opening bracket to behind the closing one. */
  #each(close: string, read: () => void): void {
    this.#at += 1;
    for (this.#blanks(); this.#text[this.#at] !== close; this.#blanks()) {
      if (this.#text[this.#at] === ',') this.#at += 1;
      else read();
    }
    this.#at += 1;
  }

  #blanks(): void {
    while (/\s/u.test(this.#text[this.#at] ?? '')) this.#at += 1;
  }
}
