/**
 * Checks of a job specification, before anything is mapped or started. All problems are collected, so that the user
 * can correct them together. The controller checks a spec that crossed the wire again: it is data from outside.
 */

import { StciError } from '@stci/interface';
import type { AppSpec, AllocatedJob } from '@stci/interface';
import { listed } from '@stci/registry';
import { appCount } from './map.js';

/** Longest time that a timer can wait, ms: 24 days. */
const TIMEOUT_MS_MAX = 2_147_483_647;

/** Throws STCI_JOB_INVALID that lists what is wrong with the spec; returns where nothing is. */
export function validateJob(spec: AllocatedJob): void {
  const problems = jobProblems(spec);
  if (problems.length === 0) return;
  const reasons = problems.length === 1 ? '' : `, for ${problems.length} reasons`;
  const text = [`The job cannot be run${reasons}:`, ...listed(problems)].join('\n  ');
  throw new StciError('STCI_JOB_INVALID', text, { data: { problems: problems.length } });
}

/** The problems, one sentence each; empty for a good spec. */
export function jobProblems(spec: AllocatedJob): string[] {
  return [
    ...hostProblems(spec),
    ...(spec.apps.length === 0 ? ['expected at least one program, got none'] : []),
    ...spec.apps.flatMap((app, index) => appProblems(spec, app, spec.apps.length > 1 ? `program ${index + 1}: ` : '')),
    ...mapByProblems(spec),
    ...environmentProblems('environment', spec.env),
    ...textProblems('working directory', spec.wdir),
    ...timeProblems('timeout', spec.timeoutMs),
    ...timeProblems('launch timeout', spec.launchTimeoutMs),
    ...stdinProblems(spec),
  ];
}

function hostProblems(spec: AllocatedJob): string[] {
  if (spec.hosts.length === 0) return ['expected at least one host, got none'];
  const problems: string[] = [];
  const seen = new Set<string>();
  for (const { name, slots, origin } of spec.hosts) {
    if (name === '') problems.push(`expected a host name, got an empty one (${origin})`);
    if (seen.has(name)) problems.push(`expected each host once, got ${name} twice (${origin})`);
    if (!isCount(slots)) problems.push(`host ${name} (${origin}): expected at least 1 slot, got ${slots}`);
    seen.add(name);
  }
  return problems;
}

function appProblems(spec: AllocatedJob, app: AppSpec, where: string): string[] {
  const problems: string[] = [];
  if (app.program === '') problems.push('expected a program, got an empty name');
  problems.push(...textProblems('program', app.program));
  app.args.forEach((arg, i) => problems.push(...textProblems(`argument ${i + 1}`, arg)));
  if (app.count !== undefined && !isCount(app.count)) problems.push(`expected at least 1 rank, got ${app.count}`);
  problems.push(...environmentProblems('environment', app.env), ...textProblems('working directory', app.wdir ?? ''));
  if (app.hosts !== undefined) problems.push(...appHostProblems(app.hosts, spec.hosts.length));
  return problems.map((problem) => where + problem);
}

function appHostProblems(hosts: readonly number[], size: number): string[] {
  if (hosts.length === 0) return ['expected at least one host, got none'];
  const bad = hosts.find((host) => !Number.isInteger(host) || host < 0 || host >= size);
  if (bad !== undefined) return [`expected hosts by index in 0..${size - 1}, got ${bad}`];
  const unordered = hosts.some((host, i) => i > 0 && host <= hosts[i - 1]!);
  return unordered ? ['expected host indexes in ascending order, each once'] : [];
}

function mapByProblems({ mapBy }: AllocatedJob): string[] {
  if (mapBy.by !== 'ppr' || isCount(mapBy.perHost)) return [];
  return [`map by ppr: expected at least 1 rank per host, got ${mapBy.perHost}`];
}

function environmentProblems(what: string, env: Readonly<Record<string, string>>): string[] {
  return Object.entries(env).flatMap(([name, value]) => {
    if (name === '') return [`${what}: expected a variable's name, got an empty one`];
    if (/[=\0]/.test(name)) return [`${what}: expected a name without = and NUL, got ${JSON.stringify(name)}`];
    return textProblems(`${what}: value of ${name}`, value);
  });
}

/** The system ends texts at a NUL: what follows would be lost silently. */
function textProblems(what: string, text: string): string[] {
  const at = text.indexOf('\0');
  return at < 0 ? [] : [`${what}: expected text without NUL, got one at position ${at}`];
}

function timeProblems(what: string, timeMs: number | undefined): string[] {
  if (timeMs === undefined || (timeMs > 0 && timeMs <= TIMEOUT_MS_MAX)) return [];
  return [`${what}: expected more than 0 and at most ${TIMEOUT_MS_MAX} ms, got ${timeMs}`];
}

function stdinProblems(spec: AllocatedJob): string[] {
  if (spec.stdin.to !== 'rank') return [];
  const { rank } = spec.stdin;
  const size = spec.apps.reduce((sum, app) => sum + sizeOf(spec, app), 0);
  if (Number.isInteger(rank) && rank >= 0 && (rank < size || Number.isNaN(size))) return [];
  return [`standard input: expected a rank in 0..${Math.max(0, size - 1)}, 'all' or 'none', got ${rank}`];
}

/** NaN where other problems make the number meaningless. */
function sizeOf(spec: AllocatedJob, app: AppSpec): number {
  const known = (app.hosts ?? []).every((host) => spec.hosts[host] !== undefined);
  const count = known ? appCount(spec, app) : Number.NaN;
  return isCount(count) ? count : Number.NaN;
}

function isCount(value: number): boolean {
  return Number.isInteger(value) && value >= 1;
}
