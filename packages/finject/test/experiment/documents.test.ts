/** Experiments that documents show, and the ready ones: with the kinds that come with finject, each can be planned. */

import { readFileSync, readdirSync } from 'node:fs';
import { assert, suite } from '@stci/testkit';
import { faultComponents } from '@stci/finject';
import { checkExperiment, parseExperiment, planRepeats } from '@stci/finject/experiment';
import type { FaultModule } from '@stci/interface';
import { CONTEXT, makeShape, texts } from './make.js';

const ROOT = new URL('../../../../', import.meta.url);
const EXPERIMENTS = new URL('experiments/', ROOT);
const OWN = ['cut-a-link.yaml', 'kill-one-rank.yaml', 'storm.yaml'];

const kinds = new Map(faultComponents.map((component) =>
  [component.name, component.create({}, {}, undefined) as FaultModule]));
const context = { ...CONTEXT, kinds, splitTarget: (words: readonly string[]) => ({ options: [], program: words }) };

function plan(text: string, file: string): number {
  const { experiment, problems, place } = parseExperiment(text, file, context);
  assert.equal(texts(problems), []);
  // Eight hosts of two ranks; the first is h1.
  const shape = { ...makeShape(8, 16), hosts: Array.from({ length: 8 }, (_, host) => `h${host + 1}`) };
  assert.equal(texts(checkExperiment(experiment!, shape, { kinds, place })), []);
  return planRepeats(experiment!, shape).reduce((sum, { injections }) => sum + injections.length, 0);
}

suite('experiments of the documents', (test) => {
  const document = readFileSync(new URL('docs/finject.md', ROOT), 'utf8');
  const shown = [...document.matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, text = '']) => text);

  test('there are some', () => assert.ok(shown.length >= 2));

  for (const text of shown) {
    test(text.split('\n', 1)[0] ?? '', () => assert.ok(plan(text, 'finject.md') > 0));
  }

  for (const file of readdirSync(EXPERIMENTS).filter((name) => OWN.includes(name))) {
    test(`experiments/${file}`, () => assert.ok(plan(readFileSync(new URL(file, EXPERIMENTS), 'utf8'), file) > 0));
  }
});
