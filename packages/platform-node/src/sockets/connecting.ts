/** What all connections on Node share until they are established: a deadline, and a failure that is told once. */

import type { EventEmitter } from 'node:events';
import { StciError, toErrorRecord } from '@stci/interface';
import type { Channel, ErrorRecord, ReachFailure } from '@stci/interface';
import { closeReason } from '../channels/stream-channel.js';
import { errnoOf } from '../system/program.js';

/** As in Network.connect. */
export type Done = (error: ErrorRecord | undefined) => void;

export interface Attempt {
  /** Over `socket`. */
  readonly channel: Channel;
  readonly socket: EventEmitter;
  /** The socket's event when it is established. */
  readonly established: string;
  /** The address, or as much of it as others may read. */
  readonly label: string;
  readonly deadlineMs: number;
  readonly done: Done;
}

/** Channel of a connection that has just been begun. */
export function connecting({ channel, socket, established, label, deadlineMs, done }: Attempt): Channel {
  let isSettled = false;
  const settle = (error?: StciError): void => {
    if (isSettled) return;
    isSettled = true;
    clearTimeout(timer);
    done(error && toErrorRecord(error));
  };
  const timer = setTimeout(() => {
    const reason = `timed out after ${deadlineMs} ms`;
    settle(notReached(label, 'unreachable', reason));
    channel.destroy(reason);
  }, Math.max(deadlineMs, 0));
  socket.once(established, () => settle());
  socket.once('error', (error: Error) => settle(failure(label, error)));
  // Without an error before: by this end.
  socket.once('close', () => clearTimeout(timer));
  return channel;
}

/** Error of an attempt that failed with the system's error. */
export function failure(label: string, thrown: Error): StciError {
  const isDead = ['ENOENT', 'ECONNREFUSED'].includes(errnoOf(thrown));
  return notReached(label, isDead ? 'dead' : 'unreachable', isDead ? 'connection refused' : closeReason(thrown));
}

export function notReached(label: string, reach: ReachFailure, reason: string): StciError {
  const what = reach === 'dead' ? 'Nobody listens at' : 'Cannot connect to';
  return new StciError('STCI_LINK_UNREACHABLE', `${what} ${label}: ${reason}.`, { data: { reach, reason } });
}
