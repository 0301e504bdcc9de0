/** `finject validate` and `plan` as a user has them. */
// @timeoutMs 300000

import { readFileSync } from 'node:fs';
import { assert, suite } from '@stci/testkit';
import type { RepeatPlan } from '@stci/finject/experiment';
import { LONG, said, withLab } from './e2e-finject.js';

const STORM = readFileSync(new URL('../../../experiments/storm.yaml', import.meta.url), 'utf8');

suite('finject validate and plan', (test) => {
  test('validate: all problems of all files, those of the target included; 193', withLab(async (lab) => {
    lab.file('right.yaml', STORM);
    lab.file('wrong.yaml', `name: wrong
target: stcirun -n 4 --host a:4 --launcher local sleep 1
repeats: 0
faults:
  - { kind: pkill, who: { ranks: [0, 4] } }
  - { kind: pkil, who: { ranks: 0 } }
`);
    lab.file('option.yaml', 'name: option\ntarget: stcirun -n 4 --hots a sleep 1\nseeds: 1\n');
    const right = await lab.run('finject', 'validate', 'right.yaml');
    said(right, 0);
    assert.is(right.out, 'right.yaml: no problems\n');
    const all = await lab.run('finject', 'validate', 'wrong.yaml', 'missing.yaml', 'option.yaml', 'right.yaml');
    said(all, 193);
    assert.match(all.err, /^3 problems\nwrong\.yaml:3:10: repeats: 0/u);
    assert.match(all.err, /\nwrong\.yaml:5:34: There is no rank 4: .* 0 to 3\./u);
    assert.match(all.err, /\nwrong\.yaml:6:13: .*Did you mean pkill\?/u);
    assert.match(all.err, /\nmissing\.yaml cannot be read/u);
    assert.match(all.err, /\noption\.yaml:2:9: .*--hots/u);
    assert.match(all.err, /\noption\.yaml:3:1: .*"seeds"/u);
    assert.is(all.out, 'right.yaml: no problems\n');
    said(await lab.run('finject', 'validate'), 193);
  }), LONG);

  test('plan: a table, or JSON; the same twice, another from another seed', withLab(async (lab) => {
    lab.file('storm.yaml', STORM);
    const plans = async (...more: readonly string[]): Promise<RepeatPlan[]> => {
      const found = await lab.run('finject', 'plan', 'storm.yaml', '--json', ...more);
      said(found, 0);
      return JSON.parse(found.out) as RepeatPlan[];
    };
    const first = await plans();
    assert.equal(first.map(({ repeat, injections }) => [repeat, injections.length]), [[1, 4], [2, 4]]);
    assert.equal(await plans('--repeat', '2'), first.slice(1));
    assert.not.equal(await plans('--seed', '8'), first);
    const text = await lab.run('finject', 'plan', 'storm.yaml', '--repeat', '1');
    said(text, 0);
    assert.match(text.out, /^storm: seed 7, 2 repeats\n\nrepeat 1\n {2}when +injection +kind +victims +for\n/u);
    assert.match(text.out, /\n {2}0\.500 s +pkill\.1 +pkill +rank [1-7]\n/u);
    const none = await lab.run('finject', 'plan', 'storm.yaml', '--repeat', '3');
    said(none, 193);
    assert.match(none.err, /has repeats 1 to 2/u);
    const seed = await lab.run('finject', 'plan', 'storm.yaml', '--seed', 'x');
    assert.is(seed.err, "finject: --seed: expected an integer from 0 to 2^53 - 1, got 'x'.\n");
    for (const [args, expected] of [
      [['storm.yaml', '--repeats', '100001'], "--repeats: expected at most 100000, got '100001'."],
      [['storm.yaml', '--output', '/proc/1/no/such'], '/proc/1/no/such cannot be made: no such file or directory'],
      [['storm.yaml', '--output', 'storm.yaml'], 'storm.yaml is not a directory'],
    ] as const) {
      const wrong = await lab.run('finject', 'run', ...args);
      assert.match(wrong.err, expected);
      assert.is(wrong.out, '');
    }
  }), LONG);
});
