/** Contracts of STCI, for authors of components. Imports nothing. */

export * from './channel.js';
export * from './component.js';
export * from './deferred-channel.js';
export * from './detector.js';
export * from './errmgr.js';
export * from './error-codes.js';
export * from './errors.js';
export * from './events.js';
export * from './failure.js';
export * from './fault.js';
export * from './frontend.js';
export * from './ids.js';
export * from './job.js';
export * from './launcher.js';
export * from './link.js';
export * from './notifier.js';
export * from './params.js';
export * from './platform.js';
export * from './plugin.js';
export * from './printable.js';
export * from './program-records.js';
export * from './program.js';
export { hmacSha256, sameBytes, sha256 } from './sha256.js';
export * from './streams.js';
export * from './topology.js';
export * from './topology-text.js';
export * from './room.js';
