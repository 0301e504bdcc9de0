/** Draws runs with failures from their seeds. */

import { SimRandom } from '@stci/platform-sim';
import type { BriefPlan, CallsPlan, FailurePlan } from '../scenarios/failure-plan.js';
import { drawTree, hostsAbove, plannedParents } from '../scenarios/launcher-random.js';
import { drawLoss, drawOverlay, drawTogether } from '../scenarios/options.js';
import { CONTROLLER, rootAgent, type LinkVictim, type PhasedStep, type Step } from '../scenarios/scenario.js';
import { drawStabilization } from '../worlds/stabilization.js';

const DETECTORS = [
  [], ['ring'], ['ring'], ['ring'], ['mesh'], ['mesh'], ['swim'], ['sporadic'], ['ring', 'swim'], ['ring', 'mesh'],
] as const;

const NOTIFIERS = ['auto', 'auto', 'tree', 'lazy', 'bmg', 'hypercube', 'direct'];

/** Faults begin after that: once the job runs, before which an agent does not outlive its parent. */
const FIRST_MS = 300;

/** Few hosts and short times cost a fifth, and show most of what goes wrong. */
const SIZES = {
  any: { hosts: [4, 8, 8, 16], periodMs: [50, 100, 200], timeouts: [3, 5, 10], leaseMs: [2000, 4000], busyMs: 2500 },
  small: { hosts: [3, 4, 6], periodMs: [100, 200], timeouts: [3, 5], leaseMs: [1000], busyMs: 1000 },
} as const;

export type FailureSize = keyof typeof SIZES;

export function drawFailures(seed: number, size: FailureSize = 'any'): FailurePlan {
  const random = new SimRandom(`failures ${seed}`);
  if (random.fork('stabilization').chance(0.1)) return drawStabilization(seed, size);
  const sizes = SIZES[size];
  const hosts = 2 + random.integer(random.pick(sizes.hosts));
  const times = {
    periodMs: random.pick(sizes.periodMs), timeouts: random.pick(sizes.timeouts), leaseMs: random.pick(sizes.leaseMs),
    busyMs: sizes.busyMs,
  };
  const detectors = random.pick(DETECTORS);
  const settings: Record<string, string> = {
    detector: [...detectors, 'witness'].join(','),
    'launcher.tree.arity': String(random.pick([1, 2, 2, 3, 8])),
    'bootcom.lease': `${times.leaseMs}ms`,
    'errmgr.launch': random.pick(['abort', 'retry', 'shrink']),
    'bootcom.ws.interface': 'eth0',
    ...drawDetectors(random, detectors, times),
    ...drawOverlay(random, true),
    ...drawTree(random),
    ...drawLoss(random), ...drawTogether(random),
  };
  if (settings['errmgr.loss'] === 'use-spare') settings['errmgr.loss'] = 'start-again';
  const starvation = drawStarvation(random, hosts, times);
  const faults = [...drawFaults(random, hosts, times), ...starvation];
  const [agree, talk] = [drawCalls(random.fork('agree'), 0.4, times), drawCalls(random.fork('talk'), 0.3, times)];
  if (agree !== undefined || talk !== undefined) settings['client.enable'] = 'true';
  const link = {
    latencyMs: random.pick([0.05, 0.2, 1, 3]),
    // What is sent over several links of a starved machine arrives in any order.
    jitterMs: random.pick([0, 0.05, 0.5]) + (starvation.length > 0 ? STARVED_JITTER_MS : 0),
    cutChance: random.pick([0, 0, 0.3]),
    bytesPerMs: random.pick([Infinity, Infinity, 20_000]),
    timeoutMs: random.pick([60_000, 5000]),
  };
  settings['detector.latency'] = latencySetting(hosts, settings, link);
  return {
    seed,
    hosts,
    settings,
    link,
    faults: [...faults, ...(random.chance(0.2) ? [drawEdge(random, { hosts, times })] : [])],
    agree,
    talk,
    brief: drawBrief(random, times, starvation.length > 0 ? 1 : 0.4),
    isPatient: random.fork('patience').chance(0.1),
  };
}

/** For parameter detector.latency: of a message between two agents, by the boot tree. */
export function latencySetting(hosts: number, settings: FailurePlan['settings'], link: FailurePlan['link']): string {
  const parents = plannedParents(hosts, settings);
  const depth = Math.max(...parents.map((_, host) => hostsAbove(parents, host).length)) + 1;
  return `${Math.max(20, Math.ceil(2 * depth * (link.latencyMs + link.jitterMs)))}ms`;
}

/** Of a fork: the other draws do not depend on it. It goes on while agents fail. */
function drawCalls(fork: SimRandom, chance: number, times: Times): CallsPlan | undefined {
  if (!fork.chance(chance)) return undefined;
  const rounds = 3 + fork.integer(30);
  return { rounds, pauseMs: fork.pick([0, times.busyMs / rounds]), policy: fork.pick(['continue', 'notify']) };
}

/** By a fork, as well. Its ranks end before, among or after the faults. */
function drawBrief(random: SimRandom, times: Times, chance: number): BriefPlan | undefined {
  const fork = random.fork('brief');
  if (!fork.chance(chance)) return undefined;
  const policy = fork.pick(['continue', 'continue', 'notify', 'abort']);
  return { lastsMs: fork.between(FIRST_MS, 2 * times.busyMs), policy };
}

/**
 * By a fork, as well. The controller gets no processor while it links to those below an agent that is dead; its links
 * may be slow, too.
 */
