/** Detector component `ring`: a ring of heartbeats (IJHPCA, algorithm 1). */

import {
  DETECTOR_MESSAGE_BYTES, acceptNamed, defineComponent, detectorFramework, durationParam, notifierParam, perSecond,
  timeoutProblem,
} from '@stci/core/component';
import { param, type DetectorModule, type ParamValue } from '@stci/interface';
import { ORDER_FORM, orderProblem, parseOrder } from './order.js';
import { Ring, leadMs, type RingSettings } from './ring.js';

export { ORDER_FORM, orderProblem, orderRing, parseOrder, spreadCabinets, type RingOrder } from './order.js';

/** The papers' ratio for shared machines (IJHPCA, 5.3). */
const TIMEOUT_PERIODS = 10;
/** Length of `{type: 'heartbeat', lagMs: 0}` as CBOR. */
const HEARTBEAT_BYTES = 23;

type Params = Readonly<Record<string, ParamValue>>;

function timesOf(params: Params): { readonly periodMs: number; readonly timeoutMs: number } {
  const periodMs = params['period'] as number;
  return { periodMs, timeoutMs: (params['timeout'] as number) || TIMEOUT_PERIODS * periodMs };
}

function problemOf(params: Params): string | undefined {
  const { periodMs, timeoutMs } = timesOf(params);
  if (parseOrder(params['order'] as string) === undefined) {
    return `detector.ring.order = '${String(params['order'])}' is no order. Expected ${ORDER_FORM}`;
  }
  return timeoutProblem('ring', periodMs, timeoutMs);
}

function createRing(params: Params): DetectorModule {
  const times = timesOf(params);
  const { periodMs, timeoutMs } = times;
  const settings: RingSettings = {
    ...times,
    graceMs: params['grace'] as number,
    lagMaxMs: params['lag.max'] as number,
    reconnectTimeouts: params['reconnect'] as number,
    order: parseOrder(params['order'] as string) ?? { type: 'rank' },
  };
  const { lagMaxMs, reconnectTimeouts } = settings;
  return {
    watches: 'agents',
    topology: '',
    metrics: {
      heartbeats: { type: 'counter', help: 'Heartbeats sent.' },
      misses: { type: 'counter', help: 'Heartbeats that did not come in their period.' },
      lag_ms: { type: 'histogram', help: 'How late the emitter of a heartbeat says that it ran.' },
    },
    promise: ({ members, latencyBoundMs, answerMs }) => {
      // The last heartbeat went at most a period before the failure, and took at most the latency's bound.
      const detection = { minMs: Math.max(0, timeoutMs - periodMs), maxMs: timeoutMs + latencyBoundMs };
      const rate = members > 1 ? perSecond(periodMs) : 0;
      return {
        detection,
        leadMs: leadMs(times, answerMs),
        messagesPerSecond: rate,
        bytesPerSecond: rate * (DETECTOR_MESSAGE_BYTES + HEARTBEAT_BYTES),
        text: `A dead agent is reported after ${detection.minMs} to ${detection.maxMs} ms, up to ${lagMaxMs} ms later `
          + `if it ran late before; each neighbour that died with it ${reconnectTimeouts * timeoutMs} ms later.`,
      };
    },
    problemFor: (hosts) => {
      const problem = orderProblem(settings.order, hosts);
      return problem && `detector.ring.order = '${String(params['order'])}': ${problem}`;
    },
    open: (init) => new Ring(init, settings),
  };
}

export const detectorRing = defineComponent({
  framework: detectorFramework,
  name: 'ring',
  version: '1.0.0',
  frameworkVersion: 2,
  help: 'A ring of heartbeats over all agents: one message a period and agent, however many there are.',
  params: {
    notifier: notifierParam,
    period: durationParam(500, 'Time between two heartbeats. Shorter makes the bound tighter (timeout - period), '
      + 'longer costs fewer messages.'),
    timeout: durationParam(0, `Silence after which an agent is reported, longer than the period; 0 is `
      + `${TIMEOUT_PERIODS} x period. Longer forgives busy hosts, shorter finds dead agents sooner.`, 0),
    grace: durationParam(10_000, 'How much longer an agent that starts may take for its first heartbeat.', 0),
    'lag.max': durationParam(1000, 'Most time that an agent is granted because it ran late before, by its own measure.',
      0),
    reconnect: param.int(2, [1, 100], 'Timeouts that the next agent on the ring has for its first heartbeat after one '
      + 'was reported. The papers have 2; 1 finds neighbours that died together in half the time.'),
    order: {
      type: 'string',
      default: 'rank',
      hostGroupsAs: 'cabinets:',
      help: `Order of the ring: ${ORDER_FORM}. With cabinets, neighbours share none where possible, so that the loss of`
        + ' a cabinet is found in one timeout. A file has a line `HOSTS CABINET` for hosts of each cabinet.',
    },
  },
  query: (context) => acceptNamed(context, problemOf(context.params)),
  create: (_deps, params) => createRing(params),
});
