/**
 * What the programs of a job wait for. Asked when its time is over, so that a deadlock is seen from the report: each
 * session agent tells its first ranks that wait; the controller asks all at once. And told to the root agent, of what
 * they wait for by other means than the client library, as in MPI: detectors may probe those hosts.
 */

import { COLLECTIVES, type HostIndex, type Rank } from '@stci/interface';
import { Timers } from '../event/timers.js';
import type { JobPlace } from '../service/contracts.js';
import { calledName } from './agreement-text.js';
import type { Program } from './program.js';
import type { RankStatusView } from './rank-status-view.js';

/** How many waits are told, of each host and in all. */
export const WAITS_MAX = 8;

/** As in `program.wait`. */
type Wait = readonly [rank: number, kind: number, source: number, tag: string, ms: number];

export interface Waiting {
  readonly count: number;
  readonly waits: readonly Wait[];
}

/** Of the programs of one host: one wait of each. */
export function waitsOf(programs: Iterable<Program>, nowMs: number): Waiting {
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
export function waitsText(answers: readonly Waiting[]): string {
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

/** Changes of so long are told together, however often programs say that they wait. */
const TELL_MS = 20;

export interface WaitReportInit extends Pick<JobPlace, 'node' | 'holds' | 'host' | 'scope'> {
  readonly news: RankStatusView;
}

/** Tells the root agent of this host for which other hosts its ranks wait, where a detector wants to know. */
export class WaitReport {
  readonly #init: WaitReportInit;
  readonly #waits = new Map<Rank, readonly Rank[] | 'all'>();
  readonly #timers: Timers<'tell'>;
  #told = '';

  constructor(init: WaitReportInit) {
    this.#init = init;
    this.#timers = new Timers(init.node.platform.clock, init.holds, 'timer waits:');
  }

  /** None: it waits no more. */
  set(rank: Rank, on: readonly Rank[] | 'all'): void {
    if (on.length > 0) this.#waits.set(rank, on);
    else if (!this.#waits.delete(rank)) return;
    this.#timers.ensure('tell', TELL_MS, () => this.#tell());
  }

  #tell(): void {
    const { node: { messages, router }, scope } = this.#init;
    const awaited = this.#awaited();
    const text = JSON.stringify(awaited);
    if (router.parentLink === undefined || text === this.#told) return;
    if (!scope.detectors().some(({ module }) => module.hearsWaits === true)) return;
    this.#told = text;
    messages.sendNeighbour(router.parentLink, 'failure.awaited', awaited);
  }

  /** Who waits for all ranks waits for the hosts of the job: of two for the other one, of one for none. */
  #awaited(): { readonly hosts: HostIndex[]; readonly all: boolean } {
    const { news, host } = this.#init;
    const found = new Set<HostIndex>();
    let all = false;
    for (const on of this.#waits.values()) {
      if (on === 'all') all = true;
      else for (const rank of on) found.add(news.host(rank));
    }
    const others = news.hosts.filter((each) => each !== host);
    if (all && others.length === 1) return { hosts: others, all: false };
    return { hosts: others.filter((each) => found.has(each)), all: all && others.length > 1 };
  }
}
