/** A session of stand-in hosts on this machine, whose ranks wait for failures (tools/failure-member.mjs). */

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { member, monotonicMs, pause } from './members.mjs';
import { cleanEnvironment, root, script, stcirun, withDirectory } from './place.mjs';

const stci = join(root, 'packages/stcirun/bin/stci.cjs');
/** Victims of one job: the others are to stay many. */
const VICTIMS = 5;

/**
 * ms from a kill −9 of a rank until the last agent was told (`agents`, by the failure's record), and until the last
 * other rank was (`told`).
 */
export function toolKills(size, count, notifier) {
  const params = ['--overlay', 'bmg', '--mca', `detector.process.notifier=${notifier}`];
  return inSession(size, params, (job) => trials(job, size, count, (victim) => {
    process.kill(victim.pid, 'SIGKILL');
  }));
}

/** The same from a SIGSTOP of a root agent; its rank is stopped with it. */
export function agentStops(size, count, periodMs) {
  const params = ['--overlay', 'bmg', '--mca', 'detector=ring', '--mca', `detector.ring.period=${periodMs}ms`,
    '--mca', `detector.ring.timeout=${10 * periodMs}ms`, '--mca', 'errmgr.loss=start-again', '--mca',
    'errmgr.loss.pause=0s'];
  return inSession(size, params, (job) => trials(job, size, count, (victim) => {
    process.kill(victim.agent, 'SIGSTOP');
    return () => goesOn(victim.agent);
  }));
}

/** It may have been killed meanwhile: it is given up. */
function goesOn(pid) {
  try {
    process.kill(pid, 'SIGCONT');
  } catch (error) {
    if (error.code !== 'ESRCH') throw error;
  }
}

function inSession(size, params, use) {
  return withDirectory(async (directory) => {
    const env = { ...cleanEnvironment(), STCI_MCA_session_directory: directory };
    const say = (...args) => {
      const { status, stderr } = spawnSync(process.execPath, [stci, ...args], { env, encoding: 'utf8' });
      if (status !== 0) throw new Error(`stci ${args.join(' ')}: ${stderr}`);
    };
    say('start', '--launcher', 'local', '--host', `h[1-${size}]`, '--name', 'bench', ...params);
    try {
      const options = ['--session', 'bench', '--client', '--on-failure', 'continue', '--json', '--ppn', '1'];
      const program = [process.execPath, script('tools/failure-member.mjs')];
      const args = [stcirun, ...options, '-n', String(size), '--', ...program];
      return await use(() => member(process.execPath, args, { env }));
    } finally {
      say('stop', 'bench');
    }
  });
}

/** `strike` a rank, `count` times, in jobs that are started one after the other; every survivor must be told. */
async function trials(start, size, count, strike) {
  const times = { agents: [], told: [] };
  while (times.told.length < count) {
    const job = start();
    const ranks = [];
    for (let rank = 0; rank < size; rank++) {
      const [, agent, pid] = await job.line(new RegExp(`"up ${rank} (\\d+) (\\d+)"`, 'u'));
      ranks.push({ rank, agent: Number(agent), pid: Number(pid) });
    }
    for (let i = 0; i < VICTIMS && times.told.length < count; i++) {
      // At another moment of a period each time.
      await pause(300 + ((i * 0.618) % 1) * 500);
      const [victim] = ranks.splice((i * 7 + times.told.length) % ranks.length, 1);
      const { rank } = victim;
      const told = job.lines(new RegExp(`"failed ${rank} (\\d+)"`, 'u'), ranks.length);
      const about = `"failure-record".*"(?:rank|host)":${rank}\\b`;
      const record = job.line(new RegExp(`${about}.*"lastNotified":"([^"]+)"`, 'u'));
      const [sinceMs, wallMs] = [monotonicMs(), performance.timeOrigin + performance.now()];
      const after = strike(victim);
      times.told.push(Math.max(...(await told).map(([, ns]) => Number(ns) / 1e6)) - sinceMs);
      times.agents.push(Date.parse((await record)[1]) - wallMs);
      after?.();
    }
    job.child.kill('SIGINT');
    await job.ended;
  }
  return times;
}
