/** Topology component `mesh`: 1-D to 3-D, wrapped or not; options `dimensions` and `wrap`. */

import {
  TOPOLOGY_SIZE_MAX, accept, checkTopologyInteger, checkTopologyRequest, defineComponent, topologyError,
  topologyFramework,
} from '@stci/core/component';
import { param, type TopologyRequest } from '@stci/interface';
import { createMesh, nearCubic } from './mesh.js';

export { createMesh, nearCubic };

export const topologyMesh = defineComponent({
  framework: topologyFramework,
  name: 'mesh',
  version: '1.0.0',
  frameworkVersion: 1,
  help: 'A grid of one to three dimensions, near-cubic unless dimensions are given. A ring is a wrapped line.',
  params: {
    wrap: param.flag(false, 'Joins the ends of each dimension. Wrapped, the longest path is half as long, and one dead '
      + 'position does not cut a line; it costs two more links per line.'),
  },
  query: () => accept(50),
  create: (_deps, params, request) => {
    checkTopologyRequest(request, ['dimensions', 'wrap']);
    const wrap = request.options?.['wrap'] ?? params['wrap'];
    if (typeof wrap !== 'boolean') throw topologyError('mesh', 'option wrap', 'true or false', wrap);
    return createMesh(dimensionsOf(request), wrap);
  },
});

function dimensionsOf({ size, options }: TopologyRequest): readonly number[] {
  const given: unknown = options?.['dimensions'];
  if (given === undefined || given === 3) return nearCubic(size);
  if (given === 1) return [size];
  if (!Array.isArray(given) || given.length < 1 || given.length > 3) {
    throw topologyError('mesh', 'option dimensions', '1, 3, or a list of 1 to 3 integers', given);
  }
  const check = (d: unknown): number => checkTopologyInteger('mesh', 'option dimensions', d, 1, TOPOLOGY_SIZE_MAX);
  const dimensions = given.map(check);
  const product = dimensions.reduce((all, d) => all * d, 1);
  if (product !== size) {
    throw topologyError('mesh', 'option dimensions', `a product of ${size}, the number of positions`, dimensions);
  }
  return dimensions;
}
