// @ts-check
/** The part at the controller: a call is over when each rank has said its line, or has ended for good. */

/**
 * @param {import('@stci/interface').ServiceController} part
 * @returns {import('@stci/interface').ControllerService}
 */
export function controllerPart(part) {
  /** @type {Map<number, string>} */
  const said = new Map();
  /** @type {Set<number>} */
  const ended = new Set();
  const check = () => {
    let left = 0;
    for (let rank = 0; rank < part.size; rank++) if (!said.has(rank) && !ended.has(rank)) left += 1;
    if (left > 0 || said.size === 0) return;
    const lines = [...said].sort(([a], [b]) => a - b);
    said.clear();
    part.sendAll(lines);
  };
  return {
    onMessage: (_host, body) => {
      const { rank, line } = /** @type {{ rank: number, line: string }} */ (body);
      said.set(rank, line);
      check();
    },
    onEnd: (rank) => {
      ended.add(rank);
      said.delete(rank);
      check();
    },
    // What an attempt has said that is gone is said again by the next.
    onRestart: (rank) => void said.delete(rank),
  };
}
