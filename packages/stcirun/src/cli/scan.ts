/**
 * Finds where options end. POSIX order: options end at the first word that is not one, the program; nothing after it
 * is read as an option. `--` ends them too. A word `:` after the program begins the next program of the job;
 * `\:` stands for a `:` that the program is to get. The scanner knows from the flag table which options take a
 * value; what it hands on to the parser is in one form, `--name` or `--name=value`.
 */

import { didYouMean } from '@stci/core';
import { StciError } from '@stci/interface';
import { FLAG_NAMES, FLAGS, OPTION_FACTS, optionName, type FlagName } from './flags.js';
import { HINTS, LETTERS, SYNONYMS } from './peers.js';
import { allocValue, NODES_LETTER, nextWordIs } from './values.js';

/** One program with the options before it, both as words. */
export interface ScannedContext {
  readonly options: readonly string[];
  /** Program and arguments; empty where none was given. */
  readonly command: readonly string[];
}

const BY_CHAR: ReadonlyMap<string, FlagName> = new Map([
  ...LETTERS,
  ...FLAG_NAMES.flatMap((name): [string, FlagName][] => {
    const char = FLAGS[name].char;
    return char === undefined ? [] : [[char, name]];
  }),
]);

/** The option that a word such as `--np`, `-np`, `--hosts` or `-n4` is, and whose value would be the next word. */
export function optionNamed(word: string): FlagName | undefined {
  const name = word.replace(/^--?/u, '').replace(/=.*$/su, '');
  const synonym = SYNONYMS.get(name);
  const long = FLAG_NAMES.find((known) => known === name) ?? (typeof synonym === 'string' ? synonym : undefined);
  if (word.startsWith('--') || (name.length > 1 && long !== undefined)) return long;
  const last = BY_CHAR.get(name.at(-1) ?? '');
  // `-n4`: the letter that takes a value has it in the same word.
  const isJoined = [...name].slice(0, -1).some((letter) => {
    const option = BY_CHAR.get(letter);
    return option === undefined || (FLAGS[option].type !== 'boolean' && OPTION_FACTS[option].implied === undefined);
  });
  return isJoined ? undefined : last;
}

export function scan(argv: readonly string[]): readonly ScannedContext[] {
  const contexts: ScannedContext[] = [];
  // Of `-genv`: for the programs of all contexts, below their own.
  const everywhere: string[] = [];
  let from = 0;
  for (;;) {
    const { context, next } = new ContextScanner(argv, everywhere).run(from);
    contexts.push(context);
    if (next === undefined) break;
    if (context.command.length === 0) {
      throw new StciError('STCI_USAGE', "No program before ':'. Write: stcirun [options] A : [options] B");
    }
    from = next;
  }
  return contexts.map(({ options, command }) => ({ options: [...everywhere, ...options], command }));
}

interface Scanned {
  readonly context: ScannedContext;
  /** Where the next context begins. */
  readonly next: number | undefined;
}

/** Reads the options of one program. Its `#long…` and `#short` return where the next word is. */
class ContextScanner {
  readonly #argv: readonly string[];
  readonly #everywhere: string[];
  readonly #options: string[] = [];
  /** How options that take one value were written. */
  readonly #heads = new Map<FlagName, string>();

  constructor(argv: readonly string[], everywhere: string[]) {
    this.#argv = argv;
    this.#everywhere = everywhere;
  }

  run(from: number): Scanned {
    let at = from;
    for (let word = this.#argv[at]; word?.startsWith('-') === true && word !== '-'; word = this.#argv[at]) {
      if (word === '--') {
        at += 1;
        break;
      }
      at = this.#option(word, at);
    }
    const colon = this.#argv.indexOf(':', at);
    const command = this.#argv.slice(at, colon < 0 ? undefined : colon);
    const context = { options: this.#options, command: command.map(withoutEscape) };
    return { context, next: colon < 0 ? undefined : colon + 1 };
  }

  #option(word: string, at: number): number {
    const equals = word.indexOf('=');
    const head = equals < 0 ? word : word.slice(0, equals);
    const value = equals < 0 ? undefined : word.slice(equals + 1);
    const name = head.replace(/^--?/u, '');
    if (head === '-env' || head === '-genv') return this.#variable(head, value, at);
    const isLong = head.startsWith('--') || name.length > 1;
    if (isLong) {
      const own = FLAG_NAMES.find((known) => known === name);
      if (own !== undefined) return this.#long(own, head, value, at);
      const synonym = SYNONYMS.get(name);
      if (typeof synonym === 'string') return this.#long(synonym, head, value, at);
      if (synonym !== undefined) return this.#fixed(synonym, head, value, at);
      const hint = HINTS.get(name);
      if (hint !== undefined) throw new StciError('STCI_USAGE', `Unknown option ${head}. ${hint}`);
    }
    return head.startsWith('--') ? unknown(head) : this.#short(word, at);
  }

