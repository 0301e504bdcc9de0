/**
 * Imports for the author of a component package, besides the contracts of `@stci/interface`: the framework records and
 * the functions that make component records.
 */

export { accept, decline, defineComponent } from '@stci/interface';
export { bootcomFramework } from './bootcom/framework.js';
export { portRange, portsProblem } from './bootcom/port-range.js';
export {
  DETECTOR_MESSAGE_BYTES, acceptNamed, durationParam, notifierParam, perSecond, timeoutProblem,
} from './detector/component.js';
export { detectorFramework } from './detector/framework.js';
export { PROBE_BYTES, PROBE_METRICS, Prober, readProbe, type Probe, type ProbeTimes } from './detector/prober.js';
export { errmgrFramework, type ErrorManagerDeps } from './errmgr/framework.js';
export { decideOnHost } from './errmgr/host-policy.js';
export { SUBJECTS, isOver, mayRestart, subjectOf, type Subject } from './errmgr/kinds.js';
export { faultFramework } from './fault/framework.js';
export { completeFaultArgs, durationProblem, faultOrderProblem, type FaultArgs } from './fault/order.js';
export { expandHostlist } from './job/hostlist.js';
export { foldHostlist } from './job/hostset.js';
export { signalNamed } from './job/signals.js';
export { launcherFramework } from './launcher/framework.js';
export { launcherprocFramework } from './launcher/launcherproc-framework.js';
export { reachHere, reachPlace } from './launcher/reach-here.js';
export { MemberView } from './members/view.js';
export { PROBE_LATENCIES } from './peers/probe-time.js';
export { notifierFramework } from './notifier/framework.js';
export { bySize, liveChildren, liveNeighbours } from './notifier/graph.js';
export { floodPromise, promiseText, type FloodPromise } from './notifier/promise.js';
export { createRelay, type Copy, type RelayRule, type Route } from './notifier/relay.js';
export { serviceFramework } from './service/framework.js';
export { topologyFramework } from './topology/framework.js';
export { nextHopAround } from './topology/detour.js';
export { subtreeOf } from './topology/subtree.js';
export {
  TOPOLOGY_ARITY_MAX, TOPOLOGY_SIZE_MAX, checkTopologyInteger, checkTopologyRequest, topologyError,
} from './topology/options.js';
