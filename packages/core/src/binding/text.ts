/** A binding in words: for people as Open MPI prints it, for PMIx clients as hwloc's locations. */

import { cpuList } from './cpu-list.js';
import type { Level, Processor, Topology } from './topology.js';

/** Prefixes of hwloc's locations, in the order in which PMIx has them. */
const LOCATIONS: readonly (readonly [string, Level])[] = [
  ['SK', 'socket'], ['L3', 'l3cache'], ['L2', 'l2cache'], ['L1', 'l1cache'], ['CR', 'core'], ['HT', 'hwthread'],
  ['NM', 'numa'],
];

/** Such as `SK0:L30:L20:L10:CR0:HT0-1:NM0`: after its two letters each part has the numbers of the objects. */
export function localityOf(own: readonly Processor[]): string {
  return LOCATIONS.flatMap(([prefix, level]) => {
    const numbers = own.flatMap(({ at }) => at[level] ?? []);
    return numbers.length === 0 ? [] : [`${prefix}${cpuList(numbers)}`];
  }).join(':');
}

/**
 * As Open MPI's `--report-bindings`: `socket 0[core 0[hwt 0-1]]: [BB/../..][../../..]`. A bracket for each socket, a
 * part between slashes for each core, a letter for each hardware thread: B where the rank is bound to it.
 */
export function reportOf(topology: Topology, own: readonly Processor[]): string {
  const cores: string[] = [];
  const masks = groups(topology, 'socket').map((inSocket) => {
    const mask = groups(inSocket, 'core').map((threads) => {
      const bound = threads.flatMap((thread, index) => (own.includes(thread) ? [index] : []));
      const { socket, core } = threads[0]?.at ?? {};
      if (bound.length > 0) cores.push(`socket ${socket}[core ${core}[hwt ${cpuList(bound)}]]`);
      return threads.map((_thread, index) => (bound.includes(index) ? 'B' : '.')).join('');
    });
    return `[${mask.join('/')}]`;
  });
  return `${cores.join(', ')}: ${masks.join('')}`;
}

function groups(processors: readonly Processor[], level: Level): Processor[][] {
  const found: Processor[][] = [];
  for (const processor of processors) {
    const last = found.at(-1);
    if (last?.[0]?.at[level] === processor.at[level]) last?.push(processor);
    else found.push([processor]);
  }
  return found;
}
