/**
 * `stci hosts VERB`: host lists as names, as lists and as sets, as stcirun reads them. A word is a host list; `-`
 * is standard input, read as a host file.
 */

import * as Args from '@oclif/core/args';
import {
  expandHostlist,
  foldHostlist,
  HOSTFILE_BYTES_MAX,
  intersectHosts,
  minusHosts,
  parseHostfile,
  unionHosts,
  xorHosts,
} from '@stci/core';
import { StciError } from '@stci/interface';
import { printOut } from '../process/print.js';
import { readBounded, readReason, STANDARD_INPUT } from '../files/read-file.js';
import { StciCommand, type StciCommandClass } from './base.js';

const LIST = 'a host list: a,b or n[01-16]; - is standard input, read as a host file';

interface HostsVerb {
  readonly summary: string;
  readonly synopsis?: string;
  /** Lines of the help: examples, and what else is to be known. */
  readonly details: string;
  /** What is printed for the names of each word. */
  readonly result: (lists: readonly (readonly string[])[]) => string;
}

function hostsCommand({ summary, synopsis = 'LIST...', details, result }: HostsVerb): StciCommandClass {
  return class extends StciCommand {
    static override readonly summary = summary;
    static override readonly synopsis = synopsis;
    static override readonly details = details;
    static override readonly page = 'hosts.md#host-lists';
    static override strict = false;
    static override args = { list: Args.string({ ignoreStdin: true, description: LIST }) };

    async run(): Promise<void> {
      const { argv } = await this.parse({ strict: false, args: {}, flags: {} });
      printOut(result(readLists(argv as string[])));
    }
  };
}

function readLists(words: readonly string[]): readonly (readonly string[])[] {
  const option = words.find((word) => /^-./u.test(word));
  if (option !== undefined) throw new StciError('STCI_USAGE', `Unknown option ${option}. See stci help.`);
  if (words.length === 0) {
    throw new StciError('STCI_USAGE', "No host list. Write, for example: stci hosts expand 'n[01-16,20]'");
  }
  if (words.filter((word) => word === '-').length > 1) {
    throw new StciError('STCI_USAGE', 'Standard input (-) can be read only once.');
  }
  return words.map((word) => (word === '-' ? inputNames() : namesOf(word)));
}

function namesOf(list: string): string[] {
  return expandHostlist(list).map((host) => host.name);
}

function inputText(): string {
  try {
    return readBounded(STANDARD_INPUT, HOSTFILE_BYTES_MAX);
  } catch (thrown) {
    throw new StciError('STCI_HOSTLIST_INVALID', `Standard input (-) cannot be read: ${readReason(thrown)}.`);
  }
}

/** Standard input as a host file, which may be empty here. */
function inputNames(): string[] {
  const text = inputText();
  return /^\s*[^#\s]/mu.test(text) ? parseHostfile('standard input', text).map(({ name }) => name) : [];
}

/** Line of hosts, none for no hosts: a line would read as a list. */
function hostsLine(names: readonly string[]): string {
  return names.length === 0 ? '' : `${foldHostlist(names)}\n`;
}

type SetOperation = (a: Iterable<string>, b: Iterable<string>) => string[];

/** A command that goes from left to right: the first list with the second, that with the third, and so on. */
function setCommand(operation: SetOperation, summary: string, details: string): StciCommandClass {
  const result: HostsVerb['result'] = ([first = [], ...others]) => {
    if (others.length === 0) {
      throw new StciError('STCI_USAGE', 'Only one list was given: expected two or more, each a word of its own.');
    }
    return hostsLine(others.reduce<readonly string[]>((left, right) => operation(left, right), unionHosts(first, [])));
  };
  return hostsCommand({ summary, synopsis: 'LIST LIST...', details, result });
}

/** Commands by the word behind `stci hosts`. */
export const HOSTS_COMMANDS: Readonly<Record<string, StciCommandClass>> = {
  expand: hostsCommand({
    summary: 'the names of a host list, one per line',
    details: `
Example:
  stci hosts expand 'n[01-16,20]'
`,
    result: (lists) => lists.flat().map((name) => `${name}\n`).join(''),
  }),
  fold: hostsCommand({
    summary: 'names as one short host list, each once, in their order',
    details: `
Examples:
  stci hosts fold n01 n02 n03
  stci hosts fold - < hosts          read as a host file: one list a line
`,
    result: (lists) => hostsLine(unionHosts(lists.flat(), [])),
  }),
  union: setCommand(unionHosts, 'hosts that are in any of the lists', `
Example:
  stci hosts union 'n[1-4]' 'n[3-8]'           n[1-8]
`),
  intersect: setCommand(intersectHosts, 'hosts that are in all of the lists', `
Example:
  stci hosts intersect 'n[1-4]' 'n[3-8]'       n[3-4]
`),
  minus: setCommand(minusHosts, 'hosts of the first list that are in none of the others', `
Example:
  stci hosts minus 'n[1-8]' n3 'n[5-6]'        n[1-2,4,7-8]
`),
  xor: setCommand(xorHosts, 'hosts that are in exactly one of two lists', `
With more than two lists: of the first two, then with the third, and so on.

Example:
  stci hosts xor 'n[1-4]' 'n[3-6]'             n[1-2,5-6]
`),
  count: hostsCommand({
    summary: 'how many hosts a list names, each counted once',
    details: `
Example:
  stci hosts count 'rack[1-4]n[01-32]'
`,
    result: (lists) => `${new Set(lists.flat()).size}\n`,
  }),
};
