/**
 * Framework `errmgr` (STCI paper, II-F.4), mode one: what follows a failure. Its module is the global part, at the
 * controller; it is asked, and never acts itself.
 */

import { defineFramework } from '@stci/interface';
import type { ErrorManager, NoDeps } from '@stci/interface';

export const errmgrFramework = defineFramework<ErrorManager, NoDeps>({
  name: 'errmgr',
  mode: 'one',
  version: 1,
  scope: 'job',
  help: 'Error manager: what follows a failure.',
  params: {},
});
