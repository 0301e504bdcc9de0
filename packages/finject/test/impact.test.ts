/** What each kind says it does to its victim, as the plan keeps it for the judgement. */

import { faultComponents } from '@stci/finject';
import { parseExperiment, planRepeats } from '@stci/finject/experiment';
import type { FaultImpact, FaultModule } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { CONTEXT, fileOf, makeShape, texts } from './experiment/make.js';

const kinds = new Map(faultComponents.map((component) =>
  [component.name, component.create({}, {}, undefined) as FaultModule]));

const CASES: readonly (readonly [string, FaultImpact])[] = [
  ['kind: pkill, who: {ranks: 3}', 'ends'],
  ['kind: pkill, who: {ranks: 3}, args: {signal: KILL}', 'ends'],
  ['kind: pkill, who: {ranks: 3}, args: {signal: 9}', 'ends'],
  ['kind: pkill, who: {ranks: 3}, args: {signal: TERM}', 'may-end'],
  ['kind: pkill, who: {ranks: 3}, args: {signal: SIGUSR1}', 'may-end'],
  ['kind: pkill, who: {ranks: 3}, args: {signal: CONT}', 'disturbs'],
  ['kind: exit, who: {ranks: 3}', 'ends'],
  ['kind: exit, who: {ranks: 3}, args: {status: 0}', 'disturbs'],
  ['kind: agent, who: {agents: root, choose: random 1}', 'ends'],
  ['kind: host, who: {hosts: random 1}', 'ends'],
  ['kind: pause, who: {ranks: 3}, duration: 1s', 'disturbs'],
  ['kind: load, who: {hosts: random 1}, args: {cpu: 1}, duration: 1s', 'disturbs'],
  ['kind: network, who: {hosts: random 1}, args: {mode: loss, loss: 5}, duration: 1s', 'disturbs'],
  ['kind: partition, who: {partition: halves}, duration: 1s', 'disturbs'],
  ['kind: noop, who: {ranks: 3}, duration: 1s', 'none'],
];

suite('impact of a fault', (test) => {
  for (const [fault, expected] of CASES) {
    test(`${fault}: ${expected}`, () => {
      const text = fileOf(`faults:\n  - {${fault}}\n`);
      const { experiment, problems } = parseExperiment(text, 't.yaml', { ...CONTEXT, kinds });
      assert.equal(texts(problems), []);
      const [plan] = planRepeats(experiment!, makeShape(8, 8));
      assert.equal(plan?.injections.map(({ impact }) => impact), [expected]);
    });
  }
});
