/** Whether the plugins that a job names are those of its session, which may have none. */

import { pluginError } from './error.js';
import { copyNames } from './params.js';

const SHOWN_DIGITS = 12;

/** Throws STCI_PLUGIN_INVALID for a plugin that the session does not have, or has in another version. */
export function checkJobCopies(session: readonly string[], job: readonly string[]): void {
  const own = copyNames(session);
  for (const { hash, path } of copyNames(job)) {
    if (own.some((one) => one.hash === hash)) continue;
    const other = own.find((one) => one.path === path);
    throw pluginError(path, other === undefined
      ? 'the session was started without it. Give it to stci start, too'
      : `the session has version ${other.hash.slice(0, SHOWN_DIGITS)} of it, and this job names version `
        + `${hash.slice(0, SHOWN_DIGITS)}: its files were changed since. Start the session again, or undo the change`);
  }
}
