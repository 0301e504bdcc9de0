/**
 * What the programs of a job wait for, asked when its time is over: so that a deadlock is seen from the report. Each
 * session agent tells its first ranks that wait; the controller asks all at once, and does not wait long.
 */

import { COLLECTIVES, type Clock, type HostIndex, type Timer } from '@stci/interface';
import type { MessageBody } from '../messages/messages.js';
import { calledName } from './agreement-text.js';
import type { Program } from './program.js';

/** How many waits are told, of each host and in all. */
export const WAITS_MAX = 8;

/** How long the answers of agents are awaited, ms. */
const ANSWERS_MS = 1000;

type Waiting = MessageBody<'program.waiting'>;
type Wait = Waiting['waits'][number];

/** Of the programs of one host: one wait of each. */
export function waitsOf(programs: Iterable<Program>, nowMs: number): Pick<Waiting, 'count' | 'waits'> {
  const waits: Wait[] = [];
  const msSince = (sinceMs = nowMs): number => Math.max(0, Math.round(nowMs - sinceMs));
  for (const { rank, vote, awaitsVote, mailbox } of programs) {
    const [receive] = mailbox.receives;
    if (vote !== undefined && awaitsVote) {
      waits.push([rank, COLLECTIVES.indexOf(vote.kind) + 1, 0, '', msSince(vote.sinceMs)]);
    } else if (receive !== undefined) {
      waits.push([rank, 0, (receive.from ?? -1) + 1, receive.tag ?? '', msSince(receive.sinceMs)]);
    }
  }
  waits.sort(([a], [b]) => a - b);
  return { count: waits.length, waits: waits.slice(0, WAITS_MAX) };
}

/** `rank 3 waits in receive(from 2, tag 'x') since 12.0 s; …; and 4 more wait`; '' if none does. */
export function waitsText(answers: readonly Pick<Waiting, 'count' | 'waits'>[]): string {
  const waits = answers.flatMap((answer) => answer.waits).sort(([a], [b]) => a - b);
  const count = answers.reduce((sum, answer) => sum + answer.count, 0);
  const lines = waits.slice(0, WAITS_MAX).map(waitText);
  if (count > lines.length) lines.push(`and ${count - lines.length} more wait`);
  return lines.join('; ');
}

function waitText([rank, kind, source, tag, ms]: Wait): string {
  const collective = COLLECTIVES[kind - 1];
  const what = collective === undefined ? receiveText(source, tag) : `${calledName(collective)}()`;
  return `rank ${rank} waits in ${what} since ${(ms / 1000).toFixed(1)} s`;
}

function receiveText(source: number, tag: string): string {
  const from = source > 0 ? [`from ${source - 1}`] : [];
  // Of the libraries: _r is a reduction's, the others are of streams.
  if (tag.startsWith('_')) return [tag.startsWith('_r') ? 'a reduction' : 'a stream', ...from].join(', ');
  return `receive(${[...from, ...tag === '' ? [] : [`tag '${tag}'`]].join(', ')})`;
}

/** One question of the controller to the agents of some hosts. */
export class WaitSurvey {
  readonly #open: Set<HostIndex>;
  readonly #answers: Waiting[] = [];
  readonly #timer: Timer;
  #done: ((text: string) => void) | undefined;

  constructor(clock: Clock, hosts: Iterable<HostIndex>, done: (text: string) => void) {
    this.#open = new Set(hosts);
    this.#done = done;
    this.#timer = clock.after(ANSWERS_MS, () => this.#end());
    this.#endIfAnswered();
  }

  onWaiting(answer: Waiting): void {
    if (!this.#open.delete(answer.host)) return;
    this.#answers.push({ ...answer, waits: answer.waits.slice(0, WAITS_MAX) });
    this.#endIfAnswered();
  }

  /** It does not answer. */
  onLost(host: HostIndex): void {
    if (this.#open.delete(host)) this.#endIfAnswered();
  }

  /** Nobody wants to know any more. */
  close(): void {
    this.#done = undefined;
    this.#timer.cancel();
  }

  #endIfAnswered(): void {
    if (this.#open.size === 0) this.#end();
  }

  #end(): void {
    const done = this.#done;
    this.close();
    done?.(waitsText(this.#answers));
  }
}
