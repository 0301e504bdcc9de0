/**
 * Framework `topology` (STCI paper, II-B), keyed: the kind is chosen whenever a topology is created. Components come as
 * packages (`topology-tree`); a component's parameters are the defaults of its kind's options.
 */

import { defineFramework } from '@stci/interface';
import type { NoDeps, Topology, TopologyRequest } from '@stci/interface';

export const topologyFramework = defineFramework<Topology, NoDeps, TopologyRequest>({
  name: 'topology',
  mode: 'keyed',
  version: 1,
  help: 'Which positions are linked, and which way a message goes.',
  params: {},
});
