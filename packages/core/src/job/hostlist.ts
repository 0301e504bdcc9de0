/**
 * Host lists as users of clusters write them: `a,b`, `n[01-16,20]`, `rack[1-2]n[1-4]`, `n[1-2]-ib`, `user@a:4`,
 * `[::1]:2`. Brackets hold numbers and ranges; zero padding is kept; several brackets multiply, the last one
 * counting fastest. A bracket that holds an IPv6 address is that address. `:4` gives each host of its item 4 slots.
 *
 * A host that is named twice is in the result twice, in order; --host and host files add up its slots. Hosts are
 * counted before any is expanded, so that the bound costs no memory.
 */

import { StciError, defined } from '@stci/interface';
import type { ErrorCode } from '@stci/interface';
import { isIpv6 } from './ipv6.js';

/** Most hosts that one list may name. */
export const HOSTLIST_MAX = 1_000_000;

/** Most slots that one entry may give. */
export const SLOTS_MAX = 1_000_000;

/** One host of an expanded list. */
export interface HostItem {
  /** An IPv6 address without its brackets. */
  readonly name: string;
  readonly user?: string;
  /** undefined where the list gives none. */
  readonly slots?: number;
}

/** Where the text comes from, for messages. */
export interface HostlistSource {
  /** `--host`, `hosts.txt:3`. */
  readonly name: string;
  readonly code?: ErrorCode;
  /** Columns before the list, where it is part of a file's line: messages then begin `hosts.txt:3:7:`. */
  readonly columnOffset?: number;
}

/**
 * The hosts of `text`. Throws STCI_HOSTLIST_INVALID (or source.code) with the column, a caret line and what was
 * expected: for an empty list or item, a reversed or half range, an unclosed or empty bracket, a stray character,
 * slots outside 1..SLOTS_MAX, more than HOSTLIST_MAX hosts.
 */
export function expandHostlist(text: string, source: HostlistSource = { name: 'host list' }): HostItem[] {
  const items = new HostlistParser(text, source).items();
  return items.flatMap(expandItem);
}

/** A range of numbers, or one number where both are the same. Padded to `width` digits; 0: not padded. */
interface NumberRange {
  readonly low: number;
  readonly high: number;
  readonly width: number;
}

interface Item {
  readonly user?: string;
  readonly slots?: number;
  /** Texts and brackets in turn. */
  readonly parts: readonly (string | readonly NumberRange[])[];
}

const NAME_CHARACTER = /[A-Za-z0-9._-]/;
/** Up to 15 digits: exact as a number. */
const DIGITS_MAX = 15;
/** Characters of the text that a caret line shows on each side of the place. */
const SHOWN_AROUND = 40;

class HostlistParser {
  readonly #text: string;
  readonly #source: HostlistSource;
  #at = 0;

  constructor(text: string, source: HostlistSource) {
    this.#text = text;
    this.#source = source;
  }

  items(): Item[] {
    const items: Item[] = [];
    let total = 0;
    for (;;) {
      this.#blanks();
      const start = this.#at;
      const item = this.#item();
      total += item.parts.reduce((count, part) => count * (typeof part === 'string' ? 1 : countOf(part)), 1);
      if (total > HOSTLIST_MAX) this.#fail(start, `at most ${HOSTLIST_MAX} hosts in a list`, `${total} up to here`);
      items.push(item);
      this.#blanks();
      if (this.#at === this.#text.length) return items;
      if (this.#peek() !== ',') this.#stray('a comma or the end of the list');
      this.#at++;
    }
  }

  #item(): Item {
    const user = this.#user();
    const start = this.#at;
    const address = this.#address();
    const parts = address === undefined ? this.#parts(start) : [address];
    const slots = this.#slots();
    return { parts, ...defined({ user, slots }) };
  }

  #user(): string | undefined {
    const user = /^([^,:[\]@\s]*)@/.exec(this.#text.slice(this.#at, this.#at + 256))?.[1];
    if (user === undefined) return undefined;
    if (!/^[A-Za-z0-9_][A-Za-z0-9._-]*$/.test(user)) this.#fail(this.#at, 'a user name before @', quote(user));
    this.#at += user.length + 1;
    return user;
  }

  /** `[::1]`: a bracket that parses as an address and is the whole name. */
  #address(): string | undefined {
    const inner = /^\[([^\]]{0,64})\](?=[,:\s]|$)/.exec(this.#text.slice(this.#at, this.#at + 67))?.[1];
    if (inner === undefined || !isIpv6(inner)) return undefined;
    this.#at += inner.length + 2;
    return inner;
  }

