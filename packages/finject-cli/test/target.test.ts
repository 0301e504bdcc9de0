/** The target of an experiment by stcirun's own parser, without a launch. */

import { fileURLToPath } from 'node:url';
import { targetShape } from '@stci/finject-cli';
import type { Experiment } from '@stci/finject/experiment';
import { assert, suite } from '@stci/testkit';

const PROGRAMS = fileURLToPath(new URL('../../stcirun/dist/bundle', import.meta.url));

function experimentOf(options: readonly string[], more: Partial<Experiment> = {}): Experiment {
  const target = { options, program: ['sleep', '1'], session: undefined, simulated: undefined };
  return { name: 'e', target, hosts: [], configurations: [], ...more } as unknown as Experiment;
}

suite('target', (test) => {
  test('hosts, ranks and tree, of configurations too', async () => {
    const shape = await targetShape(experimentOf(['-n', '4', '--ppn', '2', '--mca', 'launcher.tree.arity=3'], {
      hosts: ['a', 'b'],
      configurations: [
        { name: 'plain', options: [] }, { name: 'wide', options: ['--map-by', 'node'], hosts: ['a', 'c'] },
      ],
    }), PROGRAMS).catch((thrown: Error) => thrown.message);
    assert.match(String(shape), /^configuration wide: --ppn and --map-by cannot be combined/u);
    const other = await targetShape(experimentOf(['-n', '4', '--map-by', 'node', '--mca', 'launcher.tree.arity=3'], {
      hosts: ['a', 'b'],
      configurations: [{ name: 'plain', options: [] }, { name: 'three', options: [], hosts: ['a', 'b', 'c'] }],
    }), PROGRAMS);
    assert.equal(other, {
      hosts: ['a', 'b'], hostOfRank: [0, 1, 0, 1], arity: 3,
      configurations: { three: { hosts: ['a', 'b', 'c'], hostOfRank: [0, 1, 2, 0], arity: 3 } },
    });
  });

  test('a configuration may have a program of its own', async () => {
    const configurations = [{ name: 'two', options: [], program: ['true', ':', '-n', '2', 'sleep', '1'] }];
    const { hostOfRank, configurations: own } = await targetShape(
      experimentOf(['-n', '4', '--launcher', 'local'], { hosts: ['a:8'], configurations }), PROGRAMS);
    assert.equal([hostOfRank.length, own?.['two']?.hostOfRank.length], [4, 6]);
  });

  test('what is wrong is told as stcirun tells it; what means nothing here is refused', async () => {
    const WRONG: readonly [readonly string[], RegExp][] = [
      [['--npp', '4'], /^target: .*--npp/u],
      [['-n', '0'], /^target: .*-n/u],
      [['--json'], /^target: --json: the record has all output/u],
      [['--stdin', 'all'], /^target: --stdin: the record/u],
      [['--detach'], /^target: --detach: it means nothing in an experiment\. Leave it out\.$/u],
      [['--alloc=-N 4'], /^target: --alloc: run finject inside of a Slurm job, or/u],
      [['--session', 'night'], /^target: --session is written as 'session: NAME'/u],
    ];
    for (const [options, expected] of WRONG) {
      const said = await targetShape(experimentOf(options), PROGRAMS).catch((thrown: Error) => thrown.message);
      assert.match(String(said), expected);
    }
  });
});
