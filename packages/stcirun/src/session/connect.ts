/** Finds a session and connects to it. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { SessionClient, decodeSessionKey } from '@stci/core/session';
import { StciError, type ErrorRecord, type Params, type Platform } from '@stci/interface';
import { VERSION } from '../process/version.js';
import { LOG_FILE, loggedFault, withFault } from './session-log.js';
import { defaultSession, matchSession } from './session-name.js';
import type { FoundSession, GoneSession, SessionEntry, SessionPlace } from './session-place.js';

const CONNECT_MS = 10_000;

export interface ConnectInit {
  readonly platform: Platform;
  readonly params: Params;
}

/** The session that is named, or that is meant where none is. Throws STCI_SESSION_*. */
export function findSession(
  place: SessionPlace,
  wanted: string | undefined,
  { option, variable }: { readonly option?: string | undefined; readonly variable: string | undefined },
): FoundSession {
  const entries = place.list();
  const exact = entries.find(({ name }) => name === wanted);
  const there = entries.filter(({ state }) => state !== 'gone');
  // The only one, even if its process has ended.
  const names = [...new Set((there.length > 0 ? there : entries).map(({ name }) => name))];
  // One that is gone is not taken for the beginning of another's name.
  const found = exact?.name
    ?? (wanted === undefined ? defaultSession(variable, names) : matchSession(wanted, names, option));
  const entry = entries.find(({ name }) => name === found) as SessionEntry;
  if (entry.state === 'gone') {
    throw new StciError('STCI_SESSION_UNKNOWN', `Session ${found} is ${goneText(entry, place.tell(entry))}`);
  }
  if (entry.state === 'invalid') {
    const text = `Session ${found} cannot be used: ${entry.reason}.`;
    throw new StciError('STCI_SESSION_REFUSED', text);
  }
  return entry.facts;
}

/** What is told of a session that nobody has stopped, once. `kept`: where its log and output are. */
export function goneText({ fault }: GoneSession, kept: string | undefined): string {
  const end = withFault("gone: its process ended without 'stci stop'", fault);
  return kept === undefined ? end : `${end}. Its log, and output that nobody has seen, are kept for a day: ${kept}`;
}

/** Throws STCI_SESSION_REFUSED. */
export function connectSession(place: SessionPlace, facts: FoundSession, init: ConnectInit): SessionClient {
  const { name, version, socket } = facts;
  if (version !== VERSION) {
    const remedy = `Use that version, or end it: kill ${facts.process.pid}`;
    throw new StciError('STCI_SESSION_REFUSED',
      `Session ${name} is one of version ${version}; this is ${VERSION}. ${remedy}`);
  }
  if (!existsSync(socket)) {
    throw new StciError('STCI_SESSION_REFUSED', `Session ${name} cannot be reached: its socket ${socket} is gone. `
      + `The session is ending, or the file was removed; then end it: stci stop ${name}`);
  }
  const key = decodeSessionKey(place.readKey(facts));
  if (key === undefined) throw new StciError('STCI_SESSION_REFUSED', `The key of session ${name} is damaged.`);
  const { platform, params } = init;
  let failure: ErrorRecord | undefined;
  const channel = platform.network.connectPrivate(socket, CONNECT_MS, (error) => (failure = error));
  const log = join(facts.directory, LOG_FILE);
  const reasonOf = (text: string): string => failure?.message ?? withFault(text, loggedFault(log));
  return new SessionClient({ platform, params, channel, key, name, reasonOf });
}
