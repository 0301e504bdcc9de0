/** `stci version`: the versions in use, for bug reports. */

import { printOut } from '../process/print.js';
import { VERSION } from '../process/version.js';
import { StciCommand } from './base.js';

export class VersionCommand extends StciCommand {
  static override readonly summary = 'versions of STCI and Node';

  async run(): Promise<void> {
    await this.parse({ args: {}, flags: {} });
    printOut(`stci ${VERSION}\nnode ${process.version}\nplatform ${process.platform} ${process.arch}\n`);
  }
}
