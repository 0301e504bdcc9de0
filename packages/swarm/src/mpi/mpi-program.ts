/**
 * Simulated MPI programs, `pmi1` and `pmix`: COUNT ROUNDS S END VICTIM STEP [FLAG,...]. Ranks 0 to COUNT - 1 of the
 * job run it: each puts a key, publishes a name, meets all others three times, gets their keys, looks up a name, meets
 * them in ROUNDS more fences with S seconds between, finalizes and ends with 0. Rank VICTIM ends by END before its step
 * STEP instead; a STEP below 0 counts from the end, -1 is behind finalize. Flags: `direct`: the first fence has no
 * data, so that each key is asked for at its owner's host; `own`: they name themselves in fences, not the rest of their
 * job; `early`: there are no first fences, so that gets wait; `groups`: some rounds are a connect or a group, and its
 * end; `in=MS`: the victim ends so long after the step has begun.
 */

import type { Tool } from '@stci/platform-sim';
import { noteFact, valueOf, type MpiFact } from './mpi-facts.js';

/** What all members call, besides a fence. */
export type MpiCollective = 'connect' | 'disconnect' | 'groupConstruct' | 'groupDestruct';

/** An MPI library, of either protocol. Each call is one at a time. */
export interface MpiLibrary {
  init(done: (size: number) => void): void;
  put(value: string, done: () => void): void;
  publish(name: string, value: string, done: (isWell: boolean) => void): void;
  lookup(name: string, done: (value: string | undefined) => void): void;
  /** `members`: of the job, by their numbers; undefined: all. */
  fence(members: readonly number[] | undefined, collects: boolean, done: (isWell: boolean) => void): void;
  /** PMIx alone. `context`: of a group. */
  meet?(
    of: MpiCollective, name: string, members: readonly number[], done: (isWell: boolean, context?: bigint) => void,
  ): void;
  get(rank: number, done: (value: string | undefined) => void): void;
  finalize(done: () => void): void;
  abort(code: number): void;
  garbage(): void;
}

export interface LibraryEvents {
  onLost(rank: number): void;
  /** The library cannot go on. */
  onFault(text: string): void;
}

export type OpenLibrary = (tool: Tool, events: LibraryEvents) => MpiLibrary;

/** What ends a rank; `abort` with code 37. */
export type MpiEnd = 'well' | 'abort' | 'leave' | 'die' | 'fail' | 'garbage';

export const ABORT_CODE = 37;
const FAIL_STATUS = 3;
/** Others whose keys a rank gets, at most. */
const GETS_MAX = 24;

export interface MpiPlan {
  readonly count: number;
  readonly rounds: number;
  readonly pauseMs: number;
  readonly end: MpiEnd;
  readonly victim: number;
  readonly step: number;
  readonly isDirect: boolean;
  readonly isOwn: boolean;
  readonly hasGroups: boolean;
  readonly isEarly: boolean;
  readonly insideMs: number | undefined;
}

export function mpiPlan(args: readonly string[]): MpiPlan {
  const [count = '1', rounds = '0', seconds = '0', end = 'well', victim = '-1', step = '0', flags = ''] = args;
  const has = (flag: string): boolean => flags.split(',').includes(flag);
  const inside = /(?:^|,)in=([\d.]+)/u.exec(flags)?.[1];
  return {
    count: Number(count), rounds: Number(rounds), pauseMs: Number(seconds) * 1000, end: end as MpiEnd,
    victim: Number(victim), step: Number(step), isDirect: has('direct'), isOwn: has('own'), hasGroups: has('groups'),
    isEarly: has('early'),
    insideMs: inside === undefined ? undefined : Number(inside),
  };
}

type Step = (next: () => void) => void;

export function mpiProgram(open: OpenLibrary, hasSubsets: boolean): (tool: Tool) => void {
  return (tool) => {
    const plan = mpiPlan(tool.args);
    const rank = Number(tool.env['STCI_RANK']);
    const note = (fact: MpiFact): void => noteFact(tool.process, tool.nowMs, fact);
    const library = open(tool, {
      onLost: (lost) => note({ kind: 'lost', rank: lost }),
      onFault: (text) => {
        note({ kind: 'fault', text });
        tool.exit(1);
      },
    });
    const steps = stepsOf(plan, { tool, rank, library, note, hasSubsets });
    const fatal = plan.step < 0 ? steps.length + 1 + plan.step : plan.step;
    let isOver = false;
    const take = (at: number): void => {
      if (isOver) return;
      const step = steps[at];
      // Behind finalize there is no connection that garbage, or an abort, could go over.
      const isOpen = at < steps.length - 1 || (plan.end !== 'garbage' && plan.end !== 'abort');
      const strikes = rank === plan.victim && at === fatal && isOpen;
      if (strikes && plan.insideMs !== undefined && step !== undefined) {
        tool.after(plan.insideMs, () => (isOver = !strike(plan.end, tool, library, note)));
      } else if (strikes && !strike(plan.end, tool, library, note)) return;
      if (at === steps.length - 1) note({ kind: 'finalizes' });
      if (step === undefined) tool.exit(0);
      else step(() => take(at + 1));
    };
    take(0);
  };
}

