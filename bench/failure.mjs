/**
 * Failures in a session that runs, on real processes of this machine, and what it costs to wait for them. `--part`
 * names parts; all take about ten minutes. With `--long`, `false` waits ten minutes each.
 */

import { alarms } from './failure/alarms.mjs';
import { lag } from './failure/lag.mjs';
import { noise } from './failure/noise.mjs';
import { several } from './failure/several.mjs';
import { silent } from './failure/silent.mjs';
import { tool } from './failure/tool.mjs';
import { print } from './lib/print.mjs';

const PARTS = { tool, silent, several, noise, false: alarms, lag };

/** Parts that `--part` may name. */
export const parts = Object.keys(PARTS);

export async function bench({ part = parts, long = false } = {}) {
  for (const name of part) {
    const sinceMs = performance.now();
    print(`failure, ${name}`);
    await PARTS[name]({ long });
    print(`  took ${((performance.now() - sinceMs) / 1000).toFixed(0)} s`);
  }
}
