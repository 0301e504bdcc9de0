/** The published suite for topologies, over the torus: `node test.js`. */

import { topologyCompliance } from '@stci/compliance';
import { topologyTorus } from './index.js';

const BOXES = { 8: [2, 2, 2], 12: [1, 3, 4], 24: [4, 3, 2], 30: [5, 3, 2], 64: [4, 4, 4], 20_000: [50, 20, 20] };

topologyCompliance(topologyTorus, [
  { label: 'near-cubic', degreeMax: () => 6, avoidsDead: true },
  { label: 'z first', options: () => ({ order: 'zyx' }), degreeMax: () => 6, avoidsDead: true },
  {
    label: 'boxes',
    options: (size) => (BOXES[size] === undefined ? {} : { dimensions: BOXES[size] }),
    degreeMax: () => 6,
    avoidsDead: true,
  },
]);
