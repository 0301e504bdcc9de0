/**
 * What one run does, drawn from its seed: the job, the settings, the world, the faults. Swarm testing: each feature
 * is in or out as a whole, with a probability that is itself drawn, so that runs differ in kind and not only in number.
 */

import { windowBytesMin } from '@stci/core';
import type { SignalName, StdinTo } from '@stci/interface';
import { SimRandom, type LinkParams } from '@stci/platform-sim';
import { drawMpi } from './draw-mpi.js';
import { drawTree } from './launcher-random.js';
import { drawApp, drawLongApp, type AppPlan } from './programs.js';
import { drawSpawns } from './spawner.js';
import { FRONT_END, refuseLogin, rootAgent, type LinkVictim, type Step } from './scenario.js';

interface Timed {
  /** Virtual time, ms. */
  readonly atMs: number;
}

export type ControlPlan =
  | (Timed & { readonly kind: 'signal'; readonly signal: SignalName })
  | (Timed & { readonly kind: 'interrupt'; readonly kill: boolean })
  /** The user leaves the job to its session. */
  | (Timed & { readonly kind: 'detach' })
  /** Standard output: its reader has gone (`isClosed`), or it cannot be written. */
  | (Timed & { readonly kind: 'output-fault'; readonly isClosed: boolean });

export interface SwarmOptions {
  readonly seed: number;
  readonly hosts: number;
  /** Hosts of their own, or stand-ins on one. */
  readonly remote: boolean;
  readonly slots: number;
  readonly apps: readonly AppPlan[];
  readonly byNode: boolean;
  readonly settings: Readonly<Record<string, string>>;
  readonly stdin: StdinTo;
  readonly stdinBytes: number;
  /** How long the front-end keeps output before it releases it, ms; 0: at once. */
  readonly releaseMs: number;
  readonly timeoutMs: number | undefined;
  readonly launchTimeoutMs: number;
  readonly faults: readonly Step[];
  readonly controls: readonly ControlPlan[];
  readonly link: Pick<LinkParams, 'latencyMs' | 'jitterMs' | 'cutChance' | 'bytesPerMs' | 'timeoutMs'>;
  readonly spawnMs: readonly [number, number];
  readonly pipeBytes: number;
  /** Largest difference of two hosts' wall clocks, ms. */
  readonly clockSkewMs: number;
}

/** Longest that anything in a job takes by itself: the ceiling of `S` in the programs, ms. */
export const PROGRAM_MS_MAX = 3000;

/** Faults come before that, ms. */
const FAULT_MS_MAX = 1500;

type Client = Pick<SwarmOptions, 'apps' | 'settings'>;

export interface Wishes {
  readonly hosts?: number | undefined;
  /** Whether programs agree; default: in some runs. */
  readonly agree?: boolean | undefined;
  /** Whether there are MPI programs; default: in some runs. */
  readonly mpi?: boolean | undefined;
}

export function drawOptions(seed: number, wishes: Wishes = {}): SwarmOptions {
  const random = new SimRandom(`swarm ${seed}`);
  const hosts = wishes.hosts ?? drawHosts(random);
  const isBig = hosts > 60;
  const remote = random.chance(0.4);
  const hasFaults = random.chance(isBig ? 0.3 : 0.6);
  const apps = drawApps(random, hosts, isBig);
  // Faults want something that is still there when they come.
  if (hasFaults && random.chance(0.6)) apps.push(drawLongApp(random, 1 + random.integer(4)));
  const ranks = apps.reduce((sum, app) => sum + app.count, 0);
  const client = meeting(random, apps, wishes.mpi) ?? agreeing(random, apps, wishes.agree);
  const timeoutMs = random.chance(0.15) ? 20 + random.integer(4000) : undefined;
  const isGraceful = random.chance(0.7);
  const drawn: SwarmOptions = {
    seed,
    hosts,
    remote,
    slots: Math.ceil(ranks / hosts),
    apps: client.apps,
    byNode: random.chance(0.5),
    settings: {
      ...drawSettings(random, hosts, remote), ...client.settings, ...drawSpawns(random, ranks, isBig),
    },
    stdin: drawStdin(random, ranks),
    stdinBytes: random.pick([0, 1, 100, 5000, 200_000]),
    releaseMs: random.chance(0.3) ? random.pick([0.1, 1, 20, 300]) : 0,
    timeoutMs,
    launchTimeoutMs: random.chance(0.05) ? 5 + random.integer(200) : 60_000,
    faults: [
      ...(hasFaults ? drawFaults(random, hosts, remote) : []),
      ...(remote && random.chance(0.2) ? drawRefusals(random, hosts) : []),
    ],
    controls: [...(random.chance(0.2) ? drawControls(random) : []), ...drawOutputFault(random)],
    link: {
      latencyMs: random.pick([0.02, 0.1, 1, 20]),
      jitterMs: random.pick([0, 0.05, 5]),
      cutChance: random.pick([0, 0.05, 0.5]),
      bytesPerMs: random.pick([Infinity, Infinity, 100_000, 5000]),
      timeoutMs: random.pick([60_000, 60_000, 5000, 300]),
    },
    spawnMs: isGraceful ? [0.4, 1.2] : random.pick([[0.1, 30] as const, [5, 200] as const]),
    pipeBytes: random.pick([65_536, 65_536, 4096]),
    clockSkewMs: random.chance(0.2) ? 500 : 0,
  };
  // Programs that meet read no input, and wait for those that do: what is for all has to fit into their pipes.
  const isHeld = client.apps !== apps && drawn.stdin.to === 'all';
  return isHeld ? { ...drawn, stdinBytes: Math.min(drawn.stdinBytes, drawn.pipeBytes) } : drawn;
}

