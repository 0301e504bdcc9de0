/**
 * What the judge of experiments (finject) finds in a run: its scenario is the plan of one repeat, its history the
 * record. The failure of a host belongs to a fault that explains it, and an agent that was killed has failed.
 */

import { measure, repeatView, type HistoryRecord, type PlannedInjection } from '@stci/finject/experiment';
import type { FaultVictim, HostIndex } from '@stci/interface';
import type { InjectedFault } from '../scenarios/faults.js';
import { hostName } from '../scenarios/job-spec.js';
import { plannedParents } from '../scenarios/launcher-random.js';
import { hostsOf, stepsOf, type Refusal, type Step } from '../scenarios/scenario.js';
import type { FailureRun } from '../worlds/failure-run.js';

type Made = Exclude<Step, Refusal>;

/** `may`: hosts that may be given up with others. */
export function judgedProblems({ plan, faults, history, witness }: FailureRun, may: ReadonlySet<HostIndex>): string[] {
  const { hosts, settings } = plan;
  const names = Array.from({ length: hosts }, (_, host) => hostName(host));
  const injections = faults.map(({ step }, index) => plannedOf(step as Made, index, hosts));
  const { wallMs = 0, monotonicMs = 0 } = history[0] ?? {};
  const made = faults.flatMap((fault, index) => recordsOf(fault, index, wallMs - monotonicMs));
  const keep = { ranks: [], hosts: [] };
  const stamp = { wallMs, monotonicMs };
  const records: HistoryRecord[] = [
    { ...stamp, type: 'repeat', plan: { repeat: 1, number: 1, configuration: '', keep, injections } },
    ...[...made, ...history].sort((a, b) => a.monotonicMs - b.monotonicMs),
  ];
  const view = {
    ...repeatView(1, records, undefined), followMs: 2 * Number.parseInt(settings['bootcom.lease'] as string, 10),
    shape: {
      hosts: names, hostOfRank: names.map((_, host) => host),
      parents: plannedParents(hosts, settings).map((parent) => (parent ?? -1) + 1),
    },
  };
  const { injections: judged, sightings: { failures } } = measure(view);
  const explained = new Set(judged.flatMap(({ subjects }) => subjects));
  const failed = new Set(failures.flatMap(({ subject: { kind, host } }) => (kind === 'host' ? [host] : [])));
  const wrong = failures.filter(({ key, subject: { kind, host } }) =>
    kind === 'host' && !may.has(host) && !explained.has(key));
  // One that is lost before it watches may have no record.
  const killed = stepsOf(faults.map(({ step }) => step), 'run').filter(({ kind }) => kind === 'kill').flatMap(hostsOf);
  const missed = killed.filter((host) => !failed.has(host) && witness.views.has(`${host + 1}#1`));
  return [
    ...wrong.map(({ key, evidence }) => `no fault explains ${key}: ${evidence}`),
    ...missed.map((host) => `host ${host} was killed, and has not failed`),
  ];
}

function idOf(index: number): string {
  return `1.fault.${index + 1}`;
}

function plannedOf(step: Made, index: number, hosts: number): PlannedInjection {
  return {
    id: idOf(index), fault: 'fault', kind: step.kind, args: {}, victims: [victimOf(step, hosts)], follows: undefined,
    trigger: { on: 'event', event: 'start', nth: 1, fault: undefined }, delayMs: step.atMs, atMs: step.atMs,
    durationMs: 'durationMs' in step ? step.durationMs : undefined, coolDownMs: 0, timeoutMs: 0,
    impact: step.kind === 'kill' || step.kind === 'crash' ? 'ends' : 'disturbs',
  };
}

function victimOf({ victim }: Made, hosts: number): FaultVictim {
  // Sessions with failures choose none of those that there are.
  if ('of' in victim) return { kind: 'agent', role: 'controller', host: 0 };
  if (victim.kind !== 'side') return victim;
  const side = victim.hosts.map((host) => host + 1);
  const all = Array.from({ length: hosts + 1 }, (_, position) => position);
  return { kind: 'partition', sets: [side, all.filter((position) => !side.includes(position))] };
}

/** When it was made, and when it was over. */
function recordsOf({ step, timeMs, target }: InjectedFault, index: number, wallOffsetMs: number): HistoryRecord[] {
  const record = (atMs: number, state: 'injected' | 'undone'): HistoryRecord => ({
    wallMs: wallOffsetMs + atMs, monotonicMs: atMs, type: 'injection', repeat: 1, id: idOf(index), state, text: target,
  });
  const durationMs = 'durationMs' in step ? step.durationMs : undefined;
  return [record(timeMs, 'injected'), ...(durationMs === undefined ? [] : [record(timeMs + durationMs, 'undone')])];
}
