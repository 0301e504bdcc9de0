/** Topology component `bmg`: the binomial graph. It has no options. */

import { accept, checkTopologyRequest, defineComponent, topologyFramework } from '@stci/core/component';
import { createBmg } from './bmg.js';

export { createBmg };

export const topologyBmg = defineComponent({
  framework: topologyFramework,
  name: 'bmg',
  version: '1.0.0',
  frameworkVersion: 1,
  help: 'Binomial graph: position i is linked with i ± 2^k mod size. Many paths, about 2 log2(size) links each.',
  params: {},
  query: () => accept(50),
  create: (_deps, _params, request) => {
    checkTopologyRequest(request, []);
    return createBmg(request.size);
  },
});
