/** PMI-1 at a session agent: what each rank asks over the socket that it inherited. */

import { caught, type Channel, type ChannelEvents, type Rank } from '@stci/interface';
import {
  DEAD_PROCESSES_KEY, PMI1_MAXES, PROCESS_MAPPING_KEY, Pmi1Server, decodeValue, encodeValue, formatDeadProcesses,
  formatProcessMapping, readText, type Pmi1Answer, type Pmi1Event,
} from '@stci/pmi';
import { PMI1_FENCE, abortCode, type Cancel, type PmiClient, type ProcessSet } from './contracts.js';
import type { PmiServer } from './framework.js';
import type { PmiHost } from './pmi-host.js';

/** The newest that is spoken here. */
const PMI1_VERSION = '1.2';
/** A name ends with the job that has published it. */
const PERSISTENCE_JOB = 3;

export function openPmi1(host: PmiHost): PmiServer {
  return {
    accept: (channel, rank) => new Pmi1Connection(host, channel, rank as Rank),
    prepare: () => host.whenOpen({ protocol: 'pmi1', version: '' }, () => undefined),
  };
}

class Pmi1Connection implements ChannelEvents, PmiClient {
  readonly rank: Rank;
  readonly #host: PmiHost;
  readonly #channel: Channel;
  #hasAsked = false;
  /** Before its first barrier SIGUSR1 would end it. */
  #handlesSignals = false;
  #server: Pmi1Server | undefined;
  #set: ProcessSet | undefined;
  readonly #early: Uint8Array[] = [];
  /** Of the barrier in which it waits. */
  #cancel: Cancel | undefined;
  /** The client does not read its answers: it is not heard until it does. */
  #isFull = false;
  /** Processes of its set. */
  readonly #lost = new Set<number>();

