/**
 * What the word at the cursor is: an option's name or value, a command's name, an argument, or a word of the program
 * that stcirun is to run. Half lines are read as far as they go; what cannot be read is taken for an argument.
 */

import type { OptionRow } from '../cli/option-rows.js';

/** A command, as completion sees it. */
export interface CommandFacts {
  readonly summary: string;
  /** Names of its arguments, in order; the last one may be repeated. */
  readonly args: readonly string[];
  readonly options: readonly OptionRow[];
}

export interface ProgramFacts {
  readonly name: string;
  /** By name, which may have two words. */
  readonly commands: ReadonlyMap<string, CommandFacts>;
  /** Of stcirun, which has no commands: its options end at the program that it runs. */
  readonly runs?: { readonly options: readonly OptionRow[]; readonly optionOf: (word: string) => string | undefined };
}

export type Position =
  | { readonly at: 'option'; readonly options: readonly OptionRow[] }
  /** `before`: what stands before the value in the same word, as `--tag=`. */
  | { readonly at: 'value'; readonly option: OptionRow; readonly before: string; readonly command: string }
  | { readonly at: 'command'; readonly before: readonly string[] }
  | { readonly at: 'argument'; readonly name: string; readonly command: string }
  /** The program that is run begins at this word. */
  | { readonly at: 'program'; readonly from: number }
  | { readonly at: 'nothing' };

/** `words`: the program's name first, the word at the cursor last. */
export function positionOf(words: readonly string[], program: ProgramFacts): Position {
  if (words.length < 2) return { at: 'nothing' };
  return program.runs === undefined ? inCommand(words, program) : inRun(words, program.runs);
}

function inCommand(words: readonly string[], { commands }: ProgramFacts): Position {
  const cursor = words.length - 1;
  const isHelp = words[1] === 'help' && cursor > 1;
  const start = isHelp ? 2 : 1;
  for (const count of [2, 1]) {
    const command = words.slice(start, start + count).join(' ');
    const facts = commands.get(command);
    if (facts === undefined || cursor < start + count) continue;
    return isHelp ? { at: 'nothing' } : afterCommand(words, start + count, facts, command);
  }
  const before = words.slice(start, cursor);
  const isBegun = before.length === 0 || [...commands.keys()].some((name) => name.startsWith(`${before.join(' ')} `));
  return isBegun ? { at: 'command', before } : { at: 'nothing' };
}

function afterCommand(words: readonly string[], start: number, facts: CommandFacts, command: string): Position {
  const cursor = words.length - 1;
  const optionOf = (word: string): OptionRow | undefined => facts.options.find(({ name, char }) =>
    word === `--${name}` || (char !== undefined && word === `-${char}`));
  let given = 0;
  for (let i = start; i < cursor; i += 1) {
    const word = words[i] ?? '';
    if (!word.startsWith('-') || word === '-') given += 1;
    else if (takesNext(optionOf(word), word)) {
      if (i + 1 === cursor) return valueAt(optionOf(word), '', command);
      i += 1;
    }
  }
  return atCursor(words[cursor] ?? '', { options: facts.options, optionOf, command })
    ?? argumentAt(facts.args[Math.min(given, facts.args.length - 1)], command);
}

function argumentAt(name: string | undefined, command: string): Position {
  return name === undefined ? { at: 'nothing' } : { at: 'argument', name, command };
}

type Runs = NonNullable<ProgramFacts['runs']>;

function inRun(words: readonly string[], runs: Runs): Position {
  const cursor = words.length - 1;
  const optionOf = (word: string): OptionRow | undefined => {
    const name = runs.optionOf(word);
    return runs.options.find((option) => option.name === name);
  };
  for (let i = 1; ; i += 1) {
    const word = words[i] ?? '';
    const options = { options: runs.options, optionOf, command: '' };
    if (i === cursor) return atCursor(word, options) ?? { at: 'program', from: i };
    const isOption = word.startsWith('-') && word !== '-' && word !== '--';
    if (!isOption) {
      // The program; a ':' behind it begins another context.
      const from = word === '--' ? i + 1 : i;
      const colon = words.indexOf(':', from);
      if (colon < 0 || colon >= cursor) return { at: 'program', from };
      i = colon;
    } else if (takesNext(optionOf(word), word)) {
      if (i + 1 === cursor) return valueAt(optionOf(word), '', '');
      i += 1;
    }
  }
}

/** The option's value is the next word. */
function takesNext(option: OptionRow | undefined, word: string): boolean {
  return option?.value !== undefined && option.implied === undefined && !word.includes('=');
}

function valueAt(option: OptionRow | undefined, before: string, command: string): Position {
  return option === undefined ? { at: 'nothing' } : { at: 'value', option, before, command };
}

interface Options {
  readonly options: readonly OptionRow[];
  readonly optionOf: (word: string) => OptionRow | undefined;
  readonly command: string;
}

function atCursor(word: string, { options, optionOf, command }: Options): Position | undefined {
  if (!word.startsWith('-')) return undefined;
  const equals = word.indexOf('=');
  if (equals < 0) return { at: 'option', options };
  const option = optionOf(word.slice(0, equals));
  return option?.value === undefined ? { at: 'nothing' } : valueAt(option, word.slice(0, equals + 1), command);
}
