/**
 * `stci complete`, which the shells' completion scripts call at each TAB:
 *
 *     stci complete -- WORDS...               words up to the cursor, the last one perhaps empty; `TEXT<tab>HELP` lines
 *     stci complete --bash LINE POINT BREAKS  COMP_LINE, COMP_POINT and COMP_WORDBREAKS; lines as they are typed
 *
 * Other lines begin with a colon and direct the shell: `:nospace`; `:files`, `:directories`, `:experiments`, which it
 * lists itself; `:command K`, the line from word K is a command of its own. For bash these have two words more: the
 * number of characters of the word that bash keeps (of a command: of the line), and the word without its quotes. Ends
 * with 0 and in silence whatever happens, within DEADLINE_MS.
 */

import { bashText, readBashLine, type BashLine } from './bash-line.js';
import { complete, type Completion } from './candidates.js';
import type { ProgramFacts } from './position.js';
import { MachineSources } from './sources.js';

const DEADLINE_MS = 1500;

export async function completeMain(programs: readonly ProgramFacts[], argv: readonly string[]): Promise<number> {
  setTimeout(() => process.exit(0), DEADLINE_MS).unref();
  try {
    const lines = argv[0] === '--bash' ? await bashLines(programs, argv) : await plainLines(programs, argv);
    process.stdout.write(lines.map((line) => `${line}\n`).join(''));
  } catch {
    // Nobody reads an error at a TAB.
  }
  return 0;
}

const sources = (line: readonly string[]): Promise<MachineSources> => MachineSources.open(line);

async function plainLines(programs: readonly ProgramFacts[], argv: readonly string[]): Promise<readonly string[]> {
  const words = argv[0] === '--' ? argv.slice(1) : argv;
  const { candidates, listing, command } = await complete(words, programs, sources);
  return [
    ...(command === undefined ? [] : [`:command ${command}`]),
    ...(listing === undefined ? [] : [`:${listing.what}`]),
    ...(candidates.some(({ isOpen }) => isOpen) ? [':nospace'] : []),
    ...candidates.map(({ text, help }) => (help === undefined ? text : `${text}\t${oneLine(help)}`)),
  ];
}

const HELP_CHARS = 70;

function oneLine(help: string): string {
  const line = help.replace(/\p{Cc}+/gu, ' ');
  return line.length <= HELP_CHARS ? line : `${line.slice(0, HELP_CHARS - 1)}…`;
}

async function bashLines(programs: readonly ProgramFacts[], argv: readonly string[]): Promise<readonly string[]> {
  const [, line = '', point = '', breaks = ''] = argv;
  const read = readBashLine(line.slice(0, Number(point)), breaks);
  return bashReply(read, await complete(read.words, programs, sources));
}

/** Lines for COMPREPLY. */
export function bashReply(line: BashLine, { candidates, listing, command }: Completion): readonly string[] {
  const word = (line.words.at(-1) ?? '').replace(/\p{Cc}/gu, '');
  const typed = candidates.flatMap(({ text }) => bashText(text, line) ?? []).filter((text) => !text.startsWith(':'));
  const kept = Math.max(0, line.kept - (listing?.from ?? 0));
  return [
    ...(command === undefined ? [] : [`:command ${line.starts[command] ?? 0} ${word}`]),
    ...(listing === undefined ? [] : [`:${listing.what} ${kept} ${word.slice(listing.from)}`]),
    ...(candidates.some(({ isOpen }) => isOpen) ? [':nospace'] : []),
    ...typed,
  ];
}
