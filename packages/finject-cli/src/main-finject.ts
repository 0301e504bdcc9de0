/** finject's main. The programs of sessions and agents are stcirun's. */

import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { runMain } from '@stci/stcirun/front-end';
import { FINJECT } from './commands.js';

runMain('finject', (argv) => {
  const entry = createRequire(__filename).resolve('@stci/stcirun');
  return FINJECT.run(argv, join(dirname(entry), 'bundle'));
});
