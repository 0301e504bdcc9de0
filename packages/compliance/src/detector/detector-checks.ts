/**
 * What a detector promises, as checks of one example each on the model of a network (detector-model.ts): so many
 * agents, a seed for what the network does, who dies and stands still when. Called by the suite, detector.ts.
 */

import { DETECTOR_MESSAGE_BYTES } from '@stci/core/component';
import type { DetectorModule, DetectorPromise, Position } from '@stci/interface';
import * as assert from '../kit/assert.js';
import { elsewhere, ownTopology } from '../kit/elsewhere.js';
import { LATE_SHARE, checkJoined, checkLeft, checkLinks, checkRefuted, checkRestart } from './detector-changes.js';
import type { DetectorExample } from './detector-contract.js';
import {
  checkCost, checkCostLater, checkNobody, checkReported, checkReports, checkSuspicions, type Started,
} from './detector-judge.js';
import { DetectorModel, answerMsOf, type DetectorModelInit } from './detector-model.js';
import { DetectorRun, type DetectorCase } from './detector-run.js';

/** Length of a pause that is forgiven, in shortest intervals of detection; of one that is reported, in longest ones. */
export const SHORT_PAUSE = 0.75;
export const LONG_PAUSE = 1.5;
/** Messages of one long run of `quiet`, of few agents: counters of a byte come around. */
const LONG_RUN_MESSAGES = 1500;
/** Largest size at which another joins in `standstill`. */
const GROWING_SIZE_MAX = 4;
/** Messages of detectors that run beside one of `same`: with short periods they would send many. */
const BESIDE_MESSAGES_MAX = 3000;
/** Floating-point times. */
const ROUNDING_MS = 1e-4;

export function seedsOf({ seeds = 20 }: DetectorCase): number {
  return seeds;
}

/** `others`: modules of the component with other parameters. */
export function checkDetectorExample(
  module: DetectorModule, one: DetectorCase, example: DetectorExample, others: () => readonly DetectorModule[],
): void {
  const { promise, size = 2, seed = 1 } = example;
  switch (promise) {
    case 'promise':
      return checkPromise(module, size);
    case 'metrics':
      return checkMetrics(module, one, size, example.seed);
    case 'same':
      return checkSame(module, one, example, others());
    case 'record':
    case 'sockets':
      return;
    default: {
      const run = new DetectorRun(module, caseFor(one, example), size, seed, startOf(one, example));
      CHECKS[promise]({ run, size, example });
    }
  }
}

function startOf(
  { graceMs = 0 }: DetectorCase, { promise, seed = 1, clockMs = 0, absent = [], isFirst }: DetectorExample,
): Partial<DetectorModelInit> {
  const isLate = promise === 'quiet' && seed % 3 === 0 && graceMs > 0;
  const startSpreadMs = isFirst === true ? 0 : LATE_SHARE * graceMs;
  return { startMs: clockMs, absent, ...((isLate || isFirst === true) && { startSpreadMs }) };
}

/** `quiet` waits by itself, and no longer. Who joins has links, too. */
function caseFor(one: DetectorCase, { promise }: DetectorExample): DetectorCase {
  if (promise === 'quiet') return { ...one, waits: false };
  const { links } = one;
  const grows = promise === 'joined' || promise === 'standstill';
  return grows && links !== undefined ? { ...one, links: (size) => links.call(one, size + 2) } : one;
}

const CHECKS: Readonly<Record<
  'quiet' | 'interval' | 'several' | 'standstill' | 'joined' | 'left' | 'refuted' | 'links' | 'restart' | 'strange',
  (started: Started) => void
>> = {
  quiet: checkQuiet, interval: checkInterval, several: checkSeveral, standstill: checkStandstill,
  joined: checkJoined, left: checkLeft, refuted: checkRefuted, links: checkLinks, restart: checkRestart,
  strange: checkStrange,
};

