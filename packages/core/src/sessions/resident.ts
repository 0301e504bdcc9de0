/** The process of a session that stays: its jobs, and what it keeps of them for front-ends that come and go. */

export { Scope } from '../event/scope.js';
export type { SpoolFile, SpoolFiles } from './files.js';
export { SessionServer, type SessionServerInit } from './server.js';
export { SessionJobs, type OpenedSession, type SessionJobsInit } from './session-jobs.js';
export { Spool, type SpoolParams } from './spool.js';
export type { SpoolCursor } from './spool-cursor.js';
