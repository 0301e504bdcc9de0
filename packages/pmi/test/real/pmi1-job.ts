/** A job of one host on PMI-1, as small as can be: what the service will do over the tree. */

import type { Duplex } from 'node:stream';
import { PROCESS_MAPPING_KEY, Pmi1Server, formatProcessMapping, type Pmi1Answer, type Pmi1Event } from '@stci/pmi';
import { rootVariables } from './installed.js';
import { hex, startRank, type Dialogue, type RankResult } from './ranks.js';

const KVS_NAME = 'kvs_test';

interface Connection {
  readonly server: Pmi1Server;
  readonly socket: Duplex;
  readonly dialogue: Dialogue;
}

export class Pmi1Job {
  readonly events: Pmi1Event[] = [];
  readonly #keys = new Map<string, string>();
  readonly #names = new Map<string, string>();
  readonly #connections: Connection[] = [];
  readonly #ended: Promise<RankResult>[] = [];
  readonly #ends: (() => void)[] = [];

  constructor(program: string, args: readonly string[], nodeOfRank: readonly number[], universeSize: number) {
    this.#keys.set(PROCESS_MAPPING_KEY, formatProcessMapping(nodeOfRank) ?? '');
    const size = nodeOfRank.length;
    for (let rank = 0; rank < size; rank++) {
      const variables = { PMI_FD: '3', PMI_RANK: String(rank), PMI_SIZE: String(size), ...rootVariables() };
      const { child, ended } = startRank(program, args, variables, true);
      this.#ended.push(ended);
      this.#ends.push(() => child.kill('SIGKILL'));
      const server = new Pmi1Server({ rank, size, kvsName: KVS_NAME, universeSize });
      const connection: Connection = { server, socket: child.stdio[3] as Duplex, dialogue: [] };
      this.#connections.push(connection);
      connection.socket.on('data', (chunk: Uint8Array) => this.#receive(connection, chunk));
      connection.socket.on('error', () => undefined);
      connection.socket.on('close', () => {
        if (server.isRunning) this.end();
      });
    }
  }

  get dialogues(): readonly Dialogue[] {
    return this.#connections.map(({ dialogue }) => dialogue);
  }

  run(): Promise<RankResult[]> {
    return Promise.all(this.#ended);
  }

  end(): void {
    for (const end of this.#ends) end();
  }

  #receive(connection: Connection, chunk: Uint8Array): void {
    connection.dialogue.push(['>', hex(chunk)]);
    connection.server.append(chunk);
    for (let step = connection.server.next(); step !== undefined; step = connection.server.next()) {
      if (step.reply !== undefined) write(connection, step.reply);
      if (step.event !== undefined) this.#handle(connection, step.event);
    }
  }

  #handle(connection: Connection, event: Pmi1Event): void {
    this.events.push(event);
    const answer = (reply: Pmi1Answer): void => write(connection, connection.server.answer(reply));
    switch (event.kind) {
      case 'get': return answer({ kind: 'get', value: this.#keys.get(event.key) });
      case 'put':
        this.#keys.set(event.key, event.value);
        return answer({ kind: 'put' });
      case 'publish':
        this.#names.set(event.service, event.port);
        return answer({ kind: 'publish' });
      case 'unpublish':
        this.#names.delete(event.service);
        return answer({ kind: 'unpublish' });
      case 'lookup': return answer({ kind: 'lookup', value: this.#names.get(event.service) });
      case 'spawn': return answer({ kind: 'spawn', errorCodes: [], problem: 'no spawn' });
      case 'barrier':
        if (this.#connections.some(({ server }) => server.pending !== 'barrier')) return;
        for (const each of this.#connections) write(each, each.server.answer({ kind: 'barrier' }));
        return;
      case 'abort': return this.end();
      default: return;
    }
  }
}

function write({ socket, dialogue }: Connection, bytes: Uint8Array): void {
  dialogue.push(['<', hex(bytes)]);
  socket.write(bytes);
}
