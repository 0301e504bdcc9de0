/**
 * A program on each of many hosts, of which five are down in five ways: by `stcirun --each`, pdsh and clush, in turns,
 * on test hosts of this machine. Time to the last line of a host that is up, and to the end; what each told of those
 * that are not. All have the same fan-out, and ten seconds for a connection.
 */

import { spawn } from 'node:child_process';
import { createCpuMeter, whyNoMeter } from './lib/cpu-meter.mjs';
import { whyNot } from './lib/launchers.mjs';
import { built, cleanEnvironment, stcirun } from './lib/place.mjs';
import { print, printGoal } from './lib/print.mjs';
import { interleave, median, ratio, scaled } from './lib/stats.mjs';

const HOSTS = scaled(64, 8);
const ROUNDS = scaled(7);
const CONNECT_S = scaled(10, 3);
const DEADLINE_MS = 120_000;
const GOAL = 1;

/** Faults of the first hosts: refused, no answer, no host, no login, another host's key. */
const DOWN = ['no-sshd', 'silent', 'absent', 'key-refused', 'changed-host-key'];
const names = Array.from({ length: HOSTS }, (_, i) => `h${i + 1}`);
const traits = Object.fromEntries(DOWN.map((trait, i) => [names[i], [trait]]));
const all = names.join(',');

const TOOLS = [
  { name: 'pdsh', needs: 'pdsh', package: 'pdsh',
    argv: ['pdsh', '-R', 'ssh', '-f', String(HOSTS), '-t', String(CONNECT_S), '-w', all, 'hostname'] },
  { name: 'clush', needs: 'clush', package: 'clustershell',
    argv: ['clush', '-f', String(HOSTS), '-t', String(CONNECT_S), '-w', all, 'hostname'] },
  { name: 'stcirun --each', isOurs: true,
    argv: [process.execPath, stcirun, '--each', '--launcher', 'ssh', '--fanout', String(HOSTS), '--host', all,
      '--mca', `launcher.ssh.connect=${CONNECT_S}s`, 'hostname'] },
];

export async function bench() {
  const { up, whyNoHosts } = await built('testkit', 'hosts/index.js');
  const why = whyNoHosts() ?? whyNoMeter();
  if (why !== undefined) return print(`  left out: ${why}`);
  for (const tool of TOOLS) if (whyNot(tool) !== undefined) print(`  without ${tool.name}: ${whyNot(tool)}`);
  const there = TOOLS.filter((tool) => whyNot(tool) === undefined);
  const hosts = await up(HOSTS, { traits });
  const cpu = createCpuMeter(hosts);
  try {
    const makers = there.map(({ argv }) => () => measure({ hosts, cpu }, argv));
    for (const make of makers) await make();
    const runs = await interleave(ROUNDS, makers);
    report(there.map((tool, i) => ({ tool, runs: runs[i] })));
  } finally {
    await hosts.down();
    cpu.close();
  }
}

/** One run: seconds to the last line of a host that is up and to the end, processor time, hosts that it named. */
async function measure({ hosts, cpu }, argv) {
  const running = cpu.running();
  const before = cpu.read();
  const sinceMs = performance.now();
  const { out, err, lastMs } = await run(cpu.counted(hosts.loginArgv(argv)));
  const wallS = (performance.now() - sinceMs) / 1000;
  await cpu.settled(running);
  const after = cpu.read();
  const lines = new Set(out.split('\n').filter((line) => line !== '').map((line) => line.replace(/^.*\s/u, '')));
  return {
    wallS, lastS: (lastMs - sinceMs) / 1000, up: names.filter((name) => lines.has(name)).length,
    cpuS: (after.frontMs + after.hostMs - before.frontMs - before.hostMs) / 1000,
    told: names.slice(0, DOWN.length).filter((name) => new RegExp(`\\b${name}\\b`, 'u').test(err)).length,
  };
}

function run([program, ...args]) {
  return new Promise((resolve, reject) => {
    const env = { ...cleanEnvironment(), XDG_CACHE_HOME: undefined };
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], env, timeout: DEADLINE_MS });
    let [out, err, lastMs] = ['', '', performance.now()];
    child.stdout.on('data', (chunk) => {
      out += chunk;
      lastMs = performance.now();
    });
    child.stderr.on('data', (chunk) => (err += chunk));
    child.on('error', reject);
    child.on('close', (_, signal) => (signal === null ? resolve({ out, err, lastMs })
      : reject(new Error(`${program} ended with ${signal}: ${err.slice(-2000)}`))));
  });
}

function report(results) {
  print(`  ${HOSTS} hosts, ${DOWN.join(', ')} among them; medians of ${ROUNDS}, in turns`);
  print(`  | tool | last line of a host that is up, s | end, s | cpu s | up, of ${HOSTS - DOWN.length} `
    + `| down and named, of ${DOWN.length} |`);
  print('  |---|---|---|---|---|---|');
  for (const { tool, runs } of results) {
    const cell = (name) => median(runs.map((one) => one[name])).toFixed(2);
    const least = (name) => Math.min(...runs.map((one) => one[name]));
    const cells = ['lastS', 'wallS', 'cpuS'].map((name) => cell(name)).concat(['up', 'told'].map(least));
    print(`  | ${[tool.name, ...cells].join(' | ')} |`);
  }
  const ours = results.find(({ tool }) => tool.isOurs);
  const of = ({ runs }, name) => runs.map((one) => one[name]);
  for (const other of results.filter(({ tool }) => !tool.isOurs)) {
    for (const [what, name] of [['last line', 'lastS'], ['end', 'wallS']]) {
      printGoal(`${what}, to ${other.tool.name}`, ratio(of(ours, name), of(other, name)), GOAL);
    }
  }
}
