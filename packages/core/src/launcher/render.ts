/**
 * What `--display map` and `--dry-run` print: the job map by host and the launch plan as an indented tree, as text of
 * at most 100 columns and bounded lines, or as plain objects for `--json`, which are never cut.
 */

import { BOOT_ROOT, bootHost, bootPosition } from '@stci/interface';
import type { HostMap, HostSpec, JobMap, AllocatedJob, LaunchPlan, Position } from '@stci/interface';
import { alignColumns, counted, cut } from '@stci/registry';
import { foldHostlist } from '../job/hostset.js';
import { localSize } from '../job/placement.js';
import { agentsPerLevel, childrenMax, criticalPathSteps, starterOf } from './plan.js';

/** Widest line, in characters. */
const RENDER_COLUMNS_MAX = 100;
/** Most lines of a map or a tree. */
const RENDER_LINES_MAX = 200;

const NAME_COLUMNS_MAX = 40;

/** Ranks of a host: `0-3,8`; `0-98/7` is every seventh one from 0 to 98. */
export function foldRanks({ runs }: HostMap): string {
  return runs
    .map(({ first, count, stride }) => {
      const last = first + (count - 1) * stride;
      if (count === 1) return String(first);
      if (stride === 1) return `${first}-${last}`;
      return count === 2 ? `${first},${last}` : `${first}-${last}/${stride}`;
    })
    .join(',');
}

/** The map as a table: host, slots, number of ranks, ranks. */
export function renderMap(spec: Pick<AllocatedJob, 'apps' | 'hosts'>, map: JobMap): string {
  const shown = map.hosts.length > RENDER_LINES_MAX ? map.hosts.slice(0, RENDER_LINES_MAX - 1) : map.hosts;
  const rows = shown.map((hostMap) => {
    const host = spec.hosts[hostMap.host]!;
    return [hostMap.name, slotsText(host), String(localSize(hostMap)), foldRanks(hostMap) || '-'];
  });
  const lines = [
    `Job map: ${counted(map.size, 'rank')} of ${counted(spec.apps.length, 'program')} ` +
      `on ${counted(map.hosts.length, 'host')}`,
    ...table([['host', 'slots', 'count', 'ranks'], ...rows]),
  ];
  const rest = map.hosts.slice(shown.length);
  if (rest.length > 0) {
    const ranks = rest.reduce((sum, host) => sum + localSize(host), 0);
    lines.push(`  … and ${counted(rest.length, 'more host')} with ${counted(ranks, 'rank')}`);
  }
  return text([...lines, ...appLines(spec, map)]);
}

export function mapJson(spec: Pick<AllocatedJob, 'apps' | 'hosts'>, map: JobMap) {
  return {
    size: map.size,
    apps: spec.apps.map((app) => ({ program: app.program, args: app.args })),
    hosts: map.hosts.map((hostMap) => {
      const { slots, slotsBound, origin } = spec.hosts[hostMap.host]!;
      const { host, name, runs } = hostMap;
      return { host, name, slots, slotsBound, origin, count: localSize(hostMap), ranks: foldRanks(hostMap), runs };
    }),
  };
}

/** The plan: totals, then the boot tree. Neighbouring leaves stand on one line as a host list. */
export function renderPlan(hosts: readonly HostSpec[], plan: LaunchPlan, window: number): string {
  const levels = agentsPerLevel(plan);
  const lines: string[] = [];
  draw(hosts, plan, BOOT_ROOT, 1, lines);
  return text([
    `Launch plan: policy ${plan.policy}, ${counted(hosts.length, 'root agent')}, ` +
      `${childrenText(childrenMax(plan))} an agent`,
    `  levels: ${levels.length - 1} below the controller ` +
      `(${levels.slice(1).join(' + ')} ${hosts.length === 1 ? 'agent' : 'agents'})`,
    `  critical path: ${counted(criticalPathSteps(plan, window), 'step')}, ${window} at a time`,
    'controller',
    ...lines.slice(0, RENDER_LINES_MAX),
    ...(lines.length > RENDER_LINES_MAX ? ['  … the rest is left out; --json shows all'] : []),
  ]);
}

export function planJson(hosts: readonly HostSpec[], plan: LaunchPlan, window: number) {
  return {
    policy: plan.policy,
    ...('arity' in plan.plan && { arity: plan.plan.arity }),
    childrenMax: childrenMax(plan),
    levels: agentsPerLevel(plan),
    window,
    criticalPathSteps: criticalPathSteps(plan, window),
    agents: hosts.map((host, index) => {
      const starter = starterOf(plan, index);
      const startedBy = starter === undefined ? 'controller' : hosts[starter]!.name;
      return { host: index, name: host.name, depth: plan.tree.depth(bootPosition(index)), startedBy };
    }),
  };
}

/** Appends the lines below `position`; stops soon after the bound, so that the cost is bounded, too. */
function draw(hosts: readonly HostSpec[], plan: LaunchPlan, position: Position, depth: number, lines: string[]): void {
  const indent = '  '.repeat(Math.min(depth, 20));
  let leaves: string[] = [];
  const flush = (): void => {
    const number = leaves.length > 1 ? `  (${leaves.length})` : '';
    if (leaves.length > 0) lines.push(indent + foldHostlist(leaves) + number);
    leaves = [];
  };
  for (const child of plan.tree.children(position)) {
    if (lines.length > RENDER_LINES_MAX) return;
    const name = hosts[bootHost(child)]!.name;
    if (plan.tree.subtreeSize(child) === 1) leaves.push(name);
    else {
      flush();
      lines.push(indent + name);
      draw(hosts, plan, child, depth + 1, lines);
    }
  }
  flush();
}

function appLines(spec: Pick<AllocatedJob, 'apps'>, map: JobMap): string[] {
  if (spec.apps.length < 2) return [];
  const ranges = spec.apps.map(() => ({ first: Infinity, last: -1 }));
  for (const { app, first, count: ranks, stride } of map.hosts.flatMap((host) => host.runs)) {
    const range = ranges[app]!;
    range.first = Math.min(range.first, first);
    range.last = Math.max(range.last, first + (ranks - 1) * stride);
  }
  const rows = ranges.map(({ first, last }) => `ranks ${first}-${last}`);
  const lines = table(spec.apps.map((app, i) => [rows[i]!, [app.program, ...app.args].join(' ')]));
  if (lines.length <= RENDER_LINES_MAX) return lines;
  return [...lines.slice(0, RENDER_LINES_MAX), `  … and ${counted(lines.length - RENDER_LINES_MAX, 'more program')}`];
}

function table(rows: readonly (readonly string[])[]): string[] {
  return alignColumns(rows, NAME_COLUMNS_MAX).map((line) => `  ${line}`);
}

function text(lines: readonly string[]): string {
  return lines.map((line) => `${cut(line.trimEnd(), RENDER_COLUMNS_MAX)}\n`).join('');
}

function slotsText(host: HostSpec): string {
  return host.slotsBound ? String(host.slots) : `~${host.slots}`;
}

function childrenText(most: number): string {
  return most === 1 ? '1 child' : `up to ${most} children`;
}
