/** What a detector promises of agents that join, leave and come back, and of links that end: checks of one example. */

import type { MemberId, Position } from '@stci/interface';
import * as assert from '../kit/assert.js';
import {
  checkCost, checkCostLater, checkDeath, checkNobody, checkReports, checkSuspicions, type Started,
} from './detector-judge.js';
import type { DetectorRun } from './detector-run.js';

/** Share of the time that an agent may take for its first sign of life. */
export const LATE_SHARE = 0.75;

/** Largest size at which, with one seed, more than two join. */
const MANY_JOIN_SIZE_MAX = 3;
const MORE_JOIN = 3;

/** Two join, the first also while others start; at once, or the second soon, or when the first is under way. */
export function checkJoined({ run, size, example: { seed = 1 } }: Started): void {
  const { model, settleMs, graceMs } = run;
  if (seed % 3 !== 0) model.run(run.steadyMs);
  model.grow(LATE_SHARE * graceMs);
  if (seed % 2 === 0) model.run(model.nowMs + settleMs / (seed % 4 === 0 ? 3 : 1));
  model.grow();
  const more = seed === 2 && size <= MANY_JOIN_SIZE_MAX && !run.hasLinks ? MORE_JOIN : 0;
  for (let count = 0; count < more; count++) {
    model.run(model.nowMs + settleMs / 5);
    model.grow();
  }
  model.run(Math.max(run.steadyMs, model.nowMs) + 2 * settleMs);
  checkNobody(model);
  checkCostLater(run);
  if (more > 0) checkDeath(run, size + 1 + more);
  for (const joined of seed % 2 === 0 ? [size, size + 1] : [size + 1, size]) checkDeath(run, joined);
}

/** One leaves, others are told of it before they start, or have never known it. Later its place is taken. */
export function checkLeft({ run, example: { leaves, leftEarly, absent, deaths: [death] = [] } }: Started): void {
  const { model, settleMs } = run;
  if (leftEarly !== undefined) model.leaveEarly(leftEarly);
  const isLater = leaves !== undefined;
  model.onSend = (from, to) => {
    assert.ok(isLater || model.agent(to).isAlive, `agent ${from} sends to agent ${to}, which has left before`);
  };
  model.run(run.steadyMs);
  if (isLater) model.leave(leaves);
  model.run(model.nowMs + 3 * settleMs);
  checkNobody(model);
  checkSuspicions(run);
  model.onSend = undefined;
  if (death !== undefined) checkDeath(run, death.position);
  const left = leaves ?? leftEarly ?? absent?.[0];
  if (left === undefined) return;
  model.restart(left);
  model.run(model.nowMs + 2 * settleMs);
  const isReported = model.reports.some(({ failed }) => failed.position === left);
  assert.ok(!isReported, `agent ${left}, which has come back, is reported`);
  checkDeath(run, left);
}

/** Refutes more than once, and one that had come back, too. */
export function checkRefuted({ run, size, example: { seed = 1, deaths: [death] = [] } }: Started): void {
  const { model, settleMs, detection: { minMs } } = run;
  if (death === undefined) return;
  // Events of any type may come before the start.
  for (const position of seed % 4 === 1 ? model.living : []) {
    if (position > 0) model.give(position, { type: 'refuted', member: model.agent(0).member });
  }
  model.run(run.steadyMs);
  if (seed % 2 === 0) {
    model.restart(death.position);
    model.run(model.nowMs + 2 * settleMs);
  }
  const { member } = model.agent(death.position);
  // As an agent is told whose link to its parent is back.
  for (const position of model.living) {
    if (position > 0) model.give(position, { type: 'refuted', member: model.agent(0).member });
  }
  for (let times = 0; times < 1 + (seed % 3 === 0 ? 1 : 0) + (seed === 3 && size <= 3 ? 1 : 0); times++) {
    // Soon, so that it does not hold others for dead meanwhile; it is not told itself.
    for (const type of ['gone', 'refuted'] as const) {
      for (const position of model.living) if (position !== death.position) model.give(position, { type, member });
      if (type === 'gone') model.run(model.nowMs + minMs / 8);
    }
    model.give(death.position, { type: 'refuted', member });
    model.run(model.nowMs + 3 * settleMs);
  }
  checkNobody(model);
  checkCostLater(run);
  checkDeath(run, death.position);
}

const ENDS = [['goodbye', false], ['local', false], ['lost', true], ['silent', true]] as const;

export function checkLinks({ run, size, example: { seed = 1 } }: Started): void {
  const { model, settleMs, latencyBoundMs } = run;
  const each = (tell: (at: Position, peer: MemberId) => void): void => {
    for (let position = 1; position < size; position++) {
      const parent = (position - 1) >> 1;
      tell(position, model.agent(parent).member);
      tell(parent, model.agent(position).member);
    }
  };
  const up = (): void => each((at, peer) => model.give(at, { type: 'link', peer, state: 'up' }));
  model.at(model.nowMs, up);
  model.run(run.steadyMs);
  for (const [reason, isSuspect] of ENDS) {
    const before = model.suspected;
    each((at, peer) => model.give(at, { type: 'link', peer, state: 'closed', reason, text: '' }));
    model.run(model.nowMs + (seed % 2) * latencyBoundMs);
    up();
    model.run(model.nowMs + settleMs);
    assert.ok(isSuspect || model.suspected === before, `agents are suspected whose links ended with ${reason}`);
  }
  model.run(model.nowMs + 3 * settleMs);
  checkSuspicions(run);
  if (!run.isWaiting) checkCost(run);
  checkNobody(model);
  checkDeath(run, size - 1);
}

/** Once; with every fourth seed twice: news of its last incarnation may come late. */
export function checkRestart({ run, example: { seed = 1, deaths: [death] = [], downMs = 0 } }: Started): void {
  if (death === undefined) return;
  const { position } = death;
  run.model.at(run.steadyMs + death.atMs, () => run.model.crash(position));
  run.model.run(run.steadyMs + death.atMs);
  for (let incarnation = 2; incarnation < (seed % 4 === 1 ? 4 : 3); incarnation++) {
    checkComeback(run, { position, incarnation }, downMs);
  }
  checkReports(run.model);
}

/** The member has died just before; another incarnation of it comes. */
function checkComeback(run: DetectorRun, { position, incarnation }: MemberId, downMs: number): void {
  const { model, detection } = run;
  const backMs = model.nowMs + downMs;
  model.at(backMs, () => model.restart(position));
  const old = { type: 'gone', member: { position, incarnation: incarnation - 1 } } as const;
  model.at(backMs + run.settleMs, () => model.living.forEach((told) => model.give(told, old)));
  model.run(backMs + 2 * run.settleMs);
  const wrong = model.reports.find(({ failed }) => failed.incarnation >= incarnation || failed.position !== position);
  assert.ok(wrong === undefined, `agent ${wrong?.by} reports agent ${wrong?.failed.position}, which lives again`);
  checkCostLater(run);
  if (run.promise.detection === undefined) run.waitForAll();
  model.crash(position);
  model.run(model.nowMs + detection.maxMs + run.settleMs + run.latencyBoundMs + 1);
  const isReported = model.reports.some(({ failed }) => failed.incarnation === incarnation);
  assert.ok(isReported, `the death of incarnation ${incarnation} of agent ${position} is not reported`);
}
