/** The target of a simulated experiment: stcirun's options that matter, the others refused by name. */

import { fileURLToPath } from 'node:url';
import { simulated, simulatedTargets } from '@stci/finject-cli';
import type { Experiment, Target } from '@stci/finject/experiment';
import type { SimulatedTarget } from '@stci/swarm';
import { assert, suite } from '@stci/testkit';

const PROGRAMS = fileURLToPath(new URL('../../stcirun/dist/bundle', import.meta.url));

function experimentOf(target: Partial<Target>, more: Partial<Experiment> = {}): Experiment {
  const whole = { options: [], program: ['sleep', '1'], session: undefined, simulated: undefined, ...target };
  const hosts = ['a', 'b', 'c'];
  return { name: 'e', target: whole, hosts, configurations: [], faults: [], ...more } as unknown as Experiment;
}

suite('simulated target', (test) => {
  test('ranks, mapping, parameters and hosts are those of the options; the rest is the simulation\'s', async () => {
    const options = ['-n', '6', '--ppn', '2', '--mca', 'detector=ring', '--overlay', 'bmg', '--on-failure', 'continue',
      '--client', '--launcher', 'ssh', '-x', 'SIZE=3', '--wdir', '/work'];
    const targets = await simulatedTargets(experimentOf({ options }), PROGRAMS);
    const { hosts, spec, settings, label } = targets.get('') as SimulatedTarget;
    assert.equal(hosts.map(({ name }) => name), ['a', 'b', 'c']);
    assert.equal(spec.mapBy, { by: 'ppr', perHost: 2 });
    assert.equal(spec.apps, [{ program: 'sleep', args: ['1'], count: 6, env: { SIZE: '3' } }]);
    assert.equal([spec.env, spec.wdir, label], [{ PATH: '/bin:/usr/bin' }, '/', 'sleep 1']);
    assert.equal(settings, {
      detector: 'ring', 'overlay.topology': 'bmg', errmgr: 'continue', 'client.enable': 'true',
    });
  });

  test('inside of a batch job its hosts are those of the file', async () => {
    process.env['SLURM_JOB_ID'] = '17';
    try {
      const options = ['--mca', 'allocation=^slurm'];
      const one = await simulatedTargets(simulated(experimentOf({})), PROGRAMS);
      const other = await simulatedTargets(simulated(experimentOf({ options })), PROGRAMS);
      for (const targets of [one, other]) {
        assert.equal(targets.get('')?.hosts.map(({ name }) => name), ['a', 'b', 'c']);
        assert.equal(targets.get('')?.settings, {});
      }
    } finally {
      delete process.env['SLURM_JOB_ID'];
    }
  });

  test('what stands for the program, and configurations', async () => {
    const experiment = simulated(experimentOf({ program: ['./solver', '--steps', '9'], simulated: ['lines', '9'] }, {
      configurations: [
        { name: 'plain', options: [] }, { name: 'ring', options: ['--mca', 'detector=ring'], hosts: ['x', 'y'] },
      ],
    }));
    const targets = await simulatedTargets(experiment, PROGRAMS);
    assert.equal([...targets.keys()], ['plain', 'ring']);
    assert.equal(targets.get('ring')?.hosts.map(({ name }) => name), ['x', 'y']);
    assert.equal(targets.get('ring')?.settings, { detector: 'ring' });
    assert.equal(targets.get('plain')?.spec.apps[0]?.program, 'lines');
    const own = [{ name: 'long', options: [], program: ['sleep', '5'] }, { name: 'plain', options: [] }];
    const programsOf = async (target: Partial<Target>): Promise<unknown> =>
      [...await simulatedTargets(simulated(experimentOf(target, { configurations: own })), PROGRAMS)]
        .map(([name, { spec }]) => [name, spec.apps[0]?.program, spec.apps[0]?.args]);
    assert.equal(await programsOf({ program: ['sleep', '1'] }), [['long', 'sleep', ['5']], ['plain', 'sleep', ['1']]]);
    assert.equal(await programsOf({ program: ['./solver'], simulated: ['lines', '9'] }),
      [['long', 'lines', ['9']], ['plain', 'lines', ['9']]]);
    const none = [{ name: 'bad', options: [], program: ['./nope'] }];
    const said = await simulatedTargets(simulated(experimentOf({ program: ['sleep', '1'] }, { configurations: none })),
      PROGRAMS).catch((thrown: Error) => thrown.message);
    assert.match(String(said), /no program \.\/nope/u);
  });

  test('what cannot be simulated is refused by name', async () => {
    const WRONG: readonly [Partial<Target>, RegExp][] = [
      [{ program: ['./solver'] }, /no program \.\/solver.*target\.simulated.*sleep/su],
      [{ options: ['--am', 'x.conf'] }, /--am/u],
      [{ options: ['--output', 'o'] }, /^target: --output: the record has all output/u],
    ];
    for (const [target, expected] of WRONG) {
      const said = await simulatedTargets(experimentOf(target), PROGRAMS).catch((thrown: Error) => thrown.message);
      assert.match(String(said), expected);
    }
    const part = { name: 'cut', kind: 'network', parts: [] };
    const whole = { name: 'whole', kind: 'compose', parts: [part] };
    assert.throws(() => simulated(experimentOf({}, { faults: [whole] as never })), /fault cut: kind network cannot/u);
    assert.throws(() => simulated(experimentOf({ session: 'night' })), /session night cannot be simulated/u);
  });
});
