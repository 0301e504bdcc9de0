/** The base of the commands that work on sessions: finds the session, connects, asks. */

import * as Flags from '@oclif/core/flags';
import type { SessionClient } from '@stci/core/session';
import { StciError, type JobId, type Params, type Platform } from '@stci/interface';
import { createNodePlatform } from '@stci/platform-node';
import { callerDirectory } from '../files/caller-directory.js';
import type { Settings } from '../settings/settings.js';
import { parseJobName } from '../session/session-name.js';
import { SessionPlace, type FoundSession } from '../session/session-place.js';
import { loadFlagParams, paramFlags, StciCommand, type GivenParams } from './base.js';

export const sessionFlags = {
  session: Flags.string({
    helpValue: 'NAME',
    description: 'the session, or the beginning of its name; without it that of STCI_SESSION, else the only one',
  }),
  ...paramFlags,
};

/** How a session, and a job, is named. */
export const SESSION_ARGUMENT = 'its name, or the beginning of it';
export const JOB_ARGUMENT = 'its name, as night.3; or its number, in the session';

/** Where the caller's sessions are, and what connecting takes. */
export interface Sessions {
  readonly platform: Platform;
  readonly params: Params;
  readonly place: SessionPlace;
}

export async function openSessions(given: GivenParams): Promise<Sessions & Pick<Settings, 'composition' | 'registry'>> {
  const platform = createNodePlatform();
  const { registry, params, composition } = await loadFlagParams(given, callerDirectory());
  return { platform, registry, params, composition, place: new SessionPlace(params.string('session.directory')) };
}

export interface Connected {
  readonly facts: FoundSession;
  readonly client: SessionClient;
}

export async function connectTo(
  sessions: Sessions,
  wanted: string | undefined,
  /** Where it is named; undefined: by an argument. */
  option?: string,
): Promise<Connected> {
  // Loaded here, so that commands without sessions start quicker.
  const { connectSession, findSession } = await import('../session/connect.js');
  const { place, platform } = sessions;
  const variable = platform.env.variables['STCI_SESSION'];
  const facts = findSession(place, wanted, { option, variable });
  return { facts, client: connectSession(place, facts, sessions) };
}

export function twoSessions(named: string, option: string): StciError {
  return new StciError('STCI_USAGE', `Two sessions are named: ${named}, and --session ${option}.`);
}

/** The session that an argument or `--session` names. Throws STCI_USAGE if both do. */
export async function connectToEither(
  given: GivenParams & { readonly session?: string | undefined }, named: string | undefined,
): Promise<Connected> {
  const { session } = given;
  if (named !== undefined && session !== undefined) throw twoSessions(named, session);
  return connectTo(await openSessions(given), named ?? session, named === undefined ? '--session' : undefined);
}

export interface ConnectedJob extends Connected {
  readonly job: JobId;
}

/** The job that `command`, as `stci kill`, must be given; `more`: what its example has after it. Throws STCI_USAGE. */
export function jobArgument(job: string | undefined, command: string, more = ''): string {
  if (job !== undefined) return job;
  throw new StciError('STCI_USAGE', `No job is named. Write, for example: ${command} night.3${more}. See 'stci ps'.`);
}

/** The session of `night.3`, or of `3` and the default session. */
export async function connectToJob(sessions: Sessions, text: string, given?: string): Promise<ConnectedJob> {
  const { session, job } = parseJobName(text);
  return { ...(await connectTo(sessions, session ?? given, session === undefined ? '--session' : `job ${text}`)), job };
}

export { StciCommand };
