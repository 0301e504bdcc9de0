/** Processes on Node: tools, agents, and the ways to end them. */

import { assert } from '@stci/interface';
import type { AgentBundle, Clock, Processes } from '@stci/interface';
import { seesUsers } from '../files/named-files.js';
import { spawnAgentProcess } from './agent-process.js';
import type { AgentPlace } from './agent-process.js';
import { spawnAgentThread, type ThreadMain } from './agent-thread.js';
import type { PipePool } from './pipe-pool.js';
import { killSelf, stopSelf } from './self-control.js';
import { sweep } from './sweep.js';
import type { GroupKeeper } from './tool-process.js';
import { spawnTool } from './tool-process.js';

export interface ProcessesDeps {
  readonly clock: Clock;
  /** Called when an agent is started. */
  readonly agentCommand: () => readonly string[];
  readonly agentMain: () => ThreadMain | undefined;
  readonly agentBundle: () => AgentBundle;
  /** Called when an agent is started in a process. */
  readonly agentPlace: () => Omit<AgentPlace, 'isBare'>;
  readonly keeper: GroupKeeper;
  readonly pipes: PipePool;
}

export function createProcesses(deps: ProcessesDeps): Processes {
  return {
    get agentCommand() {
      return deps.agentCommand();
    },
    agentBundle: deps.agentBundle,
    prepare: () => {
      deps.keeper.warm();
      deps.pipes.warm();
    },
    spawn: (spec, events) => {
      const keeper = spec.lifetime === 'guarded' ? deps.keeper : undefined;
      return spawnTool(spec, { keeper, pipes: deps.pipes }, events);
    },
    spawnAgent: (method, command, events) => {
      if (method === 'process') {
        const isBare = command === deps.agentCommand();
        return spawnAgentProcess(command, events, { ...deps.agentPlace(), isBare });
      }
      const main = deps.agentMain();
      assert(main !== undefined, 'agents in threads need agentMain');
      return spawnAgentThread(main, events);
    },
    shareMemory: (prefixes) => {
      if (seesUsers()) deps.keeper.share(prefixes);
    },
    killSelf,
    stopSelf,
    sweep: (mark, deadlineMs, done) => {
      const { clock, keeper } = deps;
      sweep({ clock, since: () => keeper.firstStart, onClean: () => keeper.clear() }, mark, deadlineMs, done);
    },
  };
}
