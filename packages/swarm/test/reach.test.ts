/** Reaching an agent that runs, on simulated hosts: over their login, and by launcher-ssh over simulated ssh. */

import { createSsh } from '@stci/launcher-ssh';
import { createWorld, type World } from '@stci/platform-sim';
import { assert, reachCompliance, type ReachSetup } from '@stci/testkit';
import type { LauncherProc, Platform } from '@stci/interface';
import { joinMain, launcherRemote, loginMain } from '../dist/launcher-remote.js';
import { installSsh } from '../dist/ssh.js';

const inline = (): never => assert.unreachable('not inline') as never;
let seed = 0;

function setup(make: (platform: Platform) => LauncherProc): ReachSetup {
  const world: World = createWorld({ seed: seed++, link: { cutChance: 0.3 } });
  world.program('login', loginMain);
  world.program('stci-join', joinMain);
  installSsh(world, () => assert.unreachable('no agent is started'));
  world.host('gone');
  world.crashHost('gone');
  const launcherProc = make(world.platform('h1'));
  const until = async (condition: () => boolean, what: string): Promise<void> => {
    world.run({ untilMs: world.nowMs + 60_000, until: condition, maxEvents: 5_000_000 });
    assert.equal([condition(), world.faults.map(({ error }) => String(error))], [true, []], what);
  };
  return { launcherProc, far: world.platform('h2').network, host: 'h2', unreachable: 'gone', until };
}

reachCompliance('remote in simulation', () =>
  setup((platform) => launcherRemote.create({ platform, inline }, { login: 5, gap: 1 }, { hosts: [] })));

reachCompliance('ssh in simulation', () =>
  setup((platform) => createSsh({ platform, inline }, { client: 'ssh', options: [], node: '', connectMs: 2000 })));
