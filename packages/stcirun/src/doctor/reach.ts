/**
 * A host's name and its port for logins, seen from here without a login. Where the user's ssh configuration has another
 * name, port or a jump host for it, `ssh -G` shows it.
 */

import { execFile } from 'node:child_process';
import { lookup } from 'node:dns/promises';
import { connect } from 'node:net';
import type { HostSpec } from '@stci/interface';
import type { SshParams } from '@stci/launcher-ssh';

const CONFIG_MS = 5000;
/** Bound on a server's greeting. */
const GREETING_CHARS_MAX = 1000;

/** Short words for errors of the system. */
const WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'refused',
  EHOSTUNREACH: 'no way',
  ENETUNREACH: 'no way',
  ETIMEDOUT: 'no answer',
  ECONNRESET: 'closed',
  EAI_AGAIN: 'no name service',
};

export interface Place {
  readonly hostname: string;
  readonly port: number;
  /** Reached through another host or a program, so it cannot be checked from here. */
  readonly isIndirect: boolean;
}

export interface Reach {
  readonly place?: Place;
  readonly addresses?: readonly string[];
  readonly nameError?: string;
  /** The server's greeting: `SSH-2.0-…`. */
  readonly greeting?: string;
  readonly portError?: string;
}

/** Never rejects. `deadlineMs` bounds the wait for a connection and a greeting. */
export async function reach(host: HostSpec, ssh: SshParams, deadlineMs: number): Promise<Reach> {
  const place = await configured(host, ssh);
  if (place === undefined) return {};
  if (place.isIndirect) return { place };
  let addresses: readonly string[];
  try {
    addresses = (await lookup(place.hostname, { all: true })).map(({ address }) => address);
  } catch (thrown) {
    return { place, nameError: WORDS[(thrown as NodeJS.ErrnoException).code ?? ''] ?? 'not known' };
  }
  const greeting = await greetingOf(place, deadlineMs);
  return { place, addresses, ...greeting };
}

/** By the user's configuration; undefined where the client does not print it. */
function configured(host: HostSpec, { client, options }: SshParams): Promise<Place | undefined> {
  const user = host.user === undefined ? [] : ['-l', host.user];
  return new Promise((resolve) => {
    const args = [...options, '-G', ...user, '--', host.name];
    execFile(client, args, { timeout: CONFIG_MS, encoding: 'utf8' }, (error, text) => {
      resolve(error === null ? parseConfiguration(text) : undefined);
    });
  });
}

/** The lines of `ssh -G`: `hostname a.example`. */
export function parseConfiguration(text: string): Place | undefined {
  const values = new Map(text.split('\n').map((line) => {
    const blank = line.indexOf(' ');
    return [line.slice(0, blank).toLowerCase(), line.slice(blank + 1).trim()] as const;
  }));
  const hostname = values.get('hostname');
  const port = Number(values.get('port'));
  if (hostname === undefined || !Number.isInteger(port)) return undefined;
  const isSet = (name: string): boolean => ![undefined, '', 'none'].includes(values.get(name));
  return { hostname, port, isIndirect: isSet('proxyjump') || isSet('proxycommand') };
}

function greetingOf({ hostname, port }: Place, deadlineMs: number): Promise<Pick<Reach, 'greeting' | 'portError'>> {
  return new Promise((resolve) => {
    const socket = connect({ host: hostname, port });
    let isOpen = false;
    let text = '';
    const end = (result: Pick<Reach, 'greeting' | 'portError'>): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(result);
    };
    const timer = setTimeout(() => {
      end({ portError: isOpen ? `${port} is silent` : `${port} no answer` });
    }, deadlineMs);
    socket.setEncoding('latin1');
    socket.on('connect', () => (isOpen = true));
    socket.on('error', ({ code = 'error' }: NodeJS.ErrnoException) => {
      end({ portError: `${port} ${WORDS[code] ?? code}` });
    });
    socket.on('end', () => end({ portError: `${port} closed` }));
    socket.on('data', (chunk: string) => {
      text += chunk;
      const greeting = /^SSH-[^\r\n]*/mu.exec(text)?.[0];
      if (greeting !== undefined && text.includes('\n')) end({ greeting });
      else if (text.length > GREETING_CHARS_MAX) end({ portError: `${port} no sshd` });
    });
  });
}
