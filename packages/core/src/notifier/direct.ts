/**
 * Notifier `direct`: its source sends to each. No relay can fail, and nobody helps: it takes the source as long as
 * sending n messages, and if it dies meanwhile, those that it had not sent to yet are not told.
 */

import { accept, builtinComponent } from '@stci/interface';
import { notifierFramework } from './framework.js';
import { promiseText } from './promise.js';
import { createRelay } from './relay.js';

export const notifierDirect = builtinComponent({
  framework: notifierFramework,
  name: 'direct',
  help: 'From its source to each agent; for few agents, and to compare with.',
  query: () => accept(10),
  create: () => ({
    topology: '',
    promise({ members }) {
      const figures = { steps: Math.min(1, members - 1), delayMs: 0, messages: members - 1, tolerates: members - 1 };
      return { ...figures, isUniform: false, text: promiseText(figures, members) };
    },
    open: (init) => createRelay(init, {
      repairs: false,
      * copies({ self, source, size, dead }) {
        for (let to = 0; self === source && to < size; to++) if (!dead.has(to)) yield to;
      },
    }),
  }),
});
