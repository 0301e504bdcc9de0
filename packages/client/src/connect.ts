/** Finds the session agent by the environment, and connects to it. */

import {
  PROGRAM_PROTOCOL, PROGRAM_SOCKET_VARIABLE, PROGRAM_TOKEN_VARIABLE, type ProgramEvent,
} from '@stci/interface';
import { ProgramClient, type Client } from './client.js';
import { ClientError } from './errors.js';
import { LineSocket } from './line-socket.js';

/** How long the session agent may take to answer, ms. */
const ANSWER_MS = 60_000;

export interface ConnectOptions {
  /** Default: the environment of this process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** Rejects with ClientError. One connection a rank: a second one is refused while the first is open. */
export function connect({ env = process.env }: ConnectOptions = {}): Promise<Client> {
  const path = env[PROGRAM_SOCKET_VARIABLE];
  const token = env[PROGRAM_TOKEN_VARIABLE];
  if (path === undefined || token === undefined) return Promise.reject(disabled(env));
  return new Promise((resolve, reject) => {
    let client: ProgramClient | undefined;
    const timer = setTimeout(() => socket.destroy(`no answer for ${ANSWER_MS / 1000} s`), ANSWER_MS);
    const refuse = (reason: string): void => {
      clearTimeout(timer);
      reject(new ClientError('STCI_CLIENT_REFUSED', `Cannot connect to the session agent at ${path}: ${reason}.`));
    };
    const onFirst = (event: ProgramEvent): void => {
      if (event.type !== 'welcome') return refuse(event.type === 'refused' ? event.reason : 'it broke the protocol');
      clearTimeout(timer);
      client = new ProgramClient(event, socket);
      resolve(client);
    };
    const socket = new LineSocket(path, {
      onEvent: (event) => (client === undefined ? onFirst(event) : client.onEvent(event)),
      onClosed: (reason) => (client === undefined ? refuse(reason) : client.onClosed(reason)),
    });
    socket.send({ type: 'hello', version: PROGRAM_PROTOCOL, token });
  });
}

function disabled(env: NonNullable<ConnectOptions['env']>): ClientError {
  const text = env['STCI_RANK'] === undefined
    ? 'This program was not started by stcirun. Write: stcirun --client program'
    : 'The job was started without --client, so its programs cannot connect. Write: stcirun --client program';
  return new ClientError('STCI_CLIENT_DISABLED', text);
}
