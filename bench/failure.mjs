/**
 * Failures in a session that runs, on real processes of this machine: from the kill of a tool, or the stop of an agent,
 * until the last surviving rank was told. Beside it the floors, a broadcast of one byte over raw sockets, and the peer
 * memberlist. Times are those of the machine's monotonic clock.
 */

import { spawnSync } from 'node:child_process';
import { broadcastFloor } from './lib/broadcast-floor.mjs';
import { agentStops, toolKills } from './lib/failure-session.mjs';
import { buildMember, memberlistKills, whyNoMemberlist } from './lib/memberlist.mjs';
import { print, printGoal } from './lib/print.mjs';
import { median, spread } from './lib/stats.mjs';

const SIZES = [16, 64];
const KILLS = 20;
/** Stops of agents, for each period. */
const STOPS = 20;
const PERIODS_MS = [500, 200, 100, 50];
/** Kills of the peer memberlist: one takes some ten seconds at its defaults. */
const PEER_KILLS = 10;

export async function bench({ sizes = SIZES, kills = KILLS, stops = STOPS, periodsMs = PERIODS_MS,
  peerKills = PEER_KILLS } = {}) {
  const whyNoPeer = whyNoMemberlist();
  if (whyNoPeer !== undefined) print(`  without its peer: ${whyNoPeer}`);
  const program = whyNoPeer === undefined ? buildMember() : undefined;
  if (!hasUlfm()) print('  mpirun --with-ft ulfm is not measured: Open MPI here has none (5.0 and later do)');
  print('  a process killed until the last of the others was told, ms\n'
    + '  | | n | kills | median (least–most) |\n  |---|---|---|---|');
  for (const size of sizes) {
    const tree = await broadcastFloor(size, 'tree', kills);
    const bmg = await broadcastFloor(size, 'bmg', kills);
    row('floor: tree, no detection', size, tree);
    row('floor: binomial graph, no detection', size, bmg);
    const ours = {};
    for (const notifier of ['lazy', 'bmg', 'tree']) {
      const { agents, told } = await toolKills(size, kills, notifier);
      ours[notifier] = agents;
      row(`stcirun, ${notifier}: last agent`, size, agents);
      row(`stcirun, ${notifier}: last rank`, size, told);
    }
    const peer = program === undefined ? undefined : await memberlistKills(program, size, 0, peerKills);
    if (peer !== undefined) row('memberlist, its defaults', size, peer);
    if (size !== Math.max(...sizes)) continue;
    printGoal("tool killed, against the tree's floor", median(ours.lazy) / median(tree), 2);
    if (peer !== undefined) printGoal("… against memberlist's defaults", median(ours.lazy) / median(peer), 0.01);
  }
  await silent(sizes[0], stops, periodsMs);
}

/** `ompi_info` names its fault tolerance. */
function hasUlfm() {
  return /ulfm/iu.test(spawnSync('ompi_info', ['--all'], { encoding: 'utf8' }).stdout ?? '');
}

function row(name, size, times) {
  print(`  | ${name} | ${size} | ${times.length} | ${spread(times, 'ms', 2)} |`);
}

/** An agent that is stopped is silent: only its heartbeats tell. */
async function silent(size, stops, periodsMs) {
  print(`  an agent stopped until the last agent was told, n = ${size}, timeout 10 periods\n`
    + '  | period ms | stops | median (least–most) | inside (timeout − period, timeout] |\n  |---|---|---|---|');
  for (const periodMs of periodsMs) {
    const { agents: times } = await agentStops(size, stops, periodMs);
    const inside = times.filter((ms) => ms > 9 * periodMs && ms <= 10 * periodMs).length;
    print(`  | ${periodMs} | ${times.length} | ${spread(times, 'ms', 1)} | ${inside} of ${times.length} |`);
  }
}
