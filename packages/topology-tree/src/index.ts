/** Topology component `tree`: the k-ary tree, numbered level by level; option and parameter `arity`. */

import {
  TOPOLOGY_ARITY_MAX, accept, checkTopologyInteger, checkTopologyRequest, defineComponent, topologyFramework,
} from '@stci/core/component';
import { param } from '@stci/interface';
import { createTree } from './tree.js';

export { createTree };

export const topologyTree = defineComponent({
  framework: topologyFramework,
  name: 'tree',
  version: '1.0.0',
  frameworkVersion: 1,
  help: 'A k-ary tree: position p is linked with its parent and up to k children. One path between any two positions.',
  params: {
    arity: param.int(2, [1, TOPOLOGY_ARITY_MAX], 'Children of a position. More makes the tree flatter (height = '
      + 'log(size) / log(arity)) and each position busier; 1 is a chain.'),
  },
  query: () => accept(50),
  create: (_deps, params, request) => {
    checkTopologyRequest(request, ['arity']);
    const arity = request.options?.['arity'] ?? params['arity'];
    return createTree(request.size, checkTopologyInteger('tree', 'option arity', arity, 1, TOPOLOGY_ARITY_MAX));
  },
});
