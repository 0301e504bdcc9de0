/** Candidates for the word at the cursor: pure, from tables and from what the sources tell. */

import { rowSyntax } from '../cli/option-rows.js';
import { positionOf, type Position, type ProgramFacts } from './position.js';
import { ARGUMENT_KINDS, OPTION_KINDS, type Candidate, type Listing, type Sources, type Values } from './values.js';

export interface Completion {
  readonly candidates: readonly Candidate[];
  /** The shell lists files whose names begin with the word from here on. */
  readonly listing?: { readonly what: Listing; readonly from: number };
  /** The command line that begins at this word is completed as any other. */
  readonly command?: number;
}

/** Called once at most, where what is known of the machine is needed, with the words of the line. */
export type OpenSources = (words: readonly string[]) => Promise<Sources>;

const CANDIDATES_MAX = 1000;
/** A longer one is no name that a person completes. */
const CHARS_MAX = 300;

/** `words`: the program's name first, the word at the cursor last. */
export async function complete(
  words: readonly string[], programs: readonly ProgramFacts[], sources: OpenSources,
): Promise<Completion> {
  const name = (words[0] ?? '').replace(/^.*\//su, '');
  const program = programs.find((one) => one.name === name);
  if (program === undefined) return { candidates: [] };
  const position = positionOf(words, program);
  if (position.at === 'program') return { candidates: [], command: position.from };
  const word = words.at(-1) ?? '';
  const { candidates, listing } = await valuesAt(position, words, program, sources);
  const fitting = candidates.filter(({ text }) => text.startsWith(word) && isShowable(text));
  const byText = new Map(fitting.map((one) => [one.text, one]));
  return {
    candidates: [...byText.values()].slice(0, CANDIDATES_MAX),
    ...(listing !== undefined && { listing }),
  };
}

/** One line of plain text that no shell's script takes for a direction. */
function isShowable(text: string): boolean {
  return text.length <= CHARS_MAX && !/^:|\p{Cc}/u.test(text);
}

async function valuesAt(
  position: Position, words: readonly string[], program: ProgramFacts, sources: OpenSources,
): Promise<Values> {
  if (position.at === 'command') return commandNames(position.before, program);
  if (position.at === 'option') return optionNames(position.options);
  if (position.at === 'argument') {
    const { name, command } = position;
    const kind = ARGUMENT_KINDS[`${command} ${name}`] ?? ARGUMENT_KINDS[name];
    const asked = { text: words.at(-1) ?? '', words: words.slice(0, -1), sources: await sources(words) };
    return await kind?.(asked) ?? { candidates: [] };
  }
  if (position.at !== 'value') return { candidates: [] };
  const { option, before, command } = position;
  if (option.values !== undefined) return { candidates: option.values.map((value) => ({ text: before + value })) };
  const kind = OPTION_KINDS[`${command} --${option.name}`] ?? OPTION_KINDS[option.name];
  const text = (words.at(-1) ?? '').slice(before.length);
  const asked = { text, words: words.slice(0, -1), sources: await sources(words) };
  const { candidates, listing } = await kind?.(asked) ?? { candidates: [] };
  return {
    candidates: candidates.map((one) => ({ ...one, text: before + one.text })),
    ...(listing !== undefined && { listing: { ...listing, from: before.length + listing.from } }),
  };
}

/** The next word of each command that begins with these. */
function commandNames(before: readonly string[], { commands }: ProgramFacts): Values {
  const found = new Map<string, Candidate>();
  for (const [name, { summary }] of commands) {
    const rest = name.split(' ');
    if (!before.every((word, index) => rest[index] === word)) continue;
    const text = rest[before.length];
    if (text === undefined) continue;
    const isGroup = rest.length > before.length + 1;
    found.set(text, isGroup ? { text } : { text, help: summary });
  }
  if (before.length === 0) found.set('help', { text: 'help', help: 'describes a command' });
  return { candidates: [...found.values()] };
}

function optionNames(options: Extract<Position, { readonly at: 'option' }>['options']): Values {
  return {
    candidates: [
      ...options.map((row): Candidate => ({ text: `--${row.name}`, help: `${rowSyntax(row)}: ${row.help}` })),
      ...(options.some(({ name }) => name === 'help') ? [] : [{ text: '--help', help: 'describes the command' }]),
    ],
  };
}
