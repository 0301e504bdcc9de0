/** The published suite for launch policies, over cabinets: `node test.js`. */

import { launcherCompliance } from '@stci/compliance';
import { launcherCabinets } from './index.js';

launcherCompliance(launcherCabinets, [
  { label: 'by name' },
  { label: 'counted', params: { of: 'cabinets:1*3,0*5,1*2', between: '2', within: '1' } },
]);