function drawHosts(random: SimRandom): number {
  if (random.chance(0.004)) return random.pick([100, 200, 500, 1000]);
  if (random.chance(0.05)) return 9 + random.integer(50);
  return 1 + random.integer(8);
}

function drawApps(random: SimRandom, hosts: number, isBig: boolean): AppPlan[] {
  const isSmooth = isBig || random.chance(0.5);
  const apps = 1 + (random.chance(0.3) ? 1 + random.integer(2) : 0);
  const ranksMax = isBig ? hosts : random.chance(0.05) ? 150 : 12;
  return Array.from({ length: apps }, () => drawApp(random, 1 + random.integer(Math.ceil(ranksMax / apps)), isSmooth));
}

/** The first program agrees with the others of its kind, and waits for the rest. By a fork, as drawLoss. */
function agreeing(random: SimRandom, apps: readonly AppPlan[], wish: boolean | undefined): Client {
  const fork = random.fork('agree');
  const [{ count } = { count: 1 }, ...others] = apps;
  if (!(wish ?? fork.chance(0.1))) return { apps, settings: {} };
  const args = [String(1 + fork.integer(8)), String(fork.pick([0, 0, 0.01, 0.2]))];
  const program = fork.chance(0.5) ? 'talk' : 'agree';
  return { apps: [{ program, args, count }, ...others], settings: { 'client.enable': 'true' } };
}

/** All programs are of MPI; or the first, whose ranks wait in vain for the others. By a fork, as drawLoss. */
function meeting(random: SimRandom, apps: readonly AppPlan[], wish: boolean | undefined): Client | undefined {
  const fork = random.fork('mpi');
  const [first, ...others] = apps;
  if (first === undefined || !(wish ?? fork.chance(0.1))) return undefined;
  const settings: Client['settings'] = fork.chance(0.3) ? { errmgr: 'notify' } : {};
  if (fork.chance(0.1)) return { apps: [drawMpi(fork, first.count), ...others], settings };
  const own = drawMpi(fork, apps.reduce((sum, { count }) => sum + count, 0));
  return { apps: apps.map(({ count }) => ({ ...own, count })), settings };
}

