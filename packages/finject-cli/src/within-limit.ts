/**
 * Ends a computation that takes too long, such as a regular expression that backtracks without end on what a target has
 * written: Node's `vm` looks at a clock beside it, which also ends an expression within one call of it.
 */

import { createContext, Script, type Context } from 'node:vm';
import type { Within } from '@stci/finject/experiment';

let place: Context | undefined;
let script: Script | undefined;

export const withinLimit: Within = (limitMs, run) => {
  place ??= createContext({});
  script ??= new Script('run()');
  place['run'] = run;
  try {
    return script.runInContext(place, { timeout: limitMs }) as ReturnType<typeof run>;
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return undefined;
    throw thrown;
  } finally {
    place['run'] = undefined;
  }
};
