// @timeoutMs 300000
/** Ranks that are started again: seeded plans with kills of tools, agents and hosts at any moment. */

import { SimRandom } from '@stci/platform-sim';
import { assert, suite, swarmSeeds } from '@stci/testkit';
import { PLAIN, drawSpawns, rootAgent, runJob, type Step, type SwarmOptions } from '@stci/swarm';
import { firstSeed, range } from './first-seed.js';

function drawRestarts(seed: number): SwarmOptions {
  const random = new SimRandom(`restarts ${seed}`);
  const hosts = 2 + random.integer(5);
  const drawn = random.pick([['ranks'], ['agents'], ['ranks', 'agents', 'host']] as const);
  const faults = Array.from({ length: 1 + random.integer(5) }, (): Step => {
    const of = random.pick(drawn);
    const [atMs, pick] = [5 + random.integer(2000), random.uniform()];
    if (of !== 'host') return { kind: 'kill', atMs, victim: { of, pick } };
    return { kind: 'crash', atMs, victim: { kind: 'host', host: Math.floor(pick * hosts) } };
  });
  const apps = [
    { program: 'lines', args: ['40', '80', '0.02'], count: 1 + random.integer(4) },
    random.pick([{ program: 'sleep', args: ['1'], count: 2 }, { program: 'exit', args: ['3', '0.1'], count: 1 },
      { program: 'lines-exit', args: ['30', '80', '0.01', '2'], count: 2 }]),
  ];
  const ranks = apps.reduce((sum, { count }) => sum + count, 0);
  return {
    ...PLAIN, seed, hosts, remote: true, slots: Math.ceil(ranks / hosts), apps, byNode: random.chance(0.5),
    faults: faults.sort((a, b) => a.atMs - b.atMs),
    timeoutMs: random.chance(0.2) ? 200 + random.integer(3000) : undefined,
    settings: {
      launcherproc: 'remote', 'launcher.tree.arity': random.pick(['1', '2', '8']), errmgr: 'restart',
      'errmgr.restart.retries': String(1 + random.integer(3)),
      'errmgr.restart.pause': random.pick(['0', '20ms', '400ms']),
      'errmgr.restart.then': random.pick(['abort', 'continue']),
      'launcher.session.method': random.pick(['inline', 'process']), 'bootcom.lease': '2s',
      ...(random.chance(0.4) && {
        'errmgr.loss': random.pick(['start-again', 'use-spare']), 'errmgr.loss.pause': '50ms',
      }),
      ...drawSpawns(random, ranks, false),
    },
  };
}

suite('restarts', (test) => {
  test('of a root agent that was killed, tools may live as long as a session agent of its own gives them', () => {
    for (const method of ['inline', 'thread', 'process']) {
      const { problems, run: { record } } = runJob({
        ...PLAIN, hosts: 3, remote: true, apps: [{ program: 'ignore-term', args: ['2'], count: 3 }], byNode: true,
        settings: {
          launcherproc: 'remote', errmgr: 'restart', 'errmgr.restart.pause': '0', 'launcher.session.method': method,
        },
        faults: [{ kind: 'kill', atMs: 400, victim: rootAgent(1) }],
      });
      assert.equal([problems, record.report?.exitCode], [[], 0], method);
    }
  });

  test('no more attempts than allowed, one outcome a rank, output of each attempt whole, nothing left', () => {
    const count = swarmSeeds('jobs with restarts');
    const first = firstSeed() % 1_000_000;
    for (const seed of range(first, first + count)) {
      const { problems } = runJob(drawRestarts(seed));
      assert.equal(problems, [], `seed ${seed}`);
    }
  }, { timeoutMs: 280_000 });
});
