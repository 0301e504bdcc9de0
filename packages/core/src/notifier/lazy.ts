/**
 * Notifier `lazy`: at once along the binomial spanning tree of the source, which tells everybody with one message each
 * if nobody fails; the redundant copies, which make it as tolerant as `bmg`, after a delay, and only to neighbours that
 * were not heard from. Of both ends of a link, the one that is nearer to the source goes first and the other waits
 * twice as long, so that normally one copy goes over a link, and none while failures spread.
 */

import { accept, builtinComponent, param } from '@stci/interface';
import type { SpanningTree, Position } from '@stci/interface';
import { notifierFramework } from './framework.js';
import { bySize, liveChildren, liveNeighbours } from './graph.js';
import { floodPromise, promiseText } from './promise.js';
import { createRelay } from './relay.js';

export const notifierLazy = builtinComponent({
  framework: notifierFramework,
  name: 'lazy',
  help: 'Along a spanning tree at once, over all other links later: as tolerant as bmg, with half its messages.',
  params: {
    topology: param.text('bmg', 'The topology over whose links it sends.'),
    delay: param.duration(150, [1, 60_000], 'Before the redundant copies, longer than the news takes to all agents. '
      + 'More: fewer of them cross each other on the way; but each agent that fails meanwhile delays those beyond it '
      + 'by up to twice as much.'),
  },
  query: () => accept(20),
  create: (_deps, params) => {
    const delayMs = params['delay'] as number;
    return {
      topology: params['topology'] as string,
      promise(request) {
        const { links, ...promise } = floodPromise(request, 2 * delayMs);
        return { ...promise, text: `${promiseText(promise, request.members)} Normally ${links} messages.` };
      },
      open(init) {
        const topologyOf = bySize(init.topologyOf);
        return createRelay(init, {
          repairs: false,
          copies: ({ self, source, size, dead }) => liveChildren(topologyOf(size).spanningTree(source), self, dead),
          later: {
            delayMs,
            copies({ self, source, size, dead }) {
              const topology = topologyOf(size);
              const tree = topology.spanningTree(source);
              return liveNeighbours(topology, self, dead)
                .map((to) => ({ to, afterMs: goesFirst(tree, self, to) ? delayMs : 2 * delayMs }));
            },
          },
        });
      },
    };
  },
});

function goesFirst(tree: SpanningTree, self: Position, other: Position): boolean {
  const nearer = tree.depth(self) - tree.depth(other);
  return nearer < 0 || (nearer === 0 && self < other);
}
