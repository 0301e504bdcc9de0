/** `stci hosts expand` and `stci hosts fold`: host lists to names and back, as stcirun reads them. */

import { expandHostlist, foldHostlist } from '@stci/core';
import { StciError } from '@stci/interface';
import { printOut } from '../print.js';
import { StciCommand } from './base.js';

abstract class HostsCommand extends StciCommand {
  static override strict = false;

  protected async names(): Promise<string[]> {
    const { argv } = await this.parse({ strict: false, args: {}, flags: {} });
    const lists = argv as string[];
    if (lists.length > 0) return lists.flatMap((list) => expandHostlist(list).map((host) => host.name));
    throw new StciError('STCI_USAGE', "There is no host list. Write, for example: stci hosts expand 'n[01-16,20]'");
  }
}

export class HostsExpandCommand extends HostsCommand {
  static override readonly summary = 'the names of a host list, one a line';
  static override readonly synopsis = 'LIST...';
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
  static override readonly summary = 'names as one short host list';
  static override readonly synopsis = 'LIST...';
  static override readonly details = `
Example:
  stci hosts fold n01 n02 n03
`;

  async run(): Promise<void> {
    printOut(`${foldHostlist(await this.names())}\n`);
  }
}
