/** The command line of stci-client: which words and options each call takes, and the help that follows from that. */

import { WATCHDOG_MS_MAX } from '@stci/interface';
import { CommandError, EXIT } from './errors.js';

/** What a call takes. `words`: `[…]` may be left out; `options`: name → what its value is, '' for none. */
export interface CallForm {
  readonly words: readonly string[];
  readonly options: Readonly<Record<string, string>>;
  readonly help: string;
}

const VALUES: Readonly<Record<string, string>> = {
  '--tag': 'TAG', '--from': 'RANK', '--timeout': 'SECONDS', '--form': 'FORM', '--wait': 'SECONDS', '--size': 'N',
  '--position': 'N', '--head': '', '--lines': '',
};

const form = (words: string, options: string, help: string): CallForm => ({
  words: words.split(' ').filter((word) => word !== ''),
  options: Object.fromEntries(
    options.split(' ').filter((name) => name !== '').map((name) => [name, VALUES[name] ?? '']),
  ),
  help,
});

export const CALLS = {
  rank: form('', '', 'this rank'),
  size: form('', '', 'number of ranks of the job'),
  hosts: form('', '', 'a line for each host: its name and its ranks'),
  put: form('KEY [VALUE]', '--form', 'puts a value under a key; the others see it after exchange'),
  get: form('KEY', '--wait', 'writes the value of a key'),
  exchange: form('', '', 'tells all ranks the keys that were put (collective)'),
  barrier: form('', '', 'waits for all ranks (collective)'),
  send: form('RANK [TEXT]', '--tag --form', 'sends a message; returns when the receiver’s agent has it'),
  recv: form('', '--from --tag --timeout --head', 'takes the oldest message, and writes it'),
  broadcast: form('ROOT [TEXT]', '--form', 'writes at all ranks what rank ROOT brings (collective)'),
  gather: form('ROOT [TEXT]', '--form --head --lines', 'writes at rank ROOT what all bring, by rank (collective)'),
  allgather: form('[TEXT]', '--form --head --lines', 'writes at all ranks what all bring, by rank (collective)'),
  agree: form('[true|false]', '', 'ends with 0 if all ranks that are left say true (collective)'),
  shrink: form('', '', 'the ranks that are left; from now on they are the group (collective)'),
  neighbours: form('TOPOLOGY', '--size --position', 'the neighbours of this rank in a topology, such as tree:arity=3'),
  failed: form('', '', 'a line for each rank that is known to be lost, and why'),
  mark: form('NAME', '', 'tells experiments that the program has come to a point of this name'),
  'include-dir': form('', '', 'the directory of stci.h'),
  help: form('', '', 'this text'),
} as const satisfies Readonly<Record<string, CallForm>>;

export type CallName = keyof typeof CALLS;

export interface Words {
  readonly name: CallName;
  readonly words: readonly string[];
  readonly options: Readonly<Record<string, string>>;
}

export function usage(name: CallName): string {
  const { words, options } = CALLS[name];
  const shown = Object.entries(options).map(([option, value]) => `[${option}${value === '' ? '' : ` ${value}`}]`);
  return [name, ...words, ...shown].join(' ');
}

export function help(): string {
  const lines = (Object.keys(CALLS) as CallName[]).map((name) => `  ${usage(name)}\n      ${CALLS[name].help}\n`);
  return `stci-client CALL …: a rank of a job takes part in it, from a shell. Each call connects anew; what a rank has
(messages, keys, its place in collectives) is kept at the agent.

${lines.join('')}
TEXT and VALUE that are left out are read from standard input. What comes is written as it is; --head writes a line
before it (recv: FROM TAG FORM BYTES; gather, allgather: RANK FORM BYTES before each part), --lines ends each part with
a newline. FORM is bytes, json or text. recv waits for ever without --timeout; 0 takes what is there.

Exit codes: ${EXIT.done} done; ${EXIT.no} no: no such message in time, no such key, not all agree; ${EXIT.usage} usage;
${EXIT.rankLost} a rank is lost or has ended; ${EXIT.mismatch} other ranks call another collective;
${EXIT.connection} no connection to the agent; ${EXIT.failed} all else.
`;
}

/** Throws CommandError where the arguments are not of the call's form. */
export function parse(args: readonly string[]): Words {
  if (args[0] === undefined) throw new CommandError(EXIT.usage, 'a call is missing; stci-client --help lists them');
  const first = args[0] === '--help' || args[0] === '-h' ? 'help' : args[0];
  if (!Object.hasOwn(CALLS, first)) {
    throw new CommandError(EXIT.usage, `unknown call '${first}'; expected one of ${Object.keys(CALLS).join(', ')}`);
  }
  const name = first as CallName;
  const form: CallForm = CALLS[name];
  const wrong = (text: string): CommandError =>
    new CommandError(EXIT.usage, `${text}\nUsage: stci-client ${usage(name)}`);
  const words: string[] = [];
  const options: Record<string, string> = {};
  let isPlain = false;
  for (let at = 1; at < args.length; at++) {
    const word = args[at] as string;
    if (isPlain || !word.startsWith('--')) words.push(word);
    else if (word === '--') isPlain = true;
    else if (!Object.hasOwn(form.options, word)) throw wrong(`${name} has no option ${word}`);
    else if (form.options[word] === '') options[word] = '';
    else if (++at < args.length) options[word] = args[at] as string;
    else throw wrong(`${word} needs a value`);
  }
  const least = form.words.filter((word) => !word.startsWith('[')).length;
  if (words.length < least) throw wrong(`${form.words[words.length]} is missing`);
  if (words.length > form.words.length) throw wrong(`'${words[form.words.length]}' is too much`);
  return { name, words, options };
}

/** A whole number from 0; throws CommandError. */
export function whole(text: string, what: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new CommandError(EXIT.usage, `${what}: '${text}' is not an integer from 0`);
  return Number(text);
}

/** Seconds as ms. */
export function seconds(text: string, what: string): number {
  const ms = Math.round(Number(text) * 1000);
  if (/^\d+(\.\d{1,3})?$/.test(text) && ms <= WATCHDOG_MS_MAX) return ms;
  throw new CommandError(EXIT.usage, `${what}: '${text}' is not a time in s, from 0 to ${WATCHDOG_MS_MAX / 1000}`);
}
