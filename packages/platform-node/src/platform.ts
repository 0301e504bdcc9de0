/** Puts the platform together. Nothing is opened or loaded here: an agent pays for what it uses, when it uses it. */

import type { LogLevel, Platform } from '@stci/interface';
import type { PrestartedAgent } from './agent-process.js';
import { createClock } from './clock.js';
import { bundleOf, shippedBundle, shippedCommand, shippedThread, type ShippedBundle } from './shipped-bundle.js';
import { createEnvironment } from './environment.js';
import { Guardian, SHELL } from './guardian.js';
import { takeOverHeld } from './held.js';
import { createLog } from './log.js';
import { createNetwork } from './network.js';
import { createProcesses, type ProcessesDeps } from './processes.js';
import { PipePool } from './pipe-pool.js';
import { createRandom } from './random.js';
import { createSecrets } from './secrets.js';

export interface NodePlatformOptions {
  /** Program and arguments that start an agent on this machine. */
  readonly agentCommand?: readonly string[];
  /** File that a worker thread runs as an agent's main. */
  readonly agentMain?: string | URL;
  /**
   * An agent's process that `agentCommand` has started already, by the same means: the first agent that is asked for
   * as a process is this one. So its start overlaps with ours.
   */
  readonly prestartedAgent?: PrestartedAgent | undefined;
  /** File of the agent in one piece, for hosts that have nothing of ours. */
  readonly agentBundle?: string;
  /** What this agent came as, where it was sent to this host: it starts and sends others from that. */
  readonly carried?: ShippedBundle | undefined;
  /** What the shell that became this process holds open for it (start-script.ts). */
  readonly held?: string | undefined;
  /** Default `warn`. */
  readonly logLevel?: LogLevel;
  /** For choices that shall repeat; default: from the system. */
  readonly seed?: number;
}

export function createNodePlatform(options: NodePlatformOptions = {}): Platform {
  const clock = createClock();
  const secrets = createSecrets();
  const log = createLog(options.logLevel ?? 'warn');
  const held = takeOverHeld(options.held);
  return {
    clock,
    random: createRandom(options.seed),
    secrets,
    network: createNetwork(),
    processes: createProcesses({
      clock,
      ...agentSource(options),
      prestartedAgent: options.prestartedAgent,
      keeper: new Guardian(secrets, log, held?.guardian),
      pipes: new PipePool(log, SHELL, held?.pipes),
    }),
    env: createEnvironment(),
    log,
  };
}

/** How others like this agent are started. */
function agentSource(options: NodePlatformOptions): Pick<ProcessesDeps, 'agentCommand' | 'agentMain' | 'agentBundle'> {
  const { carried, agentCommand = [], agentMain } = options;
  if (carried === undefined) {
    return {
      agentCommand: () => agentCommand,
      agentMain: () => agentMain,
      agentBundle: bundleOf(options.agentBundle),
    };
  }
  return {
    agentCommand: () => shippedCommand(carried),
    agentMain: () => shippedThread(carried),
    agentBundle: () => shippedBundle(carried),
  };
}
