/**
 * One agent process: from spawn until its link to the parent is up, and until it has reported that it is up. The floor
 * is an empty script, from spawn to exit.
 */

import { createAgentProbe } from './lib/agent-probe.mjs';
import { timed } from './lib/child.mjs';
import { script } from './lib/place.mjs';
import { print, printGoal } from './lib/print.mjs';
import { interleave, ratio, scaled, spread } from './lib/stats.mjs';

const ROUNDS = scaled(31);

export async function bench() {
  const start = await createAgentProbe();
  const bare = () => timed([script('tools/empty.cjs')]);
  await bare();
  await start();
  const [floor, agents] = await interleave(ROUNDS, [bare, start]);
  const links = agents.map(({ linkMs }) => linkMs);
  const ups = agents.map(({ upMs }) => upMs);
  print(`  bare node, spawn to exit: ${spread(floor, 'ms')}; ${ROUNDS} runs, in turns`);
  print(`  agent, spawn to link up: ${spread(links, 'ms')}`);
  print(`  agent, spawn to agent.up: ${spread(ups, 'ms')}, ${ratio(ups, floor).toFixed(2)} of bare node`);
  printGoal('link up to bare node', ratio(links, floor), 2);
}
