/** The suites that every platform must pass, on a world that runs by itself while a test waits. */

import {
  channelCompliance, linkCompliance, networkCompliance, privateNetworkCompliance, processesCompliance,
  selfControlCompliance,
} from '@stci/testkit/compliance';
import type {
  LinkPair, NetworkSetup, ProcessesSetup, SelfControlSetup, TestProgram, Until,
} from '@stci/testkit/compliance';
import type { Channel } from '@stci/interface';
import { createWorld, textBytes, type ToolProgram, type World } from '@stci/platform-sim';

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

function agentPair(method: 'process' | 'thread'): LinkPair {
  const world = createWorld({ seed: seed++, local: { cutChance: 0.3 } });
  let far: Channel | undefined;
  world.program('agent', (context) => {
    far = context.channel;
  });
  const platform = world.platform('h1');
  const agent = platform.processes.spawnAgent(method, ['agent'], {
    onError: () => undefined,
    onDiagnostic: () => undefined,
    onExit: () => undefined,
  });
  world.run({ until: () => far !== undefined });
  return { near: agent.channel, far: far as unknown as Channel, platform, ...running(world) };
}

networkCompliance('platform-sim', networkSetup, { bulkBytes: BULK_BYTES });
privateNetworkCompliance('platform-sim unix', networkSetup, { bulkBytes: BULK_BYTES });
channelCompliance('platform-sim stdio', () => agentPair('process'), { bulkBytes: BULK_BYTES });
channelCompliance('platform-sim thread', () => agentPair('thread'), { bulkBytes: BULK_BYTES });

const ready: ToolProgram = (tool) => tool.write('stdout', textBytes('ready'));

const PROGRAMS: Readonly<Record<string, ToolProgram>> = {
  speaks: (tool) => {
    tool.write('stdout', textBytes('out'));
    tool.write('stderr', textBytes('err'));
    tool.exit(3);
  },
  waits: ready,
  'ignores-term': (tool) => {
    tool.onSignal('SIGTERM', 'ignore');
    ready(tool);
  },
  leaves: (tool) => {
    ready(tool);
    tool.fork(['sleep', '100'], { keepOutput: false });
    tool.exit(0);
  },
  deaf: (tool) => {
    tool.closeStdin();
    ready(tool);
  },
};

const program = (name: string, ...args: string[]): TestProgram => ({ program: name, args });

function processesSetup(): ProcessesSetup {
  const world = createWorld({ seed: seed++, local: { cutChance: 0.3 } });
  const { processes } = world.platform('h1');
  for (const [name, run] of Object.entries(PROGRAMS)) world.host('h1').files.addProgram(name, run);
  return {
    processes,
    env: { PATH: '/bin' },
    programs: {
      speaks: program('speaks'),
      copies: program('cat'),
      waits: program('waits'),
      ignoresTerm: program('ignores-term'),
      leaves: program('leaves'),
      deaf: program('deaf'),
      floods: program('lines', '10000', '100'),
      missing: program('no-such-program'),
    },
    missingWdir: '/missing',
    ...running(world),
  };
}

/** A process that counts each 10 ms; of one that stands still for 2 s it is said that it has ended. */
function selfControlSetup(): SelfControlSetup {
  const world = createWorld({ seed: seed++ });
  const { clock, processes } = world.platform('h1');
  return {
    nowMs: () => world.nowMs,
    start: (what, forMs) => {
      const state = { count: 0, lastMs: 0, answer: undefined as string | undefined };
      const tick = (): void => {
        state.count += 1;
        state.lastMs = world.nowMs;
        clock.after(10, tick);
      };
      tick();
      clock.after(50, () => {
        if (what === 'kill') processes.killSelf();
        else processes.stopSelf(forMs, (error, go) => {
          state.answer = error?.message ?? 'ready';
          go(true);
        });
      });
      world.at(1e6, () => undefined); // A world in which nothing happens any more stands still.
      return {
        get count() { return state.count; },
        get answer() { return state.answer; },
        get isAlive() { return world.nowMs - state.lastMs < 2000; },
      };
    },
    ...running(world),
  };
}

processesCompliance('platform-sim', processesSetup);
selfControlCompliance('platform-sim', selfControlSetup);
linkCompliance('platform-sim stdio', () => agentPair('process'));
linkCompliance('platform-sim thread', () => agentPair('thread'));
