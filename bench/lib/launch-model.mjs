/**
 * Duration of a launch on separate hosts, computed from the costs of one start: the boot tree is walked level by level,
 * as by the agents. A starting agent has its host's processors for the ssh clients and one thread, so there is a gap
 * between its starts; a window bounds concurrent ones. The controller's thread handles the reports of all agents. Pure,
 * O(agents log agents); the bench `scaling` applies it to measured figures and checks it against simulated launches by
 * the real agents.
 */

/**
 * Estimates the launch of a k-ary plan. `costs`, all in ms:
 *   fixedMs           of a launch, without the hosts: the front-end's start, a program that does nothing, the end
 *   childMs           from the start of one child until it is up and may start others, while nothing else runs
 *   starterCpuMs      its processor time at the agent that starts it, spread over its processors
 *   starterThreadMs   the part of that in the starting agent's thread
 *   reportMs          processor time at the controller for each agent started by another
 *   hopMs             of a message from one agent to the next along the tree
 * `processors` per host, `window`: concurrent starts of one agent; both at least 1.
 * Returns `wallMs` until the controller knows that the last agent is up, `depth` in levels below the controller,
 * `messages` over all links (each agent's report on its way up, the job on its way down), and `frontCpuMs`, processor
 * time where the controller is, for starts and reports.
 */
export function estimateLaunch({ tree: { arity, size } }, { costs, processors, window }) {
  if (processors < 1 || window < 1) throw new Error('processors and window are at least 1');
  const gapMs = Math.max(costs.starterThreadMs, costs.starterCpuMs / processors);
  const upMs = new Float64Array(size);
  const startMs = new Float64Array(size);
  const depth = new Int32Array(size);
  const reportedMs = new Float64Array(size - 1);
  let hops = 0;
  for (let at = 1; at < size; at++) {
    const parent = Math.floor((at - 1) / arity);
    const first = arity * parent + 1;
    startMs[at] = at === first ? upMs[parent] : startMs[at - 1] + gapMs;
    if (at - first >= window) startMs[at] = Math.max(startMs[at], upMs[at - window]);
    upMs[at] = startMs[at] + costs.childMs;
    depth[at] = depth[parent] + 1;
    reportedMs[at - 1] = upMs[at] + (depth[at] - 1) * costs.hopMs;
    hops += depth[at];
  }
  const direct = Math.min(arity, size - 1);
  return {
    wallMs: costs.fixedMs + lastServedMs(reportedMs, costs.reportMs),
    depth: depth[size - 1],
    messages: hops + size - 1,
    frontCpuMs: direct * costs.starterCpuMs + (size - 1 - direct) * costs.reportMs,
  };
}

/** When the last of the requests with these arrival times has been served, one after another. */
function lastServedMs(comeMs, serviceMs) {
  return comeMs.sort().reduce((freeMs, atMs) => Math.max(freeMs, atMs) + serviceMs, 0);
}
