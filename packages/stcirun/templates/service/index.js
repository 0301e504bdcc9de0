// @ts-check
/**
 * Service `sample`: ranks wait for one another. Each inherits a socket; what it writes there is answered when every
 * rank has written. A service has a part at each host of a job, and one at the controller, which hears from all.
 */

import { accept, decline, defineComponent, serviceFramework } from '@stci/core/component';
import { RANK_SOCKET_FD } from '@stci/interface';

/** @type {import('@stci/interface').ServiceModule} */
const module = {
  atHost: (part) => {
    /** @type {Map<number, import('@stci/interface').Channel>} */
    const waiting = new Map();
    return {
      onStart: (rank) => ({
        env: { SAMPLE_FD: String(RANK_SOCKET_FD) },
        socket: (channel) => channel.bind({
          onData: () => {
            if (waiting.has(rank)) return;
            waiting.set(rank, channel);
            part.send(rank);
          },
          onDrain: () => undefined,
          onClose: () => void waiting.delete(rank),
        }),
      }),
      onMessage: (text) => {
        for (const channel of waiting.values()) channel.send([new TextEncoder().encode(`${String(text)}\n`)]);
        waiting.clear();
      },
    };
  },
  atController: (part) => {
    /** @type {Set<unknown>} */
    const here = new Set();
    return {
      onMessage: (_host, rank) => {
        here.add(rank);
        if (here.size < part.size) return;
        here.clear();
        part.sendAll('all are here');
      },
    };
  },
};

export const component = defineComponent({
  framework: serviceFramework,
  name: 'sample',
  version: '1.0.0',
  frameworkVersion: 1,
  help: 'Ranks wait for one another, at a socket that each inherits.',
  params: {},
  query: ({ named }) => (named === true ? accept(1, 'selected by name') : decline('only by name')),
  create: () => module,
});
