/** What the selected detectors promise, and what they cost, for people and programs. */

import type { DetectionInterval, DetectorPromise, PromiseRequest } from '@stci/interface';
import type { SelectedDetector } from './selected.js';

export interface NamedPromise extends DetectorPromise {
  readonly detector: string;
  /** From the failure until all agents have been told that the controller gives the host up; undefined: see `text`. */
  readonly decision?: DetectionInterval;
}

export function detectorPromises(detectors: readonly SelectedDetector[], request: PromiseRequest): NamedPromise[] {
  return detectors.map(({ name, module }) => {
    const promise = module.promise(request);
    const { detection, leadMs = 0 } = promise;
    // The report goes to the controller, which has asked the agent since it was suspected; its decision goes to all.
    const moreMs = Math.max(0, request.answerMs - leadMs) + 2 * request.latencyBoundMs;
    const decision = detection && { minMs: detection.minMs, maxMs: detection.maxMs + moreMs };
    return { detector: name, ...promise, ...(module.watches === 'agents' && decision && { decision }) };
  });
}

/** `detector ring: …; 2 messages and 160 bytes a second and agent`. */
export function promiseText({ detector, text, decision, messagesPerSecond, bytesPerSecond }: NamedPromise): string {
  const told = decision === undefined ? '' : ` Its ranks are told of as lost ${rounded(decision.maxMs)} ms after it`
    + ' failed, at the latest.';
  const cost = messagesPerSecond === 0 ? '' : ` It sends ${rounded(messagesPerSecond)} messages, `
    + `${rounded(bytesPerSecond)} bytes, a second and agent.`;
  return `detector ${detector}: ${text}${told}${cost}`;
}

function rounded(value: number): number {
  return value >= 100 ? Math.round(value) : Number(value.toPrecision(3));
}
