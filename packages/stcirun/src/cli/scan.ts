/**
 * Finds where options end. POSIX order: options stop at the first word that is none, the program, and nothing after
 * it is ever read as an option. A word `:` after the program begins the next program of the job; after `--` even
 * that belongs to the program. The scanner knows from the flag table which options take a value; what it hands on to
 * the parser is in one form, `--name` or `--name=value`.
 */

import { didYouMean } from '@stci/core';
import { StciError } from '@stci/interface';
import { FLAG_NAMES, FLAGS, OPTION_FACTS, optionName, type FlagName } from './flags.js';

/** One program with the options before it, both as words. */
export interface ScannedContext {
  readonly options: readonly string[];
  /** Program and arguments; empty where none was given. */
  readonly command: readonly string[];
}

const BY_CHAR: ReadonlyMap<string, FlagName> = new Map(
  FLAG_NAMES.flatMap((name) => {
    const char = FLAGS[name].char;
    return char === undefined ? [] : [[char, name] as const];
  }),
);

export function scan(argv: readonly string[]): readonly ScannedContext[] {
  const contexts: ScannedContext[] = [];
  let from = 0;
  for (;;) {
    const { context, next } = scanContext(argv, from);
    contexts.push(context);
    if (next === undefined) return contexts;
    if (context.command.length === 0) {
      throw new StciError('STCI_USAGE', "There is no program before ':'. Write: stcirun [options] A : [options] B");
    }
    from = next;
  }
}

interface Scanned {
  readonly context: ScannedContext;
  /** Where the next context begins. */
  readonly next: number | undefined;
}

function scanContext(argv: readonly string[], from: number): Scanned {
  const options: string[] = [];
  let at = from;
  while (at < argv.length) {
    const word = argv[at] as string;
    if (word === '--') return { context: { options, command: argv.slice(at + 1) }, next: undefined };
    if (!word.startsWith('-') || word === '-') break;
    at = word.startsWith('--') ? scanLong(argv, at, options) : scanShort(argv, at, options);
  }
  const colon = argv.indexOf(':', at);
  const command = argv.slice(at, colon < 0 ? undefined : colon);
  return { context: { options, command }, next: colon < 0 ? undefined : colon + 1 };
}

/** Returns where the next word is. */
function scanLong(argv: readonly string[], at: number, options: string[]): number {
  const word = argv[at] as string;
  const equals = word.indexOf('=');
  const name = asFlag(equals < 0 ? word.slice(2) : word.slice(2, equals), word);
  if (FLAGS[name].type === 'boolean') {
    if (equals >= 0) throw new StciError('STCI_USAGE', `--${name} takes no value. Write it alone.`);
    options.push(`--${name}`);
    return at + 1;
  }
  const implied = OPTION_FACTS[name].implied;
  if (equals >= 0) return push(options, name, word.slice(equals + 1), at + 1);
  if (implied !== undefined) return push(options, name, implied, at + 1);
  return push(options, name, argv[at + 1], at + 2);
}

/** `-n4`, `-n 4`, `-lq`: letters may stand together, the last of them may take the rest as its value. */
function scanShort(argv: readonly string[], at: number, options: string[]): number {
  const word = argv[at] as string;
  const whole = word.slice(1).replace(/=.*$/su, '');
  if (whole.length > 1 && FLAG_NAMES.some((name) => name === whole)) unknown(`-${whole}`, [`--${whole}`]);
  for (let i = 1; i < word.length; i += 1) {
    const name = BY_CHAR.get(word[i] as string);
    if (name === undefined) return unknown(`-${word[i]}`, [...BY_CHAR.keys()].map((char) => `-${char}`));
    const implied = OPTION_FACTS[name].implied;
    if (FLAGS[name].type === 'boolean') options.push(`--${name}`);
    else if (implied !== undefined) push(options, name, implied, at);
    else if (i + 1 < word.length) return push(options, name, word.slice(i + 1).replace(/^=/u, ''), at + 1);
    else return push(options, name, argv[at + 1], at + 2);
  }
  return at + 1;
}

function push(options: string[], name: FlagName, value: string | undefined, next: number): number {
  if (value === undefined) throw new StciError('STCI_USAGE', `${optionName(name)} needs a value: ${usageOf(name)}.`);
  options.push(`--${name}=${value}`);
  return next;
}

function usageOf(name: FlagName): string {
  const flag = FLAGS[name];
  const value = 'helpValue' in flag ? String(flag.helpValue) : 'VALUE';
  return flag.char === undefined ? `--${name} ${value}` : `-${flag.char} ${value}`;
}

function asFlag(name: string, word: string): FlagName {
  const found = FLAG_NAMES.find((known) => known === name);
  return found ?? unknown(word.replace(/=.*$/su, ''), FLAG_NAMES.map((known) => `--${known}`));
}

function unknown(word: string, known: readonly string[]): never {
  const hint = didYouMean(word, known);
  const more = 'Options stand before the program; see stcirun --help.';
  throw new StciError('STCI_USAGE', `Unknown option ${word}.${hint} ${more}`);
}
