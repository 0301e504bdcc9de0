// @ts-check
/**
 * Notifier `sample`: its source sends to each. `createRelay` numbers broadcasts, delivers each once and forgets; the
 * rule says who sends to whom.
 */

import { accept, createRelay, defineComponent, notifierFramework, promiseText } from '@stci/core/component';

export const component = defineComponent({
  framework: notifierFramework,
  name: 'sample',
  version: '1.0.0',
  frameworkVersion: 2,
  help: 'From its source to each agent.',
  params: {},
  query: () => accept(1, 'only by name'),
  create: () => ({
    topology: '',
    promise: ({ members }) => {
      const figures = { steps: Math.min(1, members - 1), delayMs: 0, messages: members - 1, tolerates: members - 1 };
      // A source that dies meanwhile has told some, and nobody tells the others.
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
