/** An experiment drawn from a seed: target, hosts, faults of all kinds, and sometimes an end before its end. */

import { faultComponents } from '@stci/finject';
import {
  planRepeats, treeShape, type Experiment, type FaultEntry, type RepeatPlan, type TargetShape, type Who,
} from '@stci/finject/experiment';
import type { FaultModule, ParamValue } from '@stci/interface';
import { SimRandom } from '@stci/platform-sim';
import type { SimulatedTarget } from './experiment-target.js';
import { hostName } from './job-spec.js';
import { drawTree, plannedParents } from './launcher-random.js';

export interface DrawnExperiment {
  readonly seed: number;
  readonly experiment: Experiment;
  readonly target: SimulatedTarget;
  readonly shape: TargetShape;
  readonly plans: readonly RepeatPlan[];
  readonly clockSkewMs: number;
  /** `abort`: by the user, once or twice; `kill`: SIGKILL for the front-end. Virtual time of the run, ms. */
  readonly interrupt: { readonly how: 'abort' | 'kill'; readonly atMs: number; readonly again: boolean } | undefined;
}

const PLACE = { file: 'drawn', line: 1, column: 1 };
const TIME_LIMIT_MS = 30_000;

const MODULES = new Map(faultComponents.map((component) =>
  [component.name, component.create({}, {}, undefined) as FaultModule]));

type Shared = Pick<FaultEntry, 'who' | 'args' | 'durationMs'>;
type Draw = (random: SimRandom) => Shared;

const filter = (random: SimRandom) => ({
  choice: random.pick([
    { pick: 'random', count: 1 }, { pick: 'random', count: 1 }, { pick: 'random', count: 2 },
    { pick: 'contiguous', count: 2 }, { pick: 'percent', percent: 30 },
  ] as const),
  on: 'all' as const, depth: undefined, not: [], sameHostAs: undefined, notOf: [],
});
const ranks = (random: SimRandom): Who => ({ of: 'ranks', ranks: 'all', ...filter(random) });
const hosts = (random: SimRandom): Who => ({ of: 'hosts', hosts: 'all', ...filter(random) });
const agents = (random: SimRandom): Who =>
  ({ of: 'agents', role: random.pick(['root', 'session', 'root', 'session', 'controller']), ...filter(random) });
const links = (random: SimRandom): Who => ({ of: 'links', links: 'all', ...filter(random) });
const lasting = (random: SimRandom): number => random.pick([50, 400, 1500, 6000]);

function once(who: Who, args: Readonly<Record<string, ParamValue>> = {}): Shared {
  return { who, args, durationMs: undefined };
}

const KINDS: Readonly<Record<string, Draw>> = {
  noop: (random) => ({ ...once(ranks(random)), durationMs: lasting(random) }),
  pkill: (random) => once(ranks(random), {
    signal: random.pick(['SIGKILL', 'SIGTERM', 'SIGUSR1']), whom: random.pick(['process', 'group']),
  }),
  pause: (random) => ({
    who: random.pick([ranks, ranks, hosts, agents])(random), args: {}, durationMs: lasting(random),
  }),
  agent: (random) => once(agents(random)),
  host: (random) => once(hosts(random)),
  exit: (random) => once(ranks(random), { status: random.pick([0, 1, 7]) }),
  load: (random) => ({ who: hosts(random), args: { cpu: 2, memory: 4096 }, durationMs: lasting(random) }),
  link: (random) => ({
    who: links(random), durationMs: lasting(random),
    args: {
      mode: random.pick(['silent', 'delay', 'throttle', 'close']), direction: random.pick(['both', 'in', 'out']),
      delay: 30, jitter: 20, rate: 20_000,
    },
  }),
  partition: (random) => ({
    who: { of: 'partition', shape: random.pick(['halves', 'ring', 'bridge', 'isolate']) }, args: {},
    durationMs: lasting(random),
  }),
};

export function drawExperiment(seed: number): DrawnExperiment {
  const random = new SimRandom(`experiment ${seed}`);
  const count = random.chance(0.03) ? 20 + random.integer(30) : 3 + random.integer(7);
  const target = drawTarget(random, count);
  const perHost = target.spec.mapBy.by === 'ppr' ? target.spec.mapBy.perHost : 1;
  const shape: TargetShape = {
    hosts: target.hosts.map(({ name }) => name),
    hostOfRank: Array.from({ length: count * perHost }, (_, rank) => Math.floor(rank / perHost)),
    ...treeShape(target.settings['launcher'] === 'random' ? { parents: plannedParents(count, target.settings) }
      : { arity: Number(target.settings['launcher.tree.arity']) }),
  };
  const experiment = makeExperiment(seed, random);
  const plans = planRepeats(experiment, shape).map((plan): RepeatPlan =>
    ({ ...plan, injections: plan.injections.filter(({ victims }) => victims.length > 0) }));
  const interrupt = random.chance(0.35)
    ? { how: random.pick(['abort', 'kill'] as const), atMs: Math.exp(random.between(0, Math.log(12_000))),
      again: random.chance(0.3) }
    : undefined;
  return { seed, experiment, target, shape, plans, interrupt, clockSkewMs: random.pick([0, 40, 3000]) };
}

