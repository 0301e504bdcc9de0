/** The topology suite accepts a correct component, and finds each mistake; the components are a fixture's. */

// @timeoutMs 120000
import { assert, suite } from '@stci/testkit';
import { runFixture, type FixtureRun } from './fixture-run.js';

/** Mistake → promise, and the counter-example that it is found by. */
const FOUND_BY: Readonly<Record<string, readonly [promise: string, example: object]>> = {
  kind: ['request', { size: 1 }],
  size: ['request', { size: 1 }],
  anysize: ['request', { size: 0 }],
  anyoption: ['request', { size: 12, options: { 'no-such-option': 1 } }],
  nooption: ['options', { size: 12, option: { name: 'hub', value: 0, set: '1' } }],
  noparam: ['options', { size: 12, option: { name: 'hub', value: 1, set: '0' } }],
  paramfirst: ['options', { size: 12, option: { name: 'hub', value: 0, set: '1' } }],
  oneway: ['links', { size: 3, source: 1 }],
  unsorted: ['links', { size: 3, source: 0 }],
  cut: ['links', { size: 4, source: 0 }],
  crowded: ['degree', { size: 7, degreeMax: 5, source: 0 }],
  loops: ['route', { size: 4, source: 0, target: 3 }],
  deadhop: ['route', { size: 3, dead: [0], source: 1, target: 2 }],
  todead: ['route', { size: 2, dead: [0], source: 1, target: 0 }],
  giveup: ['detour', { size: 4, dead: [1, 2], source: 0, target: 3 }],
  wide: ['diameter', { size: 1 }],
  narrow: ['diameter', { size: 2 }],
  childless: ['tree', { size: 3, root: 2 }],
  deep: ['tree', { size: 2, root: 0 }],
  thick: ['tree', { size: 5, root: 0 }],
  declines: ['record', { size: 12 }],
  moody: ['record', { size: 12 }],
  oldframework: ['record', { size: 12 }],
  outofbounds: ['record', { size: 12 }],
  silent: ['record', { size: 12 }],
};

suite('topology compliance', (test) => {
  let run: FixtureRun;
  test.before(() => { run = runFixture('topology-mutants'); }, { timeoutMs: 100_000 });

  test('the right component passes', () => assert.equal(run.examplesOf('star'), [], run.output));

  for (const [name, [promise, example]] of Object.entries(FOUND_BY)) {
    test(`the mistake "${name}" is found`, () => run.assertFound(name, { promise, ...example }));
  }

  test('every component of the fixture is named here', () => run.assertAll(Object.keys(FOUND_BY)));
});
