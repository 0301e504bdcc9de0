// @ts-check
/**
 * Topology component `sample`: a ring. Each position is linked with the one before and the one after it; messages go
 * the shorter way around, and the other way where a dead position is on it.
 */

import { accept, checkTopologyRequest, defineComponent, topologyFramework } from '@stci/core/component';

export const component = defineComponent({
  framework: topologyFramework,
  name: 'sample',
  version: '1.0.0',
  frameworkVersion: 1,
  help: 'A ring: each position is linked with the next one and the one before.',
  params: {},
  query: () => accept(10),
  create: (_deps, _params, request) => {
    checkTopologyRequest(request, []);
    const { kind, size } = request;
    /** @type {(position: number) => number} */
    const around = (position) => ((position % size) + size) % size;
    return {
      kind,
      size,
      diameter: Math.floor(size / 2),
      neighbours: (position) =>
        [...new Set([around(position - 1), around(position + 1)])].filter((one) => one !== position)
          .sort((a, b) => a - b),
      nextHop: (source, target, dead) => {
        if (source === target || dead?.has(source) || dead?.has(target)) return undefined;
        const ahead = around(target - source);
        const between = [...(dead ?? [])].map((one) => around(one - source));
        const isFree = [between.every((one) => one > ahead), between.every((one) => one < ahead)];
        if (!isFree[0] && !isFree[1]) return undefined;
        const isAhead = isFree[0] && (!isFree[1] || ahead <= size - ahead);
        return around(source + (isAhead ? 1 : -1));
      },
      // From the root, both ways to the far side.
      spanningTree: (root) => {
        const [ahead, behind] = [Math.floor(size / 2), Math.ceil(size / 2) - 1];
        /** @type {(position: number) => number} */
        const stepsOf = (position) => {
          const steps = around(position - root);
          return steps <= ahead ? steps : steps - size;
        };
        return {
          root,
          parent: (position) => {
            const steps = stepsOf(position);
            return steps === 0 ? undefined : around(position - Math.sign(steps));
          },
          children: (position) => {
            const steps = stepsOf(position);
            const next = [];
            if (steps >= 0 && steps < ahead) next.push(around(position + 1));
            if (steps <= 0 && -steps < behind) next.push(around(position - 1));
            return next.sort((a, b) => a - b);
          },
          depth: (position) => Math.abs(stepsOf(position)),
          subtreeSize: (position) => {
            const steps = stepsOf(position);
            if (steps === 0) return size;
            return steps > 0 ? ahead - steps + 1 : behind + steps + 1;
          },
        };
      },
    };
  },
});