function drawTarget(random: SimRandom, count: number): SimulatedTarget {
  const [program = '', ...args] = random.pick([
    ['sleep', '4'], ['sleep', '9'], ['phases', 'one', '2', 'two', '3'], ['lines', '40', '60', '0.1'],
    ['agree', '6', '0.5'], ['ignore-term', '5'],
  ]);
  const settings: Record<string, string> = {
    'launcher.tree.arity': String(random.pick([1, 2, 8])), 'bootcom.lease': random.pick(['2s', '4s']),
    'tool.grace': random.pick(['0', '500ms']), errmgr: random.pick(['abort', 'continue', 'notify', 'restart']),
    'bootcom.ws.interface': 'eth0', 'client.enable': 'true',
    ...(random.chance(0.5) && { 'overlay.topology': random.pick(['bmg', 'mesh:wrap=true']) }),
    ...(random.chance(0.6) && { detector: random.pick(['ring', 'swim', 'mesh', 'sporadic']) }),
    ...(random.chance(0.3) && { 'errmgr.loss': 'start-again', 'errmgr.loss.pause': '100ms' }),
    ...(random.chance(0.3) && { 'launcher.session.method': 'process' }),
    ...drawTree(random),
  };
  const perHost = random.pick([1, 1, 2]);
  return {
    hosts: Array.from({ length: count }, (_, host) =>
      ({ name: hostName(host), slots: perHost, slotsBound: true, origin: 'drawn' })),
    spares: [],
    spec: {
      apps: [{ program, args, env: {} }], mapBy: { by: 'ppr', perHost }, oversubscribe: false, env: { PATH: '/bin' },
      wdir: '/', stdin: { to: 'none' }, launchTimeoutMs: 60_000,
    },
    label: program, settings,
  };
}

function makeExperiment(seed: number, random: SimRandom): Experiment {
  const faults = Array.from({ length: 1 + random.integer(3) }, (_, index) => drawFault(random, `f${index}`, true));
  return {
    name: `drawn-${seed}`, description: '',
    target: { options: [], program: ['drawn'], session: undefined, simulated: undefined },
    hosts: [], repeats: 1 + random.integer(2), seed, warmUpMs: random.pick([0, 300]), timeLimitMs: TIME_LIMIT_MS,
    faults,
    checks: [
      { name: 'no-orphan', place: PLACE, type: 'no-orphan' }, { name: 'output', place: PLACE, type: 'output',
        pattern: '^0', expect: 'some', rank: 0 },
    ],
    stop: { failuresMax: 0, timeMs: undefined }, outputs: { directory: undefined, outputBytesMax: 20_000 },
    keepAlive: { ranks: [], hosts: [] }, allow: random.pick([[], ['controller', 'front-end']] as const),
    victimsMax: 100, configurations: [],
  };
}

function drawFault(random: SimRandom, name: string, isWholeAllowed: boolean): FaultEntry {
  const isWhole = isWholeAllowed && random.chance(0.2);
  const kind = isWhole ? random.pick(['compose', 'sequence']) : random.pick(Object.keys(KINDS));
  const own: Shared = isWhole ? once({ of: 'nobody' }) : (KINDS[kind] as Draw)(random);
  const parts = isWhole ? [1, 2].map((part) => drawFault(random, `${name}-${part}`, false)) : [];
  return {
    name, kind, ...own, parts, place: PLACE, timeoutMs: random.pick([500, 5000]), count: 1 + random.integer(3),
    coolDownMs: random.pick([0, 0, 300]), when: drawWhen(random),
    impact: MODULES.get(kind)?.impactOf?.(own.args) ?? 'disturbs',
  };
}

function drawWhen(random: SimRandom): FaultEntry['when'] {
  const event = random.pick(
    ['start', 'start', 'start', 'launch', 'detection', 'suspicion', 'exit', 'injection'] as const);
  const after: FaultEntry['when']['after'] = random.pick([
    { on: 'output', pattern: 'out 3', rank: undefined, nth: 1 }, { on: 'mark', name: 'two', rank: undefined, nth: 1 },
    ...Array.from({ length: 20 }, () => ({ on: 'event', event, nth: 1, fault: undefined }) as const),
  ]);
  return {
    after,
    delay: random.pick([
      { type: 'fixed', valueMs: 0 }, { type: 'uniform', minMs: 0, maxMs: 3000 }, { type: 'exponential', meanMs: 800 },
    ] as const),
    every: random.pick([{ type: 'fixed', valueMs: 0 }, { type: 'weibull', shape: 0.7, scaleMs: 700 }] as const),
  };
}
