// @ts-check
/**
 * Detector `sample`: each agent watches the next one that is alive, in a ring by position, by pings and their answers.
 * A `Prober` does the pinging; whom to ping is decided here. Pure: events and the time go in, actions come out.
 */

import {
  DETECTOR_MESSAGE_BYTES, PROBE_BYTES, PROBE_METRICS, Prober, acceptNamed, defineComponent,
  detectorFramework, durationParam, notifierParam, perSecond, readProbe, timeoutProblem,
} from '@stci/core/component';

/** @type {(params: Readonly<Record<string, unknown>>) => { periodMs: number, timeoutMs: number, confirmMs: number }} */
const timesOf = (params) => {
  const periodMs = Number(params['period']);
  return { periodMs, timeoutMs: Number(params['timeout']), confirmMs: periodMs };
};

export const component = defineComponent({
  framework: detectorFramework,
  name: 'sample',
  version: '1.0.0',
  frameworkVersion: 2,
  help: 'Each agent pings the next one that is alive.',
  params: {
    notifier: notifierParam,
    period: durationParam(500, 'Time between two pings of an agent.'),
    timeout: durationParam(5000, 'Silence after which an agent is suspected; it is reported a period later.'),
  },
  query: (context) => {
    const { periodMs, timeoutMs } = timesOf(context.params);
    return acceptNamed(context, timeoutProblem('sample', periodMs, timeoutMs));
  },
  create: (_deps, params) => {
    const times = timesOf(params);
    const { periodMs, timeoutMs, confirmMs } = times;
    /** @type {import('@stci/interface').DetectorModule} */
    const module = {
      watches: 'agents',
      topology: '',
      metrics: PROBE_METRICS,
      promise: ({ members, latencyBoundMs }) => {
        const minMs = Math.max(0, timeoutMs - 2 * latencyBoundMs);
        const maxMs = timeoutMs + confirmMs + latencyBoundMs;
        // A ping and its answer of each.
        const messagesPerSecond = members === 1 ? 0 : 2 * perSecond(periodMs);
        const bytesPerSecond = messagesPerSecond * (DETECTOR_MESSAGE_BYTES + PROBE_BYTES);
        const text = `A dead agent is reported after ${minMs} to ${maxMs} ms.`;
        return { detection: { minMs, maxMs }, messagesPerSecond, bytesPerSecond, text };
      },
      open: ({ self, members }) => {
        const prober = new Prober(times);
        let isStarted = false;
        let watched = self.position;

        /** @type {(nowMs: number) => void} */
        const watchNext = (nowMs) => {
          const alive = members.living();
          const next = alive.find(({ position }) => position > self.position) ?? alive[0] ?? self;
          if (watched !== next.position && watched !== self.position) prober.unwatch(watched);
          watched = next.position;
          if (watched !== self.position) prober.watch(next, nowMs, { cause: 'silent' });
        };

        return {
          get dueMs() {
            return prober.dueMs;
          },
          on: (event, nowMs) => {
            switch (event.type) {
              case 'start':
                isStarted = true;
                watchNext(nowMs);
                return [];
              case 'due':
                return prober.onDue(nowMs);
              case 'message': {
                const probe = readProbe(event.body);
                return probe === undefined || members.isGone(event.from) ? [] : prober.on(event.from, probe, nowMs);
              }
              case 'joined':
              case 'gone':
              case 'refuted':
                if (isStarted) watchNext(nowMs);
                return [];
              case 'lag':
                prober.onLag(event.lagMs);
                return [];
              default:
                return [];
            }
          },
        };
      },
    };
    return module;
  },
});
