/**
 * What stci-client can be called with: its calls, their words and options, its exit codes. Help, manual page, reference
 * and completion are made from these tables.
 */

import { FORMS, PROGRAM_TAG } from '@stci/interface';
import { EXIT } from './errors.js';

/** What a call takes. `words`: `[…]` may be left out; `options`: their names. */
export interface CallForm {
  readonly words: readonly string[];
  readonly options: readonly ClientOption[];
  readonly help: string;
}

export interface OptionForm {
  /** Placeholder of the value; undefined: the option takes none. */
  readonly value?: string;
  /** All allowed values, where they are few. */
  readonly values?: readonly string[];
  readonly help: string;
}

export const CLIENT_OPTIONS = {
  '--tag': {
    value: 'TAG',
    help: `a word that tells messages apart; send without it: ${PROGRAM_TAG}; recv without it: any`,
  },
  '--from': { value: 'RANK', help: 'messages of this rank only' },
  '--timeout': { value: 'SECONDS', help: 'waits so long at most; 0: takes what is there; without it: for ever' },
  '--form': { value: 'FORM', values: FORMS, help: 'how the receiver’s library reads the bytes' },
  '--wait': { value: 'SECONDS', help: 'waits so long for the key; without it: not at all' },
  '--size': { value: 'N', help: 'positions of the topology; without it: the job’s ranks' },
  '--position': { value: 'N', help: 'the neighbours of this position; without it: of this rank' },
  '--head': { help: 'a line before what comes: FROM TAG FORM BYTES; of gather, allgather: RANK FORM BYTES' },
  '--lines': { help: 'each part ends with a newline, also where it has none' },
} as const satisfies Readonly<Record<string, OptionForm>>;

export type ClientOption = keyof typeof CLIENT_OPTIONS;

const form = (words: string, options: readonly ClientOption[], help: string): CallForm => ({
  words: words.split(' ').filter((word) => word !== ''), options, help,
});

export const CALLS = {
  rank: form('', [], 'writes this rank'),
  size: form('', [], 'writes the number of ranks of the job'),
  hosts: form('', [], 'writes a line for each host: its name and its ranks'),
  put: form('KEY [VALUE]', ['--form'], 'puts a value under a key; the others see it after exchange'),
  get: form('KEY', ['--wait'], 'writes the value of a key'),
  exchange: form('', [], 'tells all ranks the keys that were put (collective)'),
  barrier: form('', [], 'waits for all ranks (collective)'),
  send: form('RANK [TEXT]', ['--tag', '--form'], 'sends a message; returns when the receiver’s agent has it'),
  recv: form('', ['--from', '--tag', '--timeout', '--head'], 'takes the oldest message that fits, and writes it'),
  broadcast: form('ROOT [TEXT]', ['--form'], 'writes at all ranks what rank ROOT brings (collective)'),
  gather: form('ROOT [TEXT]', ['--form', '--head', '--lines'],
    'writes at rank ROOT what all bring, by rank (collective)'),
  allgather: form('[TEXT]', ['--form', '--head', '--lines'],
    'writes at all ranks what all bring, by rank (collective)'),
  agree: form('[true|false]', [], 'ends with 0 if all ranks that are left say true, else with 1 (collective)'),
  shrink: form('', [], 'writes the ranks that are left; from now on they are the group (collective)'),
  neighbours: form('TOPOLOGY', ['--size', '--position'],
    'writes the neighbours of this rank in a topology, such as tree:arity=3'),
  failed: form('', [], 'writes a line for each rank that this host knows to be lost: the rank, and why'),
  mark: form('NAME', [], 'tells experiments that the program has come to a point of this name'),
  'include-dir': form('', [], 'writes the directory of stci.h'),
  help: form('[CALL]', [], 'describes a call, or all'),
} as const satisfies Readonly<Record<string, CallForm>>;

export type CallName = keyof typeof CALLS;

export const ABOUT = `A rank of a job that stcirun --client started takes part in it, from a shell or any program
that runs commands. Each call connects anew; what a rank has (messages, keys, its place in
collectives) is kept at the agent.`;

export const INPUT = `TEXT and VALUE that are left out are read from standard input, all of it. What comes is
written as it is.`;

export const CLIENT_EXITS: readonly (readonly [code: number, meaning: string])[] = [
  [EXIT.done, 'done'],
  [EXIT.no, 'no: no such message in time, no such key, not all agree'],
  [EXIT.usage, 'usage: an argument, a rank that does not exist, too many bytes'],
  [EXIT.rankLost, 'a rank that the call needs is lost or has ended'],
  [EXIT.mismatch, 'other ranks call another collective'],
  [EXIT.connection,
    'no connection: the job was started without --client, or the agent refuses it or has ended'],
  [EXIT.failed, 'all else'],
];

/** `--tag TAG` */
export function optionText(name: ClientOption): string {
  const { value }: OptionForm = CLIENT_OPTIONS[name];
  return value === undefined ? name : `${name} ${value}`;
}

/** `send RANK [TEXT] [--tag TAG]` */
export function usage(name: CallName): string {
  const { words, options }: CallForm = CALLS[name];
  return [name, ...words, ...options.map((option) => `[${optionText(option)}]`)].join(' ');
}

/** Help of an option, with the values that are allowed, where they are few. */
export function optionHelp(name: ClientOption): string {
  const { values, help }: OptionForm = CLIENT_OPTIONS[name];
  return values === undefined ? help : `${help}: ${values.join(', ')}`;
}
