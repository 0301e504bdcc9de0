/**
 * What an agent asks others for the libraries of its host: the controller, and the agents of ranks elsewhere for what
 * those have put. Of what waits, whoever has asked may forget it.
 */

import { CONTROLLER, caught, sessionAddress, type HostIndex, type JobId, type Rank } from '@stci/interface';
import { checkBody, type MessageBody, type MessageName, type MessageReply } from '../messages/messages.js';
import type { JobPlace } from '../service/contracts.js';
import type { Cancel, Done, Pair } from './contracts.js';
import type { Keys } from './keys.js';

export class Requests {
  readonly #place: JobPlace;
  readonly #keys: Keys;
  #number = 0;
  /** Gets of ranks elsewhere, which their agents have not answered. */
  readonly #asked = new Set<{ readonly rank: Rank; readonly answer: Done<readonly Pair[]> }>();
  /** Gets of other hosts that wait, by host and number. */
  readonly #far = new Map<string, Cancel>();

  constructor(place: JobPlace, keys: Keys) {
    this.#place = place;
    this.#keys = keys;
  }

  get waiting(): number {
    return this.#asked.size;
  }

  /** A library may have named what no message has room for. */
  ask<Name extends MessageName>(
    name: Name, body: MessageBody<Name>, done: Done<MessageReply<Name>>, destination = CONTROLLER,
  ): void {
    const problem = problemOf(name, body);
    if (problem !== undefined) return done(undefined, problem);
    this.#place.node.messages.request(destination, name, body, (error, reply) =>
      done(reply as MessageReply<Name> | undefined, error?.message));
  }

  lookup(keys: readonly string[], waits: boolean, done: Done<MessageReply<'pmi.lookup'>['found']>): Cancel {
    const [{ host }, number] = [this.#place, this.#number++];
    this.ask('pmi.lookup', { host, number, keys, waits }, (reply, problem) => done(reply?.found, problem));
    return () => this.#forget(number);
  }

  /** What a rank of this job has put, which runs on that host. */
  get(host: HostIndex, rank: Rank, job: JobId, key: string | undefined, done: Done<readonly Pair[]>): Cancel {
    const asked = {
      rank,
      answer: (pairs: readonly Pair[] | undefined, problem?: string): void => {
        if (this.#asked.delete(asked)) done(pairs, problem);
      },
    };
    this.#asked.add(asked);
    const [number, owner] = [this.#number++, sessionAddress(host)];
    const body = { host: this.#place.host, number, rank, ...(key !== undefined && { key }) };
    this.ask('pmi.get', body, (reply, problem) => {
      if (reply?.isFound !== true) return asked.answer(undefined, problem);
      this.#keys.tell(job, rank, reply.pairs);
      asked.answer(reply.pairs);
    }, owner);
    return () => {
      if (this.#asked.delete(asked)) this.#forget(number, owner);
    };
  }

  /** Their agent is lost with them, or has nothing of theirs: it does not answer. */
  onLost(ranks: readonly Rank[]): void {
    for (const { rank, answer } of [...this.#asked]) if (ranks.includes(rank)) answer(undefined);
  }

  /** Another host's agent asks: for what ranks elsewhere see. */
  onGet({ host, number, rank, key }: MessageBody<'pmi.get'>, reply: (reply: MessageReply<'pmi.get'>) => void): void {
    const name = `${host} ${number}`;
    const answer = (pairs: readonly Pair[] | undefined): void => {
      this.#far.delete(name);
      reply({ isFound: pairs !== undefined, pairs: pairs ?? [] });
    };
    const cancel = this.#keys.await(rank, key, 'far', answer);
    if (cancel === undefined) return;
    this.#far.set(name, () => {
      cancel();
      answer(undefined);
    });
  }

  onForget({ host, number }: MessageBody<'pmi.forget'>): void {
    this.#far.get(`${host} ${number}`)?.();
  }

  #forget(number: number, asked = CONTROLLER): void {
    this.#place.node.messages.send(asked, 'pmi.forget', { host: this.#place.host, number });
  }
}

/** Why whoever gets the message would take its sender for an enemy. */
export function problemOf(name: MessageName, body: unknown): string | undefined {
  return caught<string | undefined>(() => void checkBody(name, body), ({ message }) => message);
}
