/** The error managers of core keep what the contract promises. */

import { errmgrCompliance } from '@stci/testkit/compliance';
import { errmgrAbort } from '../../dist/errmgr/abort.js';
import { errmgrContinue, errmgrNotify } from '../../dist/errmgr/continue.js';
import { errmgrRestart } from '../../dist/errmgr/restart.js';

for (const component of [errmgrAbort, errmgrContinue, errmgrNotify]) errmgrCompliance(component);
errmgrCompliance(errmgrRestart, [
  { label: 'default' }, { label: 'goes on', params: { retries: '100', then: 'continue', 'pause.max': '1h' } },
]);
