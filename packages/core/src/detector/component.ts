/** What the components of framework `detector` share: parameters, and how they are chosen. */

import { accept, decline, param } from '@stci/interface';
import type { ParamSpec, QueryContext, Verdict } from '@stci/interface';

/** Frame header and the detector's name of one message, before encryption; its body comes on top. */
export const DETECTOR_MESSAGE_BYTES = 60;

/** Parameter `notifier` of each detector. */
export const notifierParam = param.text('auto', 'Notifier that tells all agents what it found; auto is lazy where the '
  + 'session has an overlay, else tree.');

/** Duration of a detector, ms. */
export function durationParam(defaultMs: number, help: string, min = 1): ParamSpec {
  return param.duration(defaultMs, [min, 3_600_000], help);
}

/** For `query` of a detector that costs something: only by name, with parameters that fit together. */
export function acceptNamed({ named }: QueryContext, problem: string | undefined): Verdict {
  if (named !== true) return decline('only by name');
  return problem === undefined ? accept(50) : decline(problem, 'STCI_PARAM_INVALID');
}

/** What is wrong with a timeout that is not longer than its period. */
export function timeoutProblem(detector: string, periodMs: number, timeoutMs: number): string | undefined {
  if (timeoutMs > periodMs) return undefined;
  return `detector.${detector}.timeout = ${timeoutMs} ms is not longer than detector.${detector}.period = `
    + `${periodMs} ms: else agents that live would be reported. Raise the timeout or lower the period`;
}

export function perSecond(periodMs: number): number {
  return 1000 / periodMs;
}
