/** A schedule as people read it: a table for each repeat. */

import { alignColumns, counted, foldHostlist, formatDuration } from '@stci/core';
import type { FaultVictim, Position } from '@stci/interface';
import type { Experiment, PlannedInjection, RepeatPlan, TargetShape, Trigger } from './contracts.js';
import { repeatName, withoutRepeat } from './names.js';
import { shapeOf } from './plan.js';
import { isStart } from './timing.js';

const COLUMN_MAX = 60;
const HEADINGS = ['when', 'injection', 'kind', 'victims', 'for'];

/** Lines, each with its end. */
export function planText(experiment: Experiment, shape: TargetShape, plans: readonly RepeatPlan[]): string {
  const { name, seed, repeats, faults, configurations } = experiment;
  const each = configurations.length > 1 ? ' of each configuration' : '';
  const head = `${name}: seed ${seed}, ${counted(repeats, 'repeat')}${each}`;
  if (faults.length === 0) return `${head}, no faults\n`;
  const tables = plans.flatMap((plan) => {
    const target = shapeOf(shape, plan.configuration);
    const injections = [...plan.injections].sort((a, b) => (a.atMs ?? Infinity) - (b.atMs ?? Infinity));
    const rows = injections.map((injection) => row(injection, target, experiment));
    return ['', repeatName(plan), ...alignColumns([HEADINGS, ...rows], COLUMN_MAX).map((line) => `  ${line}`)];
  });
  return [head, ...tables].map((line) => `${line}\n`).join('');
}

function row(injection: PlannedInjection, shape: TargetShape, experiment: Experiment): string[] {
  const { id, kind, victims, durationMs } = injection;
  return [
    moment(injection, experiment), withoutRepeat(id), kind, victimsText(victims, shape),
    durationMs === undefined ? '' : formatDuration(durationMs),
  ];
}

/** `3.21 s`; `100 ms after detection of kill`; what comes after the end is marked. */
function moment({ follows, trigger, delayMs, atMs }: PlannedInjection, experiment: Experiment): string {
  if (atMs !== undefined) {
    const isLate = atMs + experiment.warmUpMs >= experiment.timeLimitMs;
    return `${seconds(atMs)}${isLate ? ' (after the end)' : ''}`;
  }
  const base = follows === undefined ? triggerText(trigger) : `${withoutRepeat(follows.id)} is over`;
  return `${seconds(delayMs)} after ${base}`;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(3)} s`;
}

export function triggerText(trigger: Trigger): string {
  const { nth } = trigger;
  if (isStart(trigger)) return 'start';
  const number = nth === 1 ? '' : ` ${nth}`;
  if (trigger.on === 'event') {
    return `${trigger.event}${number}${trigger.fault === undefined ? '' : ` of ${trigger.fault}`}`;
  }
  const of = trigger.rank === undefined ? '' : ` of rank ${trigger.rank}`;
  const what = trigger.on === 'output' ? `output /${trigger.pattern}/` : `mark ${trigger.name}`;
  return `${what}${number}${of}`;
}

export function victimsText(victims: readonly FaultVictim[], shape: TargetShape): string {
  const hostName = (host: number): string => shape.hosts[host] ?? String(host);
  const agentName = (position: Position): string => (position === 0 ? 'controller' : hostName(position - 1));
  const ranks = victims.flatMap((victim) => (victim.kind === 'rank' ? [victim.rank] : []));
  const hosts = victims.flatMap((victim) => (victim.kind === 'host' ? [hostName(victim.host)] : []));
  const others = victims.flatMap((victim) => {
    switch (victim.kind) {
      case 'agent':
        return [victim.role === 'root' || victim.role === 'session' ? `${victim.role} agent on ${hostName(victim.host)}`
          : victim.role];
      case 'link':
        return [`${agentName(victim.ends[0])}-${agentName(victim.ends[1])}`];
      case 'partition':
        return [victim.sets.map((set) => foldHostlist(set.map(agentName))).join(' | ')];
      default:
        return [];
    }
  });
  const rankText = ranks.length === 0 ? [] : [`${ranks.length === 1 ? 'rank' : 'ranks'} ${foldNumbers(ranks)}`];
  return [...rankText, ...(hosts.length === 0 ? [] : [foldHostlist(hosts)]), ...others].join(', ');
}

/** `1,2,3,7` → `1-3,7`. */
function foldNumbers(numbers: readonly number[]): string {
  const ranges: [number, number][] = [];
  for (const number of numbers) {
    const last = ranges.at(-1);
    if (last !== undefined && last[1] + 1 === number) last[1] = number;
    else ranges.push([number, number]);
  }
  return ranges.map(([low, high]) => (low === high ? `${low}` : `${low}-${high}`)).join(',');
}
