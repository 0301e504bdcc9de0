/** `finject version`: the versions in use; an experiment's record has the same. */

import { release } from 'node:os';
import { printOut, StciCommand, VERSION } from '@stci/stcirun/front-end';

/** Versions of what a run depends on. */
export function versions(): Readonly<Record<string, string>> {
  return { stci: VERSION, node: process.version, platform: `${process.platform} ${process.arch} ${release()}` };
}

export class VersionCommand extends StciCommand {
  static override readonly summary = 'versions of STCI and Node';

  async run(): Promise<void> {
    await this.parse({ args: {}, flags: {} });
    printOut(Object.entries(versions()).map(([name, version]) => `${name} ${version}\n`).join(''));
  }
}
