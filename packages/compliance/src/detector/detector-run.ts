/** Runs of a detector on the model of a network: a case of the compliance suite, and what a run of it is made of. */

import { createRegistry, createSelector, resolveParams } from '@stci/core';
import { MemberView, detectorFramework } from '@stci/core/component';
import type {
  Component, DetectionInterval, DetectorModule, DetectorPromise, NoDeps, Position, Topology,
} from '@stci/interface';
import { DetectorModel, answerMsOf, type DetectorModelInit } from './detector-model.js';

export type DetectorComponent = Component<DetectorModule, NoDeps>;

export interface DetectorCase {
  /** Used in the names of tests. */
  readonly label: string;
  /** Parameters of the component, by short name, as a user sets them. */
  readonly params?: Readonly<Record<string, string>>;
  /** The longest time of a message, ms; default 5. */
  readonly latencyBoundMs?: number;
  /** Of the module's name, over so many positions. */
  readonly topology?: (size: number) => Topology;
  /** Agents see the end of links along it when one dies: for detectors that need to. */
  links?(size: number): Topology;
  /** Somebody at each agent waits for all, from the failure on: for detectors that need to. */
  readonly waits?: boolean;
  /** Where the module promises no interval: from the failure, or the wait for it. */
  readonly detection?: DetectionInterval;
  /** After the start, time that an agent may take for its first sign of life; default 0. */
  readonly graceMs?: number;
  /** Seeds of each test and number of agents; default 20. */
  readonly seeds?: number;
}

/** A run of one case, before anything happens. */
export class DetectorRun {
  readonly model: DetectorModel;
  readonly promise: DetectorPromise;
  readonly detection: DetectionInterval;
  readonly latencyBoundMs: number;
  readonly graceMs: number;
  /** So long after the start everything is under way; and when that is. */
  readonly settleMs: number;
  readonly steadyMs: number;
  /** Agents see the ends of links. */
  readonly hasLinks: boolean;
  readonly #module: DetectorModule;
  #waits = 0;

  constructor(
    module: DetectorModule,
    one: DetectorCase,
    size: number,
    seed: number,
    more?: Partial<DetectorModelInit>,
  ) {
    this.latencyBoundMs = one.latencyBoundMs ?? 5;
    this.#module = module;
    this.promise = this.promiseFor(size);
    const detection = one.detection ?? this.promise.detection;
    if (detection === undefined) throw new Error(`case ${one.label} names no detection interval, nor does the module`);
    this.detection = detection;
    this.model = new DetectorModel({
      module, size, seed,
      latencyBoundMs: this.latencyBoundMs,
      topologyOf: one.topology,
      links: one.links?.(size),
      startSpreadMs: this.latencyBoundMs,
      ...more,
    });
    this.hasLinks = one.links !== undefined;
    this.graceMs = one.graceMs ?? 0;
    this.settleMs = detection.maxMs + this.graceMs;
    this.steadyMs = this.model.nowMs + this.settleMs;
    if (one.waits === true) this.model.at(this.steadyMs, () => this.waitForAll());
  }

  promiseFor(members: number): DetectorPromise {
    const { latencyBoundMs } = this;
    return this.#module.promise({ members, latencyBoundMs, answerMs: answerMsOf(latencyBoundMs) });
  }

  /** Somebody waits. */
  get isWaiting(): boolean {
    return this.#waits > 0;
  }

  waitForAll(): void {
    const id = ++this.#waits;
    for (const position of this.model.living) this.model.give(position, { type: 'waiting', id, on: 'all' });
  }

  /** One other waits for this one, then for one that lives. */
  waitFor(position: Position): void {
    const { model } = this;
    const waiting = model.living.find((one) => one > position) ?? 0;
    const other = model.living.find((one) => one !== position && one !== waiting);
    model.give(waiting, { type: 'waiting', id: ++this.#waits, on: position });
    if (other !== undefined) model.give(waiting, { type: 'waiting', id: ++this.#waits, on: other });
  }

  /** Time from the failure of one agent to the first report of it. */
  delayOf(position: Position): number | undefined {
    const death = this.model.deaths.find(({ member }) => member.position === position);
    const report = this.model.reports.find(({ failed }) => failed.position === position);
    return death === undefined || report === undefined ? undefined : report.atMs - death.atMs;
  }
}

/** Made as in a program: by the registry, with the parameters as a user sets them. */
export function detectorModule(
  component: DetectorComponent,
  params: Readonly<Record<string, string>> = {},
): DetectorModule {
  // The framework's components that always run are not needed here.
  const framework = { ...detectorFramework, always: [] };
  const registry = createRegistry({ frameworks: [framework], components: [{ ...component, framework }] });
  const set = Object.entries(params).map(([name, value]) => ({ key: `detector.${component.name}.${name}`, value }));
  const commandLine = [{ key: 'detector', value: component.name }, ...set];
  const resolved = resolveParams(registry.catalog, { commandLine }, registry.rules).params;
  const [selected] = createSelector(registry, resolved).many(framework);
  if (selected === undefined) throw new Error(`detector ${component.name} was not selected`);
  return selected.create({}, undefined);
}

type TopologyOf = (size: number) => Topology;

/** The first suspicion of a detector that hears nothing, at 0, of an agent that was there at the start, or joined. */
export function firstSuspicionMs(module: DetectorModule, joinedMs?: number, topologyOf?: TopologyOf): number {
  const member = (position: Position) => ({ position, incarnation: 1 });
  const members = new MemberView(member(0), joinedMs === undefined ? [member(1)] : []);
  const detector = module.open({ self: member(0), members, topologyOf, answerMs: 0, random: () => 0 });
  detector.on({ type: 'start' }, 0);
  if (joinedMs !== undefined && members.join(member(1))) detector.on({ type: 'joined', member: member(1) }, joinedMs);
  for (let now = joinedMs ?? 0; now < 60_000; now = Math.max(now, detector.dueMs ?? Infinity)) {
    if (detector.on({ type: 'due' }, now).some(({ type }) => type === 'suspect')) return now;
  }
  return Infinity;
}
