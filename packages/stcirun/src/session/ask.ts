/** Calls of a session's client as promises, and words for what they tell. */

import type {
  CallName, HostStatus, RankPage, RankStatus, Reply, SessionClient, SessionStatus,
} from '@stci/core/session';
import { StciError, type JobId } from '@stci/interface';

type Done<T> = (error: StciError | undefined, value?: T) => void;

/** A call with a callback as a promise. */
export function promised<T>(call: (done: Done<T>) => void): Promise<T> {
  return new Promise((resolve, reject) => {
    call((error, value) => (error === undefined ? resolve(value as T) : reject(error)));
  });
}

/** How long a session may take to answer: one that is stopped, or whose host stands still, never does. */
const ANSWER_MS = 15_000;

/** As `promised`, for a call that is answered at once. Throws STCI_SESSION_LOST if it is not. */
export async function answered<T>(call: (done: Done<T>) => void, answerMs = ANSWER_MS): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<never>((_resolve, reject) => {
    const text = `The session has not answered within ${answerMs / 1000} s: its process is stopped, or its host stands `
      + "still. If it is lost, 'stci doctor --clean' ends what is left of it.";
    timer = setTimeout(() => reject(new StciError('STCI_SESSION_LOST', text)), answerMs);
  });
  try {
    return await Promise.race([promised(call), silence]);
  } finally {
    clearTimeout(timer);
  }
}

type Body<Name extends CallName> = Parameters<typeof SessionClient.prototype.call<Name>>[1];

/** A call that is answered at once. */
export const ask = <Name extends CallName>(
  client: SessionClient, name: Name, body: Body<Name>, answerMs?: number,
): Promise<Reply<Name>> => answered((done) => client.call(name, body, done), answerMs);

/** A call whose answer may take its time. */
export const call = <Name extends CallName>(
  client: SessionClient, name: Name, body: Body<Name>,
): Promise<Reply<Name>> => promised((done) => client.call(name, body, done));

export const askStatus = (client: SessionClient, answerMs?: number): Promise<SessionStatus> =>
  ask(client, 'client.status', {}, answerMs);

/** All of a job, in order. */
export async function askRanks(client: SessionClient, job: JobId): Promise<readonly RankStatus[]> {
  const found: RankStatus[] = [];
  for (let from: number | undefined = 0; from !== undefined;) {
    const { ranks, next }: RankPage = await ask(client, 'client.ranks', { job, from });
    found.push(...ranks);
    from = next;
  }
  return found;
}

export function hostState({ state, isDraining, isRestarting }: HostStatus): string {
  if (isDraining) return 'draining';
  return isRestarting && state !== 'starting' ? 'restarting' : state;
}
