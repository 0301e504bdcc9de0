/** The published suite for detectors, over phi: `node test.js`. */

import { detectorCompliance } from '@stci/compliance';
import { createMesh } from '@stci/topology-mesh';
import { detectorPhi } from './index.js';

const topology = (size) => createMesh([size], false);

detectorCompliance(detectorPhi, [
  { label: 'defaults', params: {}, topology, graceMs: 10_000 },
  { label: 'fast', params: { period: '100ms', threshold: '8', grace: '1s' }, topology, graceMs: 1000 },
]);