function checkPromise(module: DetectorModule, members: number): void {
  const ask = (latencyBoundMs: number) => elsewhere(() => {
    return module.promise(Object.freeze({ members, latencyBoundMs, answerMs: answerMsOf(latencyBoundMs) }));
  });
  const first = ask(10);
  const { messagesPerSecond, bytesPerSecond, text } = first;
  for (const latencyBoundMs of [0, 0.5, 1000]) checkDetection(ask(latencyBoundMs));
  assert.equal(ask(10), first, 'asked again, it promises something else');
  checkDetection(first);
  assert.match(text, /^\p{Lu}[^]*\.$/u, 'the promise is told in sentences:');
  assert.ok(messagesPerSecond >= 0 && Number.isFinite(bytesPerSecond), 'costs are numbers');
  const leastBytes = messagesPerSecond * DETECTOR_MESSAGE_BYTES;
  assert.ok(bytesPerSecond >= leastBytes, `${bytesPerSecond} bytes/s are fewer than the headers of the messages`);
  if (members === 1) assert.is(messagesPerSecond, 0, 'one agent alone has nobody to send to');
}

function checkDetection({ detection: { minMs, maxMs } = { minMs: 0, maxMs: 0 }, leadMs = 0 }: DetectorPromise): void {
  assert.ok(leadMs >= 0 && Number.isFinite(leadMs), `a suspicion ${leadMs} ms before the report`);
  assert.ok(minMs >= 0 && minMs <= maxMs && Number.isFinite(maxMs), `an interval of ${minMs} to ${maxMs} ms`);
}

function checkQuiet({ run, size, example: { seed = 1 } }: Started): void {
  const { model, promise, settleMs } = run;
  // Events of any type may come before the start.
  for (const position of seed % 4 === 1 ? model.living : []) {
    model.give(position, { type: 'waiting', id: 4, on: 'all' });
    model.give(position, { type: 'over', id: 4 });
  }
  model.run(run.steadyMs);
  const isLong = size <= 3 && seed === 1 && promise.messagesPerSecond > 0;
  if (isLong) model.run(model.nowMs + LONG_RUN_MESSAGES / promise.messagesPerSecond * 1000);
  assert.is(model.suspected, 0, 'agents are suspected, and none was silent:');
  for (const position of model.living) {
    model.give(position, { type: 'waiting', id: 5, on: 'all' });
    model.give(position, { type: 'waiting', id: 6, on: (position + 1) % size });
  }
  model.run(model.nowMs + settleMs);
  for (const position of model.living) for (const id of [5, 6]) model.give(position, { type: 'over', id });
  model.run(model.nowMs + settleMs);
  const { messages } = checkCost(run);
  checkNobody(model);
  checkSuspicions(run);
  if (promise.messagesPerSecond > 0) assert.ok(messages >= 1, 'no message: an agent that watches sends');
}

function checkInterval({ run, example: { deaths = [], seed = 1, isFirst = false } }: Started): void {
  const { model, graceMs, detection: { minMs } } = run;
  const [beginMs, maxMs] = [isFirst ? model.nowMs : run.steadyMs, run.detection.maxMs + (isFirst ? graceMs : 0)];
  for (const { position, atMs } of deaths) {
    if (run.promise.detection === undefined) {
      model.at(beginMs + atMs, () => (seed % 2 === 0 ? run.waitFor(position) : run.waitForAll()));
    }
    model.at(beginMs + atMs, () => model.crash(position));
    model.run(beginMs + atMs + maxMs + run.latencyBoundMs + 1);
    const delay = run.delayOf(position);
    assert.ok(delay !== undefined, `agent ${position} is not reported within ${maxMs} ms`);
    const isInside = delay! >= minMs - ROUNDING_MS && delay! <= maxMs + ROUNDING_MS;
    assert.ok(isInside, `agent ${position} is reported after ${delay} ms, promised are ${minMs} to ${maxMs} ms`);
    const { leadMs = 0 } = model.reports.find(({ failed }) => failed.position === position) ?? {};
    const isSuspected = leadMs >= (run.promise.leadMs ?? 0) - ROUNDING_MS;
    assert.ok(isSuspected, `agent ${position} is suspected ${leadMs} ms before, promised are ${run.promise.leadMs} ms`);
  }
  checkReports(model);
}

