/** What the selected detectors promise, and what they cost, for people and programs. */

import type { DetectorPromise } from '@stci/interface';
import type { SelectedDetector } from './selected.js';

export interface NamedPromise extends DetectorPromise {
  readonly detector: string;
}

/** For so many agents, the controller counted, as long as a message takes at most `latencyBoundMs`. */
export function detectorPromises(
  detectors: readonly SelectedDetector[],
  members: number,
  latencyBoundMs: number,
): NamedPromise[] {
  return detectors.map(({ name, module }) => ({ detector: name, ...module.promise({ members, latencyBoundMs }) }));
}

/** `detector ring: …; 2 messages and 160 bytes a second and agent`. */
export function promiseText({ detector, text, messagesPerSecond, bytesPerSecond }: NamedPromise): string {
  const cost = messagesPerSecond === 0 ? '' : ` It sends ${rounded(messagesPerSecond)} messages, `
    + `${rounded(bytesPerSecond)} bytes, a second and agent.`;
  return `detector ${detector}: ${text}${cost}`;
}

function rounded(value: number): number {
  return value >= 100 ? Math.round(value) : Number(value.toPrecision(3));
}
