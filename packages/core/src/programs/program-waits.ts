/**
 * What the programs of a job wait for, asked when its time is over: so that a deadlock is seen from the report. Each
 * session agent tells its first ranks that wait; the controller asks all at once.
 */

import { COLLECTIVES } from '@stci/interface';
import { calledName } from './agreement-text.js';
import type { Program } from './program.js';

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
