/** Time for an answer of an agent about which there is doubt. */

import type { Params, PromiseRequest } from '@stci/interface';

/** How long an agent may take to answer, as a multiple of the expected latency: it may be busy. */
export const PROBE_LATENCIES = 10;

/** Time for an answer of an agent about which there is doubt; there is time left to link those below to another. */
export function probeMs(params: Params): number {
  return Math.min(PROBE_LATENCIES * Math.max(1, params.int('detector.latency')), params.int('bootcom.lease') / 4);
}

/** What detectors promise so many agents, the controller counted, depends on this. */
export function promiseRequest(params: Params, members: number): PromiseRequest {
  return { members, latencyBoundMs: params.int('detector.latency'), answerMs: probeMs(params) };
}
