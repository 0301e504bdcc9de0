/**
 * The bound of the heartbeat ring (IJHPCA, 3.3) in whole sessions: f hosts of n agents crash, f ≤ ⌊log2 n⌋ − 1, each
 * before the ring is whole again, neighbours on it or not; the notices go along a binomial graph.
 */

import { SimRandom } from '@stci/platform-sim';
import type { FailurePlan } from '../scenarios/failure-plan.js';
import { drawTree } from '../scenarios/launcher-random.js';
import { hostsOf, type Step } from '../scenarios/scenario.js';
import type { FailureRun, QuietState } from './failure-run.js';
import { memberKey } from './witness.js';

export function drawStabilization(seed: number, size: 'any' | 'small'): FailurePlan {
  const random = new SimRandom(`stabilization ${seed}`);
  const hosts = 3 + random.integer(size === 'small' ? 5 : random.pick([5, 13, 29]));
  const timeoutMs = random.pick([300, 600]);
  const settings = {
    detector: 'ring,witness', 'detector.ring.timeout': `${timeoutMs}ms`, 'detector.ring.grace': '0',
    'detector.ring.period': `${random.pick([50, 100])}ms`, 'detector.ring.reconnect': String(random.pick([1, 2])),
    'detector.ring.notifier': random.pick(['bmg', 'lazy']), 'overlay.topology': 'bmg', 'overlay.open': 'eager',
    'launcher.tree.arity': String(random.pick([1, 2, 8])), 'bootcom.lease': '10000ms', 'bootcom.ws.interface': 'eth0',
    ...drawTree(random),
  };
  return {
    seed, hosts, settings, faults: drawCrashes(random, hosts, timeoutMs), isPatient: false,
    link: {
      latencyMs: random.pick([0.05, 1, 3]), jitterMs: random.pick([0, 0.5]), cutChance: 0, bytesPerMs: Infinity,
      timeoutMs: 60_000,
    },
    isTimed: true,
  };
}

/** At once, or each so soon after the one before that it overlaps. */
function drawCrashes(random: SimRandom, hosts: number, timeoutMs: number): Step[] {
  const failures = 1 + random.integer(Math.floor(Math.log2(hosts + 1)) - 1);
  const all = Array.from({ length: hosts }, (_, host) => host);
  const first = random.integer(hosts);
  const isContiguous = random.chance(0.5);
  const gapMs = random.pick([0, timeoutMs / 3, timeoutMs]);
  let atMs = random.between(1000, 1500);
  return Array.from({ length: failures }, (_, index) => {
    const [host = 0] = all.splice(isContiguous ? first % all.length : random.integer(all.length), 1);
    if (index > 0) atMs += random.between(0, gapMs);
    return { kind: 'crash', victim: { kind: 'host', host }, atMs };
  });
}

/** T(f) = f(f+1) timeout + f latency + f(f+1)/2 broadcasts, each of 8 latency log2 n. */
export function stabilizationMs({ settings, link, hosts, faults }: FailurePlan): number {
  const timeoutMs = Number.parseInt(settings['detector.ring.timeout'] as string, 10);
  const latencyMs = link.latencyMs + link.jitterMs + TURNS_MS;
  const pairs = faults.length * (faults.length + 1);
  return pairs * timeoutMs + faults.length * latencyMs + (pairs / 2) * 8 * latencyMs * Math.log2(hosts + 1);
}

/** What agents need to take a message and send it on. */
const TURNS_MS = 0.1;

/** From the first crash until all survivors know of all that crashed; undefined: they never do. */
export function stabilizedMs({ plan, witness, readyMs = 0 }: FailureRun, { hosts }: QuietState): number | undefined {
  const crashed = plan.faults.filter(({ kind }) => kind === 'crash').flatMap(hostsOf);
  const dead = hosts.filter(({ host }) => crashed.includes(host));
  const by = [...hosts.filter((host) => !dead.includes(host)), { host: -1, incarnation: 0 }];
  const key = ({ host, incarnation }: { host: number; incarnation: number }): string =>
    memberKey({ position: host + 1, incarnation });
  const gone = new Map<string, number>();
  for (const { by: who, type, member, timeMs } of witness.sightings) {
    if (type === 'gone') gone.set(`${who} ${member}`, timeMs);
  }
  const firstMs = readyMs + Math.min(...plan.faults.map(({ atMs }) => atMs));
  const all = by.flatMap((one) => dead.map((other) => gone.get(`${key(one)} ${key(other)}`) ?? Infinity));
  const lastMs = Math.max(firstMs, ...all);
  return Number.isFinite(lastMs) ? lastMs - firstMs : undefined;
}

export function checkStabilization(run: FailureRun, quiet: QuietState): string[] {
  if (run.plan.isTimed !== true) return [];
  const tookMs = stabilizedMs(run, quiet);
  const boundMs = stabilizationMs(run.plan);
  if (tookMs !== undefined && tookMs <= boundMs) return [];
  return [`all knew all deaths after ${tookMs?.toFixed(1) ?? 'no'} ms, T(f) is ${boundMs.toFixed(1)} ms`];
}
