/** The failure watch of an agent, made of the components that its parameters select; what binds it to messages. */

import { StciError, type MemberId, type Params } from '@stci/interface';
import type { AgentScope } from '../assembly/composition.js';
import { notifierFor, topologyFor } from '../detector/selected.js';
import { positionOf } from '../members/positions.js';
import type { AgentNode } from '../node/node.js';
import type { Overlay } from '../peers/contracts.js';
import { FailureWatch, type FailureWatchEvents } from './watch.js';

export function openFailureWatch(
  node: AgentNode,
  scope: AgentScope,
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
      latencyMs: node.params.int('detector.latency'),
    },
    { ...events, onFault: (error: StciError, where: string) => node.fault(error, where) },
  );
}

/** All agents are up: these take part. */
export function startFailureWatch(
  node: AgentNode, scope: AgentScope, watch: FailureWatch, members: readonly MemberId[],
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

/**
 * Throws StciError, before anything is started, for parameters that the overlay, a detector or a notifier refuses in a
 * session of so many hosts; `mayGrow`: it may get more. Whoever notices that later cannot tell the user any more.
 */
export function checkFailureParts(scope: AgentScope, params: Params, hosts: number, mayGrow: boolean): void {
  const overlay = params.string('overlay.topology');
  const topologyOf = (text: string): unknown => text === '' ? undefined : scope.topologyOf(text, hosts + 1);
  named('overlay.topology', overlay, () => topologyOf(overlay));
  for (const detector of scope.detectors()) {
    const { name, module, isNamed } = detector;
    const notifier = notifierFor(detector, overlay);
    const { topology } = named(`detector.${name}.notifier`, notifier, () => scope.notifier(notifier));
    named(`notifier.${notifier}.topology`, topology, () => topologyOf(topology));
    const problem = isNamed && !mayGrow ? module.problemFor?.(hosts) : undefined;
    if (problem !== undefined) throw new StciError('STCI_PARAM_INVALID', problem);
    if (isNamed) named(`detector.${name}.topology`, module.topology, () => topologyOf(topologyFor(module, overlay)));
  }
}

/** What `check` throws is the fault of this parameter. */
function named<T>(param: string, value: string, check: () => T): T {
  try {
    return check();
  } catch (thrown) {
    if (!(thrown instanceof StciError)) throw thrown;
    throw new StciError(thrown.code, `${param} = '${value}': ${thrown.message}`, { data: thrown.data, cause: thrown });
  }
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