  #parts(start: number): Item['parts'] {
    const parts: (string | readonly NumberRange[])[] = [];
    for (let char = this.#peek(); char !== undefined; char = this.#peek()) {
      if (char === '[') parts.push(this.#bracket());
      else if (NAME_CHARACTER.test(char)) parts.push(this.#word());
      else break;
    }
    if (parts.length === 0) this.#stray(`a host name${this.#peek() === ':' ? ', or an IPv6 address in brackets' : ''}`);
    if (typeof parts[0] === 'string' && parts[0].startsWith('-')) {
      this.#fail(start, 'a host name, which begins with a letter, a digit or a bracket', quote('-'));
    }
    return parts;
  }

  #word(): string {
    const start = this.#at;
    while (NAME_CHARACTER.test(this.#peek() ?? '')) this.#at++;
    return this.#text.slice(start, this.#at);
  }

  #bracket(): readonly NumberRange[] {
    const open = this.#at++;
    const ranges: NumberRange[] = [];
    for (;;) {
      ranges.push(this.#range(open));
      const char = this.#peek();
      if (char === ']') break;
      if (char === undefined) this.#fail(open, 'a ] that closes this bracket', 'the end of the list');
      if (char !== ',') this.#stray('a digit, a comma, a - or a ]');
      this.#at++;
    }
    this.#at++;
    return ranges;
  }

  #range(open: number): NumberRange {
    const start = this.#at;
    const low = this.#digits(open);
    if (this.#peek() !== '-') return { low: Number(low), high: Number(low), width: widthOf(low) };
    this.#at++;
    const high = this.#digits(open);
    const given = `${low}-${high}`;
    if (Number(high) < Number(low)) this.#fail(start, `a range that ascends, ${high}-${low}`, given);
    if (widthOf(low) > high.length || (widthOf(high) > 0 && high.length !== low.length)) {
      this.#fail(start, 'both ends of a range padded to the same width', given);
    }
    return { low: Number(low), high: Number(high), width: widthOf(low) };
  }

  #digits(open: number): string {
    const start = this.#at;
    while (/[0-9]/.test(this.#peek() ?? '')) this.#at++;
    const digits = this.#text.slice(start, this.#at);
    if (digits === '' && this.#peek() === undefined) {
      this.#fail(open, 'a ] that closes this bracket', 'the end of the list');
    }
    if (digits === '') this.#stray('a number in brackets (or an IPv6 address alone, as in [::1])');
    if (digits.length > DIGITS_MAX) this.#fail(start, `a number of at most ${DIGITS_MAX} digits`, quote(digits));
    return digits;
  }

  #slots(): number | undefined {
    if (this.#peek() !== ':') return undefined;
    const start = ++this.#at;
    const word = /^[^,\s]*/.exec(this.#text.slice(start, start + 64))?.[0] ?? '';
    if (word.includes(':')) this.#fail(start - 1, 'an IPv6 address in brackets, as in [::1]:2', quote(`:${word}`));
    const slots = /^[0-9]{1,15}$/.test(word) ? Number(word) : 0;
    if (slots < 1 || slots > SLOTS_MAX) this.#fail(start, `slots in 1..${SLOTS_MAX} after the :`, quote(word));
    this.#at += word.length;
    return slots;
  }

  #peek(): string | undefined {
    return this.#text[this.#at];
  }

  #blanks(): void {
    while (/[ \t]/.test(this.#peek() ?? '')) this.#at++;
  }

  #stray(expected: string): never {
    const code = this.#text.codePointAt(this.#at);
    this.#fail(this.#at, expected, code === undefined ? 'the end of the list' : quote(String.fromCodePoint(code)));
  }

  #fail(at: number, expected: string, got: string): never {
    const { name, code = 'STCI_HOSTLIST_INVALID', columnOffset } = this.#source;
    const column = at + (columnOffset ?? 0) + 1;
    const place = columnOffset === undefined ? `${name}: column ${column}` : `${name}:${column}`;
    const from = Math.max(0, at - SHOWN_AROUND);
    const shown = printable(this.#text.slice(from, at + SHOWN_AROUND));
    throw new StciError(
      code,
      `${place}: expected ${expected}, got ${got}\n  ${shown}\n  ${' '.repeat(at - from)}^`,
      { data: { column } },
    );
  }
}

function expandItem(item: Item): HostItem[] {
  let names = [''];
  for (const part of item.parts) {
    const endings = typeof part === 'string' ? [part] : part.flatMap(numbersOf);
    names = names.flatMap((name) => endings.map((ending) => name + ending));
  }
  const { user, slots } = item;
  return names.map((name) => ({ name, ...defined({ user, slots }) }));
}

function numbersOf({ low, high, width }: NumberRange): string[] {
  return Array.from({ length: high - low + 1 }, (_, i) => String(low + i).padStart(width, '0'));
}

function countOf(ranges: readonly NumberRange[]): number {
  return ranges.reduce((sum, range) => sum + range.high - range.low + 1, 0);
}

/** Digits to which a number is padded; 0 where it does not begin with a needless zero. */
function widthOf(digits: string): number {
  return digits.length > 1 && digits.startsWith('0') ? digits.length : 0;
}

function quote(text: string): string {
  return text === '' ? 'nothing' : `"${printable(text)}"`;
}

/** One column a character, whatever was typed. */
function printable(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f]/g, '?');
}