function drawSettings(random: SimRandom, hosts: number, remote: boolean): Record<string, string> {
  const settings: Record<string, string> = {
    launcherproc: remote ? 'remote' : 'local',
    launcher: random.chance(0.2) ? 'flat' : 'tree',
    'launcher.tree.arity': String(hosts > 60 ? random.pick([4, 8, 32]) : random.pick([1, 2, 3, 8])),
    errmgr: random.pick(['abort', 'continue']),
    'launcher.root.method': remote ? 'process' : random.pick(['process', 'process', 'inline', 'thread']),
    'launcher.session.method': random.pick(['inline', 'inline', 'process', 'thread']),
    'bootcom.boot': random.pick(['native', 'native', 'ws']),
    'launcher.window': String(random.pick([1, 4, 32])),
    'tool.grace': `${random.pick([0, 50, 500, 2000])}ms`,
  };
  if (random.chance(0.5)) {
    const drawn = random.pick([65_536, 262_144, 1_048_576]);
    settings['iof.window'] = String(Math.max(drawn, windowBytesMin(hosts)));
  }
  if (random.chance(0.2)) settings['event.turn.max'] = String(random.pick([1, 4, 1024]));
  if (random.chance(0.2)) settings['iof.drain'] = `${random.pick([0, 20, 1000])}ms`;
  if (random.chance(0.4)) drawLaunchFailure(random, hosts, settings);
  if (random.chance(0.3)) settings['bootcom.lease'] = random.pick(['2s', '4s', '30s']);
  if (random.chance(0.1)) settings['bootcom.frame.max'] = String(65_536);
  return {
    ...settings, ...drawLoss(random), ...drawOverlay(random, remote), ...drawTree(random),
    ...drawTogether(random, remote),
  };
}

/** What follows when a host is lost. By a fork: the other draws do not depend on it. */
export function drawLoss(random: SimRandom): Record<string, string> {
  const fork = random.fork('loss');
  if (fork.chance(0.6)) return {};
  return {
    'errmgr.loss': fork.pick(['start-again', 'use-spare']),
    'errmgr.loss.pause': `${fork.pick([0, 20, 300, 1000])}ms`,
    'errmgr.loss.retries': String(1 + fork.integer(5)),
  };
}

/** The agents of hosts of their own are started together. By a fork, as the above. */
export function drawTogether(random: SimRandom, remote = true): Record<string, string> {
  const fork = random.fork('together');
  if (!remote || !fork.chance(0.3)) return {};
  return {
    launcherproc: 'together',
    'launcherproc.together.late': `${fork.pick([0, 0, 1, 5, 50])}ms`,
    'launcherproc.together.ends': String(fork.chance(0.5)),
  };
}

/** Links beside the tree. By a fork, as the above. */
export function drawOverlay(random: SimRandom, remote: boolean): Record<string, string> {
  const fork = random.fork('overlay');
  if (fork.chance(0.7)) return {};
  return {
    'overlay.topology': fork.pick(['bmg', 'bmg', 'mesh', 'mesh:wrap=true', 'tree:arity=3']),
    'overlay.open': fork.pick(['eager', 'eager', 'lazy']),
    'overlay.queue': String(fork.pick([1, 256])),
    ...(remote && { 'bootcom.ws.interface': 'eth0' }),
  };
}

function drawLaunchFailure(random: SimRandom, hosts: number, settings: Record<string, string>): void {
  settings['errmgr.launch'] = random.pick(['abort', 'retry', 'shrink', 'spare']);
  if (random.chance(0.5)) settings['errmgr.launch.collect'] = `${random.pick([0, 50, 20_000])}ms`;
  if (random.chance(0.5)) settings['errmgr.launch.retries'] = String(1 + random.integer(4));
  if (random.chance(0.7)) settings['errmgr.launch.pause'] = `${random.pick([0, 20])}ms`;
  if (random.chance(0.5)) settings['errmgr.launch.min'] = String(1 + random.integer(hosts));
  if (random.chance(0.3)) settings['launcher.handshake'] = `${random.pick([500, 3000])}ms`;
}

function drawRefusals(random: SimRandom, hosts: number): Step[] {
  const bad = new Set(Array.from({ length: 1 + random.integer(4) }, () => random.integer(hosts)));
  return [...bad].map((host) => {
    const isSilent = !random.chance(0.7);
    return refuseLogin(host, random.pick([1, 2, 100]), isSilent ? { isSilent } : {});
  });
}

function drawStdin(random: SimRandom, ranks: number): StdinTo {
  if (random.chance(0.4)) return { to: 'none' };
  return random.chance(0.3) ? { to: 'all' } : { to: 'rank', rank: random.integer(ranks) };
}

/** Log-uniform: most faults come early, where most happens. */
function drawTimeMs(random: SimRandom): number {
  return Math.exp(random.between(Math.log(0.5), Math.log(FAULT_MS_MAX)));
}

const FAULTS = ['kill rank', 'kill agent', 'kill front-end', 'pause agent', 'pause rank', 'kill start'] as const;
const REMOTE_FAULTS = ['cut', 'slow', 'crash', 'part'] as const;
type FaultName = (typeof FAULTS)[number] | (typeof REMOTE_FAULTS)[number];

