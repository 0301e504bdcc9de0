/**
 * A session that runs, on test hosts of this machine: a job in it compared with launches that start everything; jobs a
 * second, one after the other and several at a time; and how long the streams below an inner agent stand still when
 * that is killed.
 */

import { spawn } from 'node:child_process';
import { createCpuMeter, whyNoMeter } from './lib/cpu-meter.mjs';
import { LAUNCHERS, makeShape, whyNot } from './lib/launchers.mjs';
import { measureLaunch } from './lib/measure-launch.mjs';
import { built, cleanEnvironment, script, stci, stcirun, withDirectory } from './lib/place.mjs';
import { print, printGoal } from './lib/print.mjs';
import { median, ratio, spread } from './lib/stats.mjs';

const HOSTS = 16;
const EACH = 4;
const ROUNDS = 7;
const JOBS = 500;
const AT_ONCE = 8;
/** Hosts of the mend, at the default arity of 8. */
const MEND_HOSTS = 64;
const MENDS = 7;
const NAME = 'bench';
const DEADLINE_MS = 60_000;
/** Between the lines of each rank. */
const PERIOD_S = 0.2;


export async function bench({ rounds = ROUNDS, jobs = JOBS, mends = MENDS, mendHosts = MEND_HOSTS } = {}) {
  const { up, whyNoHosts } = await built('testkit', 'hosts/index.js');
  const why = whyNoHosts() ?? whyNoMeter();
  if (why !== undefined) return print(`  left out: ${why}`);
  await withDirectory(async (directory) => {
    const hosts = await up(HOSTS);
    const cpu = createCpuMeter(hosts);
    try {
      const shape = makeShape(directory, HOSTS, EACH);
      await coldAndWarm({ hosts, cpu, shape }, rounds);
      await inSession(hosts, shape, () => jobsASecond(hosts, jobs));
    } finally {
      await hosts.down();
      cpu.close();
    }
    if (mends === 0) return;
    const many = await up(mendHosts);
    try {
      await mendTimes(many, makeShape(directory, mendHosts, 1), mends);
    } finally {
      await many.down();
    }
  });
}

/** Cold launches first, for the processes of the session would count as theirs. */
async function coldAndWarm({ hosts, cpu, shape }, rounds) {
  const hydra = LAUNCHERS.find(({ name }) => name === 'mpiexec.hydra');
  const cold = LAUNCHERS.find(({ name }) => name === 'stcirun');
  const launchers = [hydra, cold].filter((each) => whyNot(each) === undefined);
  const runs = launchers.map(() => []);
  for (let round = 0; round <= rounds; round++) {
    for (const [i, launcher] of launchers.entries()) {
      const one = await measureLaunch({ hosts, cpu, shape }, launcher);
      if (round > 0) runs[i].push(one);
    }
  }
  const ranks = String(shape.ranks);
  const warm = [];
  const floor = [];
  await inSession(hosts, shape, async () => {
    for (let round = 0; round <= rounds; round++) {
      const job = await timed(cpu, hosts, [process.execPath, stcirun, '--session', NAME, '-n', ranks, 'true']);
      const bare = await timed(cpu, hosts, [process.execPath, script('tools/session-floor.cjs'), ranks]);
      if (round > 0) warm.push(job), floor.push(bare);
    }
  }, cpu);
  print(`  ${shape.ranks} × true on ${shape.hosts} hosts, OpenSSH's default key exchange; medians of ${rounds}`);
  const all = [...launchers.map(({ name }, i) => [name, runs[i]]), ['stcirun --session', warm], ['floor', floor]];
  print('  | | wall s | cpu s |\n  |---|---|---|');
  for (const [name, each] of all) {
    const cell = (key) => median(each.map((one) => one[key])).toFixed(3);
    print(`  | ${name} | ${cell('wallS')} | ${cell('cpuS')} |`);
  }
  const cpuS = (each) => each.map((one) => one.cpuS);
  if (launchers.includes(hydra)) {
    printGoal("processor time in a session to hydra's cold start", ratio(cpuS(warm), cpuS(runs[0])), 0.25);
  }
  printGoal('processor time in a session to the floor', ratio(cpuS(warm), cpuS(floor)), 3);
}

async function jobsASecond(hosts, jobs) {
  const job = [process.execPath, stcirun, '--session', NAME, '-n', '1', 'true'];
  for (const atOnce of [1, AT_ONCE]) {
    const sinceMs = performance.now();
    let left = jobs;
    const worker = async () => {
      while (left > 0) {
        left -= 1;
        await run(hosts, job);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, worker));
    const seconds = (performance.now() - sinceMs) / 1000;
    print(`  ${jobs} jobs of one true, ${atOnce} at a time: ${(jobs / seconds).toFixed(1)} a second`);
  }
}

