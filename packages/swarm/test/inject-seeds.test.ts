// @timeoutMs 240000
/**
 * Sessions into which faults of all kinds are injected at random, several at once, while ranks end, agents die and jobs
 * are over: every order has exactly one end for each of its parts, and nothing is left.
 */

import type { FaultOrder, FaultVictim } from '@stci/interface';
import { SimRandom } from '@stci/platform-sim';
import { InjectionRun } from '@stci/swarm';
import { assert, suite, swarmSeeds } from '@stci/testkit';
import { firstSeed } from './first-seed.js';

type Drawn = Pick<FaultOrder, 'kind' | 'victim'> & Partial<FaultOrder>;

function drawFault(random: SimRandom, hosts: number): Drawn {
  const host = random.integer(hosts);
  const rank: FaultVictim = { kind: 'rank', rank: random.integer(hosts) };
  const all: FaultVictim = { kind: 'host', host };
  const agent: FaultVictim = { kind: 'agent', role: random.pick(['root', 'session']), host };
  const first = random.integer(hosts + 1);
  const link: FaultVictim = { kind: 'link', ends: [first, (first + 1 + random.integer(hosts)) % (hosts + 1)] };
  const durationMs = random.pick([100, 900, 4000, 20_000]);
  const timeoutMs = random.pick([1, 500, 2000, 10_000]);
  const drawn = random.pick<Drawn>([
    { kind: 'pkill', victim: rank }, { kind: 'exit', victim: rank }, { kind: 'agent', victim: agent },
    { kind: 'host', victim: all }, { kind: 'pause', victim: random.pick([rank, agent, all]), durationMs },
    { kind: 'noop', victim: random.pick([rank, all]), durationMs }, { kind: 'load', victim: all, durationMs },
    { kind: 'link', victim: link, args: { mode: random.pick(['silent', 'delay']) }, durationMs },
  ]);
  return { ...drawn, timeoutMs };
}

function explore(seed: number): void {
  const random = new SimRandom(`injections ${seed}`);
  const hosts = 2 + random.integer(6);
  const method = random.pick(['process', 'thread']);
  const sim = new InjectionRun({
    // Some jobs are over while orders are on their way.
    seed, hosts, ranks: hosts, command: ['sleep', random.pick(['1', '3', '600'])],
    settings: { 'launcher.tree.arity': String(1 + random.integer(3)), 'launcher.session.method': method },
    jobParams: { errmgr: [random.pick(['continue', 'restart', 'abort'])] },
  });
  const front = sim.experimenter();
  const orders: FaultOrder[] = [];
  for (let left = 1 + random.integer(8); left > 0; left--) {
    const order = sim.order({ ...drawFault(random, hosts), id: `fault ${left}` });
    orders.push(order);
    front.client.experiment.inject(order);
    if (random.integer(2) === 0) sim.rest(random.pick([1, 20, 300, 1500]));
    if (random.integer(10) === 0) front.client.experiment.undo(order.id, () => undefined);
  }
  if (random.integer(3) === 0) front.client.experiment.undo('', () => undefined);
  sim.rest(random.pick([10, 1000, 10_000, 70_000]));
  // An agent that goes on finds the orders that were sent to it meanwhile, and stands still for each of them in turn.
  const isPaused = ({ kind, victim }: FaultOrder): boolean => kind === 'pause' && victim.kind !== 'rank';
  const pausedMs = orders.filter(isPaused).reduce((sum, { durationMs = 0 }) => sum + durationMs, 0);
  assert.equal(sim.stop(pausedMs), [], `seed ${seed}`);
  assert.equal(sim.endless(front, orders), [], `seed ${seed}`);
}

suite('random injections', (test) => {
  // Ranks that a session agent should have started were told to the one after it, which had them from its launch.
  test('seed 10281106', () => explore(10_281_106));
  const first = firstSeed();
  test(`seeds from ${first}`, () => {
    for (let seed = first; seed < first + swarmSeeds('sessions with injections'); seed++) explore(seed);
  }, { timeoutMs: 200_000 });
});