  constructor(host: PmiHost, channel: Channel, rank: Rank) {
    this.rank = rank;
    this.#host = host;
    this.#channel = channel;
    channel.readable(false);
    host.whenOpen({ protocol: 'pmi1', version: PMI1_VERSION }, (problem) => this.#open(problem));
  }

  #open(problem: string | undefined): void {
    const set = this.#host.setOfRank(this.rank);
    // It has been spawned after this agent was told which processes there are.
    if (set === undefined && problem === undefined && !this.#hasAsked) {
      this.#hasAsked = true;
      return this.#host.learn([], (why) => this.#open(why));
    }
    if (set === undefined) return this.#channel.destroy(problem ?? 'its processes are not known');
    this.#set = set;
    this.#server = new Pmi1Server({
      rank: this.rank - set.first, size: set.size, kvsName: set.nspace.slice(0, PMI1_MAXES.kvsNameChars - 1),
      universeSize: set.universe, appNumber: appOf(set, this.rank),
    });
    for (const chunk of this.#early.splice(0)) this.onData(chunk);
    this.#channel.readable(true);
  }

  onData(chunk: Uint8Array): void {
    const server = this.#server;
    if (server === undefined) return void this.#early.push(chunk);
    server.append(chunk);
    this.#read(server);
  }

  #read(server: Pmi1Server): void {
    try {
      while (!this.#isFull) {
        const step = server.next();
        if (step === undefined) return;
        if (step.reply !== undefined) this.#send(step.reply);
        if (step.event !== undefined) this.#handle(server, step.event);
      }
    } catch (fault) {
      this.#channel.destroy(fault instanceof Error ? fault.message : String(fault));
    }
  }

  #send(reply: Uint8Array): void {
    if (this.#channel.send([reply])) return;
    this.#isFull = true;
    this.#channel.readable(false);
  }

  onDrain(): void {
    this.#isFull = false;
    this.#channel.readable(true);
    if (this.#server !== undefined) this.#read(this.#server);
  }

  onClose(): void {
    // The end of its process says whether it has failed.
    this.#early.length = 0;
    this.#cancel?.();
    this.#host.end(this);
  }

  /** MPICH reads the key, and does so when a signal comes. */
  onLost(ranks: readonly Rank[]): void {
    const { first, size } = this.#set as ProcessSet; // It has begun.
    const own = ranks.filter((rank) => rank >= first && rank < first + size);
    for (const rank of own) this.#lost.add(rank - first);
    const isHeard = own.length > 0 && this.#server?.isRunning === true && this.#handlesSignals;
    if (isHeard) this.#host.place.signal(this.rank, 'SIGUSR1');
  }

  onEvent(): void {
    // PMI-1 has none.
  }

  #handle(server: Pmi1Server, event: Pmi1Event): void {
    const host = this.#host;
    const answer = (reply: Pmi1Answer): void => this.#send(server.answer(reply));
    switch (event.kind) {
      case 'init': return host.begin(this);
      case 'finalize': return host.finalize(this);
      case 'abort': return host.abort(this.rank, abortCode(event.exitCode), readText(event.message));
      case 'get': return answer({ kind: 'get', value: this.#find(event.key) });
      case 'put': {
        const pairs = [[event.key, textValue(event.value)]] as const;
        const problem = host.keys.put(this.rank, { near: pairs, far: pairs });
        return answer({ kind: 'put', ...(problem !== undefined && { problem: problem.replaceAll(' ', '_') }) });
      }
      case 'barrier': {
        const { job, first, size } = this.#set as ProcessSet;
        const members = [[job, first, first + size - 1]] as const;
        const of = { kind: 'fence', name: PMI1_FENCE, members } as const;
        this.#cancel = host.enter(this.rank, of, true, (_result, problem) => {
          this.#handlesSignals = true;
          if (problem === undefined) answer({ kind: 'barrier' });
          else this.#channel.destroy(problem);
        });
        return undefined;
      }
      case 'publish': {
        const pairs = [[event.service, textValue(event.port)]] as const;
        return host.publish(this.rank, PERSISTENCE_JOB, pairs, (taken, problem) => {
          const why = problem ?? (taken?.length === 0 ? undefined : 'name_in_use');
          answer({ kind: 'publish', ...(why !== undefined && { problem: why.replaceAll(' ', '_') }) });
        });
      }
      case 'unpublish': return host.unpublish(this.rank, [event.service], (missing) =>
        answer({ kind: 'unpublish', ...(missing?.length !== 0 && { problem: 'service_not_found' }) }));
      case 'lookup': return void host.requests.lookup([event.service], false, (found) => {
        const value = found?.[0]?.[3];
        answer({ kind: 'lookup', value: value && lineOf(value) });
      });
      case 'spawn': return answer({ kind: 'spawn', errorCodes: [], problem: 'not_supported' });
      case 'unknown': {
        const text = `rank ${this.rank}: request ${event.name} of PMI-1 is not served`;
        return host.place.node.platform.log.write('info', text);
      }
    }
  }

  #find(key: string): string | undefined {
    const set = this.#set as ProcessSet;
    if (key === PROCESS_MAPPING_KEY) return formatProcessMapping(nodesOf(set));
    if (key === DEAD_PROCESSES_KEY) {
      return this.#lost.size === 0 ? undefined : formatDeadProcesses([...this.#lost].sort((a, b) => a - b));
    }
    const value = this.#host.keys.find(key);
    return value && lineOf(value);
  }
}

/** Values are those of PMIx, whose programs may be told them, too. */
function textValue(data: string): Uint8Array {
  return encodeValue({ type: 'string', data });
}

/** Undefined of what is no text, or has no room in a client's line: a program of another protocol has put it. */
function lineOf(bytes: Uint8Array): string | undefined {
  const value = caught(() => decodeValue(bytes), () => undefined);
  const text = value?.type === 'string' ? value.data : null;
  return text === null || text.length > PMI1_MAXES.valueChars || text.includes('\n') ? undefined : text;
}

/** The place of each process's host among those of the set. */
function nodesOf({ hosts, first, size }: ProcessSet): number[] {
  const nodes = new Array<number>(size).fill(0);
  for (const [node, [, , ranks]] of hosts.entries()) {
    for (const [low, high] of ranks) for (let rank = low; rank <= high; rank++) nodes[rank - first] = node;
  }
  return nodes;
}

function appOf({ apps }: ProcessSet, rank: Rank): number {
  return Math.max(0, apps.findIndex(([first, size]) => rank >= first && rank < first + size));
}
