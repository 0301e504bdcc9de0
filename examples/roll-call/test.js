/** What every service promises, with short lines and long ones. */

import { serviceCompliance } from '@stci/compliance';
import { serviceRollCall } from './index.js';

serviceCompliance(serviceRollCall, [
  { label: 'default' },
  { label: 'short lines', params: { line: '16' } },
]);
