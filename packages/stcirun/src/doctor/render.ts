/** What doctor found, as a table with the problems below it, or as one JSON object. */

import { alignColumns, foldHostlist } from '@stci/core';
import { jsonText } from '../process/print.js';
import {
  BATCH_CHECKS, CHECKS, LAUNCH_CHECKS, PROGRAM_CHECKS,
} from './check.js';
import type { HostChecks, HostReport } from './check-host.js';
import type { AllocationReport } from './slurm-report.js';

/** Steps that are named. */
const STEPS_MAX = 10;

export function doctorText(reports: readonly HostReport[], allocation?: AllocationReport): string {
  const columns = columnsOf(reports);
  const rows = [
    ['host', ...columns],
    ...reports.map(({ host, checks }) => [host, ...columns.map((name) => checks[name]?.text ?? '-')]),
  ];
  const [head, tail] = allocation === undefined ? [[], []] : [allocationLines(allocation), allocation.problems];
  const told = tail.map((text) => `\nallocation: ${text}`);
  return `${[...head, ...alignColumns(rows), ...told, ...problems(reports), summary(reports)].join('\n')}\n`;
}

function columnsOf(reports: readonly HostReport[]): readonly (keyof HostChecks)[] {
  const ofProgram = PROGRAM_CHECKS.filter((name) => reports.some(({ checks }) => checks[name] !== undefined));
  return [...columnsOfHost(reports), ...ofProgram];
}

/** In an allocation, what Slurm says, and logins only where there were any. */
function columnsOfHost(reports: readonly HostReport[]): readonly (keyof HostChecks)[] {
  if (reports.every(({ checks }) => checks.agent !== undefined)) return LAUNCH_CHECKS;
  if (reports.every(({ checks }) => checks.slurm === undefined)) return CHECKS;
  const hasLogin = reports.some(({ checks }) => checks.login.state !== 'none' || checks.port.state !== 'none');
  return [...BATCH_CHECKS, ...CHECKS.filter((name) => hasLogin || (name !== 'port' && name !== 'login'))];
}

function allocationLines({ job, version, state, partition, left, nodes, noKill, steps }: AllocationReport): string[] {
  const running = steps.map(({ id, name, nodes: on, time }) => `${id} ${name} on ${on} for ${time}`);
  const more = steps.length > STEPS_MAX ? [`and ${steps.length - STEPS_MAX} more`] : [];
  const facts = [
    `${state ?? 'state unknown'}${partition === undefined ? '' : ` in ${partition}`}`,
    ...(nodes === undefined || nodes === '' ? [] : [nodes]),
    ...(left === undefined ? [] : [`time left ${left}`]),
  ];
  return [
    `Slurm ${version ?? '?'}, job ${job}: ${facts.join(', ')}`,
    `steps: ${steps.length === 0 ? 'none' : [...running.slice(0, STEPS_MAX), ...more].join('; ')}`,
    `--no-kill: ${noKill === undefined ? 'not known, as Slurm does not tell it' : `yes, ${noKill}`}`,
    '',
  ];
}

/** Hosts with the same problem together. */
function problems(reports: readonly HostReport[]): string[] {
  const byText = new Map<string, string[]>();
  for (const { host, checks } of reports) {
    for (const name of [...LAUNCH_CHECKS, ...BATCH_CHECKS, ...CHECKS, ...PROGRAM_CHECKS]) {
      const problem = checks[name]?.problem;
      if (problem === undefined) continue;
      const text = `${name}: ${problem}`;
      byText.set(text, [...(byText.get(text) ?? []), host]);
    }
  }
  return [...byText].map(([text, hosts]) => `\n${foldHostlist(hosts)}: ${text}`);
}

function summary(reports: readonly HostReport[]): string {
  const usable = reports.filter((report) => report.usable);
  const one = reports.length === 1 ? 'host is' : 'hosts are';
  const text = `\n${usable.length} of ${reports.length} ${one} usable`;
  return usable.length === reports.length || usable.length === 0
    ? text : `${text}: --host ${foldHostlist(usable.map(({ host }) => host))}`;
}

export function doctorJson(reports: readonly HostReport[], allocation?: AllocationReport): string {
  const usable = reports.filter((report) => report.usable).length;
  return jsonText({ total: reports.length, usable, ...(allocation && { allocation }), hosts: reports });
}
