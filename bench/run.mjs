/**
 * The command line end to end: help, and a job of one rank that does nothing, compared with an empty script. Besides
 * wall time, the processor time of all processes is measured: on a busy machine a chain of processes waits at every
 * step. MPICH's mpiexec.hydra, written in C, is measured too if it is installed.
 */

import { spawnSync } from 'node:child_process';
import { timed } from './lib/child.mjs';
import { script, stcirun } from './lib/place.mjs';
import { print, printGoal } from './lib/print.mjs';
import { childrenCpuMs } from './lib/proc.mjs';
import { interleave, ratio, scaled, spread } from './lib/stats.mjs';

const ROUNDS = scaled(21);

export async function bench() {
  const series = [
    ['bare node', [script('tools/empty.cjs')]],
    ['stcirun --help', [stcirun, '--help'], 4],
    ['stcirun --dry-run -n 1 true', [stcirun, '--dry-run', '-n', '1', 'true']],
    ['stcirun -n 1 true', [stcirun, '-n', '1', 'true'], 3],
    ['the same, agent in a process of its own', [stcirun, '--mca', 'launcher.root.method=process', '-n', '1', 'true']],
  ];
  const cpuMs = series.map(() => 0);
  const measures = series.map(([, args], i) => async () => {
    const beforeMs = childrenCpuMs();
    const wallMs = await timed(args);
    cpuMs[i] += childrenCpuMs() - beforeMs;
    return wallMs;
  });
  if (hasHydra()) {
    series.push(['mpiexec.hydra -n 1 true', []]);
    measures.push(hydra);
  }
  for (const measure of measures) await measure();
  cpuMs.fill(0);
  const results = await interleave(ROUNDS, measures);
  print(`  ${ROUNDS} runs each, in turns`);
  for (const [i, [name]] of series.entries()) {
    const wall = `${spread(results[i], 'ms')}, ${ratio(results[i], results[0]).toFixed(2)} of bare node`;
    const cpu = `; processor ${(cpuMs[i] / ROUNDS).toFixed(0)} ms, ${(cpuMs[i] / cpuMs[0]).toFixed(2)}`;
    print(`  ${name}: ${wall}${cpuMs[i] > 0 ? cpu : ''}`);
  }
  for (const [i, [name, , goal]] of series.entries()) {
    if (goal !== undefined) printGoal(`${name} to bare node`, ratio(results[i], results[0]), goal);
  }
}

function hasHydra() {
  return spawnSync('mpiexec.hydra', ['--version'], { stdio: 'ignore' }).status === 0;
}

function hydra() {
  const sinceMs = performance.now();
  const { status } = spawnSync('mpiexec.hydra', ['-n', '1', 'true'], { stdio: 'ignore' });
  if (status !== 0) throw new Error(`mpiexec.hydra ended with ${status}`);
  return performance.now() - sinceMs;
}
