/** The ring: compliance, and the bounds of the IJHPCA paper. */

import { detectorRing } from '@stci/detector-ring';
import { detectorCompliance } from '@stci/testkit';

detectorCompliance(detectorRing, [
  { label: 'paper', params: { period: '100ms', grace: '0ms', 'lag.max': '0ms' } },
  { label: 'tight', params: { period: '50ms', timeout: '100ms', grace: '300ms' }, graceMs: 300 },
]);
