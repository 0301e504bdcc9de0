/**
 * Memory of 64 agent processes on this machine while a job of `sleep` runs: proportional set size, in which a shared
 * page counts by its share. The floor is the same number of idle Node processes with nothing loaded.
 */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { cleanEnvironment, stcirun } from './lib/place.mjs';
import { mib, print, printGoal } from './lib/print.mjs';
import { commandLine, descendants, pssBytes } from './lib/proc.mjs';
import { median, scaled, spread } from './lib/stats.mjs';

const AGENTS = scaled(64, 8);
const GOAL_MIB = 12;
const DEADLINE_MS = 60_000;
/** Time after the last start for garbage collection. */
const SETTLE_MS = scaled(3000, 100);

const KINDS = [
  ['agent', (argv) => argv[1]?.endsWith('agent.cjs')],
  ['guardian shell', (argv) => argv.includes('stci-guardian') || argv[1]?.endsWith('agent.sh')],
  ['tool', (argv) => argv[0] === 'sleep'],
];

export async function bench() {
  const floor = await idleNodes();
  const [agents, shells] = await agentsOfAJob();
  print(`  ${AGENTS} idle Node processes: PSS ${spread(floor, 'MiB')} each`);
  const share = (median(agents) / median(floor)).toFixed(2);
  print(`  ${agents.length} agents: PSS ${spread(agents, 'MiB')} each, ${share} of that`);
  print(`  ${shells.length} guardian shells: PSS ${spread(shells, 'MiB', 2)} each`);
  printGoal(`PSS of an agent, the largest of ${AGENTS}, MiB`, Math.max(...agents), GOAL_MIB);
}

async function idleNodes() {
  const env = cleanEnvironment();
  const options = { env, stdio: ['pipe', 'ignore', 'inherit'] };
  const idle = Array.from({ length: AGENTS }, () => spawn(process.execPath, ['-e', 'process.stdin.resume()'], options));
  try {
    await sleep(SETTLE_MS);
    return idle.map(({ pid }) => mib(pssBytes(pid)));
  } finally {
    const ends = idle.map((child) => once(child, 'exit'));
    for (const child of idle) child.stdin.end();
    await Promise.all(ends);
  }
}

async function agentsOfAJob() {
  const places = ['--launcher', 'local', '--host', `h[1-${AGENTS}]:1`, '-n', String(AGENTS)];
  const args = [stcirun, '--quiet', ...places, '--', 'sleep', '600'];
  const child = spawn(process.execPath, args, { env: cleanEnvironment(), stdio: ['ignore', 'ignore', 'inherit'] });
  const exited = once(child, 'exit');
  try {
    const byKind = await running(child.pid);
    return byKind.map((pids) => pids.map((pid) => mib(pssBytes(pid))));
  } finally {
    child.kill('SIGTERM');
    await exited;
  }
}

/** Process ids by kind, once every rank runs. */
async function running(pid) {
  const untilMs = performance.now() + DEADLINE_MS;
  while (performance.now() < untilMs) {
    if (byKind(pid)[2].length === AGENTS) {
      await sleep(SETTLE_MS);
      return byKind(pid);
    }
    await sleep(200);
  }
  throw new Error(`the job was not running after ${DEADLINE_MS} ms`);
}

function byKind(pid) {
  const found = descendants(pid).map((each) => [each, commandLine(each)]);
  return KINDS.map(([, isKind]) => found.filter(([, argv]) => isKind(argv)).map(([each]) => each));
}
