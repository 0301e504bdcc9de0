/**
 * From the kill of a tool until all others were told. Beside it the floors, a broadcast of one byte over raw sockets,
 * and the peer memberlist.
 */

import { spawnSync } from 'node:child_process';
import { broadcastFloor } from '../lib/broadcast-floor.mjs';
import { toolKills } from '../lib/failure-session.mjs';
import { buildMember, memberlistKills, whyNoMemberlist } from '../lib/memberlist.mjs';
import { print, printGoal } from '../lib/print.mjs';
import { median, scaled, spread } from '../lib/stats.mjs';

/** Sizes with kills of one job (the others are to stay many), and of the peer, which takes 10 s each. */
const SIZES = scaled([[16, 5, 5], [64, 20, 10]], [[4, 1, 0]]);
const KILLS = scaled(20);
const NOTIFIERS = scaled(['lazy', 'bmg', 'tree'], ['lazy']);

export async function tool() {
  const whyNoPeer = whyNoMemberlist();
  if (whyNoPeer !== undefined) print(`  without its peer: ${whyNoPeer}`);
  const program = whyNoPeer === undefined && SIZES.some(([, , peerKills]) => peerKills > 0) ? buildMember() : undefined;
  if (!hasUlfm()) print('  mpirun --with-ft ulfm is not measured: Open MPI here has none (5.0 and later do)');
  print('  a process killed until the last of the others was told, and messages a kill\n'
    + '  | | n | kills | median (least–most) | messages |\n  |---|---|---|---|---|');
  for (const [size, aJob, peerKills] of SIZES) {
    const tree = await broadcastFloor(size, 'tree', KILLS);
    row('floor: tree, no detection', size, tree, size - 1);
    row('floor: binomial graph, no detection', size, await broadcastFloor(size, 'bmg', KILLS), '');
    const ours = {};
    for (const notifier of NOTIFIERS) {
      const { agents, told, messages } = await toolKills(size, KILLS, aJob, notifier);
      ours[notifier] = agents;
      row(`stcirun, ${notifier}: last agent`, size, agents, messages.toFixed(0));
      row(`stcirun, ${notifier}: last rank`, size, told, '');
    }
    const peer = program === undefined ? undefined : await memberlistKills(program, size, 0, peerKills);
    if (peer !== undefined) row('memberlist, its defaults', size, peer, '');
    if (size !== SIZES.at(-1)[0]) continue;
    printGoal("tool killed, against the tree's floor", median(ours.lazy) / median(tree), 2);
    if (peer !== undefined) printGoal("… against memberlist's defaults", median(ours.lazy) / median(peer), 0.01);
  }
}

/** `ompi_info` names its fault tolerance. */
function hasUlfm() {
  return /ulfm/iu.test(spawnSync('ompi_info', ['--all'], { encoding: 'utf8' }).stdout ?? '');
}

function row(name, size, times, messages) {
  print(`  | ${name} | ${size} | ${times.length} | ${spread(times, 'ms', 2)} | ${messages} |`);
}