function drawFaults(random: SimRandom, hosts: number, remote: boolean): Step[] {
  const names: readonly FaultName[] = remote ? [...FAULTS, ...REMOTE_FAULTS] : FAULTS;
  // Some are left out altogether, the others are not equally likely.
  const weightOf = (name: FaultName): number => random.uniform() * (name === 'kill front-end' ? 0.3 : 1);
  const weights = names.map((name) => (random.chance(0.5) ? weightOf(name) : 0));
  const faults: Step[] = [];
  for (let index = 1 + random.integer(4); index > 0; index--) {
    let draw = random.uniform() * weights.reduce((sum, weight) => sum + weight, 0);
    const name = names.find((_, at) => (draw -= weights[at] ?? 0) < 0) ?? random.pick(names);
    if (name === 'kill front-end') weights[names.indexOf(name)] = 0;
    faults.push(drawFault(random, name, hosts));
  }
  return faults.sort((a, b) => a.atMs - b.atMs);
}

function drawFault(random: SimRandom, name: FaultName, hosts: number): Step {
  const atMs = drawTimeMs(random);
  const pick = random.uniform();
  const host = Math.floor(pick * hosts);
  switch (name) {
    case 'kill front-end':
      return { atMs, kind: 'kill', victim: FRONT_END };
    case 'kill rank':
      return {
        atMs, kind: 'kill', victim: { of: 'ranks', pick }, signal: random.pick(['SIGKILL', 'SIGTERM', 'SIGSEGV']),
      };
    case 'kill agent':
      return {
        atMs, kind: 'kill', victim: { of: 'agents', pick }, signal: random.pick(['SIGKILL', 'SIGKILL', 'SIGTERM']),
      };
    case 'kill start':
      return {
        kind: 'kill', victim: rootAgent(host), start: random.pick([1, 1, 2, 3]),
        atMs: random.chance(0.5) ? 0 : atMs / 10,
      };
    case 'crash':
      return { atMs, kind: 'crash', victim: { kind: 'host', host } };
    case 'part': {
      const victim = { kind: 'side', hosts: [host] } as const;
      return { atMs, kind: 'part', victim, ...(random.chance(0.6) && { durationMs: random.between(1, 15_000) }) };
    }
    case 'slow':
      return { atMs, kind: 'slow', victim: drawLink(pick, hosts), latencyMs: random.between(10, 500) };
    case 'cut':
      return { atMs, kind: 'cut', victim: drawLink(pick, hosts), durationMs: random.between(1, 1500) };
    case 'pause agent':
    case 'pause rank': {
      const of = name === 'pause agent' ? 'agents' : 'ranks';
      return { atMs, kind: 'pause', victim: { of, pick }, durationMs: random.between(1, 1500) };
    }
  }
}

/** Of the controller's host, or of two others. */
function drawLink(pick: number, hosts: number): LinkVictim {
  const part = pick * hosts * 10 - Math.floor(pick * hosts * 10);
  const other = hosts > 1 && part < 0.3 ? 1 + Math.floor((pick * 997 * hosts) % hosts) : 0;
  return { kind: 'link', ends: [1 + Math.floor(pick * hosts), other] };
}

/** Drawn apart, so that all else stays as it was drawn without it. */
function drawOutputFault(random: SimRandom): ControlPlan[] {
  const own = random.fork('output fault');
  if (!own.chance(0.05)) return [];
  return [{ atMs: drawTimeMs(own), kind: 'output-fault', isClosed: own.chance(0.5) }];
}

function drawControls(random: SimRandom): ControlPlan[] {
  const first: ControlPlan = random.chance(0.5)
    ? { atMs: drawTimeMs(random), kind: 'signal', signal: random.pick(['SIGUSR1', 'SIGTERM', 'SIGWINCH', 'SIGTSTP']) }
    : { atMs: drawTimeMs(random), kind: 'interrupt', kill: random.chance(0.3) };
  if (first.kind === 'signal' && first.signal === 'SIGTSTP') {
    return [first, { atMs: first.atMs + 100, kind: 'signal', signal: 'SIGCONT' }];
  }
  if (random.chance(0.5)) return [first];
  return [first, { atMs: first.atMs + random.between(0, 500), kind: 'interrupt', kill: true }];
}
