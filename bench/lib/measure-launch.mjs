/** One launch on test hosts: wall time, and processor time here, on the hosts, and of the whole machine; seconds. */

import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { cleanEnvironment } from './place.mjs';

const DEADLINE_MS = 60_000;

/** One launch, with the variables `env`. Resolves when there are no more processes than before. */
export async function measureLaunch({ hosts, cpu, shape, env = {} }, launcher) {
  if (launcher.isCold) await hosts.runOn('h1', ['rm', '-rf', `${hosts.home}/.cache/stci`]);
  const running = cpu.running();
  const before = cpu.read();
  const sinceMs = performance.now();
  await run(cpu.counted(hosts.loginArgv(launcher.argv(shape), { env })));
  const wallS = (performance.now() - sinceMs) / 1000;
  await cpu.settled(running);
  const after = cpu.read();
  const seconds = (name) => (after[name] - before[name]) / 1000;
  const [frontS, hostS, daemonS, machineS] = ['frontMs', 'hostMs', 'daemonMs', 'machineMs'].map(seconds);
  return { wallS, frontS, hostS, daemonS, cpuS: frontS + hostS + daemonS, machineS };
}

/** Rejects unless it ends with 0 before the deadline. */
export function run([program, ...args]) {
  return new Promise((resolve, reject) => {
    const env = { ...cleanEnvironment(), XDG_CACHE_HOME: undefined };
    const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'], env, timeout: DEADLINE_MS });
    let errors = '';
    child.stderr.on('data', (chunk) => (errors = (errors + chunk).slice(-2000)));
    child.on('error', reject);
    child.on('close', (status, signal) => {
      if (status === 0) resolve();
      else reject(new Error(`${[program, ...args].join(' ')} ended with ${signal ?? status}: ${errors}`));
    });
  });
}

/** Fraction of all processors that other work used during a run. */
export function otherShare({ machineS, cpuS, wallS }) {
  return (machineS - cpuS) / (wallS * availableParallelism());
}
