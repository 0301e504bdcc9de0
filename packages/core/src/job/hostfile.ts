/**
 * Host files: a line per host (or a bracketed list of hosts), as other launchers read them.
 *
 *     # comment
 *     n01                  one slot, as a hint
 *     n[02-03]:4           four slots each, as a bound
 *     user@n04 slots=8     the same in words; also user=NAME
 *     n05 slots=2 max_slots=4   as of Open MPI: the slots where `slots` is not given, else at least as many
 *
 * A host that is named again gets more slots, as with --host: batch systems write a line per slot (PBS_NODEFILE). A
 * byte order mark, CRLF, blank lines and trailing blanks do no harm.
 */

import { StciError, caught } from '@stci/interface';
import type { HostSpec } from '@stci/interface';
import { didYouMean, listed, quote } from '@stci/registry';
import { SLOTS_MAX, expandHostlist } from './hostlist.js';
import type { HostItem } from './hostlist.js';

const KEYWORDS = ['slots', 'max_slots', 'user'] as const;
type Keyword = (typeof KEYWORDS)[number];

/** Longest host file, in bytes and so in characters. */
export const HOSTFILE_BYTES_MAX = 64 * 1024 * 1024;

/** Bad lines that an error shows, and that are looked for: something else than a host file has only such lines. */
const BAD_LINES_SHOWN = 8;
const BAD_LINES_MAX = 1000;

/** The hosts of the file `name`. Throws STCI_HOSTFILE_INVALID: of each bad line, its place and what was expected. */
export function parseHostfile(name: string, text: string): HostSpec[] {
  const hosts = joinHosts(parseLines(name, text, parseLine));
  if (hosts.length > 0) return hosts;
  throw new StciError('STCI_HOSTFILE_INVALID', `${name}: expected at least one host, got none`);
}

/** What `parseLine` finds in each line. Throws STCI_HOSTFILE_INVALID with the problems of all lines. */
export function parseLines<T>(name: string, text: string, parseLine: (line: string, origin: string) => T[]): T[] {
  if (text.length > HOSTFILE_BYTES_MAX) {
    throw new StciError('STCI_HOSTFILE_INVALID', `${name}: expected at most ${HOSTFILE_BYTES_MAX} characters`);
  }
  const lines = text.replace(/^\uFEFF/, '').split(/\r\n|\n|\r/);
  const problems: string[] = [];
  const parse = (line: string, index: number): T[] =>
    caught(() => (problems.length < BAD_LINES_MAX ? parseLine(line, `${name}:${index + 1}`) : []), ({ message }) => {
      problems.push(message);
      return [];
    });
  const found = lines.flatMap(parse);
  if (problems.length > 0) {
    const isCut = problems.length === BAD_LINES_MAX;
    const text = listed(problems, BAD_LINES_SHOWN).join('\n') + (isCut ? ' at least' : '');
    throw new StciError('STCI_HOSTFILE_INVALID', text);
  }
  return found;
}

/**
 * Each host once, in order of first appearance. Slots add up, and are a bound as soon as one entry wrote them; the
 * last login name counts; the first origin is kept.
 */
export function joinHosts(entries: Iterable<HostSpec>): HostSpec[] {
  const hosts = new Map<string, HostSpec>();
  for (const entry of entries) {
    const before = hosts.get(entry.name);
    const slots = Math.min(SLOTS_MAX, (before?.slots ?? 0) + entry.slots);
    const slotsBound = entry.slotsBound || before?.slotsBound === true;
    hosts.set(entry.name, { ...before, ...entry, slots, slotsBound, origin: before?.origin ?? entry.origin });
  }
  return [...hosts.values()];
}

function parseLine(line: string, origin: string): HostSpec[] {
  const [first, ...settings] = wordsOf(line.replace(/(^|\s)#.*$/, ''));
  if (first === undefined) return [];
  const source = { name: origin, code: 'STCI_HOSTFILE_INVALID', columnOffset: first.column - 1 } as const;
  const items = expandHostlist(first.text, source);
  const given = new Map<Keyword, string>();
  for (const word of settings) readSetting(word, origin, items[0]!, given);
  const most = Number(given.get('max_slots') ?? SLOTS_MAX);
  const slots = items[0]!.slots ?? Number(given.get('slots') ?? 1);
  if (most < slots) throw invalid(origin, 1, `expected max_slots of at least the ${slots} slots, got ${most}`);
  return items.map((item) => toHost(item, given, origin));
}

function readSetting(word: Word, origin: string, item: HostItem, given: Map<Keyword, string>): void {
  const [, name = '', value] = /^([^=]*)(?:=(.*))?$/s.exec(word.text) ?? [];
  const keyword = KEYWORDS.find((known) => known === name.replace('-', '_'));
  if (keyword === undefined || value === undefined) {
    const hint = keyword === undefined ? didYouMean(name, KEYWORDS) : '';
    throw invalid(origin, word.column, `expected slots=N, max_slots=N or user=NAME, got ${quote(word.text)}.${hint}`);
  }
  if (given.has(keyword) || (keyword !== 'max_slots' && item[keyword] !== undefined)) {
    throw invalid(origin, word.column, `expected ${keyword} once in a line, got it again: ${quote(word.text)}`);
  }
  const good = keyword === 'user' ? /^[A-Za-z0-9_][A-Za-z0-9._-]*$/.test(value) : isSlots(value);
  if (!good) {
    const expected = keyword === 'user' ? 'a user name' : `slots in 1..${SLOTS_MAX}`;
    throw invalid(origin, word.column, `expected ${expected}, got ${quote(word.text)}`);
  }
  given.set(keyword, value);
}

function toHost(item: HostItem, given: ReadonlyMap<Keyword, string>, origin: string): HostSpec {
  const written = given.get('slots') ?? given.get('max_slots');
  const slots = item.slots ?? (written === undefined ? undefined : Number(written));
  const user = item.user ?? given.get('user');
  return {
    name: item.name,
    slots: slots ?? 1,
    slotsBound: slots !== undefined,
    ...(user !== undefined && { user }),
    origin,
  };
}

interface Word {
  readonly text: string;
  /** From 1. */
  readonly column: number;
}

function wordsOf(line: string): Word[] {
  return [...line.matchAll(/\S+/g)].map((match) => ({ text: match[0], column: match.index + 1 }));
}

function isSlots(value: string): boolean {
  return /^[0-9]{1,15}$/.test(value) && Number(value) >= 1 && Number(value) <= SLOTS_MAX;
}

function invalid(origin: string, column: number, text: string): StciError {
  return new StciError('STCI_HOSTFILE_INVALID', `${origin}:${column}: ${text}`);
}
