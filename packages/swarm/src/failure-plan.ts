/** What one run with failures does, drawn from its seed: a session, its detectors, and what befalls its agents. */

import { SimRandom, type LinkParams } from '@stci/platform-sim';
import { drawLoss, drawOverlay } from './options.js';

/** Hosts by index; the login host with the controller is `login`. */
export type Place = number | 'login';

export type FailureFault = { readonly atMs: number } & (
  | { readonly kind: 'kill'; readonly host: number }
  /** No sign of it; with `backMs` the host runs again so much later. */
  | { readonly kind: 'crash'; readonly host: number; readonly backMs?: number }
  | { readonly kind: 'freeze'; readonly host: number; readonly lastsMs: number }
  /** These hosts from all others; without `lastsMs` for ever. */
  | { readonly kind: 'part'; readonly hosts: readonly number[]; readonly lastsMs?: number }
  | { readonly kind: 'cut'; readonly between: readonly [Place, Place]; readonly lastsMs: number }
  | { readonly kind: 'slow'; readonly between: readonly [Place, Place]; readonly latencyMs: number }
);

export interface FailurePlan {
  readonly seed: number;
  readonly hosts: number;
  readonly settings: Readonly<Record<string, string>>;
  readonly link: LinkPlan;
  /** `atMs` from the time when all agents are up. */
  readonly faults: readonly FailureFault[];
  /** Agents that are killed while the session is launched or ends: `atMs` from the beginning of that. */
  readonly edges: readonly { readonly when: 'launch' | 'end'; readonly host: number; readonly atMs: number }[];
}

export type LinkPlan = Pick<LinkParams, 'latencyMs' | 'jitterMs' | 'cutChance' | 'bytesPerMs' | 'timeoutMs'>;

const DETECTORS = [
  [], ['ring'], ['ring'], ['ring'], ['mesh'], ['mesh'], ['swim'], ['sporadic'], ['ring', 'swim'], ['ring', 'mesh'],
] as const;

const NOTIFIERS = ['auto', 'auto', 'tree', 'lazy', 'bmg', 'hypercube', 'direct'];

/** Faults begin within this time: once the job runs, before which an agent does not outlive its parent. */
const FIRST_MS = 300;
const BUSY_MS = 2500;

export function drawFailures(seed: number): FailurePlan {
  const random = new SimRandom(`failures ${seed}`);
  const hosts = 2 + random.integer(random.pick([4, 8, 8, 16]));
  const times = {
    periodMs: random.pick([50, 100, 200]), timeouts: random.pick([3, 5, 10]), leaseMs: random.pick([2000, 4000]),
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
    ...drawLoss(random),
  };
  if (settings['errmgr.loss'] === 'use-spare') settings['errmgr.loss'] = 'start-again';
  const faults = drawFaults(random, hosts, times);
  return {
    seed,
    hosts,
    settings,
    link: {
      latencyMs: random.pick([0.05, 0.2, 1, 3]),
      jitterMs: random.pick([0, 0.05, 0.5]),
      cutChance: random.pick([0, 0, 0.3]),
      bytesPerMs: random.pick([Infinity, Infinity, 20_000]),
      timeoutMs: random.pick([60_000, 5000]),
    },
    faults,
    edges: random.chance(0.2)
      ? [{ when: random.pick(['launch', 'end'] as const), host: random.integer(hosts), atMs: random.between(0, 400) }]
      : [],
  };
}

interface Times {
  readonly periodMs: number;
  readonly timeouts: number;
  readonly leaseMs: number;
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
function drawFaults(random: SimRandom, hosts: number, times: Times): FailureFault[] {
  const count = random.pick([0, 1, 1, 1, 2, 2, 3, Math.max(1, Math.floor(hosts / 2))]);
  const first = random.integer(hosts);
  const isContiguous = random.chance(0.5);
  const isAtOnce = random.chance(0.5);
  const baseMs = random.between(FIRST_MS, BUSY_MS);
  const kind = random.pick([...KINDS, undefined]);
  return Array.from({ length: count }, (_, index) => {
    const host = isContiguous ? (first + index) % hosts : random.integer(hosts);
    const atMs = isAtOnce ? baseMs : random.between(FIRST_MS, BUSY_MS);
    return drawFault(random, kind ?? random.pick(KINDS), host, atMs, { hosts, times });
  });
}

const KINDS = ['kill', 'kill', 'crash', 'freeze', 'freeze', 'part', 'cut', 'slow'] as const;

interface Scene {
  readonly hosts: number;
  readonly times: Times;
}

function drawFault(
  random: SimRandom, kind: FailureFault['kind'], host: number, atMs: number, { hosts, times }: Scene,
): FailureFault {
  const { periodMs, timeouts, leaseMs } = times;
  const place = (): Place => (random.chance(0.3) ? 'login' : random.integer(hosts));
  const timeoutMs = periodMs * timeouts;
  // Shorter and longer than the timeout; just before the lease ends, and after it.
  const lastsMs = random.pick([
    random.between(1, timeoutMs / 3), random.between(timeoutMs, 2 * timeoutMs), leaseMs - random.between(1, 300),
    random.between(leaseMs, 3 * leaseMs),
  ]);
  switch (kind) {
    case 'kill':
      return { atMs, kind, host };
    case 'crash':
      return { atMs, kind, host, ...(random.chance(0.3) && { backMs: random.between(100, 5000) }) };
    case 'freeze':
      return { atMs, kind, host, lastsMs };
    case 'part': {
      const away = Array.from({ length: 1 + random.integer(3) }, (_, index) => (host + index) % hosts);
      return { atMs, kind, hosts: [...new Set(away)], ...(random.chance(0.7) && { lastsMs }) };
    }
    case 'cut':
      return { atMs, kind, between: [host, place()], lastsMs };
    case 'slow':
      return { atMs, kind, between: [host, place()], latencyMs: random.between(2, 200) };
  }
}
