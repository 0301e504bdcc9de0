// @ts-check
/** Topology component `torus`; option `dimensions`, such as `torus:dimensions=4x4x2`. */

import {
  TOPOLOGY_SIZE_MAX, accept, checkTopologyInteger, checkTopologyRequest, defineComponent, topologyError,
  topologyFramework,
} from '@stci/core/component';
import { createTorus, nearCubic } from './torus.js';

export const topologyTorus = defineComponent({
  framework: topologyFramework,
  name: 'torus',
  version: '1.0.0',
  frameworkVersion: 1,
  help: 'A grid of three dimensions whose ends are joined, near-cubic unless dimensions are given.',
  params: {
    order: {
      type: 'enum',
      default: 'xyz',
      values: ['xyz', 'zyx'],
      help: 'The dimension that routes correct first: x, whose neighbours are next to each other by number, or z.',
    },
  },
  query: () => accept(10),
  create: (_deps, params, request) => {
    checkTopologyRequest(request, ['dimensions', 'order']);
    const order = request.options?.['order'] ?? params['order'];
    if (order !== 'xyz' && order !== 'zyx') throw topologyError('torus', 'option order', 'xyz or zyx', order);
    return createTorus(dimensionsOf(request), order);
  },
});

/** @param {import('@stci/interface').TopologyRequest} request */
function dimensionsOf({ size, options }) {
  const given = options?.['dimensions'];
  if (given === undefined) return nearCubic(size);
  if (!Array.isArray(given) || given.length !== 3) {
    throw topologyError('torus', 'option dimensions', 'three integers, such as 4x4x2', given);
  }
  const [x, y, z] = given.map((d) => checkTopologyInteger('torus', 'option dimensions', d, 1, TOPOLOGY_SIZE_MAX));
  if (x * y * z !== size) {
    throw topologyError('torus', 'option dimensions', `a product of ${size}, the number of positions`, given);
  }
  return /** @type {const} */ ([x, y, z]);
}
