/** What the checks of a detector's promises share: a run, its cost, who is reported and suspected. */

import { DETECTOR_MESSAGE_BYTES } from '@stci/core/component';
import type { Position } from '@stci/interface';
import * as assert from '../kit/assert.js';
import type { DetectorExample } from './detector-contract.js';
import type { DetectorModel } from './detector-model.js';
import type { DetectorRun } from './detector-run.js';

const COST_SIZE_MAX = 4;

export interface Started {
  readonly run: DetectorRun;
  readonly size: number;
  readonly example: DetectorExample;
}

/** Nothing happens for some time, while all live: no more is sent than promised. */
export function checkCost(run: DetectorRun): { readonly messages: number } {
  const { model, detection } = run;
  const size = model.living.length;
  const promise = run.promiseFor(size);
  const before = { messages: model.messages, bytes: model.bodyBytes };
  const durationMs = 4 * detection.maxMs;
  model.run(model.nowMs + durationMs);
  const seconds = (size * durationMs) / 1000;
  const messages = model.messages - before.messages;
  const bytes = messages * DETECTOR_MESSAGE_BYTES + model.bodyBytes - before.bytes;
  // A period may begin or end at the measurement's.
  const allowed = promise.messagesPerSecond === 0 ? 0 : 1.05 * promise.messagesPerSecond * seconds + 3 * size;
  assert.ok(messages <= allowed, `${messages} messages, promised ${promise.messagesPerSecond * seconds}`);
  const perMessage = promise.bytesPerSecond / promise.messagesPerSecond;
  const isWithin = messages === 0 || bytes <= 1.1 * perMessage * messages;
  assert.ok(isWithin, `${bytes / messages} bytes a message, promised ${perMessage}`);
  return { messages };
}

/** Where it does not take long, and nobody waits for an answer: later it costs no more than in the beginning. */
export function checkCostLater(run: DetectorRun): void {
  if (run.model.living.length <= COST_SIZE_MAX && !run.isWaiting) checkCost(run);
}

/** Who lives is not suspected for long. */
export function checkSuspicions({ model, detection, latencyBoundMs }: DetectorRun): void {
  const [old] = model.suspicions(2 * (detection.maxMs + latencyBoundMs));
  assert.ok(old === undefined, `agent ${old?.by} goes on suspecting agent ${old?.position}, which lives`);
}

/** The agent dies now; its death is reported in time. Who lives is not reported. */
export function checkDeath(run: DetectorRun, position: Position): void {
  checkReported(run, position);
  checkReports(run.model);
}

export function checkReported(run: DetectorRun, position: Position): void {
  const { model, detection: { maxMs }, latencyBoundMs, settleMs } = run;
  if (run.promise.detection === undefined) run.waitForAll();
  model.crash(position);
  model.run(model.nowMs + maxMs + settleMs + latencyBoundMs + 1);
  assert.ok(run.delayOf(position) !== undefined, `the death of agent ${position} is not reported`);
}

export function checkNobody(model: DetectorModel): void {
  const [wrong] = model.reports;
  assert.ok(wrong === undefined, `agent ${wrong?.by} reports agent ${wrong?.failed.position}, and nobody died`);
}

/** Only the dead are reported, and nobody twice by the same agent. */
export function checkReports(model: DetectorModel): void {
  const wrong = model.reports.find(({ isAlive }) => isAlive);
  assert.ok(wrong === undefined, `agent ${wrong?.by} reports agent ${wrong?.failed.position}, which lives`);
  const seen = new Set<string>();
  for (const { by, failed } of model.reports) {
    const key = `${by}: ${failed.position}#${failed.incarnation}`;
    assert.ok(!seen.has(key), `agent ${by} reports agent ${failed.position} twice`);
    seen.add(key);
  }
}
