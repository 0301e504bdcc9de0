/**
 * Launches of up to 10 000 separate hosts: the model of lib/launch-model.mjs with the figures of bench/costs.json,
 * checked against launches by the real agents in simulation. Writes docs/scaling.md and its plot.
 */

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, script } from './lib/place.mjs';
import { print } from './lib/print.mjs';
import { scalingDocument, scalingPlot } from './lib/scaling-document.mjs';
import { modelOf, simulateLaunch } from './lib/simulated-launch.mjs';

/** Number of hosts, arity. */
const CHECKS = [[64, 8], [1000, 2], [1000, 8], [1000, 32], [1000, 1000], [10_000, 8], [10_000, 16]];

export async function bench() {
  const costs = JSON.parse(readFileSync(script('costs.json'), 'utf8'));
  const checks = [];
  for (const [hosts, arity] of CHECKS) {
    const modelMs = modelOf(costs.ours, hosts, arity);
    const simulatedMs = await simulateLaunch(costs.ours, hosts, arity);
    checks.push({ hosts, arity, modelMs: Math.round(modelMs), simulatedMs: Math.round(simulatedMs) });
    print(`  ${hosts} hosts, arity ${arity}: model ${modelMs.toFixed(0)} ms, simulated ${simulatedMs.toFixed(0)} ms`);
  }
  writeFileSync(script('scaling-checks.json'), `${JSON.stringify(checks, undefined, 2)}\n`);
  writeFileSync(join(root, 'docs/scaling.svg'), scalingPlot(costs));
  writeFileSync(join(root, 'docs/scaling.md'), scalingDocument(costs, checks));
  print('  written: docs/scaling.md, docs/scaling.svg, bench/scaling-checks.json');
}
