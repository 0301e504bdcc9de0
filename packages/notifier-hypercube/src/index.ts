/** Notifier component `hypercube` (IJHPCA, 2.3): the double hypercube over the agents that the source knew to live. */

import { accept, createRelay, defineComponent, notifierFramework, promiseText } from '@stci/core/component';
import type { NotifierPromise, NotifierPromiseRequest, Position } from '@stci/interface';
import { dimensions, linkedLabels } from './hypercube.js';

export const notifierHypercube = defineComponent({
  framework: notifierFramework,
  name: 'hypercube',
  version: '1.0.0',
  frameworkVersion: 2,
  help: 'Over two hypercubes of the agents that the source knows to live; it needs no overlay.',
  params: {},
  query: () => accept(10),
  create: () => ({
    topology: '',
    promise: promised,
    open: (init) => createRelay(init, {
      repairs: false,
      copies({ self, source, size, carried }) {
        const labelled: Position[] = [];
        for (let i = 0; i < size; i++) if (!carried.has((source + i) % size)) labelled.push((source + i) % size);
        const label = labelled.indexOf(self);
        return linkedLabels(label, labelled.length).map((linked) => labelled[linked]!);
      },
    }),
  }),
});

function promised({ members, failures }: NotifierPromiseRequest): NotifierPromise {
  const bits = dimensions(members);
  const tolerates = Math.max(0, bits - 1);
  let ends = 0;
  for (let label = 0; label < members; label++) ends += linkedLabels(label, members).length;
  const figures = {
    steps: failures === 0 ? bits : failures <= tolerates ? bits + 1 : members - 1,
    delayMs: 0, messages: ends - (members - 1), tolerates,
  };
  return { ...figures, isUniform: true, text: promiseText(figures, members) };
}
