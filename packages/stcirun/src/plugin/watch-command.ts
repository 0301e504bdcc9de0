/** Watches over the plugins of a command, which ends with an error of one of them. */

import { ERROR_KINDS, type Params } from '@stci/interface';
import { PLUGIN_COPIES } from '@stci/core';
import { attributeFaults } from '../process/fault.js';
import { PATHS, TIMEOUT } from './params.js';

/** Loads the watch only if there are plugins. */
export async function watchCommand(speaker: string, params: Params): Promise<void> {
  if (params.list(PATHS).length + params.list(PLUGIN_COPIES).length === 0) return;
  const { attributed, printingPlugin, watchPlugins } = await import('./watch.js');
  const { namePrints } = await import('./prints.js');
  attributeFaults(attributed);
  namePrints(() => `${speaker}: ${printingPlugin()}`.replace(/: $/u, ''), false);
  watchPlugins({
    timeoutMs: params.int(TIMEOUT),
    speaker,
    exitCode: ERROR_KINDS.STCI_PLUGIN_FAILED.exitCode,
    // Whoever called it may have caught what it threw.
    onFault: (error) => setImmediate(() => {
      throw error;
    }),
  });
}
