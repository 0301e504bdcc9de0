/**
 * A launch by the real agents on simulated hosts: each login takes the measured time, and each agent's logins start one
 * after another. Virtual time until the controller knows that all agents are up.
 */

import { estimateLaunch } from './launch-model.mjs';
import { built } from './place.mjs';

const PROCESSORS = 2;
const LATENCY_MS = 0.1;
const { createTree } = await built('topology-tree', 'tree.js');

/** Costs in whole ms, as the simulated method requires. */
function simulated({ childMs, starterCpuMs, starterThreadMs }) {
  return { loginMs: Math.round(childMs), gapMs: Math.round(Math.max(starterThreadMs, starterCpuMs / PROCESSORS)) };
}

/** The model of the same launch. The simulation has no processor time: the controller handles reports at once. */
export function modelOf(costs, hosts, arity) {
  const { loginMs, gapMs } = simulated(costs);
  const own = { fixedMs: 0, childMs: loginMs, starterCpuMs: gapMs, starterThreadMs: gapMs, reportMs: 0 };
  return estimateLaunch({ tree: createTree(hosts + 1, arity) }, {
    costs: { ...own, hopMs: LATENCY_MS },
    processors: 1,
    window: Math.max(8, Math.min(arity, 1024)),
  }).wallMs;
}

export async function simulateLaunch(costs, hosts, arity) {
  const { makeWorld } = await built('swarm', 'index.js');
  const { startSimulatedRun } = await built('swarm', 'worlds/front-end.js');
  const { JobRecord } = await built('swarm', 'worlds/record.js');
  const { LOGIN_HOST } = await built('swarm', 'scenarios/faults.js');
  const { PLAIN } = await built('swarm', 'index.js');
  const options = { ...PLAIN, ...jobOptions(hosts, arity, simulated(costs)) };
  const world = makeWorld(options);
  const record = new JobRecord();
  const main = (context) => startSimulatedRun(context, options, record, { onReport: () => {}, onAftermath: () => {} });
  world.start(LOGIN_HOST, ['stcirun'], main, { PATH: '/bin' });
  let looked = 0;
  const allUp = () => {
    while (looked < record.events.length) {
      const event = record.events[looked++];
      if (event.type === 'failure') throw new Error(event.error.message);
      if (event.type === 'host-up' && event.up === hosts) return true;
    }
    return false;
  };
  world.run({ until: allUp });
  if (!allUp() && looked === 0) throw new Error('the launch did not come to its end');
  return world.nowMs;
}

function jobOptions(hosts, arity, { loginMs, gapMs }) {
  return {
    seed: 1,
    hosts,
    remote: true,
    slots: 1,
    apps: [{ program: 'true', args: [], count: 1 }],
    byNode: true,
    settings: {
      launcherproc: 'remote',
      'launcherproc.remote.login': `${loginMs}ms`,
      'launcherproc.remote.gap': `${gapMs}ms`,
      'launcher.tree.arity': String(Math.min(arity, 1024)),
      'launcher.window': String(Math.max(8, Math.min(arity, 1024))),
      'launcher.handshake': '10m',
    },
    launchTimeoutMs: 3_600_000,
    link: { latencyMs: LATENCY_MS, jitterMs: 0, cutChance: 0, bytesPerMs: Infinity, timeoutMs: 60_000 },
  };
}
