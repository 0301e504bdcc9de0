/** The base of the commands that work on sessions: finds the session, connects, asks. */

import * as Flags from '@oclif/core/flags';
import type { SessionClient, SessionStatus } from '@stci/core/session';
import type { JobId, JobReport, Params, Platform, StciError } from '@stci/interface';
import { createNodePlatform } from '@stci/platform-node';
import { frontEndRegistry } from '../cli/front-end-registry.js';
import { callerDirectory } from '../run/caller-directory.js';
import { connectSession, findSession } from '../session/connect.js';
import { parseJobName } from '../session/session-name.js';
import { SessionPlace, type SessionFacts } from '../session/session-place.js';
import { loadFlagParams, paramFlags, StciCommand } from './base.js';

export const sessionFlags = { session: Flags.string(), ...paramFlags };

export const SESSION_OPTION = `  --session NAME    the session, or the beginning of its name; without it
                    that of STCI_SESSION, else the only one
`;

interface Given {
  readonly session?: string | undefined;
  readonly mca?: Parameters<typeof loadFlagParams>[1]['mca'];
  readonly am?: Parameters<typeof loadFlagParams>[1]['am'];
}

/** Where the caller's sessions are, and what connecting takes. */
export interface Sessions {
  readonly platform: Platform;
  readonly params: Params;
  readonly place: SessionPlace;
}

export function openSessions(given: Given): Sessions {
  const platform = createNodePlatform();
  const { params } = loadFlagParams(frontEndRegistry(), given, callerDirectory());
  return { platform, params, place: new SessionPlace(params.string('session.directory')) };
}

export interface Connected {
  readonly facts: SessionFacts;
  readonly client: SessionClient;
}

export function connectTo(sessions: Sessions, wanted: string | undefined, option = '--session'): Connected {
  const { place, platform } = sessions;
  const variable = platform.env.variables['STCI_SESSION'];
  const facts = findSession(place, wanted, { option, variable });
  return { facts, client: connectSession(place, facts, sessions) };
}

/** The session of `night.3`, or of `3` and the default session. */
export function connectToJob(sessions: Sessions, text: string, given: string | undefined): Connected & {
  readonly job: JobId;
} {
  const { session, job } = parseJobName(text);
  return { ...connectTo(sessions, session ?? given, session === undefined ? '--session' : `job ${text}`), job };
}

type Done<T> = (error: StciError | undefined, value?: T) => void;

/** A call with a callback as a promise. */
export function promised<T>(call: (done: Done<T>) => void): Promise<T> {
  return new Promise((resolve, reject) => {
    call((error, value) => (error === undefined ? resolve(value as T) : reject(error)));
  });
}

export function ask<T>(
  client: SessionClient,
  name: Parameters<SessionClient['request']>[0],
  body: Parameters<SessionClient['request']>[1] = {},
): Promise<T> {
  return promised<T>((done) => client.request(name, body as never, (error, reply) => done(error, reply as T)));
}

export const askStatus = (client: SessionClient): Promise<SessionStatus> => ask(client, 'client.status');

export const askEnd = (client: SessionClient, job: JobId): Promise<JobReport> =>
  promised((done) => client.wait(job, done));

export { StciCommand };
