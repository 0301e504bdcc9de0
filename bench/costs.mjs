/**
 * Cost of a start, measured on test hosts with two key exchanges: processor time of a host beyond its login, in bare
 * Nodes, and the constants of the model behind docs/scaling.md. Writes bench/costs.json; run it on a quiet machine,
 * then the bench `scaling`.
 *
 * Wall times are of launches that use little of the machine: one host, and a chain of hosts each started by the one
 * before. Processor times are differences of 64 and 16 hosts, which excludes the fixed cost of a launch; other work on
 * the machine is not counted.
 */

import { writeFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { createCpuMeter, whyNoMeter } from './lib/cpu-meter.mjs';
import { KEY_EXCHANGES, useKeyExchange } from './lib/key-exchange.mjs';
import { BARE, CHAIN, FLAT, FLOOR, LAUNCHERS, makeShape, whyNot } from './lib/launchers.mjs';
import { measureLaunch, otherShare } from './lib/measure-launch.mjs';
import { built, script, withDirectory } from './lib/place.mjs';
import { print, printGoal } from './lib/print.mjs';
import { median } from './lib/stats.mjs';

const ROUNDS = 7;
/** Wall times are of those runs, out of this many more, during which other work used least of the processors. */
const TRIES = 3;
const [FEW, MANY] = [16, 64];
const CHAIN_HOSTS = 5;
const [SSH, HYDRA, OURS] = ['ssh, all at once', 'mpiexec.hydra', 'stcirun'];
/** Processor time of a host beyond its login, in bare Nodes. */
const HOST_GOAL = 2.2;

export async function bench({ rounds = ROUNDS, keep = true } = {}) {
  const { up, whyNoHosts } = await built('testkit', 'hosts/index.js');
  const compared = [SSH, HYDRA, OURS].map((name) => LAUNCHERS.find((each) => each.name === name));
  const launchers = [...compared, FLAT, BARE, FLOOR];
  const why = whyNoHosts() ?? whyNoMeter() ?? launchers.map(whyNot).find((reason) => reason !== undefined);
  if (why !== undefined) return print(`  left out: ${why}`);
  await withDirectory(async (directory) => {
    const hosts = await up(MANY);
    const cpu = createCpuMeter(hosts);
    try {
      const places = [1, FEW, MANY].map((count) => ({ hosts, cpu, shape: makeShape(directory, count, 1) }));
      const chain = { hosts, cpu, shape: makeShape(directory, CHAIN_HOSTS, 1) };
      const all = {};
      for (const exchange of KEY_EXCHANGES) {
        useKeyExchange(hosts, exchange);
        const measured = await measureAll(places, chain, launchers, rounds);
        report(exchange, measured.of);
        all[exchange.key] = costsOf(measured);
      }
      if (keep) save(all, rounds);
    } finally {
      await hosts.down();
      cpu.close();
    }
  });
}

/** Medians by launcher and number of hosts. */
async function measureAll(places, chain, launchers, rounds) {
  const [one, ...many] = places;
  const alone = [...launchers.map((launcher) => ({ place: one, launcher })), { place: chain, launcher: CHAIN }];
  const crowds = many.flatMap((place) => launchers.map((launcher) => ({ place, launcher })));
  const all = [...alone, ...crowds];
  for (const { place, launcher } of all) await measureLaunch(place, launcher);
  const runs = new Map(all.map((job) => [job, []]));
  for (let round = 0; round < TRIES * rounds; round++) {
    for (const job of alone) runs.get(job).push(await measureLaunch(job.place, job.launcher));
  }
  for (const job of alone) {
    runs.set(job, runs.get(job).sort((a, b) => otherShare(a) - otherShare(b)).slice(0, rounds));
  }
  const othersPart = Math.max(...alone.flatMap((job) => runs.get(job).map(otherShare)));
  for (let round = 0; round < rounds; round++) {
    for (const job of crowds) runs.get(job).push(await measureLaunch(job.place, job.launcher));
  }
  const of = (name, count) => {
    const job = all.find(({ place, launcher }) => launcher.name === name && place.shape.hosts === count);
    const middle = (key) => 1000 * median(runs.get(job).map((run) => run[key]));
    return { wallMs: middle('wallS'), frontMs: middle('frontS'), hostMs: middle('hostS') };
  };
  return { of, othersPart };
}

/** Input of the model of launches. */
function costsOf({ of, othersPart }) {
  const each = (name, key) => (of(name, MANY)[key] - of(name, FEW)[key]) / (MANY - FEW);
  const ssh = { wallMs: of(SSH, 1).wallMs, starterCpuMs: each(SSH, 'frontMs'), hostCpuMs: each(SSH, 'hostMs') };
  const threadMs = (name) => Math.max(0, each(name, 'frontMs') - ssh.starterCpuMs);
  const childMs = (of(CHAIN.name, CHAIN_HOSTS).wallMs - of(OURS, 1).wallMs) / (CHAIN_HOSTS - 1);
  return {
    othersPercent: 100 * othersPart,
    ssh,
    hydra: {
      fixedMs: of(HYDRA, 1).wallMs - ssh.wallMs,
      childMs: ssh.wallMs,
      starterCpuMs: each(HYDRA, 'frontMs'),
      starterThreadMs: threadMs(HYDRA),
      reportMs: 0,
      hopMs: 0,
      hostCpuMs: each(HYDRA, 'hostMs'),
    },
    ours: {
      fixedMs: of(OURS, 1).wallMs - childMs,
      childMs,
      starterCpuMs: each(FLAT.name, 'frontMs'),
      starterThreadMs: threadMs(FLAT.name),
      reportMs: each(OURS, 'frontMs'),
      hopMs: 0.2,
      hostCpuMs: each(FLAT.name, 'hostMs'),
    },
  };
}

/** Processor time of one more host, beyond its login; the fixed cost of a launch is not in the difference. */
function report({ name }, of) {
  const each = (launcher) => {
    const total = (count) => of(launcher, count).frontMs + of(launcher, count).hostMs;
    return (total(MANY) - total(FEW)) / (MANY - FEW);
  };
  const bareMs = each(BARE.name) - each(SSH);
  print(`\n  ${name}: a login ${each(SSH).toFixed(1)} ms of processor time, a bare Node ${bareMs.toFixed(1)} ms`);
  print('  | a host, beyond its login | ms | bare Nodes |');
  print('  |---|---|---|');
  for (const launcher of [BARE.name, FLOOR.name, HYDRA, OURS, FLAT.name]) {
    const ms = each(launcher) - each(SSH);
    print(`  | ${launcher} | ${ms.toFixed(1)} | ${(ms / bareMs).toFixed(2)} |`);
  }
  printGoal('a host beyond its login, in bare Nodes', (each(OURS) - each(SSH)) / bareMs, HOST_GOAL);
}

/** The default's figures are at the top level, those of the other exchange below its key. */
function save({ default: common, ...others }, rounds) {
  const costs = {
    machine: `node ${process.version}, ${availableParallelism()} cores (${cpus()[0]?.model.trim() ?? 'unknown'})`,
    date: new Date().toISOString().slice(0, 10),
    rounds,
    ...common,
    ...others,
  };
  const text = JSON.stringify(costs, (_, value) => (typeof value === 'number' ? Number(value.toFixed(1)) : value), 2);
  writeFileSync(script('costs.json'), `${text}\n`);
  print(text);
}
