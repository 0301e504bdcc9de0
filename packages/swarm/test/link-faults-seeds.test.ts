// @timeoutMs 240000
/**
 * Sessions whose links are silent, late, slow, closed or parted, at random: every order has exactly one end for each
 * of its parts, and when the session has been stopped, whatever is in force then, nothing is left anywhere.
 */

import type { FaultOrder } from '@stci/interface';
import { SimRandom } from '@stci/platform-sim';
import { InjectionRun } from '@stci/swarm';
import { assert, suite, swarmSeeds } from '@stci/testkit';
import { firstSeed } from './first-seed.js';

type Settings = Readonly<Record<string, string>>;

const OVERLAY: Settings = { 'overlay.topology': 'bmg', 'bootcom.ws.interface': 'eth0' };
const RING: Settings = { detector: 'ring', 'detector.ring.period': '100ms', 'detector.ring.timeout': '500ms' };
const AGAIN: Settings = { 'errmgr.loss': 'start-again', 'errmgr.loss.pause': '200ms' };
const OVER_WS: Settings = { 'bootcom.boot': 'ws', 'bootcom.ws.interface': 'eth0' };

function drawSettings(random: SimRandom): Settings {
  return {
    ...random.pick([{}, { ...OVERLAY, 'overlay.open': 'eager' }, { ...OVERLAY, 'overlay.open': 'lazy' }]),
    ...random.pick([{}, RING]), ...random.pick([{}, AGAIN]), ...random.pick([{}, {}, OVER_WS]),
    'launcher.tree.arity': String(1 + random.integer(3)),
  };
}

function drawFault(random: SimRandom, hosts: number): Pick<FaultOrder, 'kind' | 'victim' | 'args' | 'durationMs'> {
  const durationMs = random.pick([200, 800, 3000, 8000, 60_000]);
  if (random.integer(3) === 0) {
    const positions = Array.from({ length: hosts + 1 }, (_, position) => position);
    const sets = Array.from({ length: 1 + random.integer(3) }, () => positions.filter(() => random.integer(2) === 0));
    return { kind: 'partition', victim: { kind: 'partition', sets }, args: {}, durationMs };
  }
  const first = random.integer(hosts + 1);
  const second = (first + 1 + random.integer(hosts)) % (hosts + 1);
  const args = {
    mode: random.pick(['silent', 'silent', 'delay', 'throttle', 'close']),
    direction: random.pick(['both', 'in', 'out']),
    delay: random.integer(300), jitter: random.integer(100), rate: 2000 + random.integer(20_000),
  };
  return { kind: 'link', victim: { kind: 'link', ends: [first, second] }, args, durationMs };
}

function explore(seed: number): void {
  const random = new SimRandom(`link faults ${seed}`);
  const hosts = 2 + random.integer(7);
  const sim = new InjectionRun({
    seed, hosts, ranks: hosts, command: ['lines', '300', '80', '0.02'], settings: drawSettings(random),
    jobParams: { errmgr: [random.pick(['continue', 'restart', 'abort'])] },
  });
  const front = sim.experimenter();
  const orders: FaultOrder[] = [];
  for (let left = 1 + random.integer(4); left > 0; left--) {
    const order = sim.order({ ...drawFault(random, hosts), id: `fault ${left}` });
    orders.push(order);
    front.client.experiment.inject(order);
    sim.rest(random.integer(3000));
  }
  if (random.integer(3) === 0) front.client.experiment.undo('', () => undefined);
  sim.rest(random.pick([10, 1000, 10_000, 70_000]));
  assert.equal(sim.stop(), [], `seed ${seed}`);
  assert.equal(sim.endless(front, orders), [], `seed ${seed}`);
}

suite('random faults at links', (test) => {
  const first = firstSeed();
  test(`seeds from ${first}`, () => {
    for (let seed = first; seed < first + swarmSeeds('sessions with link faults'); seed++) explore(seed);
  }, { timeoutMs: 200_000 });
});
