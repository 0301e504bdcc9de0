/** The failure watch of an agent, made of the components that its parameters select; what binds it to messages. */

import type { StciError } from '@stci/interface';
import { positionOf } from '../overlay/members.js';
import type { Overlay } from '../overlay/contracts.js';
import { MetricStore } from '../metrics/store.js';
import { FailureWatch, type FailureWatchEvents } from '../failure/watch.js';
import type { AgentScope } from './composition.js';
import type { AgentNode } from './node.js';

/** Of one agent, from its start: its detectors may count later. */
export function openMetrics(scope: AgentScope): MetricStore {
  return new MetricStore((name) => scope.detectors().find((one) => one.name === name)?.module.metrics ?? {});
}

export function openFailureWatch(
  node: AgentNode,
  scope: AgentScope,
  overlay: Overlay,
  metrics: MetricStore,
  events: Omit<FailureWatchEvents, 'onFault'>,
): FailureWatch {
  const { clock, random } = node.platform;
  const generator = random.fork(`detectors of ${node.name}`);
  return new FailureWatch(
    {
      clock, overlay,
      detectors: scope.detectors(),
      notifier: (name) => scope.notifier(name),
      overlayTopology: node.params.string('overlay.topology'),
      topologyOf: (text, size) => scope.topologyOf(text, size),
      random: () => generator.uniform(),
      metrics,
      latencyMs: node.params.int('detector.latency'),
    },
    { ...events, onFault: (error: StciError, where: string) => node.fault(error, where) },
  );
}

/** Messages to the watch; what comes before it is there is of no use to it. */
export function bindFailureWatch({ messages }: AgentNode, watch: () => FailureWatch | undefined): void {
  for (const name of ['detector.message', 'notifier.message'] as const) {
    messages.on(name, (message, { source }) => {
      const from = positionOf(source);
      if (from !== undefined) watch()?.onMessage(from, message);
    });
  }
  messages.on('failure.joined', ({ member }) => watch()?.joined(member));
}
