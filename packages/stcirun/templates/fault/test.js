/** What every kind of fault promises, with orders for each kind of victim. */

import { faultCompliance } from '@stci/compliance';
import { component } from './index.js';

faultCompliance(component, [
  { label: 'default' },
  { label: 'process alone', args: { whom: 'process' } },
]);
