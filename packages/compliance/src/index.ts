/**
 * Compliance suites: one for each framework with several components, called by a component's own test, inside of this
 * repository or outside; and what such a test needs besides: suites that cannot pass by accident, assertions, deadlines
 * instead of sleeps. A test file is run by Node, `node test.js`, or by uvu.
 */

export * from './basics.js';
export { channelCompliance, Recorder } from './channel.js';
export type { ChannelComplianceOptions, ChannelPair, Until } from './channel.js';
export { LISTEN_OPTIONS, networkCompliance } from './network.js';
export type { NetworkSetup } from './network.js';
export { privateListener, privateNetworkCompliance } from './private-network.js';
export type { PrivateNetworkSetup } from './private-network.js';
export { detectorCompliance, detectorExample } from './detector.js';
export { DETECTOR, type DetectorExample } from './detector-contract.js';
export {
  DetectorRun, detectorModule, firstSuspicionMs, type DetectorCase, type DetectorComponent,
} from './detector-run.js';
export { DetectorModel, type DetectorModelInit, type ModelReport } from './detector-model.js';
export { notifierCompliance, notifierExample } from './notifier.js';
export type { NotifierComplianceOptions, NotifierComponent } from './notifier.js';
export { NOTIFIER, type NotifierExample } from './notifier-contract.js';
export { NotifierNetwork, membersOf } from './notifier-network.js';
export type { NotifierNetworkInit } from './notifier-network.js';
export { ERRMGR, errmgrCompliance, errmgrExample } from './errmgr.js';
export type { ErrmgrCase, ErrmgrComponent, ErrmgrExample } from './errmgr.js';
export { FAULT, faultCompliance, faultExample } from './fault.js';
export type { FaultCase, FaultComponent, FaultExample } from './fault.js';
export { LAUNCHER, launcherCompliance, launcherExample } from './launcher.js';
export type { LauncherCase, LauncherComponent, LauncherExample } from './launcher.js';
export { topologyCompliance, topologyExample, type TopologyCase } from './topology.js';
export { TOPOLOGY, type TopologyExample } from './topology-checks.js';
export { BrokenPromise, asFound, onExample, verify, type Contract, type Example } from './counterexample.js';
export { processesCompliance } from './processes.js';
export type { ProcessesSetup, TestProgram } from './processes.js';
export { selfControlCompliance } from './self-control.js';
export type { SelfControlSetup } from './self-control.js';
export { impairedPair, linkCompliance } from './link.js';
export type { LinkPair } from './link.js';
export { LAUNCHERPROC, SPOKEN, StartedAgent, launcherProcCompliance, reachCompliance } from './launcherproc.js';
export type { BadAgent, LauncherProcCase, LauncherProcExample, LauncherProcSetup, ReachSetup } from './launcherproc.js';
export { startAllCompliance } from './start-all.js';
export type { StartAllSetup } from './start-all.js';
