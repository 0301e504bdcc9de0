// @ts-check
/** The part at a host: reads a line from each of its ranks, and writes them what was said. */

import { RANK_SOCKET_FD } from '@stci/interface';

const NEWLINE = 0x0a;

/**
 * @param {import('@stci/interface').ServiceHost} part
 * @param {number} lineMax
 * @returns {import('@stci/interface').HostService}
 */
export function hostPart(part, lineMax) {
  /**
   * Ranks that have said their line, and wait.
   * @type {Map<number, import('@stci/interface').Channel>}
   */
  const waiting = new Map();
  const text = new TextDecoder();
  return {
    onStart: (rank, attempt) => ({
      env: { ROLL_CALL_FD: String(RANK_SOCKET_FD) },
      socket: (channel) => {
        /** @type {number[]} */
        let line = [];
        channel.bind({
          onData: (chunk) => {
            for (const byte of chunk) {
              if (waiting.has(rank)) return; // It has said its line, and is to read.
              if (byte !== NEWLINE) line.length < lineMax && line.push(byte);
              else {
                waiting.set(rank, channel);
                part.send({ rank, attempt, line: text.decode(Uint8Array.from(line)) });
                line = [];
              }
            }
          },
          onDrain: () => undefined,
          onClose: () => void (waiting.get(rank) === channel && waiting.delete(rank)),
        });
      },
    }),
    onMessage: (lines) => {
      const answer = /** @type {[number, string][]} */ (lines).map(([rank, line]) => `${rank} ${line}\n`).join('');
      for (const channel of waiting.values()) channel.send([new TextEncoder().encode(`${answer}\n`)]);
      waiting.clear();
    },
  };
}
