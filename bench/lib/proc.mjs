/** Facts from /proc: memory of processes, processor time of children that have ended, descendants. */

import { readFileSync, readdirSync } from 'node:fs';

const KIB = 1024;
/** A tick of /proc/PID/stat, on every Linux that Node runs on. */
const TICK_MS = 10;

function read(path) {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return ''; // It has ended.
  }
}

const field = (text, name) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1] ?? 0) * KIB;

/** Proportional set size, bytes: a shared page counts by its share. */
export const pssBytes = (pid) => field(read(`/proc/${pid}/smaps_rollup`), 'Pss');

/** Largest resident set so far, bytes; pages shared with other processes count in full. */
export const peakRssBytes = (pid) => field(read(`/proc/${pid}/status`), 'VmHWM');

export const commandLine = (pid) => read(`/proc/${pid}/cmdline`).split('\0').slice(0, -1);

function statFields(pid) {
  const text = read(`/proc/${pid}/stat`);
  return text.slice(text.lastIndexOf(')') + 2).split(' ');
}

/** Processor time, user and system, of this process's ended children and theirs, ms. */
export function childrenCpuMs() {
  const fields = statFields(process.pid);
  return (Number(fields[13]) + Number(fields[14])) * TICK_MS;
}

/** All living descendants of `pid`. */
export function descendants(pid) {
  const children = new Map();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const parent = Number(statFields(name)[1]);
    children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
  }
  const found = [];
  const queue = [pid];
  for (const next of queue) {
    for (const child of children.get(next) ?? []) {
      found.push(child);
      queue.push(child);
    }
  }
  return found;
}

/** Samples a process and its descendants every `periodMs`; `stop` returns the largest values by process. */
export function watchMemory(pid, nameOf, periodMs = 200) {
  const peaks = new Map();
  const look = () => {
    for (const each of [pid, ...descendants(pid)]) {
      const name = nameOf(each);
      if (name === undefined) continue;
      const peak = peaks.get(each) ?? { name, pssBytes: 0, rssBytes: 0 };
      peak.pssBytes = Math.max(peak.pssBytes, pssBytes(each));
      peak.rssBytes = Math.max(peak.rssBytes, peakRssBytes(each));
      peaks.set(each, peak);
    }
  };
  const timer = setInterval(look, periodMs);
  return {
    stop: () => {
      clearInterval(timer);
      return [...peaks.values()];
    },
  };
}
