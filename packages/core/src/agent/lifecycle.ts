/**
 * Life cycle of an agent: one table of transitions (STCI paper, III-B: two phases of start). Bootstrapping ends when
 * the parent can reach the agent, initializing when all its services have started.
 */

import type { LifeTable } from '../event/lifecycle.js';

export type AgentState =
  'bootstrapping' | 'initializing' | 'running' | 'orphaned' | 'stopping' | 'ended' | 'failed';

export type AgentEvent =
  /** The link to the parent is up, the handshake over. */
  | 'linked'
  /** Services have started; children are being started. */
  | 'initialized'
  /** The link to the parent is lost: it waits for another parent, at most for the lease. */
  | 'orphan'
  /** The parent asked for it, or is gone. */
  | 'stop'
  /** Children, tools and timers have ended. */
  | 'stopped'
  /** The agent cannot continue. */
  | 'fault';

export const AGENT_LIFE: LifeTable<AgentState, AgentEvent> = {
  of: 'an agent',
  first: 'bootstrapping',
  rows: {
    bootstrapping: { linked: 'initializing', stop: 'ended', fault: 'failed' },
    initializing: { initialized: 'running', stop: 'stopping', fault: 'failed' },
    running: { orphan: 'orphaned', stop: 'stopping', fault: 'failed' },
    orphaned: { linked: 'running', stop: 'stopping', fault: 'failed' },
    stopping: { stop: 'stopping', stopped: 'ended', fault: 'failed' },
    ended: { stop: 'ended', stopped: 'ended' },
    failed: { stop: 'failed', stopped: 'failed', fault: 'failed' },
  },
};
