/** The launch model over numbers of hosts and arities: the values in the tables and the plot of docs/scaling.md. */

import { estimateLaunch } from './launch-model.mjs';
import { built } from './place.mjs';

const { createTree } = await built('topology-tree', 'tree.js');

/** Value of launcher.window if the arity is larger: an agent then starts all its children at once. */
const WINDOW_MIN = 8;
export const HOSTS_MAX = 10_000;
export const ARITIES = [2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128];

/** One launch with the k-ary tree; `arity` Infinity: flat. */
export function estimate(costs, processors, hosts, arity) {
  const k = Math.min(arity, hosts);
  return estimateLaunch({ tree: createTree(hosts + 1, k) }, { costs, processors, window: Math.max(WINDOW_MIN, k) });
}

/** The fastest of ARITIES and flat. */
export function best(costs, processors, hosts) {
  const all = [...ARITIES.filter((k) => k < hosts), Infinity].map((arity) => {
    return { arity, ...estimate(costs, processors, hosts, arity) };
  });
  return all.reduce((left, right) => (right.wallMs < left.wallMs ? right : left));
}

/** The least number of hosts from which on the tree is never slower than hydra's flat start; undefined: none. */
export function crossover({ ours, hydra }, processors, arity) {
  const isAhead = (hosts) =>
    estimate(ours, processors, hosts, arity).wallMs <= estimate(hydra, processors, hosts, Infinity).wallMs;
  if (!isAhead(HOSTS_MAX)) return undefined;
  const counts = [];
  for (let hosts = 1; hosts <= HOSTS_MAX; hosts = Math.max(hosts + 1, Math.ceil(hosts * 1.01))) counts.push(hosts);
  const last = counts.findLast((hosts) => !isAhead(hosts));
  return last === undefined ? 1 : counts[counts.indexOf(last) + 1];
}
