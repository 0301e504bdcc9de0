/**
 * `stci hosts VERB`: host lists as names, as lists and as sets, as stcirun reads them. A word is a host list; `-`
 * is standard input, one list a line, as in host files (text after # is ignored).
 */

import {
  expandHostlist,
  foldHostlist,
  HOSTFILE_BYTES_MAX,
  intersectHosts,
  minusHosts,
  unionHosts,
  xorHosts,
} from '@stci/core';
import { StciError } from '@stci/interface';
import { printOut } from '../print.js';
import { readBounded, readReason, STANDARD_INPUT } from '../run/read-file.js';
import { StciCommand } from './base.js';

abstract class HostsCommand extends StciCommand {
  static override strict = false;
  static override readonly synopsis: string = 'LIST...';

  /** The names of each word. */
  protected async lists(): Promise<readonly (readonly string[])[]> {
    const { argv } = await this.parse({ strict: false, args: {}, flags: {} });
    const words = argv as string[];
    const option = words.find((word) => /^-./u.test(word));
    if (option !== undefined) throw new StciError('STCI_USAGE', `Unknown option ${option}. See stci help.`);
    if (words.length === 0) {
      throw new StciError('STCI_USAGE', "No host list. Write, for example: stci hosts expand 'n[01-16,20]'");
    }
    if (words.filter((word) => word === '-').length > 1) {
      throw new StciError('STCI_USAGE', 'Standard input (-) can be read only once.');
    }
    return words.map((word) => (word === '-' ? inputLists() : [word]).flatMap(namesOf));
  }

  protected async names(): Promise<string[]> {
    return (await this.lists()).flat();
  }
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

function inputLists(): string[] {
  const lines = inputText().split(/\r?\n/u);
  const first = lines.map((line) => line.replace(/#.*$/u, '').trim().split(/\s/u, 1)[0] as string);
  return first.filter((list) => list !== '');
}

export class HostsExpandCommand extends HostsCommand {
  static override readonly summary = 'the names of a host list, one a line';
  static override readonly details = `
Example:
  stci hosts expand 'n[01-16,20]'
`;

  async run(): Promise<void> {
    const names = await this.names();
    printOut(names.map((name) => `${name}\n`).join(''));
  }
}

export class HostsFoldCommand extends HostsCommand {
  static override readonly summary = 'names as one short host list, each once, in their order';
  static override readonly details = `
Examples:
  stci hosts fold n01 n02 n03
  stci hosts fold - < hosts          a list a line; each line's first word counts
`;

  async run(): Promise<void> {
    printHosts(unionHosts(await this.names(), []));
  }
}

export class HostsCountCommand extends HostsCommand {
  static override readonly summary = 'how many hosts a list names, each counted once';
  static override readonly details = `
Example:
  stci hosts count 'rack[1-4]n[01-32]'
`;

  async run(): Promise<void> {
    printOut(`${new Set(await this.names()).size}\n`);
  }
}

/** No line for no hosts: a line would read as a list. */
function printHosts(names: readonly string[]): void {
  if (names.length > 0) printOut(`${foldHostlist(names)}\n`);
}

type SetOperation = (a: Iterable<string>, b: Iterable<string>) => string[];

/** From left to right: the first list with the second, that with the third, and so on. */
abstract class HostsSetCommand extends HostsCommand {
  static override readonly synopsis: string = 'LIST LIST...';
  protected abstract readonly operation: SetOperation;

  async run(): Promise<void> {
    const [first = [], ...others] = await this.lists();
    if (others.length === 0) {
      throw new StciError('STCI_USAGE', 'Only one list was given: expected two or more, each a word of its own.');
    }
    const names = others.reduce<readonly string[]>((left, right) => this.operation(left, right), unionHosts(first, []));
    printHosts(names);
  }
}

export class HostsUnionCommand extends HostsSetCommand {
  static override readonly summary = 'hosts that are in any of the lists';
  static override readonly details = `
Example:
  stci hosts union 'n[1-4]' 'n[3-8]'           n[1-8]
`;
  protected readonly operation = unionHosts;
}

export class HostsIntersectCommand extends HostsSetCommand {
  static override readonly summary = 'hosts that are in all of the lists';
  static override readonly details = `
Example:
  stci hosts intersect 'n[1-4]' 'n[3-8]'       n[3-4]
`;
  protected readonly operation = intersectHosts;
}

export class HostsMinusCommand extends HostsSetCommand {
  static override readonly summary = 'hosts of the first list that are in none of the others';
  static override readonly details = `
Example:
  stci hosts minus 'n[1-8]' n3 'n[5-6]'        n[1-2,4,7-8]
`;
  protected readonly operation = minusHosts;
}

export class HostsXorCommand extends HostsSetCommand {
  static override readonly summary = 'hosts that are in exactly one of two lists';
  static override readonly details = `
With more than two lists: of the first two, then with the third, and so on.

Example:
  stci hosts xor 'n[1-4]' 'n[3-6]'             n[1-2,5-6]
`;
  protected readonly operation = xorHosts;
}
