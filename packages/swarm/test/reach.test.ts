/**
 * On simulated hosts, over their login and by launcher-ssh over simulated ssh: reaching an agent that runs, and what is
 * known when a started one is gone. By a simulated step: agents that are started together.
 */

import { createSsh } from '@stci/launcher-ssh';
import { createWorld, type AgentContext, type World } from '@stci/platform-sim';
import { assert, suite } from '@stci/testkit';
import { reachCompliance, startAllCompliance, type ReachSetup, type StartAllSetup } from '@stci/testkit/compliance';
import type { AgentProcessEnd, LauncherProc, Platform } from '@stci/interface';
import { PLAIN } from '../dist/scenarios/plain.js';
import { resolveSettings } from '../dist/worlds/assembly.js';
import { joinMain, launcherRemote, loginMain } from '../dist/worlds/launcher-remote.js';
import { launcherTogether } from '../dist/worlds/launcher-together.js';
import { refuseLogin } from '../dist/scenarios/scenario.js';
import { makeWorld as makeJobWorld } from '../dist/worlds/make-world.js';
import { installSsh } from '../dist/worlds/ssh.js';

const inline = (): never => assert.unreachable('not inline') as never;
const leaseMs = 10_000;
let seed = 0;

/** Its agents say one byte. */
function makeWorld(): World {
  const world = createWorld({ seed: seed++, link: { cutChance: 0.3 } });
  const agent = ({ channel }: AgentContext): void => void channel.send([Uint8Array.of(1)]);
  world.program('login', loginMain);
  world.program('stci-join', joinMain);
  world.program('stci-agent', agent);
  installSsh(world, agent);
  return world;
}

const MAKERS: Readonly<Record<string, (platform: Platform) => LauncherProc>> = {
  remote: (platform) => launcherRemote.create({ platform, inline, leaseMs }, { login: 5, gap: 1 }, { hosts: [] }),
  ssh: (platform) => createSsh({ platform, inline }, { client: 'ssh', options: [], node: '', connectMs: 2000 }),
};

function setup(make: (platform: Platform) => LauncherProc): ReachSetup {
  const world = makeWorld();
  world.host('gone');
  world.crashHost('gone');
  const launcherProc = make(world.platform('h1'));
  const until = async (condition: () => boolean, what: string): Promise<void> => {
    world.run({ untilMs: world.nowMs + 60_000, until: condition, maxEvents: 5_000_000 });
    assert.equal([condition(), world.faults.map(({ error }) => String(error))], [true, []], what);
  };
  return { launcherProc, far: world.platform('h2').network, host: 'h2', unreachable: 'gone', until };
}

/** What is reported of an agent that was up when `fault` came; undefined: nothing within a minute. */
function evidence(make: (platform: Platform) => LauncherProc, fault: (world: World) => void): string | undefined {
  const world = makeWorld();
  world.host('h2');
  const launcherProc = make(world.platform('h1'));
  const host = { name: 'h2', slots: 1, slotsBound: false, origin: 'test' };
  let isUp = false;
  let end: AgentProcessEnd | undefined;
  launcherProc.start({ address: 1, host, method: 'process' }, {
    onError: (error) => assert.unreachable(error.message),
    onDiagnostic: () => undefined,
    onExit: (exit) => (end = exit),
  }).channel.bind({ onData: () => (isUp = true), onDrain: () => undefined, onClose: () => undefined });
  world.run({ until: () => isUp });
  fault(world);
  world.run({ until: () => end !== undefined, untilMs: world.nowMs + 120_000 });
  assert.equal(world.faults, []);
  return end?.evidence;
}

const killOn = (world: World, host: string): void =>
  world.livingProcesses().filter((one) => one.host === host && one.command[0] !== 'test')
    .forEach(({ pid }) => void world.killProcess(host, pid));

for (const [name, make] of Object.entries(MAKERS)) {
  reachCompliance(`${name} in simulation`, () => setup(make));
  suite(`${name} in simulation: evidence`, (test) => {
    test('an agent that was killed has ended', () => {
      assert.is(evidence(make, (world) => killOn(world, 'h2')), 'process');
    });

    test('a login that was killed says nothing of the agent', () => {
      assert.is(evidence(make, (world) => killOn(world, 'h1')), 'connection');
    });

    test('nor does a host behind a cut, whatever happens there', () => {
      assert.is.not(evidence(make, (world) => {
        world.cutLink('h1', 'h2');
        killOn(world, 'h2');
      }), 'process');
    });
  });
}

function startAllSetup(ends: boolean): StartAllSetup {
  const world = makeJobWorld({ ...PLAIN, seed: seed++, hosts: 3, remote: true, faults: [refuseLogin(2, 100)] });
  const platform = world.platform('login');
  const check = (): void => assert.equal(world.faults.map(({ error }) => String(error)), []);
  return {
    launcherProc: launcherTogether.create({ platform, inline, leaseMs }, { late: 5, ends }, { hosts: [] }),
    platform,
    params: resolveSettings({}).snapshot,
    hosts: ['n0', 'n1'],
    bad: 'n2',
    shortMs: 100,
    until: async (condition, what) => {
      if (!condition()) world.run({ untilMs: world.nowMs + 120_000, until: condition, maxEvents: 5_000_000 });
      check();
      assert.ok(condition(), what);
    },
    pass: async (ms) => {
      world.run({ untilMs: world.nowMs + ms, maxEvents: 5_000_000 });
      check();
    },
    end: () => {
      world.run({ untilMs: world.nowMs + 5000, maxEvents: 5_000_000 });
      const left = world.livingProcesses().filter(({ command }) => command[0] !== 'test');
      assert.equal(left.map(({ host, command }) => `${host} ${command.join(' ')}`), [], 'nothing is left');
    },
  };
}

for (const ends of [true, false]) startAllCompliance(`together in simulation, ends=${ends}`, () => startAllSetup(ends));
