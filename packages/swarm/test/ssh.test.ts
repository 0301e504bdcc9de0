/** launcher-ssh on simulated hosts: jobs that swarm has drawn, with faults and without, started over simulated ssh. */

import { PLAIN, drawOptions, runJob, type SwarmOptions } from '@stci/swarm';
import { assert, suite, swarmSeeds } from '@stci/testkit';
import { firstSeed } from './first-seed.js';

const SEEDS = swarmSeeds('jobs over ssh');

/** Hosts that do not come up are the simulated login's doing, which ssh does not pass through. */
const overSsh = (options: SwarmOptions): SwarmOptions => ({
  ...options,
  faults: options.faults.filter(({ kind }) => kind !== 'refuse-login'),
  settings: { ...options.settings, launcherproc: 'ssh', 'launcher.root.method': 'process' },
});

suite('swarm over ssh', (test) => {
  test('one client a host, in a tree; the agents are sent and come up', () => {
    const apps = [{ program: 'hostname', args: [], count: 20 }];
    const { run, problems } = runJob(overSsh({ ...PLAIN, remote: true, hosts: 10, slots: 2, apps, settings: {} }));
    assert.equal(problems, []);
    assert.is(run.record.report?.exitCode, 0);
    const clients = run.world.processes().filter(({ command }) => command[0] === 'ssh');
    assert.is(clients.length, 10);
    assert.ok(clients.every(({ command }) => command.includes('--') && !command.join(' ').includes('undefined')));
  });

  test('a host that is cut off while it waits for the bundle ends by itself', () => {
    const apps = [{ program: 'hostname', args: [], count: 2 }];
    const link = { ...PLAIN.link, latencyMs: 1 };
    for (const atMs of [3, 3.5, 4, 4.5, 5]) {
      const faults = [{ kind: 'part', atMs, victim: { kind: 'side', hosts: [0] } }] as const;
      const { problems } = runJob(overSsh({ ...PLAIN, remote: true, hosts: 2, apps, settings: {}, link, faults }));
      assert.equal(problems, [], `cut at ${atMs} ms`);
    }
  });

  test(`${SEEDS} drawn jobs`, () => {
    let over = 0;
    for (let seed = firstSeed(); over < SEEDS; seed++) {
      const options = drawOptions(seed);
      if (!options.remote || options.hosts > 60) continue;
      over += 1;
      assert.equal(runJob(overSsh(options)).problems, [], `seed ${seed}`);
    }
  }, { timeoutMs: 60_000 });
});
