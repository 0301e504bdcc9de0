/** What flooding a topology promises. */

import type { NotifierPromise, NotifierPromiseRequest } from '@stci/interface';
import { counted } from '@stci/registry';
import { assert } from '@stci/interface';

export interface FloodPromise extends NotifierPromise {
  /** Links of the topology. */
  readonly links: number;
}

/**
 * Every agent sends to its neighbours, save the one it has it from; so what a survivor has, its live neighbours get.
 * The binomial graph stays connected while fewer than its degree are dead, with paths of at most ⌈log2 n⌉ hops: for all
 * sets of dead positions up to n = 16, and for millions of larger ones, checked by the tests. `waitMs`: before a hop.
 */
export function floodPromise(request: NotifierPromiseRequest, waitMs = 0): FloodPromise {
  const { members, failures, topology } = request;
  assert(topology !== undefined && topology.size === members, `a topology of ${members} positions`);
  const degrees = Array.from({ length: members }, (_, position) => topology.neighbours(position).length);
  const ends = degrees.reduce((sum, degree) => sum + degree, 0);
  const tolerates = topology.kind === 'bmg' ? Math.max(0, degrees[0]! - 1) : 0;
  const within = topology.kind === 'bmg' ? Math.ceil(Math.log2(members)) : topology.diameter;
  const steps = failures <= tolerates ? within : members - 1;
  const messages = ends - (members - 1);
  const delayMs = failures === 0 ? 0 : steps * waitMs;
  return { steps, delayMs, messages, tolerates, isUniform: true, links: ends / 2, text: promiseText(
    { steps, delayMs, messages, tolerates }, members) };
}

type Figures = Pick<NotifierPromise, 'steps' | 'delayMs' | 'messages' | 'tolerates'>;

/** `Each of 64 agents is told within 6 message times, whichever 10 fail meanwhile, with at most 641 messages.` */
export function promiseText({ steps, delayMs, messages, tolerates }: Figures, members: number): string {
  const wait = delayMs > 0 ? ` and ${delayMs} ms` : '';
  const fail = tolerates > 0 ? `, whichever ${tolerates} fail meanwhile` : ', if none fails meanwhile';
  return `Each of ${members} agents is told within ${counted(steps, 'message time')}${wait}${fail}, `
    + `with at most ${counted(messages, 'message')}.`;
}
