/**
 * Sessions that stay: a front-end in a process of its own, and the session's end of its connection. What keeps the
 * jobs' output, and where sessions are found, belongs to the program that runs them.
 */

export { SessionClient, type AcceptedJob, type AgentHeld, type AgentMetrics, type JobRequest } from './client.js';
export { SessionConnection } from './connection.js';
export type * from './contracts.js';
export type * from '../injection/fault-contracts.js';
export type { HostStatus } from '../hosts/host-status.js';
export type * from '../messages/link-report.js';
export { costOf, toWire } from '../messages/records.js';
export type { Reported, SpoolEvent, SpoolOutput, SpoolRecord, Tally } from '../messages/records.js';
export { BUCKETS_S } from '../metrics/store.js';
export type { MetricRow } from '../metrics/row.js';
export type { CallName, Reply, SessionCalls } from './session-calls.js';
export { decodeSessionKey, encodeSessionKey, makeSessionKey, type SessionKey } from './session-link.js';