function drawStarvation(random: SimRandom, hosts: number, { busyMs, leaseMs }: Times): Step[] {
  const fork = random.fork('starvation');
  if (!fork.chance(0.1)) return [];
  const latencyMs = fork.pick([0, fork.between(0.02, 0.06) * leaseMs]);
  const deadMs = fork.between(FIRST_MS, busyMs);
  let atMs = deadMs + fork.between(0, 8) * latencyMs;
  const faults: Step[] = [{ kind: 'kill', victim: rootAgent(fork.integer(Math.ceil(hosts / 2))), atMs: deadMs }];
  for (let left = 1 + fork.integer(2); left > 0; left--) {
    faults.push({ kind: 'pause', victim: CONTROLLER, atMs, durationMs: fork.between(0.3, 0.8) * leaseMs });
    atMs += leaseMs + fork.between(0, 300);
  }
  for (let host = 0; latencyMs > 0 && host < hosts; host++) {
    const victim = { kind: 'link', ends: [host + 1, 0] } as const;
    faults.push({ kind: 'slow', victim, atMs: FIRST_MS, latencyMs, durationMs: atMs });
  }
  return faults;
}

interface Times {
  readonly periodMs: number;
  readonly timeouts: number;
  readonly leaseMs: number;
  /** Faults begin before that. */
  readonly busyMs: number;
}

function drawDetectors(random: SimRandom, names: readonly string[], times: Times): Record<string, string> {
  const { periodMs, timeouts } = times;
  const settings: Record<string, string> = {};
  for (const name of ['link', ...names]) {
    settings[`detector.${name}.notifier`] = random.pick(NOTIFIERS);
    if (name === 'link') continue;
    settings[`detector.${name}.period`] = `${periodMs}ms`;
    if (name !== 'swim') settings[`detector.${name}.timeout`] = `${periodMs * timeouts}ms`;
    if (name !== 'sporadic') settings[`detector.${name}.grace`] = random.pick(['0', '300ms']);
  }
  if (names.some((name) => name === 'ring')) {
    settings['detector.ring.order'] = random.pick(['rank', 'rank', 'cabinets:0*2,1*3,2*4,0*9']);
    settings['detector.ring.reconnect'] = String(random.pick([1, 2]));
  }
  return settings;
}

/** Of one kind, scattered, contiguous or in a cascade; or of any kinds. */
function drawFaults(random: SimRandom, hosts: number, times: Times): Step[] {
  const count = random.pick([0, 1, 1, 1, 2, 2, 3, Math.max(1, Math.floor(hosts / 2))]);
  const first = random.integer(hosts);
  const isContiguous = random.chance(0.5);
  const isAtOnce = random.chance(0.5);
  const baseMs = random.between(FIRST_MS, times.busyMs);
  const kind = random.pick([...KINDS, undefined]);
  return Array.from({ length: count }, (_, index) => {
    const host = isContiguous ? (first + index) % hosts : random.integer(hosts);
    const atMs = isAtOnce ? baseMs : random.between(FIRST_MS, times.busyMs);
    return drawFault(random, kind ?? random.pick(KINDS), host, atMs, { hosts, times });
  });
}

/** While the session is launched, or ends. */
function drawEdge(random: SimRandom, scene: Scene): PhasedStep {
  const during = random.pick(['launch', 'end'] as const);
  const host = random.integer(scene.hosts);
  const atMs = random.between(0, 400);
  const other = random.fork('edge');
  return { during, ...drawFault(other, other.chance(0.5) ? 'kill' : other.pick(KINDS), host, atMs, scene) };
}

const STARVED_JITTER_MS = 10;

const KINDS = ['kill', 'kill', 'crash', 'pause', 'pause', 'part', 'cut', 'slow'] as const;

interface Scene {
  readonly hosts: number;
  readonly times: Times;
}

function drawFault(
  random: SimRandom, kind: (typeof KINDS)[number], host: number, atMs: number, { hosts, times }: Scene,
): Step {
  const { periodMs, timeouts, leaseMs } = times;
  const drawLink = (): LinkVictim => {
    const other = random.chance(0.3) ? 0 : 1 + random.integer(hosts);
    return { kind: 'link', ends: [host + 1, other === host + 1 ? 0 : other] };
  };
  const timeoutMs = periodMs * timeouts;
  // Shorter and longer than the timeout; just before the lease ends, and after it.
  const durationMs = random.pick([
    random.between(1, timeoutMs / 3), random.between(timeoutMs, 2 * timeoutMs), leaseMs - random.between(1, 300),
    random.between(leaseMs, 3 * leaseMs),
  ]);
  switch (kind) {
    case 'kill':
      return { atMs, kind, victim: rootAgent(host) };
    case 'crash':
      return {
        atMs, kind, victim: { kind: 'host', host },
        ...(random.chance(0.3) && { durationMs: random.between(100, 5000) }),
      };
    case 'pause':
      return { atMs, kind, victim: rootAgent(host), durationMs };
    case 'part': {
      const away = Array.from({ length: 1 + random.integer(3) }, (_, index) => (host + index) % hosts);
      const victim = { kind: 'side', hosts: [...new Set(away)] } as const;
      return { atMs, kind, victim, ...(random.chance(0.7) && { durationMs }) };
    }
    case 'cut':
      return { atMs, kind, victim: drawLink(), durationMs };
    case 'slow':
      // Not for ever: an agent whose messages take longer than promised is given up each time that it is started again.
      return { atMs, kind, victim: drawLink(), latencyMs: random.between(2, 200), durationMs };
  }
}
