/** The mesh: compliance along several topologies. */

import { detectorMesh } from '@stci/detector-mesh';
import { detectorCompliance } from '@stci/testkit';
import { createMesh, nearCubic } from '@stci/topology-mesh';

detectorCompliance(detectorMesh, [
  {
    label: 'near-cubic', params: { period: '100ms', grace: '0ms' }, seeds: 8,
    topology: (size) => createMesh(nearCubic(size), false),
  },
  { label: 'ring', params: { period: '100ms', grace: '0ms' }, seeds: 8, topology: (size) => createMesh([size], true) },
]);
