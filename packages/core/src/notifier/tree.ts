/**
 * Notifier `tree`: along a tree, up to its root and down everywhere else. Each agent gets one message: the least there
 * can be. An agent that dies on the way leaves those beyond it without, until its death is known; then its neighbour
 * sends again to them. It needs no link that the agents do not have anyway.
 */

import { accept, builtinComponent, param } from '@stci/interface';
import { notifierFramework } from './framework.js';
import { bySize, liveChildren } from './graph.js';
import { promiseText } from './promise.js';
import { createRelay } from './relay.js';

export const notifierTree = builtinComponent({
  framework: notifierFramework,
  name: 'tree',
  help: 'One message for each agent, along a tree; past an agent that fails meanwhile, once that is known.',
  params: {
    topology: param.text('tree', 'The topology along whose spanning tree it sends.'),
  },
  query: () => accept(10),
  create: (_deps, { topology }) => ({
    topology: topology as string,
    promise({ members, topology: made }) {
      const figures = { steps: made?.diameter ?? 0, delayMs: 0, messages: members - 1, tolerates: 0 };
      return { ...figures, isUniform: false, text: promiseText(figures, members) };
    },
    open(init) {
      const topologyOf = bySize(init.topologyOf);
      return createRelay(init, {
        repairs: true,
        copies: ({ self, source, size, dead }) => liveChildren(topologyOf(size).spanningTree(source), self, dead),
      });
    },
  }),
});
