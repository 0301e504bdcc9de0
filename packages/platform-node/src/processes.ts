/** Processes on Node: tools, agents, and the ways to end them. */

import { assert } from '@stci/interface';
import type { Clock, Processes } from '@stci/interface';
import { spawnAgentProcess } from './agent-process.js';
import type { SpareAgent } from './agent-process.js';
import { spawnAgentThread } from './agent-thread.js';
import type { PipePool } from './pipe-pool.js';
import type { GroupKeeper } from './tool-process.js';
import { spawnTool } from './tool-process.js';
import { sweep } from './sweep.js';

export interface ProcessesDeps {
  readonly clock: Clock;
  readonly agentCommand: readonly string[];
  readonly agentMain: string | URL | undefined;
  readonly spareAgent?: SpareAgent | undefined;
  readonly keeper: GroupKeeper;
  readonly pipes: PipePool;
}

export function createProcesses(deps: ProcessesDeps): Processes {
  return {
    agentCommand: deps.agentCommand,
    spawn: (spec, events) => {
      const keeper = spec.lifetime === 'guarded' ? deps.keeper : undefined;
      return spawnTool(spec, { keeper, pipes: deps.pipes }, events);
    },
    spawnAgent: (method, command, events) => {
      if (method === 'process') {
        const spare = command === deps.agentCommand ? deps.spareAgent?.take() : undefined;
        return spawnAgentProcess(command, events, spare);
      }
      assert(deps.agentMain !== undefined, 'a platform that starts agents as threads is given their main');
      return spawnAgentThread(deps.agentMain, events);
    },
    sweep: (mark, deadlineMs, done) => sweep(deps.clock, mark, deadlineMs, done),
  };
}
