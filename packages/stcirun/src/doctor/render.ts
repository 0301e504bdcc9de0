/** What doctor found, as a table with the problems below it, or as one JSON object. */

import { alignColumns, foldHostlist } from '@stci/core';
import { CHECKS, type HostReport } from './check-host.js';

export function doctorText(reports: readonly HostReport[]): string {
  const head = ['host', ...CHECKS];
  const rows = [head, ...reports.map(({ host, checks }) => [host, ...CHECKS.map((name) => checks[name].text)])];
  return `${[...alignColumns(rows), ...problems(reports), summary(reports)].join('\n')}\n`;
}

/** Hosts with the same problem together. */
function problems(reports: readonly HostReport[]): string[] {
  const byText = new Map<string, string[]>();
  for (const { host, checks } of reports) {
    for (const name of CHECKS) {
      const { problem } = checks[name];
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

export function doctorJson(reports: readonly HostReport[]): string {
  const usable = reports.filter((report) => report.usable).length;
  return `${JSON.stringify({ total: reports.length, usable, hosts: reports }, undefined, 2)}\n`;
}
