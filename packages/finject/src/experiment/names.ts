/** How repeats and injections are called where people read: by the configuration; the record counts through all. */

import type { RepeatPlan } from './contracts.js';

/** `repeat 2`, `repeat 2 of 3`; with configurations `repeat 2, swim`. */
export function repeatName({ number, configuration }: Pick<RepeatPlan, 'number' | 'configuration'>, of?: number):
string {
  return `repeat ${number}${of === undefined ? '' : ` of ${of}`}${configuration === '' ? '' : `, ${configuration}`}`;
}

/** An injection's name within its repeat: of `3.kill.1` `kill.1`. */
export function withoutRepeat(id: string): string {
  return id.slice(id.indexOf('.') + 1);
}

/** `3.kill.1`, of the third repeat; with configurations, where it is not the third of its own, `kill.1`. */
export function injectionName(id: string, { configuration }: Pick<RepeatPlan, 'configuration'>): string {
  return configuration === '' ? id : withoutRepeat(id);
}