/** Times from the kill of an inner agent to the first line of the last rank below it. */
async function mendTimes(hosts, shape, mends) {
  const loop = `while :; do echo x; sleep ${PERIOD_S}; done`;
  const times = [];
  for (let mend = 0; mend < mends; mend++) {
    // Only these have agents below them.
    const inner = Math.min(8, Math.floor((shape.hosts - 1) / 8));
    times.push(await mendTime(hosts, shape, `h${1 + (mend % inner)}`, loop));
  }
  const what = `inner agent of ${shape.hosts} killed, its subtree's streams flow again`;
  print(`  ${what}: ${spread(times, 's', 2)}, ${mends} mends; bootcom.lease 10 s`);
  printGoal('the same, median in seconds', median(times), 1);
}

async function mendTime(hosts, shape, victim, loop) {
  const below = ranksBelow(Number(victim.slice(1)) - 1, shape.hosts, 8);
  const [program, ...args] = hosts.loginArgv([process.execPath, stcirun, '--launcher', 'ssh', '--mca',
    'errmgr=continue', '--hostfile', shape.slots, '-n', String(shape.hosts), '--tag=rank', 'sh', '-c', loop]);
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'], env: cleanEnvironment() });
  const closed = new Promise((resolve) => child.on('close', resolve));
  const deadline = setTimeout(() => child.kill('SIGKILL'), DEADLINE_MS);
  try {
    const all = Array.from({ length: shape.hosts }, (_, rank) => rank);
    await linesOf(child, all);
    const agent = hosts.leftovers(victim).find(({ command }) => command.startsWith('stci-agent'));
    process.kill(agent.pid, 'SIGKILL');
    const sinceMs = performance.now();
    // Lines on their way when the agent was killed arrive at once.
    await new Promise((resolve) => setTimeout(resolve, 250 * PERIOD_S));
    await linesOf(child, below);
    return (performance.now() - sinceMs) / 1000;
  } finally {
    clearTimeout(deadline);
    child.kill('SIGINT');
    await closed;
  }
}

/** Resolves when each of `ranks` has written a line from now on; rejects when the job ends before. */
function linesOf(child, ranks) {
  const missing = new Set(ranks);
  return new Promise((resolve, reject) => {
    const onEnd = () => reject(new Error(`the job ended without a line of ranks ${[...missing].join(', ')}`));
    const onData = (chunk) => {
      for (const [, rank] of chunk.toString('latin1').matchAll(/^\[(\d+)\]/gm)) missing.delete(Number(rank));
      if (missing.size > 0) return;
      child.stdout.off('data', onData);
      child.off('close', onEnd);
      resolve();
    };
    child.stdout.on('data', onData);
    child.on('close', onEnd);
  });
}

/** Hosts below a host in the boot tree, in which host i is at position i + 1. */
function ranksBelow(host, size, arity) {
  const children = Array.from({ length: arity }, (_, i) => arity * (host + 1) + i).filter((each) => each < size);
  return children.flatMap((each) => [each, ...ranksBelow(each, size, arity)]);
}

async function inSession(hosts, shape, use, cpu) {
  const argv = [process.execPath, stci, 'start', '--name', NAME, '--hostfile', shape.slots];
  await run(hosts, argv, cpu);
  try {
    await use();
  } finally {
    await run(hosts, [process.execPath, stci, 'stop', NAME]);
    await cpu?.settled();
  }
}

/** A command while a session runs: processor time of all its processes, the session's own included. */
async function timed(cpu, hosts, argv) {
  const before = cpu.read();
  const sinceMs = performance.now();
  await run(hosts, argv, cpu);
  const wallS = (performance.now() - sinceMs) / 1000;
  const after = cpu.read();
  return { wallS, cpuS: (after.frontMs + after.hostMs - before.frontMs - before.hostMs) / 1000 };
}

/** Rejects unless it ends with 0 before the deadline. */
function run(hosts, argv, cpu) {
  const login = hosts.loginArgv(argv);
  const [program, ...args] = cpu?.counted(login) ?? login;
  return new Promise((resolve, reject) => {
    const options = { stdio: ['ignore', 'ignore', 'pipe'], env: cleanEnvironment(), timeout: DEADLINE_MS };
    const child = spawn(program, args, options);
    let errors = '';
    child.stderr.on('data', (chunk) => (errors = (errors + chunk).slice(-2000)));
    child.on('error', reject);
    child.on('close', (status, signal) => {
      if (status === 0) resolve();
      else reject(new Error(`${argv.join(' ')} ended with ${signal ?? status}: ${errors}`));
    });
  });
}
