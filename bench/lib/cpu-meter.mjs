/**
 * Processor time of a launch on test hosts. This side, the hosts and the daemons of a batch system on this side are a
 * control group each, which includes all processes of the launch (daemons, orphans) and no others; in microseconds.
 * `machine` is all time that was not idle, from /proc/stat: a check that agrees on an otherwise idle machine.
 */

import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = '/sys/fs/cgroup';
/** A tick of /proc, on every Linux that Node runs on. */
const TICK_MS = 10;
const SETTLED_DEADLINE_MS = 10_000;

/** Hierarchies in which the kernel accounts time by group: `cpuacct` of version 1, or version 2 (perhaps beside it). */
const KINDS = [
  { at: join(ROOT, 'cpuacct'), file: 'cpuacct.usage', toMs: (text) => Number(text) / 1e6 },
  { at: ROOT, file: 'cpu.stat', toMs: usageMs },
  { at: join(ROOT, 'unified'), file: 'cpu.stat', toMs: usageMs },
];

/** Why there is no meter on this machine, or undefined. */
export function whyNoMeter() {
  return findKind() === undefined ? 'no writable control groups: processor time is not measured' : undefined;
}

/** `daemons`: process ids on the login side that work for launches. What runs on the hosts now is part of them, too. */
export function createCpuMeter(hosts, daemons = []) {
  const { at, file, toMs } = findKind();
  const groupOf = (side) => join(at, `stci-bench-${process.pid}-${side}`);
  const groups = { front: groupOf('front'), hosts: groupOf('hosts'), daemons: groupOf('daemons') };
  for (const path of Object.values(groups)) mkdirSync(path);
  const made = hosts.names.filter((host) => !hosts.isAbsent(host));
  const onHosts = made.flatMap((host) => hosts.processes(host)).map(({ pid }) => pid);
  for (const [group, pids] of [[groups.hosts, onHosts], [groups.daemons, daemons]]) {
    for (const pid of pids) writeFileSync(join(group, 'cgroup.procs'), String(pid));
  }
  const read = (group) => toMs(readFileSync(join(group, file), 'latin1'));
  const members = (group) => readFileSync(join(group, 'cgroup.procs'), 'latin1').split('\n').length - 1;
  return {
    /** Command that runs a program in the measured group, in the same process. */
    counted: (argv) => ['sh', '-c', 'echo $$ > "$0" && exec "$@"', join(groups.front, 'cgroup.procs'), ...argv],
    read: () => ({
      frontMs: read(groups.front), hostMs: read(groups.hosts), daemonMs: read(groups.daemons), machineMs: machineMs(),
    }),
    /** Number of processes, here and on the hosts. */
    running: () => members(groups.front) + members(groups.hosts),
    /** Resolves when no more than `count` processes are left, here and on the hosts. */
    settled: async (count = onHosts.length) => {
      const untilMs = performance.now() + SETTLED_DEADLINE_MS;
      while (members(groups.front) + members(groups.hosts) > count) {
        if (performance.now() > untilMs) throw new Error(`processes of the launch are left: ${leftovers(hosts)}`);
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    },
    /** To be called when the hosts are down. */
    close: () => Object.values(groups).forEach((path) => rmdirSync(path)),
  };
}

/** Where and what they are. */
function leftovers(hosts) {
  const all = [...hosts.allLeftovers()].flatMap(([place, left]) => left.map(({ command }) => `${place}: ${command}`));
  return all.map((text) => text.slice(0, 200)).join('; ');
}

function findKind() {
  return KINDS.find(({ at }) => {
    const probe = join(at, `stci-bench-${process.pid}`);
    try {
      mkdirSync(probe);
      return existsSync(join(probe, 'cgroup.procs'));
    } catch {
      return false;
    } finally {
      if (existsSync(probe)) rmdirSync(probe);
    }
  });
}

function usageMs(text) {
  return Number(/^usage_usec (\d+)/m.exec(text)?.[1] ?? NaN) / 1000;
}

/** user, nice, system, irq, softirq of all processors. */
function machineMs() {
  const [, ...fields] = readFileSync('/proc/stat', 'latin1').split('\n')[0].trim().split(/\s+/);
  return [0, 1, 2, 5, 6].reduce((sum, i) => sum + Number(fields[i]) * TICK_MS, 0);
}
