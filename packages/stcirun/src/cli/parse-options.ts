/** The options of one program of a command line, by oclif. */

import { parse } from '@oclif/core/parser';
import { StciError } from '@stci/interface';
import { FLAGS } from './flags.js';
import { OptionValueError } from './values.js';

export type FlagValues = Awaited<ReturnType<typeof parseOptions>>;

/** Throws STCI_USAGE. */
export async function parseOptions(argv: readonly string[]) {
  try {
    return (await parse([...argv], { flags: FLAGS, args: {}, strict: true, '--': false })).flags;
  } catch (thrown) {
    if (thrown instanceof OptionValueError) throw new StciError('STCI_USAGE', thrown.text);
    // oclif's own words, such as "Flag --wdir can only be specified once".
    const words = thrown instanceof Error ? thrown.message.split('\n', 1)[0] : String(thrown);
    throw new StciError('STCI_USAGE', `${words}. See stcirun --help.`);
  }
}

/** Whether standard input is a host file, so that ranks get none. */
export function readsHosts(flags: FlagValues): boolean {
  return flags.hostfile?.includes('-') === true;
}
