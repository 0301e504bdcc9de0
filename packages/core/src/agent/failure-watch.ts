/** The failure watch of an agent, made of the components that its parameters select, and bound to its messages. */

import type { StciError } from '@stci/interface';
import { positionOf } from '../overlay/members.js';
import type { Overlay } from '../overlay/contracts.js';
import { FailureWatch, type FailureWatchEvents } from '../failure/watch.js';
import type { AgentScope } from './composition.js';
import type { AgentNode } from './node.js';

export function openFailureWatch(
  node: AgentNode,
  scope: AgentScope,
  overlay: Overlay,
  events: Omit<FailureWatchEvents, 'onFault'>,
): FailureWatch {
  const { clock, random } = node.platform;
  const generator = random.fork(`detectors of ${node.name}`);
  const watch = new FailureWatch(
    {
      clock, overlay,
      detectors: scope.detectors(),
      notifier: (name) => scope.notifier(name),
      topologyOf: (text, size) => scope.topologyOf(text, size),
      random: () => generator.uniform(),
      latencyMs: node.params.int('detector.latency'),
    },
    { ...events, onFault: (error: StciError, where: string) => node.fault(error, where) },
  );
  for (const name of ['detector.message', 'notifier.message'] as const) {
    node.messages.on(name, (message, { source }) => {
      const from = positionOf(source);
      if (from !== undefined) watch.onMessage(from, message);
    });
  }
  node.messages.on('failure.verdict', (verdict) => watch.onVerdict(verdict));
  node.messages.on('failure.joined', ({ member }) => watch.joined(member));
  return watch;
}
