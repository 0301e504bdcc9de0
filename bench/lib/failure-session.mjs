/**
 * A session of stand-in hosts on this machine, started with `--events`: agents are stopped, what its records say of it
 * is read from there.
 */

import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { member, monotonicMs, pause } from './members.mjs';
import { counters } from './metrics.mjs';
import { print } from './print.mjs';
import { cleanEnvironment, script, stci, stcirun, withDirectory } from './place.mjs';

const NAME = 'bench';
/** Program that prints its host and the process of its agent. */
const WHO = 'echo "$STCI_HOST $PPID"';
/** Stopping several takes less, unless this process was not run meanwhile. */
const STOP_MS = 5;

/** Parameters of a session in which `stopAgents` may stop each host more than once. */
export const START_AGAIN = [['errmgr.loss', 'start-again'], ['errmgr.loss.pause', '0s']];

/** Parameters of a session with an overlay and a ring; `more` are `[name, value]`. */
export function ringParams(periodMs, more = []) {
  const params = [['detector', 'ring'], ['detector.ring.period', `${periodMs}ms`], ...more];
  return ['--overlay', 'bmg', ...params.flatMap(([name, value]) => ['--mca', `${name}=${value}`])];
}

/** Starts a session of hosts `h1` to `h<size>`, and ends it after `use(session)` has settled. */
export function inSession(size, params, use) {
  return withDirectory(async (directory) => {
    const env = { ...cleanEnvironment(), STCI_MCA_session_directory: directory };
    const events = join(directory, 'events.json');
    writeFileSync(events, '');
    const say = (...args) => {
      const { status, stdout, stderr } = spawnSync(process.execPath, [stci, ...args], { env, encoding: 'utf8' });
      if (status !== 0) throw new Error(`stci ${args.join(' ')}: ${stderr}`);
      return stdout;
    };
    say('start', '--launcher', 'local', '--host', `h[1-${size}]`, '--name', NAME, '--events', events, ...params);
    const told = member('tail', ['-n', '+1', '-f', events]);
    try {
      const job = (...args) => member(process.execPath, [stcirun, '--session', NAME, ...args], { env });
      const counts = (...args) => counters(say('metrics', NAME, ...args));
      const { line, lines } = told;
      return await use({ size, living: size, directory, job, counts, line, lines, incarnations: new Map() });
    } finally {
      told.child.kill('SIGTERM');
      say('stop', NAME);
    }
  });
}

/** Processes of the root agents, by host: of those that run. */
async function agents({ job, living }) {
  const { lines, ended } = job('-n', String(living), '--ppn', '1', 'sh', '-c', WHO);
  const found = await lines(/^h(\d+) (\d+)$/u, living);
  await ended;
  return new Map(found.map(([, name, pid]) => [Number(name) - 1, Number(pid)]));
}

/**
 * Stops the agents of `hosts` at once. Resolves when they are given up, and with START_AGAIN have been replaced; to the
 * records as they will be, each `{ reportedMs, toldMs }` since the stop: until it was reported, until the last of the
 * others was told (Infinity: not all were).
 */
export async function stopAgents(session, hosts, startAgain) {
  const pids = await agents(session);
  const victims = hosts.map((host) => {
    const incarnation = session.incarnations.get(host) ?? 1;
    session.incarnations.set(host, incarnation + 1);
    return { host, incarnation, pid: pids.get(host) };
  });
  const records = victims.map(({ host, incarnation }) => session.line(
    new RegExp(`"failure-record".*\\{"kind":"host","host":${host},"incarnation":${incarnation}\\}`, 'u')));
  for (const record of records) record.catch(() => undefined); // Whoever waits for it learns of it.
  const [sinceMs, monotonic] = [Date.now(), monotonicMs()];
  for (const { pid } of victims) process.kill(pid, 'SIGSTOP');
  const tookMs = monotonicMs() - monotonic;
  if (tookMs > STOP_MS) print(`  (the next value is inexact: stopping took ${tookMs.toFixed(0)} ms)`);
  await Promise.all(victims.map(async ({ host, incarnation, pid }, i) => {
    const name = `"host":"h${host + 1}"`;
    await (startAgain ? session.lines(new RegExp(`"recovery".*${name}`, 'u'), incarnation) : records[i]);
    goesOn(pid);
    if (startAgain) await session.line(new RegExp(`"host-up".*${name}.*"incarnation":${incarnation + 1}\\b`, 'u'));
  }));
  const survivors = session.living - hosts.length;
  if (!startAgain) session.living = survivors;
  return records.map((record) => record.then(({ input }) => times(JSON.parse(input), sinceMs, survivors)));
}

/** The controller is told, too; the reporter, and who confirmed it before the news came, count for themselves. */
function times({ confirmed, lastNotified, notified, confirmers }, sinceMs, survivors) {
  const wasTold = lastNotified !== undefined && notified + confirmers.length >= survivors;
  return {
    reportedMs: Date.parse(confirmed) - sinceMs,
    toldMs: wasTold ? Date.parse(lastNotified) - sinceMs : Infinity,
  };
}

/** A process that was killed meanwhile is given up. */
function goesOn(pid) {
  try {
    process.kill(pid, 'SIGCONT');
  } catch (error) {
    if (error.code !== 'ESRCH') throw error;
  }
}

/**
 * Kills `count` ranks by SIGKILL, `aJob` of each job: ms until the last agent was told (`agents`, by the failure's
 * record), until the last other rank was (`told`), and messages of the notifier a kill (`messages`).
 */
export function toolKills(size, count, aJob, notifier) {
  const params = ['--overlay', 'bmg', '--mca', `detector.process.notifier=${notifier}`];
  return inSession(size, params, async (session) => {
    const times = { agents: [], told: [], messages: 0 };
    while (times.told.length < count) await killsOfJob(session, Math.min(aJob, count - times.told.length), times);
    return { ...times, messages: times.messages / count };
  });
}

async function killsOfJob(session, kills, times) {
  const { size } = session;
  const job = session.job('--client', '--on-failure', 'continue', '--json', '--ppn', '1', '-n', String(size), '--',
    process.execPath, script('tools/failure-member.mjs'));
  const up = await job.lines(/"up (\d+) (\d+)"/u, size);
  const ranks = up.map(([, rank, pid]) => ({ rank: Number(rank), pid: Number(pid) })).sort((a, b) => a.rank - b.rank);
  const messagesBefore = session.counts().sum('stci_notifier_messages_total');
  for (let i = 0; i < kills; i++) {
    await pause(100);
    const [{ rank, pid }] = ranks.splice((i * 7 + times.told.length) % ranks.length, 1);
    const told = job.lines(new RegExp(`"failed ${rank} (\\d+)"`, 'u'), ranks.length);
    const record = job.line(new RegExp(`"failure-record".*"rank":${rank}\\b.*"lastNotified":"([^"]+)"`, 'u'));
    const [sinceMs, wallMs] = [monotonicMs(), performance.timeOrigin + performance.now()];
    process.kill(pid, 'SIGKILL');
    times.told.push(Math.max(...(await told).map(([, ns]) => Number(ns) / 1e6)) - sinceMs);
    times.agents.push(Date.parse((await record)[1]) - wallMs);
  }
  times.messages += session.counts().sum('stci_notifier_messages_total') - messagesBefore;
  job.child.kill('SIGINT');
  await job.ended;
}
