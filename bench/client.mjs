/**
 * Programs that use the client library: a barrier and an all-gather of 64 ranks on 8 local agents, beside the same
 * messages over bare sockets between as many processes (a hub, 8 relays, 64 programs), and 10 000 keys of 64 ranks
 * exchanged. Both run in turns; each measures at its first program, over many rounds.
 */

import { spawn } from 'node:child_process';
import { cleanEnvironment, script, stcirun, withDirectory } from './lib/place.mjs';
import { print, printGoal } from './lib/print.mjs';
import { interleave, median, ratio, scaled, spread } from './lib/stats.mjs';

const ROUNDS = scaled(5);
const HOSTS = scaled(8, 2);
const RANKS = scaled(64, 4);
const TIMES = scaled(200, 5);
const KEYS = scaled(10_000, 40);
const GOAL = 3;
const KEYS_GOAL_MS = 1000;

export async function bench() {
  const shape = [HOSTS, RANKS, TIMES, KEYS].map(String);
  await withDirectory(async (directory) => {
    const own = () => figures(stcirun, [
      '--client', '--launcher', 'local', '--host', hosts(), '-n', String(RANKS),
      process.execPath, script('tools/client-rank.mjs'), ...shape,
    ]);
    let run = 0;
    const floor = () => figures(script('tools/client-floor.mjs'), [`${directory}/${(run += 1)}`, ...shape]);
    const [bare, ours] = await interleave(ROUNDS, [floor, own]);
    print(`  ${RANKS} programs, ${HOSTS} agents; ${ROUNDS} runs each, in turns, of ${TIMES} rounds`);
    for (const [name, what] of [['barrierMs', 'barrier'], ['gatherMs', 'all-gather']]) {
      const [floors, values] = [bare, ours].map((list) => list.map((each) => each[name]));
      print(`  ${what}: ${spread(values, 'ms', 2)}; over bare sockets ${spread(floors, 'ms', 2)}`);
      printGoal(`${what} to bare sockets`, ratio(values, floors), GOAL);
    }
    const keys = ours.map(({ keysMs }) => keysMs);
    print(`  ${KEYS} keys put and exchanged: ${spread(keys, 'ms', 0)}`);
    printGoal(`keys exchanged, in ms`, median(keys), KEYS_GOAL_MS);
  });
}

const hosts = () => Array.from({ length: HOSTS }, (_, i) => `n${i}:${RANKS / HOSTS}`).join(',');

/** What the first program writes: one line of JSON. */
function figures(program, args) {
  return new Promise((resolve, reject) => {
    const stdio = ['ignore', 'pipe', 'inherit'];
    const child = spawn(process.execPath, [program, ...args], { stdio, env: cleanEnvironment() });
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (chunk) => (text += chunk));
    child.on('close', (status, signal) => {
      if (status === 0) resolve(JSON.parse(text));
      else reject(new Error(`${program} ended with ${signal ?? status}`));
    });
  });
}
