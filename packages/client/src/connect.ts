/** Finds the session agent by the environment, and connects to it; without stcirun, a job of one. */

import {
  PROGRAM_PROTOCOL, PROGRAM_SOCKET_VARIABLE, PROGRAM_TOKEN_VARIABLE, type ProgramEvent,
} from '@stci/interface';
import { AgentSocket, type AgentLink, type AgentLinkEvents } from './agent-socket.js';
import { ProgramClient } from './client.js';
import type { Client } from './contracts.js';
import { ClientError } from './errors.js';

/** How long the session agent may take to answer, ms. */
const ANSWER_MS = 60_000;

export interface ConnectOptions {
  /** Default: the environment of this process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/**
 * The client of this rank. A program that stcirun did not start is a job of one rank. Rejects with ClientError:
 * STCI_CLIENT_DISABLED where the job has no `--client`, STCI_CLIENT_REFUSED where the agent does not take the
 * connection: another version, or a second one of the rank while the first is open.
 */
export async function connect({ env = process.env }: ConnectOptions = {}): Promise<Client> {
  const path = env[PROGRAM_SOCKET_VARIABLE];
  const token = env[PROGRAM_TOKEN_VARIABLE];
  if (path !== undefined && token !== undefined) {
    return greet(token, `Cannot connect to the session agent at ${path}`, (events) => new AgentSocket(path, events));
  }
  if (env['STCI_RANK'] !== undefined) {
    const text = 'The job was started without --client, so its programs cannot connect. '
      + 'Write: stcirun --client program';
    throw new ClientError('STCI_CLIENT_DISABLED', text);
  }
  const { LocalAgent } = await import('./local-agent.js');
  return greet('', 'Cannot begin a job of one', (events) => new LocalAgent(events));
}

function greet(token: string, what: string, open: (events: AgentLinkEvents) => AgentLink): Promise<Client> {
  return new Promise((resolve, reject) => {
    let client: ProgramClient | undefined;
    const timer = setTimeout(() => link.destroy(`no answer for ${ANSWER_MS / 1000} s`), ANSWER_MS);
    const refuse = (reason: string): void => {
      clearTimeout(timer);
      reject(new ClientError('STCI_CLIENT_REFUSED', `${what}: ${reason}.`));
    };
    const onFirst = (event: ProgramEvent): void => {
      if (event.type !== 'welcome') return refuse(event.type === 'refused' ? event.reason : 'it broke the protocol');
      clearTimeout(timer);
      client = new ProgramClient(event, link);
      resolve(client);
    };
    const link = open({
      onEvent: (event, bytes) => (client === undefined ? onFirst(event) : client.onEvent(event, bytes)),
      onClosed: (reason) => (client === undefined ? refuse(reason) : client.onClosed(reason)),
    });
    link.send({ type: 'hello', version: PROGRAM_PROTOCOL, token });
  });
}
