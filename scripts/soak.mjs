/**
 * `npm run soak -- [--jobs N] [--seed S] [--hosts N] [--at-once N] [--kills N] [--rounds N]`:
 * short jobs in one session of stand-in
 * hosts, from many front-ends at once, while agents are killed. Nothing may grow, get lost or be left. The seed, which
 * is printed, decides the jobs and the kills, not their timing.
 */

import { parseArgs } from 'node:util';
import { setTimeout as sleep } from 'node:timers/promises';
import { growthProblems, jobProblems } from './lib/soak/checks.mjs';
import { SoakSession } from './lib/soak/session.mjs';

/** Share of the rounds; the samples before are those of a session that warms up. */
const WARM = 0.3;
const KILL_DELAY_MS = 400;
const PROBLEMS_SHOWN = 20;
const LOG_LINES = 40;

const LINES = 'i=0; while [ $i -lt N ]; do echo $STCI_RANK.$i; i=$((i + 1)); done';
const SLOW = 'echo $STCI_RANK.0; sleep 0.3; echo $STCI_RANK.1';

function options() {
  const named = { jobs: 2000, rounds: 10, seed: Date.now() % 1e6, hosts: 16, 'at-once': 8, kills: '' };
  const entries = Object.entries(named).map(([name, value]) => [name, { type: 'string', default: String(value) }]);
  const { values } = parseArgs({ options: Object.fromEntries(entries) });
  const numberOf = (name) => Number(values[name]);
  const [jobs, rounds, seed, hosts, atOnce] = ['jobs', 'rounds', 'seed', 'hosts', 'at-once'].map(numberOf);
  // Some hosts are left.
  const kills = values.kills === '' ? Math.floor(hosts / 2) : Number(values.kills);
  if ([jobs, rounds, hosts, atOnce].some((n) => !(n > 0)) || !(seed >= 0) || !(kills >= 0 && kills < hosts)) {
    console.error('soak: expected positive numbers, and fewer --kills than --hosts');
    process.exit(2);
  }
  return { jobs, rounds, seed, hosts, atOnce, kills };
}

/** Numbers in [0, 1) that the seed decides (mulberry32). */
function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

function drawJob(draw, hosts) {
  const [kind, size, count] = [draw(), draw(), draw()];
  if (kind < 0.5) return { ranks: 1 + Math.floor(4 * size), status: 0, lines: 0, command: ['true'] };
  if (kind < 0.65) {
    const status = 1 + Math.floor(9 * count);
    return { ranks: 1, status, lines: 0, command: ['sh', '-c', `exit ${status}`] };
  }
  const ranks = 1 + Math.floor(hosts * size);
  if (kind > 0.9) return { ranks, status: 0, lines: 2, command: ['sh', '-c', SLOW] };
  const lines = 1 + Math.floor(300 * count ** 3);
  return { ranks, status: 0, lines, command: ['sh', '-c', LINES.replace('N', String(lines))] };
}

async function soak({ jobs, rounds, seed, hosts, atOnce, kills }) {
  const draw = random(seed);
  const plans = Array.from({ length: jobs }, () => drawJob(draw, hosts));
  const drawKill = () => ({ job: Math.floor(draw() * jobs), pick: draw(), delayMs: KILL_DELAY_MS * draw() });
  const killAt = Array.from({ length: kills }, drawKill);
  const session = new SoakSession();
  const [killed, exits, problems, samples, pending] = [new Set(), new Map(), [], [], new Set()];
  const kill = async ({ pick, delayMs }) => {
    await sleep(delayMs);
    const victim = session.hosts[Math.floor(pick * session.hosts.length)];
    killed.add(victim);
    session.kill(victim);
  };
  const one = async (index) => {
    for (const each of killAt) if (each.job === index) pending.add(kill(each));
    const plan = plans[index];
    const seen = await session.run(['-n', String(plan.ranks), '--map-by', 'node', ...plan.command]);
    const found = jobProblems(plan, seen, killed);
    problems.push(...found.map((text) => `job ${index} (${plan.command.join(' ')}, ${plan.ranks} ranks): ${text}`));
    for (const { type, report } of seen.events) if (type === 'ended') exits.set(report.job, seen.status);
  };
  await session.start(hosts);
  try {
    for (let round = 0, next = 0; round < rounds; round++) {
      const end = Math.round(((round + 1) * jobs) / rounds);
      const worker = async () => {
        while (next < end) await one(next++);
      };
      await Promise.all(Array.from({ length: atOnce }, worker));
      await Promise.all(pending);
      samples.push(await session.sample(next));
      show(samples.at(-1));
    }
    for (const [job, exitCode] of await session.exitCodes()) {
      if (exits.has(job) && exits.get(job) !== exitCode) problems.push(`job ${job}: stci ps has exit code ${exitCode}`);
    }
  } finally {
    if (problems.length > 0) console.log(session.log.split('\n').slice(-LOG_LINES).join('\n'));
    problems.push(...(await session.stop()));
  }
  console.log(`agents killed: ${[...killed].join(' ') || 'none'}`);
  return [...problems, ...growthProblems(samples.slice(Math.floor(WARM * rounds)))];
}

function show({ jobs, heap, rss, descriptors, processes, files, agents }) {
  const mib = (bytes) => (bytes / 2 ** 20).toFixed(1);
  const each = [...agents.values()];
  const largest = mib(Math.max(...each.map((agent) => agent.rss)));
  const open = Math.max(...each.map((agent) => agent.descriptors));
  console.log(`${jobs} jobs: session ${mib(heap)} MiB of heap, ${mib(rss)} resident, ${descriptors} descriptors; `
    + `agents at most ${largest} MiB, ${open} descriptors; ${processes} processes, ${files} files`);
}

const given = options();
console.log(`soak: ${Object.entries(given).map(([name, value]) => `${name} ${value}`).join(', ')}`);
const problems = await soak(given);
for (const text of problems.slice(0, PROBLEMS_SHOWN)) console.log(`FAIL ${text}`);
const verdict = `${problems.length} problems, seed ${given.seed}`;
console.log(problems.length === 0 ? 'nothing grew, got lost or was left' : verdict);
process.exitCode = problems.length === 0 ? 0 : 1;
