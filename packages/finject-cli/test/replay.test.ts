/** `finject replay` between hosts and simulation, and where a schedule would mean something else. */
// @timeoutMs 300000

import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { assert, suite } from '@stci/testkit';
import { LONG, recordsOf, said, withLab } from './e2e-finject.js';

const FILE = `
name: both
target: { options: [--launcher, local, --on-failure, continue], program: [sh, -c, 'sleep 1'], simulated: sleep 1 }
hosts: ['a:2', 'b:2']
faults: [{ kind: pkill, who: { ranks: random 1 }, when: uniform 100ms 500ms }]
`;
const STAND_IN = ',"simulated":["sleep","1"]';
const HOSTS = '"hosts":["a:2","b:2"]';

suite('finject replay', (test) => {
  test('of a real run in simulation, and of that one on hosts; refused where it means something else',
    withLab(async (lab) => {
      lab.file('both.yaml', FILE);
      for (const [words, isSimulated] of [
        [['run', 'both.yaml', '--output', 'real'], false],
        [['replay', 'real', '--simulate', '--output', 'sim'], true],
        [['replay', 'sim', '--real', '--output', 'again'], false],
      ] as const) {
        said(await lab.run('finject', ...words), 0);
        const [first] = recordsOf(lab.history(String(words.at(-1))), 'run');
        assert.equal([first?.isSimulated, first?.experiment.target.program], [isSimulated, ['sh', '-c', 'sleep 1']]);
      }
      assert.equal(lab.plans('sim'), lab.plans('real'));
      assert.equal(lab.plans('again'), lab.plans('real'));

      let copies = 0;
      const changed = (run: string, from: string | RegExp, to: string): string => {
        const copy = `copy${(copies += 1)}`;
        mkdirSync(lab.path(copy));
        const text = readFileSync(lab.path(run, 'history.jsonl'), 'utf8');
        assert.match(text, from);
        lab.file(`${copy}/history.jsonl`, text.replace(from, to));
        return copy;
      };
      for (const [words, expected] of [
        [['sim', '--simulate', '--real'], /^finject: --simulate and --real cannot be combined/u],
        [[changed('real', STAND_IN, ''), '--simulate'],
          /cannot be simulated: .*no program sh\..* and write: finject run --simulate both\.yaml/su],
        [[changed('sim', HOSTS, '"hosts":["a:2"]')],
          /its schedule is for 4 ranks on 2 hosts, and the target now has 2 ranks on 1 host\. Give it/u],
        [[changed('sim', HOSTS, '"hosts":["a:1","b:3"]')],
          /rank 1 was on the target's host number 0, and is now on number 1/u],
        [[changed('sim', /\n[^]*/u, '\n')], /no repeat that was begun.*finject run both\.yaml/u],
        [[changed('sim', '"configuration":""', '"configuration":"x"')],
          /no configuration 'x'\. The record is damaged/u],
      ] as const) {
        const { exitCode, err } = await lab.run('finject', 'replay', ...words, '--output', 'never');
        assert.is(exitCode, 193, err);
        assert.match(err, expected);
        assert.not.ok(existsSync(lab.path('never')));
      }
    }), LONG);
});
