/**
 * Output of 8 loud tools on 4 local host names, through the tree to a file, compared with a minimal relay (child pipe →
 * ws → file; one process per host, two children each). The relay writes chunks as they come and would tear lines;
 * stcirun keeps them whole. Every file is checked line by line. Then the same tools on one host, compared with the
 * peers that are installed, plain and tagged, with a note on whether each kept its lines whole.
 */

import { spawnSync } from 'node:child_process';
import { closeSync, openSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { checkLines, rankBytes } from './lib/check-lines.mjs';
import { timed } from './lib/child.mjs';
import { script, stcirun, withDirectory } from './lib/place.mjs';
import { mib, print, printGoal } from './lib/print.mjs';
import { childrenCpuMs, commandLine, watchMemory } from './lib/proc.mjs';
import { interleave, ratio, scaled, spread } from './lib/stats.mjs';

const HOSTS = ['a', 'b', 'c', 'd'];
const TOOLS = 2 * HOSTS.length;
const BYTES_EACH = scaled(100_000_000, 1_000_000);
const ROUNDS = scaled(5);
const TAG_BYTES = '[0] '.length;
const AGENT_MIB_MAX = 120;

const PLACES = ['--launcher', 'local', '--host', HOSTS.map((host) => `${host}:2`).join(','), '-n', String(TOOLS)];
const PROGRAM = ['--', process.execPath, script('tools/lines.cjs'), String(BYTES_EACH)];
const OPEN_MPI = ['mpirun.openmpi', '--allow-run-as-root', '--oversubscribe', '-n', String(TOOLS)];
const job = (...options) => [stcirun, ...PLACES, ...options, ...PROGRAM];
const relay = [script('relay/sink.mjs'), String(HOSTS.length), String(BYTES_EACH)];

export async function bench() {
  await withDirectory(async (directory) => {
    const [floor, plain, tagged] = await interleave(ROUNDS, [
      (round) => measure(directory, relay, round, undefined),
      (round) => measure(directory, job(), round, 0),
      (round) => measure(directory, job('--tag'), round, TAG_BYTES),
    ]);
    print(`  ${TOOLS} tools of ${BYTES_EACH / 1e6} MB on ${HOSTS.length} hosts, ${ROUNDS} runs each, in turns`);
    report('minimal relay', floor);
    report('stcirun', plain);
    report('stcirun --tag', tagged);
    const rates = (runs) => runs.map((run) => 1 / run.wallMs);
    printGoal('throughput of the relay\'s', ratio(rates(plain), rates(floor)), 0.5, true);
    printGoal('the same with --tag', ratio(rates(tagged), rates(floor)), 0.25, true);
    memory([...plain, ...tagged]);
    await besidePeers(directory);
  });
}

/** One host, to a file; `tagBytes` is the length of each launcher's tag. */
const ONE_HOST = [
  ['stcirun', [stcirun, '-n', String(TOOLS)], 0],
  ['stcirun --tag', [stcirun, '-n', String(TOOLS), '--tag'], TAG_BYTES],
  ['hydra', ['mpiexec.hydra', '-n', String(TOOLS)], 0],
  ['hydra -l', ['mpiexec.hydra', '-l', '-n', String(TOOLS)], TAG_BYTES],
  ['Open MPI', [...OPEN_MPI], 0],
  ['Open MPI --tag-output', [...OPEN_MPI, '--tag-output'], '[1,0]<stdout>:'.length],
];

async function besidePeers(directory) {
  const rows = ONE_HOST.filter(([, [program]]) => program === stcirun || isInstalled(program));
  const lines = [process.execPath, script('tools/lines.cjs'), String(BYTES_EACH)];
  const makers = rows.map(([, command, tagBytes]) => () => measureOne(directory, [...command, ...lines], tagBytes));
  const runs = await interleave(ROUNDS, makers);
  print(`  the same on one host, ${ROUNDS} runs each, in turns`);
  const rate = ({ wallMs }) => (TOOLS * BYTES_EACH) / 1e3 / wallMs;
  const rates = new Map(rows.map(([name], i) => [name, runs[i].map(rate)]));
  rows.forEach(([name], i) => {
    const torn = runs[i].filter(({ isWhole }) => !isWhole).length;
    const cpu = spread(runs[i].map(({ cpuMs }) => cpuMs / 1000), 's');
    const lines = torn === 0 ? 'whole' : `torn in ${torn} runs`;
    print(`  ${name}: ${spread(rates.get(name), 'MB/s', 0)}, processor time ${cpu}, lines ${lines}`);
  });
  const plain = rates.get('hydra');
  const tagged = rates.get('hydra -l');
  if (plain !== undefined) printGoal('throughput of hydra\'s', ratio(rates.get('stcirun'), plain), 0.75, true);
  if (tagged !== undefined) printGoal('tagged, of hydra -l', ratio(rates.get('stcirun --tag'), tagged), 1, true);
}

function isInstalled(program) {
  return spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;
}

async function measureOne(directory, args, tagBytes) {
  const path = join(directory, 'output');
  const fd = openSync(path, 'w');
  try {
    const [first, ...rest] = args;
    const isOurs = first === stcirun;
    const cpuBeforeMs = childrenCpuMs();
    const wallMs = await (isOurs ? timed(args, { stdout: fd }) : timed(rest, { program: first, stdout: fd }));
    return { wallMs, cpuMs: childrenCpuMs() - cpuBeforeMs, isWhole: isWhole(path, tagBytes) };
  } finally {
    closeSync(fd);
    rmSync(path, { force: true });
  }
}

function isWhole(path, tagBytes) {
  try {
    checkLines(path, TOOLS, BYTES_EACH, tagBytes);
    return true;
  } catch {
    return false;
  }
}

async function measure(directory, args, round, tagBytes) {
  const path = join(directory, 'output');
  const fd = openSync(path, 'w');
  const cpuBeforeMs = childrenCpuMs();
  let watch;
  try {
    const started = (pid) => (watch = watchMemory(pid, (each) => (each === pid ? 'front-end' : agentName(each))));
    const wallMs = await timed(args, { stdout: fd, started });
    const peaks = watch.stop();
    const cpuMs = childrenCpuMs() - cpuBeforeMs;
    const bytes = statSync(path).size;
    verify(path, bytes, tagBytes, round);
    return { wallMs, cpuMs, peaks };
  } finally {
    watch?.stop();
    closeSync(fd);
    rmSync(path, { force: true });
  }
}

function agentName(pid) {
  return commandLine(pid)[1]?.endsWith('agent.cjs') ? 'agent' : undefined;
}

/** Checks the size in each round, the lines in the first. The relay may tear lines: only its size is checked. */
function verify(path, bytes, tagBytes, round) {
  const expected = TOOLS * rankBytes(BYTES_EACH) * (1 + (tagBytes ?? 0) / 80);
  if (bytes !== expected) throw new Error(`the output has ${bytes} bytes, expected ${expected}`);
  if (tagBytes !== undefined && round === 0) checkLines(path, TOOLS, BYTES_EACH, tagBytes);
}

function report(name, runs) {
  const rates = runs.map(({ wallMs }) => (TOOLS * BYTES_EACH) / 1e3 / wallMs);
  const cpu = runs.map(({ cpuMs }) => cpuMs / 1000);
  print(`  ${name}: ${spread(rates, 'MB/s', 0)}, processor time ${spread(cpu, 's')}`);
}

function memory(runs) {
  const peaks = runs.flatMap((run) => run.peaks);
  for (const name of ['agent', 'front-end']) {
    const mine = peaks.filter((peak) => peak.name === name);
    const pss = mine.map((peak) => mib(peak.pssBytes));
    const rss = mine.map((peak) => mib(peak.rssBytes));
    print(`  peak memory of each ${name}: PSS ${spread(pss, 'MiB', 0)}, RSS ${spread(rss, 'MiB', 0)}`);
    if (name === 'agent') printGoal('largest agent, RSS in MiB', Math.max(...rss), AGENT_MIB_MAX);
  }
}
