/** What a composition asks about plugins: their files, and whether a job's are those of its session. */

import type { PluginHooks } from '@stci/core';
import { checkJobCopies } from './check-job.js';
import { copyNames } from './params.js';
import { pluginArchive } from './store.js';

export const pluginHooks: PluginHooks = {
  archive: (copy) => {
    const [name] = copyNames([copy]);
    return name === undefined ? undefined : pluginArchive(name.hash);
  },
  checkJob: checkJobCopies,
};
