/** The suites that every platform must pass, on a world that runs by itself while a test waits. */

import { channelCompliance, networkCompliance, type ChannelPair, type NetworkSetup, type Until } from '@stci/testkit';
import type { Channel } from '@stci/interface';
import { createWorld, type World } from '@stci/platform-sim';

const BULK_BYTES = 20_000_000;

function running(world: World): { until: Until; end: () => void } {
  const run = (): void => void world.run({ untilMs: world.nowMs + 100, maxEvents: 200_000 });
  const interval = setInterval(run, 1);
  const until: Until = (condition, what) =>
    new Promise((resolve, reject) => {
      const deadline = setTimeout(() => reject(new Error(`Waited in vain for ${what}`)), 10_000);
      const look = (): void => {
        if (condition()) {
          clearTimeout(deadline);
          resolve();
        } else setImmediate(look);
      };
      look();
    });
  return { until, end: () => clearInterval(interval) };
}

let seed = 0;

function networkSetup(): NetworkSetup {
  const world = createWorld({ seed: seed++, link: { cutChance: 0.3 } });
  const { network } = world.platform('h1');
  world.host('gone');
  world.crashHost('gone');
  return { network, refusing: 'ws://h1:1', silent: 'ws://gone:40000', ...running(world) };
}

function agentPair(method: 'process' | 'thread'): ChannelPair {
  const world = createWorld({ seed: seed++, local: { cutChance: 0.3 } });
  let far: Channel | undefined;
  world.program('agent', (context) => {
    far = context.channel;
  });
  const agent = world.platform('h1').processes.spawnAgent(method, ['agent'], {
    onError: () => undefined,
    onDiagnostic: () => undefined,
    onExit: () => undefined,
  });
  world.run({ until: () => far !== undefined });
  return { near: agent.channel, far: far as unknown as Channel, ...running(world) };
}

networkCompliance('platform-sim ws', networkSetup, { bulkBytes: BULK_BYTES });
channelCompliance('platform-sim stdio', () => agentPair('process'), { bulkBytes: BULK_BYTES });
channelCompliance('platform-sim thread', () => agentPair('thread'), { bulkBytes: BULK_BYTES });
