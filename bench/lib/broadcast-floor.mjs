/** The floor of a notification: a broadcast of one byte over raw unix sockets, along a tree or a binomial graph. */

import { endAll, member } from './members.mjs';
import { script, withDirectory } from './place.mjs';

/** ms from the source's own turn to the last member's, `rounds` times. */
export function broadcastFloor(size, kind, rounds) {
  return withDirectory(async (directory) => {
    const args = (position) => [script('tools/broadcast-floor.cjs'), String(position), String(size), directory, kind];
    const members = Array.from({ length: size }, (_, position) => member(process.execPath, args(position)));
    try {
      await Promise.all(members.map(({ line }) => line(/^listens$/u)));
      const up = members.map(({ line }) => line(/^up$/u));
      for (const { say } of members) say('connect');
      await Promise.all(up);
      const times = [];
      for (let round = 1; round <= rounds; round++) {
        const pattern = new RegExp(`^${round} (\\d+)$`, 'u');
        members[0].say(round);
        const atNs = (await Promise.all(members.map(({ line }) => line(pattern)))).map(([, at]) => BigInt(at));
        const last = atNs.reduce((a, b) => (a > b ? a : b));
        times.push(Number(last - atNs[0]) / 1e6);
      }
      return times;
    } finally {
      await endAll(members);
    }
  });
}