function checkSeveral({ run, example: { deaths = [] } }: Started): void {
  const { model, steadyMs, detection: { maxMs } } = run;
  for (const { position, atMs } of deaths) model.at(steadyMs + atMs, () => model.crash(position));
  // T(f) of the IJHPCA paper, 3.3, with the promise in place of the timeout.
  const count = deaths.length;
  const stableMs = 2 * maxMs + count * (count + 1) * (maxMs + 2 * run.latencyBoundMs) + 100;
  const unreported = (): Position[] => {
    const reported = new Set(model.reports.map(({ failed }) => failed.position));
    return model.deaths.map(({ member }) => member.position).filter((position) => !reported.has(position));
  };
  model.run(steadyMs + 3 * maxMs);
  while (unreported().length > 0 && model.nowMs < steadyMs + stableMs) model.run(model.nowMs + maxMs);
  assert.equal(unreported(), [], `after ${stableMs} ms dead agents are not reported: ${unreported().join(' ')}`);
  checkReports(model);
  model.run(model.nowMs + 4 * maxMs + run.settleMs);
  model.onSend = (from, to) => {
    assert.ok(model.agent(to).isAlive, `agent ${from} goes on sending to agent ${to}, which is dead, as all know`);
  };
  model.run(model.nowMs + 2 * maxMs);
}

function checkStandstill({ run, size, example: { seed = 1, pause } }: Started): void {
  const { model, steadyMs, detection: { minMs, maxMs } } = run;
  if (pause === undefined) return;
  const { position, atMs, forMs } = pause;
  const isShort = forMs <= SHORT_PAUSE * minMs;
  if (seed % 4 === 1) model.give(position, { type: 'lag', lagMs: minMs / 4 });
  model.at(steadyMs + atMs, () => model.freeze(position, forMs));
  model.run(steadyMs + forMs + 8 * maxMs + 100);
  const wrong = model.reports.filter(({ failed }) => failed.position !== position || isShort);
  const [first] = wrong;
  assert.ok(first === undefined, `agent ${first?.by} reports agent ${first?.failed.position}, which lives`);
  checkSuspicions(run);
  if (!model.agent(position).isAlive) return;
  checkCostLater(run);
  // The agent watches, and is watched, as before; so is one that joins later.
  if (size <= GROWING_SIZE_MAX && seed % 2 === 1) {
    model.grow();
    model.run(model.nowMs + 2 * run.settleMs);
    checkReported(run, size);
  }
  const watched = model.living.find((one) => one > position) ?? model.living.find((one) => one > 0 && one < position);
  if (watched !== undefined) checkReported(run, watched);
  checkReported(run, position);
}

/** Strange bodies of messages, by their text. */
export const STRANGE: ReadonlyMap<string, unknown> = new Map([
  undefined, null, 0, -1, 1.5, NaN, true, 'ping', '', [], [[]], {}, { type: 'ping' }, { type: 'answer', n: -1 },
  { type: 'heartbeat', lagMs: -1 }, { type: 'heartbeat', lagMs: 'x' }, { type: 'round', hops: 1e300 }, { type: {} },
  { type: 'ping', n: 1, rumours: [[0, 0, 1, 1e300]] }, { type: 'ping-for', n: 1, position: -1, rumours: [] },
  new Uint8Array(3),
].map((body): [string, unknown] => [bodyText(body), body]));

function bodyText(body: unknown): string {
  if (body instanceof Uint8Array) return `${body.length} bytes`;
  return Number.isNaN(body) || body === undefined ? String(body) : JSON.stringify(body);
}

function checkStrange({ run, size, example: { body: only } }: Started): void {
  const { model, steadyMs, detection } = run;
  const to = model.below(size);
  const neighbour = model.agent((to + 1) % size).member;
  for (const [text, body] of STRANGE) {
    if (only !== undefined && text !== only) continue;
    for (const from of [{ ...neighbour, incarnation: 0 }, neighbour]) {
      model.at(steadyMs + model.random() * detection.maxMs, () => model.give(to, { type: 'message', from, body }));
    }
  }
  if (only === undefined) {
    for (const incarnation of [0, 1]) {
      model.at(steadyMs, () => model.give(to, { type: 'gone', member: { position: 999_998, incarnation } }));
      model.at(steadyMs, () => model.give(to, { type: 'over', id: 77 }));
    }
  }
  model.run(steadyMs + 6 * detection.maxMs);
  checkNobody(model);
}

