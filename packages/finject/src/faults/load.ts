/** Fault `load`: processes that compute, and memory that is in use, on a host for a time. */

import { accept, defineComponent, faultFramework } from '@stci/core/component';
import type { FaultAction, FaultMachine, FaultModule } from '@stci/interface';
import { atRoot, type VictimOf } from './victims.js';

const PROCESSES_MAX = 128;
const MEMORY_MAX = 2 ** 40;

type Spawn = Extract<FaultAction, { readonly type: 'spawn' }>;

/**
 * Each has an end of its own: the agent is its parent, and where that one and its guardian are killed together, nobody
 * else would end it.
 */
const WHILE_AGENT = 'while kill -0 "$PPID" 2>/dev/null; do';
const BUSY = `${WHILE_AGENT} i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done; done`;
/** The last command keeps what it reads until the first one ends. */
const holding = (bytes: number): string =>
  `{ head -c ${bytes} /dev/zero; ${WHILE_AGENT} sleep 1; done; } | tail -c ${bytes}`;

const module: FaultModule = {
  victims: ['host'],
  undoes: true,
  args: {
    cpu: { type: 'int', default: 0, min: 0, max: PROCESSES_MAX, help: 'Processes that compute without a pause.' },
    memory: {
      type: 'size', default: 0, min: 0, max: MEMORY_MAX,
      help: 'Memory that is filled and kept. Where there is less, the system may end other processes.',
    },
  },
  problemOf: ({ args }) => (args['cpu'] === 0 && args['memory'] === 0
    ? 'a load of nothing is none: give cpu, memory or both' : undefined),
  plan: ({ victim }, place) => atRoot((victim as VictimOf<'host'>).host, place),
  open: ({ order: { args } }) => {
    const cpu = args['cpu'] as number;
    const memory = args['memory'] as number;
    const shell = (key: string, script: string, count: number): Spawn =>
      ({ type: 'spawn', key, program: 'sh', args: ['-c', script], count });
    const spawns = [shell('cpu', BUSY, cpu), shell('memory', holding(memory), memory > 0 ? 1 : 0)];
    return loading(spawns.filter(({ count }) => count > 0), `${cpu} busy processes, ${memory} bytes of memory`);
  },
};

function loading(spawns: readonly Spawn[], text: string): FaultMachine {
  const waiting = new Set<string>();
  let isUndoing = false;
  return {
    dueMs: undefined,
    on: (event) => {
      if (event.type === 'inject' || event.type === 'undo') {
        isUndoing = event.type === 'undo';
        for (const { key } of spawns) waiting.add(key);
        return isUndoing ? spawns.map(({ key }) => ({ type: 'end', key })) : spawns;
      }
      if (event.type !== 'done' || !waiting.has(event.key)) return [];
      if (!isUndoing && event.problem !== undefined) return [{ type: 'failed', reason: event.problem }];
      waiting.delete(event.key);
      if (waiting.size > 0) return [];
      return [isUndoing ? { type: 'undone' } : { type: 'injected', text }];
    },
  };
}

export const faultLoad = defineComponent({
  framework: faultFramework,
  name: 'load',
  version: '1.0.0',
  frameworkVersion: 1,
  help: 'Load on a host for a time: processes that compute, memory that is in use. The processes end with the '
    + 'fault, and with their agent.',
  params: {},
  args: module.args,
  query: () => accept(50),
  create: () => module,
});
