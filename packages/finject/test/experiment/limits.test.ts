/** Files as large as they may be, and larger: an answer at once, and never an end of the stack. */

import { assert, suite } from '@stci/testkit';
import { planAll } from '@stci/finject/experiment';
import { cycleFrom, onCycles } from '../../dist/experiment/cycles.js';
import { FILTER, fileOf, makeExperiment, makeFault, makeShape, read, texts } from './make.js';

const MOST = 1000;
const LONG = { timeoutMs: 30_000 };

/** Faults of which each names the next one; `closes`: the last one names the first. */
function chain(count: number, each: (next: string) => string, closes = false): string {
  const lines = Array.from({ length: count }, (_, at) => {
    const next = at + 1 < count ? `f${at + 1}` : closes ? 'f0' : undefined;
    return `  - { kind: noop, name: f${at}, ${next === undefined ? 'who: { ranks: 0 }' : each(next)} }`;
  });
  return fileOf(`faults:\n${lines.join('\n')}\n`);
}

const byHost = (next: string): string => `who: { ranks: 0, same-host-as: ${next} }`;
const byTrigger = (next: string): string => `who: { ranks: 0 }, when: { after: injection of ${next} }`;

suite('experiment file: as large as it may be', (test) => {
  test('a chain of all faults that a file may have is read and planned', () => {
    for (const each of [byHost, byTrigger]) {
      const { experiment, problems } = read(chain(MOST, each));
      assert.equal(texts(problems), []);
      assert.ok(experiment);
      const { plans, shortages } = planAll(experiment!, makeShape(2, 2));
      assert.equal([plans[0]?.injections.length, shortages], [MOST, []]);
    }
  }, LONG);

  test('a chain that no file can hold is planned, without recursion', () => {
    const count = 9000;
    const faults = Array.from({ length: count }, (_, at) => makeFault(`f${at}`, {
      who: { of: 'ranks', ranks: [0], ...FILTER, choice: { pick: 'all' },
        sameHostAs: at + 1 < count ? `f${at + 1}` : undefined },
    }));
    const { plans, shortages } = planAll(makeExperiment(faults), makeShape(2, 2));
    assert.equal([plans[0]?.injections.length, shortages], [count, []]);
  }, LONG);

  test('cycles of many, and what leads to them: each told once, in few words', () => {
    for (const [each, word] of [[byHost, 'depend on those of'], [byTrigger, 'waits for']] as const) {
      const { experiment, problems } = read(chain(MOST, each, true));
      assert.equal([experiment, problems.length], [undefined, 100]);
      assert.match(problems[0]?.text ?? '', `f0 ${word} f1`);
      assert.match(problems[0]?.text ?? '', `${word} … (981 more)`);
    }
    const all = new Map([['a', ['b']], ['b', ['c', 'x']], ['c', ['b']], ['d', ['a']], ['x', ['none']]]);
    assert.equal([...onCycles(all)].sort(), ['b', 'c']);
    assert.equal([cycleFrom('b', all), cycleFrom('a', all)], [['b', 'c', 'b'], undefined]);
    const line = new Map(Array.from({ length: 9000 }, (_, at) => [`${at}`, [`${at + 1}`]]));
    assert.is(onCycles(line).size, 0);
    assert.is(cycleFrom('0', line.set('8999', ['0']))?.length, 9001);
  }, LONG);

  test('more faults, checks or configurations are one problem, with their number; parts count', () => {
    const whole = `{ kind: compose, name: w, parts: [${'{ kind: noop, who: { ranks: 0 } }, '.repeat(99)}] }`;
    for (const [text, count, what] of [
      [chain(MOST + 1, byHost), MOST + 1, 'faults'], [fileOf(`faults: [${'1, '.repeat(9000)}]`), 9000, 'faults'],
      [fileOf(`faults:\n${`  - ${whole}\n`.repeat(11)}`), 1100, 'faults'],
      [fileOf(`checks: [${'no-orphan, '.repeat(1001)}]`), 1001, 'checks'],
      [fileOf(`configurations: {${Array.from({ length: 101 }, (_, at) => `c${at}: ''`).join()}}`), 101,
        'configurations'],
    ] as const) {
      const { experiment, problems } = read(text);
      assert.equal([experiment, problems.length], [undefined, 1]);
      assert.match(problems[0]?.text ?? '', `${what}: it has ${count} ${what}; expected at most`);
    }
  }, LONG);

  test('hundreds of wrong faults: the first hundred problems', () => {
    for (const wrong of [
      'name: f#, kind: pkil, who: { ranks: 0 }', 'name: f#, kind: noop, who: { ranks: 0 }, wen: 1',
      'kind: noop, who: 1',
      'name: f#, kind: noop, who: { ranks: 0, same-host-as: nobody, not-of: [some, body] }',
    ]) {
      const lines = Array.from({ length: 300 }, (_, at) => `  - { ${wrong.replace('#', String(at))} }`);
      const { experiment, problems } = read(fileOf(`faults:\n${lines.join('\n')}\n`));
      assert.is(experiment, undefined, wrong);
      assert.ok(problems.length >= 100 && problems.length <= 200, `${wrong}: ${problems.length} problems`);
    }
  }, LONG);

  test('a long file of the same again is answered', () => {
    const filled = (head: string, unit: (at: number) => string, tail = ''): string => {
      const lines: string[] = [];
      for (let at = 0, chars = 0; chars < 60_000; at += 1) chars += lines[lines.push(unit(at)) - 1]?.length ?? 0;
      return head + lines.join('') + tail;
    };
    for (const text of [
      filled('', (at) => `k${at}: 1\n`), filled('', () => 'k: 1\n'), filled('hosts: [', () => '1,', ']'),
      filled('hosts:\n', () => '- n1\n'),
    ]) {
      const { experiment, problems } = read(fileOf(text));
      assert.is(experiment, undefined);
      assert.ok(problems.length >= 1 && problems.length <= 200, `${problems.length} problems`);
    }
    assert.match(read('#'.repeat(250_001)).problems[0]?.text ?? '', 'has 250001 characters; expected at most 250000');
  }, { timeoutMs: 60_000 });
});
