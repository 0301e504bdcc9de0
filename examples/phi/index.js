// @ts-check
/** Detector component `phi`: how unlikely a neighbour's silence has become, by how regularly it has answered. */

import {
  DETECTOR_MESSAGE_BYTES, acceptNamed, defineComponent, detectorFramework, notifierParam, perSecond,
} from '@stci/core/component';
import { deviationsOf } from './arrivals.js';
import { Phi } from './phi.js';

/** Bytes of the body of a ping or an answer. */
const BODY_BYTES = 7;
/** Links of a position of the default topology. */
const NEIGHBOURS_MAX = 6;
/** Bounds of the mean, and of the standard deviation, in periods. */
const [MEAN_MIN, MEAN_MAX, DEVIATION_MIN, DEVIATION_MAX] = [1, 1.5, 0.25, 0.75];

/**
 * @param {Readonly<Record<string, import('@stci/interface').ParamValue>>} params
 * @returns {import('./phi.js').Settings}
 */
function settingsOf(params) {
  const periodMs = Number(params['period']);
  const reportDeviations = deviationsOf(Number(params['threshold']));
  return {
    periodMs,
    reportDeviations,
    suspectDeviations: reportDeviations / 2,
    graceMs: Number(params['grace']),
    bounds: {
      meanMinMs: MEAN_MIN * periodMs,
      meanMaxMs: MEAN_MAX * periodMs,
      deviationMinMs: DEVIATION_MIN * periodMs,
      deviationMaxMs: DEVIATION_MAX * periodMs,
    },
  };
}

/** @type {import('@stci/interface').ParamSpecs} */
const params = {
  notifier: notifierParam,
  topology: {
    type: 'string',
    default: 'mesh',
    help: 'Topology whose neighbours ping one another, as --overlay has it.',
  },
  period: {
    type: 'duration', default: 500, min: 10, max: 3_600_000,
    help: 'Time between two pings of a neighbour. Shorter finds dead agents sooner, longer costs fewer messages.',
  },
  threshold: {
    type: 'int', default: 8, min: 1, max: 16,
    help: 'Phi at which a neighbour is reported: its next answer would come later once in 10^phi times. Lower reports '
      + 'sooner, higher wrongs fewer.',
  },
  grace: {
    type: 'duration', default: 10_000, min: 0, max: 3_600_000,
    help: 'How much longer an agent that starts may take for its first answer.',
  },
};

export const detectorPhi = defineComponent({
  framework: detectorFramework,
  name: 'phi',
  version: '1.0.0',
  frameworkVersion: 2,
  help: 'Each agent learns how regularly its neighbours answer, and reports one whose silence has become too unlikely.',
  params,
  query: (context) => acceptNamed(context, undefined),
  create: (_deps, given) => {
    const settings = settingsOf(given);
    const { periodMs, reportDeviations, bounds } = settings;
    return {
      watches: 'agents',
      topology: String(given['topology']),
      metrics: {
        pings: { type: 'counter', help: 'Pings sent.' },
        arrivals_ms: { type: 'histogram', help: 'Time between two answers of a neighbour.' },
      },
      promise: ({ members, latencyBoundMs }) => {
        // The last answer came at most a period and a round trip before the failure, or a message's time after it.
        const soonest = bounds.meanMinMs + reportDeviations * bounds.deviationMinMs - periodMs - 2 * latencyBoundMs;
        const latest = bounds.meanMaxMs + reportDeviations * bounds.deviationMaxMs + latencyBoundMs;
        const detection = { minMs: Math.max(0, Math.floor(soonest)), maxMs: Math.ceil(latest) };
        const rate = 2 * Math.min(members - 1, NEIGHBOURS_MAX) * perSecond(periodMs);
        return {
          detection,
          messagesPerSecond: rate,
          bytesPerSecond: rate * (DETECTOR_MESSAGE_BYTES + BODY_BYTES),
          text: `A dead agent is reported after ${detection.minMs} to ${detection.maxMs} ms, by each neighbour.`,
        };
      },
      open: (init) => new Phi(init, settings),
    };
  },
});
