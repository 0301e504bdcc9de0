/**
 * Interface for tests: suites that cannot pass by accident, assertions, and deadlines instead of sleeps. Every test
 * file of the workspace uses this package and no other test library.
 */

export * as assert from './assert.js';
export { findBrowser, renderPage, takePicture, type BrowserOptions, type PageRun } from './browser.js';
export { patient } from './patience.js';
export { DEFAULT_TIMEOUT_MS, eventually, withDeadline } from './deadline.js';
export type { EventuallyOptions } from './deadline.js';
export { suite } from './suite.js';
export { isFullSwarm, swarmSeeds, swarmTotal } from './swarm-seeds.js';
export type { Hook, StepOptions, TestApi, TestBody } from './suite.js';
export { channelCompliance, Recorder } from './compliance/channel.js';
export type { ChannelComplianceOptions, ChannelPair, Until } from './compliance/channel.js';
export { LISTEN_OPTIONS, networkCompliance } from './compliance/network.js';
export type { NetworkSetup } from './compliance/network.js';
export { privateListener, privateNetworkCompliance } from './compliance/private-network.js';
export type { PrivateNetworkSetup } from './compliance/private-network.js';
export {
  DetectorRun, detectorCompliance, detectorModule, firstSuspicionMs, type DetectorCase, type DetectorComponent,
} from './compliance/detector.js';
export { DetectorModel, type DetectorModelInit, type ModelReport } from './compliance/detector-model.js';
export { seededIntegers } from './compliance/seeded.js';
export type { IntegerSource } from './compliance/seeded.js';
export { notifierCompliance } from './compliance/notifier.js';
export type { NotifierComplianceOptions } from './compliance/notifier.js';
export { NotifierNetwork, membersOf } from './compliance/notifier-network.js';
export type { NotifierNetworkInit } from './compliance/notifier-network.js';
export { topologyCompliance } from './compliance/topology.js';
export type { TopologyCase } from './compliance/topology.js';
export { processesCompliance } from './compliance/processes.js';
export type { ProcessesSetup, TestProgram } from './compliance/processes.js';
export { selfControlCompliance } from './compliance/self-control.js';
export type { SelfControlSetup } from './compliance/self-control.js';
export { impairedPair, linkCompliance } from './compliance/link.js';
export type { LinkPair } from './compliance/link.js';
export { StartedAgent, launcherProcCompliance, reachCompliance } from './compliance/launcherproc.js';
export type { BadAgent, LauncherProcCase, LauncherProcSetup, ReachSetup } from './compliance/launcherproc.js';
