/** Worlds of the swarm: hosts with agents, logins and steps, some of which fail. */

import { roleFactory, runAgent, type Composition } from '@stci/core';
import { createWorld, type AgentMain, type World } from '@stci/platform-sim';
import { LOGIN_HOST, refusedStarts, type NextStart } from '../scenarios/faults.js';
import { mpiProgram } from '../mpi/mpi-program.js';
import { Pmi1Library } from '../mpi/pmi1-library.js';
import { PmixLibrary } from '../mpi/pmix-library.js';
import { hostName } from '../scenarios/job-spec.js';
import type { SwarmOptions } from '../scenarios/options.js';
import { composition } from './assembly.js';
import { bootWaitMs, joinMain, loginMain } from './launcher-remote.js';
import { installStep, waitingAgent } from './launcher-together.js';
import { installSsh } from './ssh.js';

/** `onNode` sees the node of each agent. */
export function makeWorld(options: SwarmOptions, onNode?: Composition['onNode']): World {
  const { link, spawnMs, pipeBytes } = options;
  const world = createWorld({
    seed: options.seed,
    link,
    local: { cutChance: link.cutChance },
    times: { spawnMs },
    sizes: { pipeBytes },
  });
  furnish(world, refusedStarts(world, options.faults), onNode);
  // Two more than the job has: spares.
  for (let index = 0; index < options.hosts + 2 && options.remote; index++) {
    const host = world.host(hostName(index));
    host.wallOffsetMs = options.clockSkewMs * world.random.fork(`skew ${index}`).uniform();
  }
  return world;
}

/** What hosts have: the agent, logins, steps. */
export function furnish(world: World, nextStart: NextStart, onNode?: Composition['onNode']): void {
  const agentMain = agentProgram({ ...composition, ...(onNode !== undefined && { onNode }) });
  world.program('login', badLogin(nextStart));
  world.program('stci-agent', agentMain);
  world.program('stci-join', joinMain);
  installStep(world, (host) => nextStart(host, 'stci-agent'));
  installSsh(world, agentMain);
  world.tool('pmi1', mpiProgram((tool, events) => new Pmi1Library(tool, events), false));
  world.tool('pmix', mpiProgram((tool, events) => new PmixLibrary(tool, events), true));
  world.host(LOGIN_HOST);
}

/** The remote login, but to hosts that refuse it or do not answer. */
function badLogin(nextStart: NextStart): AgentMain {
  return (context) => {
    const [host = '', , program = ''] = context.args;
    const kind = nextStart(host, program);
    if (kind === undefined) return loginMain(context);
    if (kind === 'silent') {
      const nothing = (): void => undefined;
      context.channel.bind({ onData: nothing, onDrain: nothing, onClose: () => context.exit(255) });
      return;
    }
    context.diagnostic(`${host}: connection refused`);
    context.exit(255);
  };
}

/** The agent's main, the same as on Node but for the loading of modules. */
const agentProgram = (agents: Composition): AgentMain => (context) => {
  runAgent({
    platform: context.platform,
    ...(waitingAgent(context) ?? { channel: context.channel, waitMs: bootWaitMs(context) }),
    load: (done) => context.platform.clock.soon(() => done(roleFactory(agents))),
    exit: (end) => {
      if (end.failed) context.diagnostic(end.reason);
      context.exit(end.failed ? 1 : 0);
    },
  });
};
