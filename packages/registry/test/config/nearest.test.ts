/** Nearest names: edit distance against its definition, order, dotted ends. */

import { assert, suite, seeded } from '@stci/testkit';
import { didYouMean, nearest } from '@stci/registry';
import { didYouMeanDotted, editDistance } from '../../dist/config/nearest.js';

/** The definition, by recursion: slow and plain. */
function distance(a: string, b: string): number {
  if (a === '' || b === '') return a.length + b.length;
  const cost = a.at(-1) === b.at(-1) ? 0 : 1;
  const [headA, headB] = [a.slice(0, -1), b.slice(0, -1)];
  let best = Math.min(distance(headA, b) + 1, distance(a, headB) + 1, distance(headA, headB) + cost);
  const swaps = a.length > 1 && b.length > 1 && a.at(-1) === b.at(-2) && a.at(-2) === b.at(-1);
  if (swaps) best = Math.min(best, distance(a.slice(0, -2), b.slice(0, -2)) + 1);
  return best;
}

suite('nearest names', (test) => {
  test('distances', () => {
    const cases = [['', '', 0], ['abc', 'abc', 0], ['abc', '', 3], ['flat', 'falt', 1], ['tree', 'three', 1],
      ['kitten', 'sitting', 3]] as const;
    for (const [a, b, edits] of cases) assert.is(editDistance(a, b), edits, `${a} ${b}`);
  });

  test('distances equal the definition', () => {
    const random = seeded(99);
    const word = (): string => Array.from({ length: random.below(6) }, () => random.pick(['a', 'b', 'c'])).join('');
    for (let round = 0; round < 300; round += 1) {
      const [a, b] = [word(), word()];
      assert.is(editDistance(a, b), distance(a, b), `${a} ${b}`);
      assert.is(editDistance(a, b), editDistance(b, a), `${a} ${b} both ways`);
    }
  });

  test('best first, ties by name, three at most', () => {
    const names = ['launcher', 'launcherproc', 'lancher', 'topology', 'launchex', 'launchey'];
    assert.equal(nearest('launchez', names), ['launcher', 'launchex', 'launchey']);
    assert.equal(nearest('launcher', names), ['launcher', 'lancher', 'launchex']);
    assert.equal(nearest('launcher.widnow', ['launcher.window', 'launcher.stop']), ['launcher.window']);
    assert.equal(nearest('Launcher', ['launcher']), ['launcher']);
    assert.equal(nearest('zzz', names), []);
    assert.equal(nearest('x'.repeat(5000), ['x'.repeat(5000)]), []);
  });

  test('the end of a dotted name is enough', () => {
    assert.equal(nearest('tree.arity', ['launcher.tree.arity', 'tool.grace']), ['launcher.tree.arity']);
    assert.equal(nearest('arity', ['launcher.tree.arity']), ['launcher.tree.arity']);
  });

  test('the last word of a dotted name is enough, with other words before it or misspelt', () => {
    const names = ['bootcom.lease', 'tool.grace', 'session.spool.max', 'errmgr.launch.pause', 'errmgr.loss.pause'];
    for (const wanted of ['overlay.lease', 'leese', 'x.y.leasw']) {
      assert.is(didYouMeanDotted(wanted, names), ' Did you mean bootcom.lease?', wanted);
    }
    assert.is(didYouMeanDotted('host.pause', names), ' Did you mean errmgr.launch.pause or errmgr.loss.pause?');
    assert.is(didYouMeanDotted('tool.grase', names), ' Did you mean tool.grace?', 'near as a whole');
    assert.is(didYouMeanDotted('a.nothing', names), '');
  });

  test('as a sentence', () => {
    assert.is(didYouMean('falt', ['flat', 'tree']), ' Did you mean flat?');
    assert.is(didYouMean('x', ['flat']), '');
  });
});
