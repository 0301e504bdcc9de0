/**
 * A topology that is a plugin beside the same one built in: the code of `mesh` as a package outside, so that what
 * differs is the guard around its calls. The routes of agents to all others, made and looked up as an agent does
 * (core/overlay/routes.ts), and the guard's part of one next hop, asked in this process; and streams of programs along
 * each, over agents.
 */

import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { built, cleanEnvironment, root, script, stcirun, withDirectory } from './lib/place.mjs';
import { print, printGoal } from './lib/print.mjs';
import { interleave, ratio, scaled, spread } from './lib/stats.mjs';

const ROUNDS = scaled(9);
const SIZE = scaled(512, 16);
/** Agents whose routes are made, and frames that each sends to every other. */
const AGENTS = scaled(4, 2);
const FRAMES = scaled(100, 2);
const RANKS = scaled(16, 4);
const TIMES = scaled(300, 3);
const GOAL = 1.1;

/** The built-in topology's code, as its author would have packed it. */
function packMesh(directory) {
  const path = join(directory, 'outside');
  mkdirSync(path);
  const dist = join(root, 'packages/topology-mesh/dist');
  for (const name of readdirSync(dist)) if (name.endsWith('.js')) cpSync(join(dist, name), join(path, name));
  writeFileSync(join(path, 'component.js'), `import { topologyMesh } from './index.js';
export const outside = { ...topologyMesh, name: 'outside' };\n`);
  return path;
}

export async function bench() {
  await withDirectory(async (directory) => {
    const { topologyMesh } = await built('topology-mesh', 'index.js');
    const { openPlugin } = await built('stcirun', 'plugin/load.js');
    const path = packMesh(directory);
    const { help, params } = topologyMesh;
    const component = { framework: 'topology', name: 'outside', module: './component.js', help, params };
    const stci = { api: '^1', components: [component] };
    const manifest = { name: 'outside', version: '1.0.0', type: 'module', stci };
    writeFileSync(join(path, 'package.json'), JSON.stringify(manifest));
    process.env.XDG_CACHE_HOME = directory;
    const [outside] = openPlugin(path, [topologyMesh.framework]).components;
    const { OverlayRoutes } = await built('core', 'overlay/routes.js');
    await routes(OverlayRoutes, topologyMesh, outside);
    await hops(topologyMesh, outside);
    await streams(path);
  });
}

const make = (component) => component.create({}, { wrap: true }, { kind: component.name, size: SIZE });

async function routes(OverlayRoutes, inside, outside) {
  const [floors, values] = await interleave(ROUNDS, [inside, outside].map((component) => () => {
    const topology = make(component);
    const start = performance.now();
    for (let self = 0; self < AGENTS; self++) {
      const own = new OverlayRoutes(topology, self, () => false);
      for (let frame = 0; frame < FRAMES; frame++) for (let target = 0; target < SIZE; target++) own.ways(target);
    }
    return performance.now() - start;
  }));
  print(`  routes of ${AGENTS} agents among ${SIZE}, ${FRAMES} frames to each: ${spread(values, 'ms')}; built in `
    + `${spread(floors, 'ms')}; ${ROUNDS} runs each`);
  printGoal('routes along a plugin to built in', ratio(values, floors), GOAL);
}

async function hops(inside, outside) {
  const [floors, values] = await interleave(ROUNDS, [inside, outside].map((component) => {
    const topology = make(component);
    return () => allPairsMs(topology);
  }));
  const pairs = SIZE * SIZE;
  print(`  hops of ${pairs} pairs: ${spread(values, 'ms')}; built in ${spread(floors, 'ms')}; ${ROUNDS} runs each`);
  const more = values.map((value, i) => ((value - floors[i]) * 1e6) / pairs);
  print(`  the guard of one call: ${spread(more, 'ns', 0)}`);
  print(`  next hops, which agents ask for where a program does: ${ratio(values, floors).toFixed(2)} of built in`);
}

function allPairsMs(topology) {
  const start = performance.now();
  for (let source = 0; source < SIZE; source++) {
    for (let target = 0; target < SIZE; target++) topology.nextHop(source, target);
  }
  return performance.now() - start;
}

async function streams(path) {
  const run = (topology) => () => rankMs(['--plugin', path, '--client', '--launcher', 'local', '--host', hosts(),
    '-n', String(RANKS), process.execPath, script('tools/stream-rank.mjs'), topology, String(TIMES)]);
  const [floors, values] = await interleave(ROUNDS, [run('mesh:wrap=true'), run('outside:wrap=true')]);
  print(`  ${TIMES} reductions of ${RANKS} ranks, 4 agents: ${spread(values, 'ms')}; built in ${spread(floors, 'ms')}`);
  printGoal('streams along a plugin to built in', ratio(values, floors), GOAL);
}

const hosts = () => Array.from({ length: 4 }, (_, i) => `n${i}:${RANKS / 4}`).join(',');

/** What the first rank prints. */
function rankMs(args) {
  return new Promise((resolve, reject) => {
    const stdio = ['ignore', 'pipe', 'inherit'];
    const child = spawn(process.execPath, [stcirun, ...args], { stdio, env: cleanEnvironment() });
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (chunk) => (text += chunk));
    child.on('close', (status) => {
      if (status === 0) resolve(Number(text));
      else reject(new Error(`stcirun ended with ${status}`));
    });
  });
}
