/** What every error manager promises, in every situation that it is asked about. */

import { errmgrCompliance } from '@stci/compliance';
import { component } from './index.js';

errmgrCompliance(component, [
  { label: 'default' },
  { label: 'never again', params: { times: '0' } },
]);
