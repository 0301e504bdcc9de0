/**
 * Bootstrap: the result of hosts that do not come up, where nothing else disturbs the job; and in every run, that
 * decisions are carried out: no rank on a host that was left out, each loss named in the report.
 */

import type { JobMap } from '@stci/interface';
import { hostName } from '../scenarios/job-spec.js';
import { refusalsOf } from '../scenarios/scenario.js';
import type { Run } from '../worlds/run.js';
import { rankProcesses } from './truth.js';

/** Duration of a login that hangs, ms: several in a row reach the launch timeout. */
const HANDSHAKE_MS = 10_000;

/** Whether the job can run with its bad hosts; `unclear` where that depends on timing. */
export function launchExpectation({ options }: Run): 'runs' | 'fails' | 'unclear' {
  const { faults, settings, hosts } = options;
  const refusals = refusalsOf(faults);
  if (refusals.length === 0) return 'runs';
  const rounds = 1 + Number(settings['errmgr.launch.retries'] ?? 2);
  const silent = refusals.filter(({ isSilent }) => isSilent === true).length;
  if (silent * rounds * HANDSHAKE_MS >= options.launchTimeoutMs) return 'unclear';
  switch (settings['errmgr.launch']) {
    case 'retry':
      return refusals.every(({ starts }) => starts < rounds) ? 'runs' : 'fails';
    case 'spare':
      return refusals.length <= 2 ? 'runs' : 'fails';
    case 'shrink': {
      const left = hosts - refusals.length;
      return left >= Math.max(1, Number(settings['errmgr.launch.min'] ?? 1)) ? 'runs' : 'fails';
    }
    default:
      return 'fails';
  }
}

export function checkBootstrap(run: Run): string[] {
  return [...checkFailedLaunch(run), ...checkLeftOut(run), ...checkNames(run)];
}

/** Bad hosts alone end the launch: nothing ran, and at least one of them is named. */
function checkFailedLaunch(run: Run): string[] {
  const { report } = run.record;
  const { faults, controls, timeoutMs, launchTimeoutMs } = run.options;
  const refusals = refusalsOf(faults);
  const isUndisturbed = faults.length === refusals.length && controls.length === 0 && timeoutMs === undefined;
  if (report === undefined || !isUndisturbed || launchTimeoutMs < 60_000) return [];
  if (launchExpectation(run) !== 'fails') return [];
  const problems: string[] = [];
  if (report.exitCode === 0) problems.push('exit code 0, though hosts did not come up');
  if (rankProcesses(run).size > 0) problems.push('ranks were started, though hosts did not come up');
  const bad = new Set(refusals.map(({ victim }) => hostName(victim.host)));
  const named = report.failures.filter(({ host }) => host !== undefined && bad.has(host));
  if (named.length === 0) problems.push('no host that did not come up is named');
  const names = report.failures.map(({ host }) => host);
  if (new Set(names).size !== names.length) problems.push(`a host is reported twice: ${names.join(', ')}`);
  return problems;
}

/** The last map is the one that runs. */
function checkLeftOut({ record, options }: Run): string[] {
  if (options.settings['errmgr.launch'] !== 'shrink' && options.settings['errmgr.launch'] !== 'spare') return [];
  let map: JobMap | undefined;
  for (const event of record.events) if (event.type === 'mapped') map = event.map;
  if (map === undefined || !record.events.some(({ type }) => type === 'running')) return [];
  const problems: string[] = [];
  for (const event of record.events) {
    if (event.type !== 'recovery' || event.phase !== 'launching') continue;
    const place = map.hosts[event.host];
    const ranks = place?.runs.length ?? 0;
    if (event.action === 'leave-out' && ranks > 0) problems.push(`ranks on ${event.name}, which was left out`);
    if (event.action === 'use-spare' && place?.name === event.name) problems.push(`${event.name} was to be replaced`);
  }
  return problems;
}

/** A failure names the host of each lost rank. */
function checkNames({ record }: Run): string[] {
  const { report } = record;
  if (report === undefined) return [];
  const named = new Set(report.failures.map(({ host }) => host));
  const unnamed = report.ranks.filter(({ outcome, host }) => outcome === 'lost' && !named.has(host));
  return unnamed.map(({ rank, host }) => `rank ${rank} is lost with ${host}, which no failure names`);
}
