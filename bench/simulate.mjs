/**
 * A job on many agents in one simulated process: real agents, simulated clock, links and tools. Real time from the
 * submission until all ranks run, and until everything has ended. The floor is the event heap alone: the same number of
 * empty events, each scheduled by the one before.
 */

import { built } from './lib/place.mjs';
import { print, printGoal } from './lib/print.mjs';
import { interleave, median, scaled, spread } from './lib/stats.mjs';

const ROUNDS = scaled(7);
/** Half of the agents are roots, half sessions. */
const AGENTS = scaled(1000, 8);
const GOAL_S = 2;

const NO_HOOKS = { onReport: () => {}, onAftermath: () => {} };

export async function bench() {
  const launch = await preparedLaunch();
  const { createWorld } = await built('platform-sim', 'index.js');
  launch(AGENTS / 2, 0); // A first run: a process that simulates runs many worlds.
  const [inline, processes, more] = await interleave(ROUNDS, [
    (round) => launch(AGENTS / 2, round, 'inline'),
    (round) => launch(AGENTS / 2, round, 'process'),
    (round) => launch(AGENTS, round, 'inline'),
  ]);
  const floor = heapEventsPerSecond(createWorld, median(inline.map(({ events }) => events)));
  report(`${AGENTS} agents, all in one agent process`, inline);
  report(`${AGENTS} agents, a process each host`, processes);
  report(`${2 * AGENTS} agents, all in one agent process`, more);
  print(`  the event heap alone: ${(floor / 1e6).toFixed(1)} million events/s`);
  printGoal(`${AGENTS} agents have launched a job, s`, median(inline.map(({ launch }) => launch.wallS)), GOAL_S);
}

async function preparedLaunch() {
  const { makeWorld } = await built('swarm', 'index.js');
  const { startSimulatedRun } = await built('swarm', 'worlds/front-end.js');
  const { JobRecord } = await built('swarm', 'worlds/record.js');
  const { LOGIN_HOST } = await built('swarm', 'scenarios/faults.js');
  const { PLAIN } = await built('swarm', 'scenarios/plain.js');
  return (hosts, seed, method = 'inline') => {
    const options = jobOptions(PLAIN, hosts, seed, method);
    const world = makeWorld(options);
    const record = new JobRecord();
    const clocks = startClocks();
    const main = (context) => startSimulatedRun(context, options, record, NO_HOOKS);
    const frontEnd = world.start(LOGIN_HOST, ['stcirun'], main, { PATH: '/bin' });
    let looked = 0;
    const isRunning = () => {
      while (looked < record.events.length) if (record.events[looked++].type === 'running') return true;
      return false;
    };
    world.run({ until: isRunning });
    const launch = clocks();
    world.run({ until: () => !frontEnd.isAlive });
    const job = clocks();
    if (record.report?.exitCode !== 0) throw new Error(`the job ended with ${record.report?.exitCode}`);
    return { launch, job, events: world.scheduler.fired };
  };
}

/** Wall and processor time since now, s; the latter is less affected by other work on the machine. */
function startClocks() {
  const sinceMs = performance.now();
  const cpu = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(cpu);
    return { wallS: (performance.now() - sinceMs) / 1000, cpuS: (user + system) / 1e6 };
  };
}

function jobOptions(plain, hosts, seed, method) {
  return {
    ...plain,
    seed,
    hosts,
    apps: [{ program: 'sleep', args: ['1'], count: hosts }],
    byNode: true,
    settings: {
      launcherproc: 'local',
      'launcher.root.method': method,
      'launcher.session.method': 'inline',
    },
    link: { ...plain.link, jitterMs: 0.05 },
  };
}

function heapEventsPerSecond(createWorld, count) {
  const world = createWorld({ seed: 1 });
  world.host('a');
  let left = count;
  const main = (context) => {
    const next = () => (--left > 0 ? context.platform.clock.after(0.01, next) : context.exit(0));
    next();
  };
  const process = world.start('a', ['count'], main, {});
  const sinceMs = performance.now();
  world.run({ until: () => !process.isAlive });
  if (left !== 0) throw new Error(`${left} events did not happen`);
  return (count * 1000) / (performance.now() - sinceMs);
}

function report(name, runs) {
  const times = (phase) => {
    const wall = spread(runs.map((run) => run[phase].wallS), 's', 2);
    return `${wall}, processor ${spread(runs.map((run) => run[phase].cpuS), 's', 2)}`;
  };
  const rates = runs.map(({ events, job }) => events / job.cpuS / 1000);
  print(`  ${name}: launched ${times('launch')}`);
  print(`    over ${times('job')}; ${median(runs.map(({ events }) => events))} events, ` +
    spread(rates, 'thousand a second of processor', 0));
}
