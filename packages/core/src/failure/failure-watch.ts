/** The failure watch of an agent, made of the components that its parameters select; what binds it to messages. */

import type { MemberId, StciError } from '@stci/interface';
import { positionOf } from '../members/positions.js';
import type { AgentNode } from '../node/node.js';
import type { Overlay } from '../peers/contracts.js';
import { promiseRequest } from '../peers/probe-time.js';
import type { ServiceScope } from '../service/contracts.js';
import { FailureWatch, type FailureWatchEvents } from './watch.js';

export function openFailureWatch(
  node: AgentNode,
  scope: ServiceScope,
  overlay: Overlay,
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
      metrics: node.metrics,
      promiseRequest: (count) => promiseRequest(node.params, count),
    },
    { ...events, onFault: (error: StciError, where: string) => node.fault(error, where) },
  );
}

/** All agents are up: these take part. */
export function startFailureWatch(
  node: AgentNode, scope: ServiceScope, watch: FailureWatch, members: readonly MemberId[],
): void {
  if (watch.isWatching) return;
  watch.start(members);
  if (scope.detectors().some(({ module }) => module.hearsWaits === true)) passWaits(node, watch);
}

/** Detectors know waits by number, and agents by position. */
function passWaits({ messages }: AgentNode, watch: FailureWatch): void {
  const ids = new Map<string, number>();
  let last = 0;
  messages.observeWaits({
    waiting: (key, to) => {
      const on = to === 'all' ? to : positionOf(to);
      if (on === undefined || ids.has(key)) return;
      last += 1;
      ids.set(key, last);
      watch.waiting(last, on);
    },
    over: (key) => {
      const id = ids.get(key);
      if (id !== undefined && ids.delete(key)) watch.over(id);
    },
  });
}

/** Messages to the watch; what comes before it is there is of no use to it. */
export function bindFailureWatch({ messages }: AgentNode, watch: () => FailureWatch | undefined): void {
  for (const name of ['detector.message', 'notifier.message'] as const) {
    messages.on(name, (message, { source }) => {
      const from = positionOf(source);
      if (from !== undefined) watch()?.onMessage(from, message);
    });
  }
}
