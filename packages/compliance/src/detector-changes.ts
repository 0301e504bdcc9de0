/** What a detector promises of agents that join, leave and come back, and of links that end: checks of one example. */

import type { MemberId, Position } from '@stci/interface';
import * as assert from './assert.js';
import { checkCost, checkDeath, checkNobody, checkReports, checkSuspicions, type Started } from './detector-judge.js';

export function checkJoined({ run, size }: Started): void {
  const { model, settleMs } = run;
  model.run(run.steadyMs);
  model.grow();
  model.run(model.nowMs + 2 * settleMs);
  checkNobody(model);
  checkDeath(run, size);
}

export function checkLeft({ run, example: { leaves, deaths: [death] = [] } }: Started): void {
  const { model, settleMs } = run;
  model.run(run.steadyMs);
  if (leaves !== undefined) model.leave(leaves);
  model.run(model.nowMs + 3 * settleMs);
  checkNobody(model);
  checkSuspicions(run);
  if (death !== undefined) checkDeath(run, death.position);
}

export function checkRefuted({ run, example: { deaths: [death] = [] } }: Started): void {
  const { model, settleMs, detection: { minMs } } = run;
  if (death === undefined) return;
  const { member } = model.agent(death.position);
  model.run(run.steadyMs);
  // As an agent is told whose link to its parent is back.
  for (const position of model.living) {
    if (position > 0) model.give(position, { type: 'refuted', member: model.agent(0).member });
  }
  // Soon, so that it does not hold others for dead meanwhile; it is not told itself.
  for (const type of ['gone', 'refuted'] as const) {
    for (const position of model.living) if (position !== death.position) model.give(position, { type, member });
    if (type === 'gone') model.run(model.nowMs + minMs / 8);
  }
  model.give(death.position, { type: 'refuted', member });
  model.run(model.nowMs + 3 * settleMs);
  checkNobody(model);
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
  if (!run.isWaiting) checkCost(run, size);
  checkNobody(model);
  checkDeath(run, size - 1);
}

export function checkRestart({ run, example: { deaths: [death] = [], downMs = 0 } }: Started): void {
  const { model, steadyMs, detection } = run;
  if (death === undefined) return;
  const { position } = death;
  const diesMs = steadyMs + death.atMs;
  model.at(diesMs, () => model.crash(position));
  model.at(diesMs + downMs, () => model.restart(position));
  const againMs = diesMs + downMs + 2 * run.settleMs;
  model.run(againMs);
  const wrong = model.reports.find(({ failed }) => failed.incarnation > 1 || failed.position !== position);
  assert.ok(wrong === undefined, `agent ${wrong?.by} reports agent ${wrong?.failed.position}, which lives again`);
  if (run.promise.detection === undefined) run.waitForAll();
  model.crash(position);
  model.run(againMs + detection.maxMs + run.settleMs + run.latencyBoundMs + 1);
  const isReported = model.reports.some(({ failed }) => failed.incarnation === 2);
  assert.ok(isReported, `the death of incarnation 2 of agent ${position} is not reported`);
  checkReports(model);
}
