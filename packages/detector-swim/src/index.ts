/** Detector component `swim`: random probing with suspicion and refutation (SWIM; memberlist). */

import {
  DETECTOR_MESSAGE_BYTES, acceptNamed, defineComponent, detectorFramework, durationParam, notifierParam, perSecond,
} from '@stci/core/component';
import { param, type DetectorModule, type ParamValue } from '@stci/interface';
import { Swim, type SwimSettings } from './swim.js';

type Params = Readonly<Record<string, ParamValue>>;

/** Length of `{type: 'answer', n: 4294967295, rumours: []}` as CBOR. */
const BODY_BYTES = 30;

function settingsOf(params: Params): SwimSettings {
  const periodMs = params['period'] as number;
  const factor = params['suspicion.factor'] as number;
  return {
    periodMs,
    timeoutMs: (params['timeout'] as number) || Math.ceil(periodMs / 2),
    indirect: params['indirect'] as number,
    graceMs: params['grace'] as number,
    // As memberlist has it: rumours need more rounds where there are more members.
    suspicionMs: (members) => Math.ceil(factor * Math.max(1, Math.log10(members)) * periodMs),
  };
}

function problemOf({ periodMs, timeoutMs }: SwimSettings): string | undefined {
  if (timeoutMs < periodMs) return undefined;
  return `detector.swim.timeout = ${timeoutMs} ms is not shorter than detector.swim.period = ${periodMs} ms: else no `
    + 'time is left for probes through others. Lower the timeout or raise the period';
}

function createSwim(params: Params): DetectorModule {
  const settings = settingsOf(params);
  const { periodMs, timeoutMs } = settings;
  return {
    watches: 'agents',
    topology: '',
    metrics: {
      pings: { type: 'counter', help: 'Pings sent, one a period.' },
      misses: { type: 'counter', help: 'Answers, through others too, that did not come in their period.' },
      round_trip_ms: { type: 'histogram', help: 'From a ping to its answer, through others too.' },
      refutations: { type: 'counter', help: 'Suspicions of this agent that it refuted.' },
    },
    promise: ({ members, latencyBoundMs }) => {
      const suspicionMs = settings.suspicionMs(members);
      // At the latest, every agent had it first in a round, and has it last in the next one; and who suspected it first
      // dies as well: the others wait for his report for the timeout.
      const roundsMs = 2 * Math.max(1, members - 1) * periodMs;
      const minMs = suspicionMs + periodMs - 2 * latencyBoundMs;
      const maxMs = roundsMs + periodMs + suspicionMs + timeoutMs + latencyBoundMs;
      const detection = { minMs: Math.max(0, minMs), maxMs };
      const rate = members > 1 ? 2 * perSecond(periodMs) : 0;
      // Of n - 1 agents, none picks the dead one in a period with the probability 1/e: 1.6 periods in the mean.
      const meanMs = Math.round(1.6 * periodMs + periodMs + suspicionMs);
      return {
        detection,
        leadMs: suspicionMs,
        messagesPerSecond: rate,
        bytesPerSecond: rate * (DETECTOR_MESSAGE_BYTES + BODY_BYTES),
        text: `A dead agent is reported after ${meanMs} ms in the mean, ${detection.maxMs} ms at the latest.`,
      };
    },
    open: (init) => new Swim(init, settings),
  };
}

export const detectorSwim = defineComponent({
  framework: detectorFramework,
  name: 'swim',
  version: '1.0.0',
  frameworkVersion: 2,
  help: 'Random probing as in SWIM and memberlist: no order among agents, and suspicions that can be refuted.',
  params: {
    notifier: notifierParam,
    period: durationParam(1000, 'Time between two probes of an agent, each of a random other. Shorter finds dead '
      + 'agents sooner, longer costs fewer messages.', 2),
    timeout: durationParam(0, 'How long an answer is awaited before others are asked to probe, shorter than the '
      + 'period; 0 is half a period.', 0),
    indirect: param.int(3, [0, 64], 'How many others are asked to probe a silent agent.'),
    'suspicion.factor': param.int(4, [1, 1000], 'A suspected agent has factor x max(1, log10 of the number of agents) '
      + 'x period to refute. More forgives busy hosts, less finds dead agents sooner.'),
    grace: durationParam(10_000, 'How long after the start, or after another agent joined, nobody is suspected.', 0),
  },
  query: (context) => acceptNamed(context, problemOf(settingsOf(context.params))),
  create: (_deps, params) => createSwim(params),
});
