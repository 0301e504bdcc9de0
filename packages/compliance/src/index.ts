/**
 * Compliance suites: one for each framework with several components, called by a component's own test, inside of this
 * repository or outside; and what such a test needs besides: suites that cannot pass by accident, assertions, deadlines
 * instead of sleeps. A test file is run by Node, `node test.js`, or by uvu.
 */

export * from './kit/basics.js';
export { channelCompliance, Recorder } from './platform/channel.js';
export type { ChannelComplianceOptions, ChannelPair, Until } from './platform/channel.js';
export { LISTEN_OPTIONS, networkCompliance } from './platform/network.js';
export type { NetworkSetup } from './platform/network.js';
export { privateListener, privateNetworkCompliance } from './platform/private-network.js';
export type { PrivateNetworkSetup } from './platform/private-network.js';
export { detectorCompliance, detectorExample } from './detector/detector.js';
export { DETECTOR, type DetectorExample } from './detector/detector-contract.js';
export {
  DetectorRun, detectorModule, firstSuspicionMs, type DetectorCase, type DetectorComponent,
} from './detector/detector-run.js';
export { DetectorModel, type DetectorModelInit, type ModelReport } from './detector/detector-model.js';
export { notifierCompliance, notifierExample } from './notifier/notifier.js';
export type { NotifierComplianceOptions, NotifierComponent } from './notifier/notifier.js';
export { NOTIFIER, type NotifierExample } from './notifier/notifier-contract.js';
export { NotifierNetwork, membersOf } from './notifier/notifier-network.js';
export type { NotifierNetworkInit } from './notifier/notifier-network.js';
export { ERRMGR, errmgrCompliance, errmgrExample } from './errmgr/errmgr.js';
export type { ErrmgrCase, ErrmgrComponent, ErrmgrExample } from './errmgr/errmgr.js';
export { FAULT, faultCompliance, faultExample } from './fault/fault.js';
export type { FaultCase, FaultComponent, FaultExample } from './fault/fault.js';
export { LAUNCHER, launcherCompliance, launcherExample } from './launcher/launcher.js';
export type { LauncherCase, LauncherComponent, LauncherExample } from './launcher/launcher.js';
export { SERVICE, serviceCompliance, serviceExample } from './service/service.js';
export type { ServiceCase, ServiceComponent, ServiceExample } from './service/service.js';
export { topologyCompliance, topologyExample, type TopologyCase } from './topology/topology.js';
export { TOPOLOGY, type TopologyExample } from './topology/topology-checks.js';
export { BrokenPromise, asFound, onExample, verify, type Contract, type Example } from './kit/counterexample.js';
export { processesCompliance } from './platform/processes.js';
export type { ProcessesSetup, TestProgram } from './platform/processes.js';
export { selfControlCompliance } from './platform/self-control.js';
export type { SelfControlSetup } from './platform/self-control.js';
export { impairedPair, linkCompliance } from './platform/link.js';
export type { LinkPair } from './platform/link.js';
export {
  LAUNCHERPROC, SPOKEN, StartedAgent, launcherProcCompliance, reachCompliance,
} from './launcherproc/launcherproc.js';
export type {
  BadAgent, LauncherProcCase, LauncherProcExample, LauncherProcSetup, ReachSetup,
} from './launcherproc/launcherproc.js';
export { startAllCompliance } from './launcherproc/start-all.js';
export type { StartAllSetup } from './launcherproc/start-all.js';
