/**
 * Where a red run was lost. The run is repeated with other random numbers from some moment on: before the moment at
 * which it was lost such runs end red as often as any, after it always. Moments are numbers of events: first some over
 * the whole run, then some more between those two between which the share of red ends rises most, down to one event.
 */

import type { World } from '@stci/platform-sim';
import { classOf } from './finding.js';
import type { BlamePlan } from './command-line.js';
import type { Kind, SeededPlan } from './kind.js';

/** The share of runs that end red, of those with other random numbers from this event on, that one included. */
interface Moment {
  readonly event: number;
  /** Undefined: behind the last event. */
  readonly timeMs: number | undefined;
  readonly share: number;
}

/** Lines that one event may write to the trace; more are left out. */
const LINES_MAX = 12;

/** Prints what it finds. The same plan gives the same text. False: the plan does not fail. */
export function blame(kind: Kind, plan: SeededPlan, how: BlamePlan, print: (line: string) => void): boolean {
  let world: World | undefined;
  const onWorld = (made: World): void => void (world = made);
  const { problems: [problem] } = kind.run(plan, { onWorld });
  const events = world?.scheduler.fired ?? 0;
  if (problem === undefined) {
    print('it is not red: there is nothing to blame');
    return false;
  }
  const name = classOf(problem);
  print(`red by: ${name}`);
  print(`${events} events in ${world?.nowMs.toFixed(1)} ms; ${how.runs} runs from each moment on`);
  const search = new Search(kind, plan, name, how, print);
  const jump = search.jump(events);
  print('   event       at ms    red');
  for (const moment of search.moments) print(rowOf(moment));
  if (jump === undefined) {
    print('other random numbers change nothing: what the plan says is enough');
    return true;
  }
  const [before, after] = jump;
  const percent = ({ share }: Moment): string => `${Math.round(100 * share)} %`;
  print(`the share of red ends rises most, from ${percent(before)} to ${percent(after)}, by event ${before.event}:`);
  for (const line of linesOf(kind, plan, before.event)) print(`  ${line}`);
  return true;
}

function rowOf({ event, timeMs, share }: Moment): string {
  const at = timeMs?.toFixed(3) ?? 'the end';
  const bar = '#'.repeat(Math.round(20 * share));
  return `${`${event}`.padStart(8)}  ${at.padStart(10)}   ${share.toFixed(2)}  ${bar}`.trimEnd();
}

class Search {
  readonly #kind: Kind;
  readonly #plan: SeededPlan;
  readonly #name: string;
  readonly #how: BlamePlan;
  readonly #print: (line: string) => void;
  readonly #moments: Moment[] = [];

  constructor(kind: Kind, plan: SeededPlan, name: string, how: BlamePlan, print: (line: string) => void) {
    this.#kind = kind;
    this.#plan = plan;
    this.#name = name;
    this.#how = how;
    this.#print = print;
  }

  /** By number. */
  get moments(): readonly Moment[] {
    return this.#moments.toSorted((a, b) => a.event - b.event);
  }

  /** Two moments that are one event apart; undefined: the share is the same from the first event to the last. */
  jump(events: number): readonly [Moment, Moment] | undefined {
    let known = this.#look([1, events + 1]);
    if (known[0]?.share === 1) return undefined;
    for (;;) {
      const [before, after] = steepest(known);
      const width = after.event - before.event;
      if (width <= 1) return [before, after];
      this.#print(`between events ${before.event} and ${after.event}`);
      const parts = Math.min(width, this.#how.moments + 1);
      const inner = Array.from({ length: parts - 1 }, (_, index) =>
        before.event + Math.round(((index + 1) * width) / parts));
      known = [before, ...this.#look(inner), after];
    }
  }

  #look(events: readonly number[]): Moment[] {
    const found = events.map((event) => this.#momentOf(event));
    this.#moments.push(...found);
    return found;
  }

  #momentOf(event: number): Moment {
    const { runs } = this.#how;
    let timeMs: number | undefined;
    let red = 0;
    for (let run = 1; run <= runs; run++) {
      const outcome = this.#kind.run(this.#plan, {
        onWorld: (world) => {
          const renew = (): void => {
            timeMs ??= world.nowMs;
            world.random.renew(`${run}`);
          };
          world.scheduler.before = { event, call: renew };
        },
      });
      if (outcome.problems.some((problem) => classOf(problem) === this.#name)) red++;
      // Nothing happens behind the last event: all runs are the same.
      if (timeMs === undefined) return { event, timeMs, share: red };
    }
    return { event, timeMs, share: red / runs };
  }
}

/** Two that are neighbours; the last of those where it rises as much. */
function steepest(moments: readonly Moment[]): readonly [Moment, Moment] {
  const pairs = moments.slice(1).map((after, index) => [moments[index] as Moment, after] as const);
  const rise = ([before, after]: readonly [Moment, Moment]): number => after.share - before.share;
  return pairs.reduce((most, pair) => (rise(pair) >= rise(most) ? pair : most));
}

/** What the run's event with that number wrote to the trace. */
function linesOf(kind: Kind, plan: SeededPlan, event: number): string[] {
  const lines: string[] = [];
  let world: World | undefined;
  kind.run(plan, {
    onWorld: (made) => void (world = made),
    onTrace: (line) => {
      if (world?.scheduler.fired === event && lines.length < LINES_MAX) lines.push(line);
    },
  });
  return lines;
}