/** Misses only while somebody is silent; and all that is declared once an agent stood still, a link ended, one died. */
function checkMetrics(module: DetectorModule, one: DetectorCase, size: number, only: number | undefined): void {
  const counted = new Set<string>();
  const seeds = only === undefined ? Array.from({ length: seedsOf(one) }, (_, index) => index + 1) : [only];
  for (const seed of seeds) {
    const { model, steadyMs, detection: { minMs, maxMs }, ...run } = new DetectorRun(module, one, size, seed);
    model.run(steadyMs + maxMs);
    assert.is(model.counted.get('misses') ?? 0, 0, 'misses while nobody is silent');
    model.freeze(3, minMs / 2);
    const closed = { type: 'link', peer: model.agent(4).member, state: 'closed', reason: 'lost', text: '' } as const;
    if (one.links !== undefined) model.give(2, closed);
    model.run(model.nowMs + 4 * maxMs);
    model.crash(5);
    model.run(model.nowMs + maxMs + run.latencyBoundMs + 1);
    if ('misses' in module.metrics) assert.ok(model.counted.has('misses'), 'no misses, though an agent is dead');
    for (const metric of model.counted.keys()) counted.add(metric);
  }
  if (only !== undefined) return;
  const missing = Object.keys(module.metrics).filter((metric) => !counted.has(metric));
  assert.equal(missing, [], `declared, and not counted: ${missing.join(', ')}`);
}

/** Again, at another time and while detectors with other parameters run. */
function checkSame(
  module: DetectorModule, one: DetectorCase, example: DetectorExample, others: readonly DetectorModule[],
): void {
  const first = elsewhere(() => traceOf(module, one, example, []));
  assert.ok(first.length > 0, 'nothing happens');
  for (const other of [module, ...others]) {
    const second = elsewhere(() => traceOf(module, one, example, [other]));
    const at = first.findIndex((line, index) => line !== second[index]);
    assert.ok(at < 0, `once: ${first[at]}, then: ${second[at]}`);
    assert.is(second.length, first.length, 'the second run is longer');
  }
}

function traceOf(
  module: DetectorModule, one: DetectorCase, { size = 2, seed = 1, deaths = [] }: DetectorExample,
  others: readonly DetectorModule[],
): string[] {
  const state = { isOver: false };
  const topologyOf = ownTopology(one.topology, state);
  const run = new DetectorRun(module, one, size, seed, { topologyOf });
  const { model, steadyMs, latencyBoundMs, detection: { minMs, maxMs } } = run;
  const beside = others.map((other) => new DetectorModel({
    module: other, size: size + 3, seed: seed + 1, latencyBoundMs, topologyOf: one.topology, startMs: maxMs,
  }));
  const seen: string[] = [];
  model.trace = (line) => seen.push(line);
  for (const { position, atMs } of deaths) model.at(steadyMs + atMs, () => model.crash(position));
  model.at(steadyMs, () => model.freeze(size - 1, minMs / 3));
  change(model, 1, steadyMs + 1.2 * maxMs, maxMs);
  for (const other of beside) {
    other.at(other.nowMs + steadyMs - maxMs / 5, () => other.crash(size - 2));
    // Between both changes of the other one.
    change(other, 2, other.nowMs + steadyMs + 1.35 * maxMs, maxMs);
  }
  for (const endMs = steadyMs + 3 * maxMs; model.nowMs < endMs;) {
    model.run(model.nowMs + maxMs / 7);
    for (const other of beside) if (other.messages < BESIDE_MESSAGES_MAX) other.run(other.nowMs + maxMs / 7);
  }
  state.isOver = true;
  return seen;
}

/** A member is reported, and lives all the same; and another joins. */
function change(model: DetectorModel, position: Position, atMs: number, durationMs: number): void {
  for (const [type, share] of [['gone', 0], ['refuted', 1 / 4]] as const) {
    model.at(atMs + share * durationMs, () => {
      const { member } = model.agent(model.living.find((one) => one >= position) ?? 0);
      for (const told of model.living) if (told !== member.position) model.give(told, { type, member });
    });
  }
  model.at(atMs + durationMs / 2, () => model.grow());
}