  #long(name: FlagName, head: string, value: string | undefined, at: number): number {
    if (FLAGS[name].type === 'boolean') {
      if (value !== undefined) throw new StciError('STCI_USAGE', `${head} takes no value. Write it alone.`);
      this.#options.push(`--${name}`);
      return at + 1;
    }
    if (value !== undefined) return this.#push(name, head, value, at + 1);
    const next = this.#argv[at + 1];
    const { implied } = OPTION_FACTS[name];
    if (implied !== undefined) return this.#implied(name, head, implied, at);
    // Open MPI's `--mca KEY VALUE`.
    const after = this.#argv[at + 2];
    if (name === 'mca' && next !== undefined && !next.includes('=') && after !== undefined) {
      return this.#push(name, head, `${next}=${after}`, at + 3);
    }
    return this.#push(name, head, next, at + 2);
  }

  #implied(name: FlagName, head: string, implied: string, at: number): number {
    const next = this.#argv[at + 1] ?? '';
    const kind = nextWordIs(name, next);
    if (kind === 'value') return this.#push(name, head, next, at + 2);
    if (kind === 'other') return this.#push(name, head, implied, at + 1);
    const text = `${head} ${next} can be read in two ways. Write --${name}=${next}, or ${head} -- ${next} for a `
      + 'program of this name.';
    throw new StciError('STCI_USAGE', text);
  }

  #fixed([name, fixed]: readonly [FlagName, string], head: string, value: string | undefined, at: number): number {
    if (value !== undefined) throw new StciError('STCI_USAGE', `${head} takes no value. Write it alone.`);
    return this.#push(name, head, fixed, at + 1);
  }

  /** MPICH's `-env NAME VALUE`, and `-genv` for the programs of the whole job. */
  #variable(head: string, joined: string | undefined, at: number): number {
    const [name, value] = this.#argv.slice(at + 1, at + 3);
    const pair = joined ?? (name?.includes('=') === true ? name : undefined);
    if (pair === undefined && value === undefined) {
      throw new StciError('STCI_USAGE', `${head} needs a name and a value: -x NAME=VALUE.`);
    }
    const option = `--env=${pair ?? `${name}=${value}`}`;
    (head === '-genv' ? this.#everywhere : this.#options).push(option);
    return at + (joined === undefined ? (pair === undefined ? 3 : 2) : 1);
  }

  /** `-n4`, `-n 4`, `-lq`: letters may be combined; the last of them may take the rest as its value. */
  #short(word: string, at: number): number {
    for (let i = 1; i < word.length; i += 1) {
      const letter = word[i] as string;
      const name = BY_CHAR.get(letter);
      if (name === undefined) return unknown(`-${letter}`, word);
      const implied = OPTION_FACTS[name].implied;
      const head = `-${letter}`;
      if (FLAGS[name].type === 'boolean') this.#options.push(`--${name}`);
      else if (implied !== undefined && i + 1 < word.length) this.#push(name, head, implied, at);
      else if (implied !== undefined) return this.#implied(name, head, implied, at);
      else if (i + 1 === word.length) return this.#push(name, head, this.#argv[at + 1], at + 2);
      else if (name === 'np' && !/^[=\d]/u.test(word.slice(i + 1))) return unknown(word);
      else return this.#push(name, head, word.slice(i + 1).replace(/^=/u, ''), at + 1);
    }
    return at + 1;
  }

  #push(name: FlagName, head: string, value: string | undefined, next: number): number {
    if (value === undefined) throw new StciError('STCI_USAGE', `${optionName(name)} needs a value: ${usageOf(name)}.`);
    const before = this.#heads.get(name);
    if (before !== undefined && !('multiple' in FLAGS[name] && FLAGS[name].multiple === true)) {
      const which = before === head ? `${head} is given twice` : `${before} and ${head} are the same option`;
      throw new StciError('STCI_USAGE', `${which}. Give it once.`);
    }
    this.#heads.set(name, head);
    // Whether the letter was meant for hosts depends on where the command runs.
    this.#options.push(`--${name}=${head === NODES_LETTER ? 'N' : ''}${name === 'alloc' ? allocValue(value) : value}`);
    return next;
  }
}

/** A `:` for the program is written `\:`, that one `\\:`, and so on. */
function withoutEscape(word: string): string {
  return /^\\+:$/u.test(word) ? word.slice(1) : word;
}

function usageOf(name: FlagName): string {
  const flag = FLAGS[name];
  const value = 'helpValue' in flag ? String(flag.helpValue) : 'VALUE';
  return flag.char === undefined ? `--${name} ${value}` : `-${flag.char} ${value}`;
}

/** `word` is what was written where `option` is a letter of it. */
function unknown(option: string, word = option): never {
  const isLetter = word.length === 2;
  const joined = /^-np(\d+)$/u.exec(word)?.[1];
  const hint = joined !== undefined ? `Write -np ${joined}.` : isLetter ? HINTS.get(option.slice(1)) : undefined;
  const near = didYouMean(word.replace(/^--?/u, '--').replace(/=.*$/su, ''), FLAG_NAMES.map((name) => `--${name}`));
  const shown = word === option || isLetter ? word : `${word} (${option})`;
  const more = 'Options stand before the program; see stcirun --help.';
  throw new StciError('STCI_USAGE', `Unknown option ${shown}.${hint === undefined ? near : ` ${hint}`} ${more}`);
}
