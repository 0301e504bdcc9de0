/** The command line of stci-client: read, and its help, both by the tables of calls and options. */

import { WATCHDOG_MS_MAX } from '@stci/interface';
import {
  ABOUT, CALLS, CLIENT_EXITS, CLIENT_OPTIONS, INPUT, optionHelp, optionText, usage, type CallForm, type CallName,
  type ClientOption,
} from './call-table.js';
import { CommandError, EXIT } from './errors.js';

export interface Words {
  readonly name: CallName;
  readonly words: readonly string[];
  readonly options: Readonly<Record<string, string>>;
  /** Of this call alone, with `help`. */
  readonly of?: CallName;
}

const row = (name: ClientOption): string => `  ${optionText(name).padEnd(18)}  ${optionHelp(name)}\n`;

/** Help of all of stci-client, or of one call. */
export function help(of?: CallName): string {
  if (of !== undefined) {
    const { words, options, help: text }: CallForm = CALLS[of];
    const takesInput = words.some((word) => word === '[TEXT]' || word === '[VALUE]');
    const parts = [`${text}\n`, options.map(row).join(''), takesInput ? `${INPUT}\n` : ''];
    return [`Usage: stci-client ${usage(of)}\n`, ...parts.filter((part) => part !== '')].join('\n');
  }
  const calls = (Object.keys(CALLS) as CallName[]).map((name) => `  ${usage(name)}\n      ${CALLS[name].help}\n`);
  const options = (Object.keys(CLIENT_OPTIONS) as ClientOption[]).map(row);
  return `Usage: stci-client CALL [arguments]

${ABOUT}

Calls:
${calls.join('')}
Options:
${options.join('')}
${INPUT}

Exit codes:
${CLIENT_EXITS.map(([code, meaning]) => `  ${code}  ${meaning}\n`).join('')}`;
}

/** Throws CommandError where the arguments are not of the call's form. */
export function parse(args: readonly string[]): Words {
  if (args[0] === undefined) throw new CommandError(EXIT.usage, 'a call is missing; stci-client --help lists them');
  const first = args[0] === '--help' || args[0] === '-h' ? 'help' : args[0];
  const name = callNamed(first);
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
    else if (word === '--help') return { name: 'help', words: [], options: {}, of: name };
    else if (!isOption(word, form)) throw wrong(`${name} has no option ${word}`);
    else if (!('value' in CLIENT_OPTIONS[word])) options[word] = '';
    else if (++at < args.length) options[word] = args[at] as string;
    else throw wrong(`${word} needs a value`);
  }
  const least = form.words.filter((word) => !word.startsWith('[')).length;
  if (words.length < least) throw wrong(`${form.words[words.length]} is missing`);
  if (words.length > form.words.length) throw wrong(`'${words[form.words.length]}' is too much`);
  const [of] = words;
  return { name, words, options, ...(name === 'help' && of !== undefined && { of: callNamed(of) }) };
}

function callNamed(word: string): CallName {
  if (Object.hasOwn(CALLS, word)) return word as CallName;
  throw new CommandError(EXIT.usage, `unknown call '${word}'; expected one of ${Object.keys(CALLS).join(', ')}`);
}

function isOption(word: string, { options }: CallForm): word is ClientOption {
  return options.some((name) => name === word);
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
