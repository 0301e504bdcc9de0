/**
 * Moments of a run: the events of its processes, by number, from some point on; the first is 1. Events of the world
 * itself, such as looks of a script, have none: a fault moves them. Two runs that are the same up to a moment have the
 * same numbers up to it.
 */

import type { EventOwner, World } from '@stci/platform-sim';
import type { Moment } from './scenario.js';

/** Calls `call` after each event of a process, with its number from now on. */
export function afterEvents(world: World, call: (owner: EventOwner, event: number) => void): void {
  const { scheduler } = world;
  const earlier = scheduler.onFired;
  let event = 0;
  scheduler.onFired = (owner) => {
    earlier?.(owner);
    if (owner !== undefined) call(owner, ++event);
  };
}

/** Calls `call` once: right after that event from now on, or so many ms from now. */
export function atMoment(world: World, { atMs, event }: Moment, call: () => void): void {
  if (event === undefined) return world.at(world.nowMs + atMs, call);
  afterEvents(world, (_, number) => {
    if (number === event) call();
  });
}
