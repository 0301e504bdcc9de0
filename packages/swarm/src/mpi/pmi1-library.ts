/** What MPICH does, of PMI-1: requests in lines over the socket that the rank has inherited, one at a time. */

import { DEAD_PROCESSES_KEY, Pmi1Reader, formatCommand, parseDeadProcesses, type Pmi1Command } from '@stci/pmi';
import type { Channel } from '@stci/interface';
import { textBytes, type Tool } from '@stci/platform-sim';
import type { LibraryEvents, MpiLibrary } from './mpi-program.js';

type Fields = Readonly<Record<string, string | number>>;

export class Pmi1Library implements MpiLibrary {
  readonly #rank: string;
  readonly #size: number;
  readonly #channel: Channel | undefined;
  readonly #events: LibraryEvents;
  readonly #reader = new Pmi1Reader();
  readonly #lost = new Set<number>();
  #open: { readonly name: string; done(command: Pmi1Command): void } | undefined;
  #kvs = '';
  #isOver = false;
  #isTold = false;

  constructor(tool: Tool, events: LibraryEvents) {
    this.#events = events;
    this.#rank = tool.env['PMI_RANK'] ?? '';
    this.#size = Number(tool.env['PMI_SIZE']);
    this.#channel = tool.socket;
    tool.onSignal('SIGUSR1', () => (this.#isTold = true));
    this.#channel?.bind({
      onData: (chunk) => this.#onData(chunk),
      onDrain: () => undefined,
      onClose: (reason) => this.#isOver || events.onFault(`closed: ${reason}`),
    });
  }

  #onData(chunk: Uint8Array): void {
    this.#reader.append(chunk);
    for (let command = this.#reader.next(); command !== undefined; command = this.#reader.next()) {
      const open = this.#open;
      this.#open = undefined;
      if (open === undefined || open.name !== command.name) {
        return this.#events.onFault(`got ${command.name}, asked ${open?.name ?? 'nothing'}`);
      }
      open.done(command);
    }
  }

  #ask(name: string, fields: Fields, reply: string, done: (command: Pmi1Command) => void): void {
    if (this.#channel === undefined) return this.#events.onFault('no socket');
    this.#open = { name: reply, done };
    this.#channel.send([formatCommand(name, fields)]);
    return undefined;
  }

  init(done: (size: number) => void): void {
    this.#ask('init', { pmi_version: 1, pmi_subversion: 1 }, 'response_to_init', () =>
      this.#ask('get_maxes', {}, 'maxes', () =>
        this.#ask('get_my_kvsname', {}, 'my_kvsname', ({ fields }) => {
          this.#kvs = fields.get('kvsname') ?? '';
          done(this.#size);
        })));
  }

  put(value: string, done: () => void): void {
    this.#ask('put', { kvsname: this.#kvs, key: `card-${this.#rank}`, value }, 'put_result', ({ fields }) => {
      if (fields.get('rc') === '0') done();
      else this.#events.onFault(`put: ${fields.get('msg')}`);
    });
  }

  publish(service: string, port: string, done: (isWell: boolean) => void): void {
    this.#ask('publish_name', { service, port: port.replaceAll(' ', '_') }, 'publish_result', ({ fields }) =>
      done(fields.get('rc') === '0'));
  }

  lookup(service: string, done: (value: string | undefined) => void): void {
    this.#ask('lookup_name', { service }, 'lookup_result', ({ fields }) =>
      done(fields.get('rc') === '0' ? fields.get('port')?.replaceAll('_', ' ') : undefined));
  }

  fence(_members: readonly number[] | undefined, _collects: boolean, done: (isWell: boolean) => void): void {
    this.#ask('barrier_in', {}, 'barrier_out', () => this.#askDead(() => done(true)));
  }

  /** MPICH does so when a signal has come. */
  #askDead(then: () => void): void {
    if (!this.#isTold) return then();
    this.#isTold = false;
    this.#get(DEAD_PROCESSES_KEY, (value) => {
      for (const rank of parseDeadProcesses(value ?? '') ?? []) {
        if (!this.#lost.has(rank)) this.#events.onLost(rank);
        this.#lost.add(rank);
      }
      then();
    });
  }

  get(rank: number, done: (value: string | undefined) => void): void {
    this.#get(`card-${rank}`, done);
  }

  #get(key: string, done: (value: string | undefined) => void): void {
    this.#ask('get', { kvsname: this.#kvs, key }, 'get_result', ({ fields }) =>
      done(fields.get('rc') === '0' ? fields.get('value') : undefined));
  }

  finalize(done: () => void): void {
    this.#ask('finalize', {}, 'finalize_ack', () => {
      this.#isOver = true;
      this.#channel?.close();
      done();
    });
  }

  abort(code: number): void {
    this.#isOver = true;
    this.#channel?.send([formatCommand('abort', { exitcode: code, message: 'a simulated program aborts' })]);
  }

  garbage(): void {
    this.#channel?.send([textBytes('garbage\ncmd=init pmi_version=1 pmi_subversion=1\ncmd=init\n\0\xff')]);
  }
}
