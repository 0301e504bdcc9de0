/** Sessions with an overlay in simulation, for tests. */

import { roleFactory, runAgent, type AgentNode, type Composition } from '@stci/core';
import { createFrontEnd } from '@stci/core/controller';
import {
  CONTROLLER, DeferredChannel, addressKind, rootAddress, type Address, type Channel, type FailureRecord, type FrontEnd,
  type Platform,
} from '@stci/interface';
import { createWorld, type AgentContext, type World } from '@stci/platform-sim';
import { assert } from '@stci/testkit';
import { composition, resolved, type Settings } from '../assembly.js';

export interface Session {
  readonly world: World;
  /** The latest node of each root agent, and the controller's. */
  readonly nodes: Map<Address, AgentNode>;
  readonly pids: Map<Address, number>;
  readonly frontEnd: FrontEnd;
  readonly records: readonly FailureRecord[];
  /** Runs until this holds. */
  until(holds: () => boolean, what: string, withinMs?: number): void;
  end(): number | undefined;
}

/** Private connections to paths with this part are what `make` returns, if anything. */
export function connecting(platform: Platform, part: string, make: () => Channel | undefined): Platform {
  const { network } = platform;
  return {
    ...platform,
    network: {
      listen: (...args) => network.listen(...args),
      connect: (...args) => network.connect(...args),
      listenLoopback: (...args) => network.listenLoopback(...args),
      listenPrivate: (...args) => network.listenPrivate(...args),
      connectPrivate: (path, ...rest) =>
        (path.includes(part) ? make() : undefined) ?? network.connectPrivate(path, ...rest),
    },
  };
}

/** It never answers. */
export function nobody({ clock }: Platform): Channel {
  return new DeferredChannel({ kind: 'unix', label: 'nobody', soon: (fire) => clock.soon(fire) });
}

/** Agents that lost their parent cannot be reached: the tree stays broken for seconds. */
export function withoutReach(platform: Platform): Platform {
  return connecting(platform, '/agent-', () => nobody(platform));
}

/** Starts a job of sleepers on so many hosts; it runs when this returns. */
export function open(hosts: number, settings: Settings, seed = 1, platformOf = (one: Platform): Platform => one,
): Session {
  const world = createWorld({ seed });
  const nodes = new Map<Address, AgentNode>();
  const records: FailureRecord[] = [];
  const pids = new Map<Address, number>();
  const watched: Composition = {
    ...composition,
    onNode: (node) => {
      const { self } = node.identity;
      if (addressKind(self) === 'root') pids.set(self, node.platform.env.pid);
      if (addressKind(self) === 'root' || self === CONTROLLER) nodes.set(self, node);
    },
  };
  world.program('stci-agent', ({ platform, channel, exit }: AgentContext) => {
    const load = (done: (start: ReturnType<typeof roleFactory>) => void): void => done(roleFactory(watched));
    runAgent({ platform: platformOf(platform), channel, load, exit: ({ failed }) => exit(failed ? 1 : 0) });
  });
  const { params, snapshot } = resolved({
    launcherproc: 'local', errmgr: 'continue', 'launcher.tree.arity': '2', ...settings,
  });
  const host = (_: unknown, i: number) => ({ name: `h${i}`, slots: 1, slotsBound: false, origin: 'test' });
  const allocation = { hosts: Array.from({ length: hosts }, host), spares: [] };
  let frontEnd: FrontEnd | undefined;
  let exitCode: number | undefined;
  let [isRunning, hasStopped] = [false, false];
  world.start('login', ['stcirun'], ({ platform, exit }) => {
    frontEnd = createFrontEnd({ platform: platformOf(platform), composition: watched, params, snapshot, allocation }, {
      onJobEvent: (event) => {
        if (event.type === 'running') isRunning = true;
        if (event.type === 'failure-record') records.push(event.record);
        if (event.type !== 'ended') return;
        exitCode = event.report.exitCode;
        frontEnd?.stop();
      },
      onOutput: (_rank, _stream, _chunk, _wallMs, release) => release(),
      onStdinDrain: () => undefined,
      onStdinClosed: () => undefined,
      onStopped: () => {
        hasStopped = true;
        exit(0);
      },
    });
    frontEnd.submit({
      apps: [{ program: 'sleep', args: ['600'], count: hosts, env: {} }], mapBy: { by: 'node' }, oversubscribe: true,
      env: { PATH: '/bin' }, wdir: '/', stdin: { to: 'none' }, launchTimeoutMs: 30_000,
    });
  });
  const until = (holds: () => boolean, what: string, withinMs = 10_000): void => {
    const endMs = world.nowMs + withinMs;
    while (!holds() && world.nowMs < endMs) world.run({ untilMs: world.nowMs + 10, maxEvents: 5_000_000 });
    assert.ok(holds(), `within ${withinMs} ms: ${what}`);
  };
  until(() => isRunning, 'the job runs');
  const end = (): number | undefined => {
    frontEnd?.control({ verb: 'end', kill: true, reason: 'enough' });
    until(() => hasStopped, 'the end', 60_000);
    world.run({ untilMs: world.nowMs + 60_000, maxEvents: 5_000_000 });
    assert.equal(world.faults.map(({ error }) => String(error)), []);
    assert.equal(world.livingProcesses().map(({ command }) => command.join(' ')), [], 'nothing is left');
    return exitCode;
  };
  return { world, nodes, pids, records, frontEnd: frontEnd as unknown as FrontEnd, until, end };
}

export const at = (position: number): Address => (position === 0 ? CONTROLLER : rootAddress(position - 1));

/** Pairs of positions, lower first, that have a link of the overlay up, or of the tree. */
export function pairs({ nodes }: Session, size: number): Set<string> {
  const found = new Set<string>();
  for (let a = 0; a < size; a++) {
    for (let b = a + 1; b < size; b++) {
      const links = nodes.get(at(a))?.router.links() ?? [];
      if (links.some(({ peer }) => peer === at(b))) found.add(`${a}-${b}`);
    }
  }
  return found;
}

export function bmgPairs(size: number): Set<string> {
  const found = new Set<string>();
  for (let a = 0; a < size; a++) {
    for (let power = 1; power < size; power *= 2) {
      const b = (a + power) % size;
      found.add(`${Math.min(a, b)}-${Math.max(a, b)}`);
    }
  }
  return found;
}

/** Root agents other than `from` that the binomial graph connects to it without the dead. */
export function reached(from: number, size: number, dead: ReadonlySet<number>, all: ReadonlySet<string>): Set<number> {
  const found = new Set([from]);
  for (const a of found) {
    for (let b = 0; b < size; b++) if (!dead.has(b) && all.has(`${Math.min(a, b)}-${Math.max(a, b)}`)) found.add(b);
  }
  return new Set([...found].filter((b) => b !== from && b !== 0));
}

export const isIn = (all: ReadonlySet<string>, part: ReadonlySet<string>): boolean =>
  [...part].every((each) => all.has(each));

export function kill({ world, pids }: Session, position: number): void {
  const pid = pids.get(at(position)) as number;
  const found = world.livingProcesses().find((each) => each.pid === pid && each.command[0] === 'stci-agent');
  if (found !== undefined) world.killProcess(found.host, pid);
}
