/**
 * Reading values of a file, with all problems collected. A value of another type than expected reads as absent: the
 * schema has told of it.
 */

import { didYouMean, expandHostlist, splitWords } from '@stci/core';
import { StciError } from '@stci/interface';
import type { HostRef, Problem, SourcePlace } from './contracts.js';
import { shown } from './show.js';
import { NUMBERS_MAX, numbersOf, readDuration, readRanges, type NumberRange, type Read } from './texts.js';
import type { LoadedFile, Path } from './yaml-file.js';
import { nameOf, PROBLEMS_MAX } from './structure.js';

const RANK_MAX = 0xffff_ffff;
const TOO_MANY = `it has more than ${NUMBERS_MAX} numbers.`;

export interface FoundProblem extends Problem {
  readonly path: Path;
}

/** What all cursors of a file share. */
export interface Reading {
  readonly loaded: LoadedFile;
  readonly problems: FoundProblem[];
}

/** One value of the file. */
export class Cursor {
  readonly path: Path;
  readonly value: unknown;
  readonly #reading: Reading;

  constructor(reading: Reading, path: Path, value: unknown) {
    this.#reading = reading;
    this.path = path;
    this.value = value;
  }

  get isAbsent(): boolean {
    return this.value === undefined;
  }

  get isObject(): boolean {
    return typeof this.value === 'object' && this.value !== null && !Array.isArray(this.value);
  }

  /** Problems that are found now are not told. */
  get isFull(): boolean {
    return this.#reading.problems.length >= PROBLEMS_MAX;
  }

  get place(): SourcePlace {
    return this.#reading.loaded.place(this.path);
  }

  get(key: string): Cursor {
    const value = this.isObject && Object.hasOwn(this.value as object, key)
      ? (this.value as Record<string, unknown>)[key] : undefined;
    return new Cursor(this.#reading, [...this.path, key], value);
  }

  items(): Cursor[] {
    if (!Array.isArray(this.value)) return [];
    return this.value.map((item: unknown, at) => new Cursor(this.#reading, [...this.path, at], item));
  }

  keys(): string[] {
    return this.isObject ? Object.keys(this.value as object) : [];
  }

  /** `text`: what was wrong, what was expected, what to do. */
  problem(text: string): undefined {
    if (this.isFull) return undefined;
    this.#reading.problems.push({ path: this.path, place: this.place, text: `${nameOf(this.path)}: ${text}` });
    return undefined;
  }

  problemOfKey(key: string, text: string): undefined {
    if (this.isFull) return undefined;
    const path = [...this.path, key];
    const place = this.#reading.loaded.placeOfKey(path);
    this.#reading.problems.push({ path, place, text: `${nameOf(path)}: ${text}` });
    return undefined;
  }

  /** The value of what was read, or its problem. */
  take<Value>(read: Read<Value>): Value | undefined {
    return read.ok ? read.value : this.problem(`${shown(this.value)} ${read.problem}.`);
  }

  /** As it was written, also numbers. */
  text(): string | undefined {
    const { value } = this;
    if (typeof value === 'string') return value;
    if (typeof value !== 'number' && typeof value !== 'boolean') return undefined;
    return this.#reading.loaded.source(this.path) ?? String(value);
  }

  string(): string | undefined {
    return typeof this.value === 'string' ? this.value : undefined;
  }

  integer(): number | undefined {
    return Number.isSafeInteger(this.value) ? this.value as number : undefined;
  }

  isTrue(): boolean {
    return this.value === true;
  }

  durationMs(minMs = 0): number | undefined {
    const text = this.text();
    return text === undefined ? undefined : this.take(readDuration(text, minMs));
  }

  /** A text cut into words, or a list. */
  words(): string[] | undefined {
    if (Array.isArray(this.value)) return this.items().flatMap((item) => item.text() ?? []);
    const text = this.string();
    return text === undefined ? undefined : this.take(splitWords(text));
  }

  /** A name or a list of names. */
  names(): Cursor[] {
    return typeof this.value === 'string' ? [this] : this.items().filter((item) => item.string() !== undefined);
  }

  /** A number, a set as text, or a list of both. `words`: what the text may begin with besides, which others read. */
  numbers(max = RANK_MAX, words: readonly string[] = []): number[] | undefined {
    return this.#numbersOf(this.#ranges(max, words));
  }

  #ranges(max: number, words: readonly string[]): readonly NumberRange[] | undefined {
    if (Array.isArray(this.value)) return this.items().flatMap((item) => item.#ranges(max, []) ?? []);
    const text = this.text();
    if (text === undefined) return undefined;
    const [word] = /^[a-z-]+/iu.exec(text) ?? [];
    if (word === undefined || words.length === 0) return this.take(readRanges(text, max));
    const hint = didYouMean(word, words);
    return this.problem(`${shown(text)} is neither a number, a range such as 4-6, nor ${words.join(', ')}.${hint}`);
  }

  #numbersOf(ranges: readonly NumberRange[] | undefined): number[] | undefined {
    return ranges && (numbersOf(ranges) ?? this.problem(TOO_MANY));
  }

  /** Names as in a host list, or numbers. */
  hostRefs(): HostRef[] | undefined {
    if (Array.isArray(this.value)) return this.#together((item) => item.hostRefs());
    const text = this.text();
    if (text === undefined) return undefined;
    if (/^[\d\s,-]+$/.test(text)) return this.#numbersOf(this.take(readRanges(text, RANK_MAX)));
    return this.hostItems()?.map(({ name }) => (/^\d{1,10}$/.test(name) ? Number(name) : name));
  }

  /** Values of all items, each once. A few short texts may stand for a great many. */
  #together<Value>(read: (item: Cursor) => readonly Value[] | undefined): Value[] | undefined {
    const found = new Set<Value>();
    for (const item of this.items()) {
      for (const one of read(item) ?? []) found.add(one);
      if (found.size > NUMBERS_MAX) return this.problem(TOO_MANY);
    }
    return [...found];
  }

  hostItems(): ReturnType<typeof expandHostlist> | undefined {
    try {
      return expandHostlist(this.text() ?? '');
    } catch (thrown) {
      if (!(thrown instanceof StciError)) throw thrown;
      return this.problem(thrown.message);
    }
  }
}
