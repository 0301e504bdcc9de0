/** The example of docs/detectors.md: a detector in which the controller pings all others. */

import {
  DETECTOR_MESSAGE_BYTES, PROBE_BYTES, PROBE_METRICS, Prober, acceptNamed, defineComponent,
  detectorFramework, durationParam, notifierParam, perSecond, readProbe, timeoutProblem, type ProbeTimes,
} from '@stci/core/component';
import type {
  Detector, DetectorAction, DetectorEvent, DetectorInit, DetectorModule, Members, ParamValue,
} from '@stci/interface';
import { detectorCompliance } from '@stci/testkit/compliance';

class Hub implements Detector {
  readonly #isHub: boolean;
  #isStarted = false;
  readonly #members: Members;
  readonly #prober: Prober;

  constructor({ self, members }: DetectorInit, times: ProbeTimes) {
    this.#isHub = self.position === 0;
    this.#members = members;
    this.#prober = new Prober(times);
  }

  get dueMs(): number | undefined {
    return this.#prober.dueMs;
  }

  on(event: DetectorEvent, nowMs: number): readonly DetectorAction[] {
    switch (event.type) {
      case 'start':
        this.#isStarted = true;
        this.#watchAll(nowMs);
        return [];
      case 'due':
        return this.#prober.onDue(nowMs);
      case 'message': {
        const probe = readProbe(event.body);
        return probe === undefined || this.#members.isGone(event.from) ? [] : this.#prober.on(event.from, probe, nowMs);
      }
      case 'joined':
      case 'gone':
      case 'refuted':
        this.#watchAll(nowMs);
        return [];
      case 'lag':
        this.#prober.onLag(event.lagMs);
        return [];
      default:
        return [];
    }
  }

  #watchAll(nowMs: number): void {
    if (!this.#isHub || !this.#isStarted) return;
    for (const position of this.#members.absent) this.#prober.unwatch(position);
    for (const member of this.#members.living()) {
      if (member.position !== 0) this.#prober.watch(member, nowMs, { cause: 'silent' });
    }
  }
}

function timesOf(params: Readonly<Record<string, ParamValue>>): ProbeTimes {
  const periodMs = params['period'] as number;
  return { periodMs, timeoutMs: params['timeout'] as number, confirmMs: periodMs };
}

const detectorHub = defineComponent({
  framework: detectorFramework,
  name: 'hub',
  version: '1.0.0',
  frameworkVersion: 2,
  help: 'The controller pings all others. One witness, whose host bears all messages.',
  params: {
    notifier: notifierParam,
    period: durationParam(500, 'Time between two pings of an agent.'),
    timeout: durationParam(5000, 'Silence after which an agent is suspected; it is reported a period later.'),
  },
  query: (context) => {
    const { periodMs, timeoutMs } = timesOf(context.params);
    return acceptNamed(context, timeoutProblem('hub', periodMs, timeoutMs));
  },
  create: (_deps, params): DetectorModule => {
    const times = timesOf(params);
    const { periodMs, timeoutMs, confirmMs } = times;
    return {
      watches: 'agents',
      topology: '',
      metrics: PROBE_METRICS,
      promise: ({ members, latencyBoundMs }) => {
        const detection = {
          minMs: Math.max(0, timeoutMs - 2 * latencyBoundMs), maxMs: timeoutMs + confirmMs + latencyBoundMs,
        };
        // A ping and an answer of each but the controller, in the mean over all.
        const messagesPerSecond = (2 * (members - 1) * perSecond(periodMs)) / members;
        const bytesPerSecond = messagesPerSecond * (DETECTOR_MESSAGE_BYTES + PROBE_BYTES);
        const text = `A dead agent is reported after ${detection.minMs} to ${detection.maxMs} ms.`;
        return { detection, messagesPerSecond, bytesPerSecond, text };
      },
      open: (init) => new Hub(init, times),
    };
  },
});

detectorCompliance(detectorHub, [{ label: 'fast', params: { period: '100ms', timeout: '300ms' } }]);
