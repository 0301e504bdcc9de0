/**
 * Notifier component `bmg` (RDaemon#, algorithm 1): an agent that has not had a broadcast forwards it once to all its
 * links of the binomial graph, the children of the binomial spanning tree of the source first. Then it tells the agents
 * and tools of its own host, which is the driver's part.
 */

import {
  accept, bySize, createRelay, defineComponent, floodPromise, liveChildren, liveNeighbours, notifierFramework,
} from '@stci/core/component';
import { param } from '@stci/interface';

export const notifierBmg = defineComponent({
  framework: notifierFramework,
  name: 'bmg',
  version: '1.0.0',
  frameworkVersion: 2,
  help: 'Over every link of the binomial graph, those of a spanning tree first: the fastest past failed agents.',
  params: {
    topology: param.text('bmg', 'The topology over whose links it sends.'),
  },
  query: () => accept(10),
  create: (_deps, { topology }) => ({
    topology: topology as string,
    promise: (request) => floodPromise(request),
    open(init) {
      const topologyOf = bySize(init.topologyOf);
      return createRelay(init, {
        repairs: false,
        copies({ self, source, size, dead }) {
          const made = topologyOf(size);
          const first = liveChildren(made.spanningTree(source), self, dead);
          return [...first, ...liveNeighbours(made, self, dead)];
        },
      });
    },
  }),
});
