/** SWIM: compliance. */

import { detectorSwim } from '@stci/detector-swim';
import { detectorCompliance } from '@stci/testkit';

detectorCompliance(detectorSwim, [{ label: 'fast', params: { period: '100ms', grace: '0ms' }, seeds: 8 }]);