/** Whether it goes on until its end comes. */
function strike(end: MpiEnd, tool: Tool, library: MpiLibrary, note: (fact: MpiFact) => void): boolean {
  switch (end) {
    case 'well': return true;
    case 'abort':
      note({ kind: 'aborts', code: ABORT_CODE });
      library.abort(ABORT_CODE);
      return false;
    case 'leave':
    case 'fail':
      tool.exit(end === 'leave' ? 0 : FAIL_STATUS);
      return false;
    case 'die':
      tool.raise('SIGSEGV');
      return true;
    case 'garbage':
      library.garbage();
      return false;
  }
}

interface Rank {
  readonly tool: Tool;
  readonly rank: number;
  readonly library: MpiLibrary;
  readonly hasSubsets: boolean;
  note(fact: MpiFact): void;
}

function stepsOf({ count, rounds, pauseMs, isDirect, isOwn, hasGroups, isEarly }: MpiPlan, of: Rank): Step[] {
  const { tool, rank, library, note, hasSubsets } = of;
  const everyone = Array.from({ length: count }, (_, i) => i);
  const fence = (name: string, members: readonly number[] | undefined, collects: boolean): Step => (next) => {
    note({ kind: 'enter', name, members: members ?? everyone });
    library.fence(members ?? (isOwn ? everyone : undefined), collects, (isWell) => {
      note({ kind: 'left', name, isWell });
      next();
    });
  };
  const others = Array.from({ length: Math.min(count - 1, GETS_MAX) }, (_, i) => (rank + i + 1) % count);
  const after = (rank + 1) % count;
  return [
    (next) => library.init((size) => {
      note({ kind: 'init', size });
      next();
    }),
    (next) => library.put(valueOf('got', rank), next),
    (next) => library.publish(`name ${rank}`.replace(' ', '-'), valueOf('found', rank), (isWell) => {
      note({ kind: 'published', isWell });
      next();
    }),
    // As in MPI_Init of real libraries.
    ...['all 0', 'all of 2', 'all of 3'].slice(isEarly ? 3 : 0).map((name, i) =>
      fence(name, undefined, i === 0 && !isDirect)),
    ...others.map((other): Step => (next) => library.get(other, (value) => {
      note({ kind: 'got', of: other, value });
      next();
    })),
    (next) => library.lookup(`name-${after}`, (value) => {
      note({ kind: 'found', of: after, value });
      next();
    }),
    ...Array.from({ length: rounds }, (_, i): Step[] => {
      const half = everyone.filter((each) => each % 2 === i % 2);
      const isPart = hasSubsets && i % 3 === 1 && half.length > 0;
      const meets = isPart ? fence(`half ${i + 1}`, half, false) : fence(`all ${i + 1}`, undefined, i % 2 === 0);
      const pause: Step = (next) => tool.after(pauseMs, next);
      const both = (begin: MpiCollective, end: MpiCollective): Step[] =>
        [meet(begin, `g${i}`, everyone, of), pause, meet(end, `g${i}`, everyone, of)];
      if (hasGroups && i % 3 === 0) return both('groupConstruct', 'groupDestruct');
      if (hasGroups && i % 3 === 2) return both('connect', 'disconnect');
      return [...(!isPart || half.includes(rank) ? [meets] : []), pause];
    }).flat(),
    (next) => library.finalize(() => {
      note({ kind: 'finalized' });
      next();
    }),
  ];
}

function meet(kind: MpiCollective, id: string, members: readonly number[], { library, note }: Rank): Step {
  const name = `${kind} ${id}`;
  return (next) => {
    note({ kind: 'enter', name, members });
    library.meet?.(kind, id, members, (isWell, context) => {
      note({ kind: 'left', name, isWell, ...(context !== undefined && { context }) });
      next();
    });
  };
}
