/** Puts the platform together. Nothing is opened or loaded here: an agent pays for what it uses, when it uses it. */

import type { LogLevel, Platform } from '@stci/interface';
import type { SpareAgent } from './agent-process.js';
import { createClock } from './clock.js';
import { createEnvironment } from './environment.js';
import { Guardian } from './guardian.js';
import { createLog } from './log.js';
import { createNetwork } from './network.js';
import { createProcesses } from './processes.js';
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
  readonly spareAgent?: SpareAgent | undefined;
  /** Default `warn`. */
  readonly logLevel?: LogLevel;
  /** For choices that shall repeat; default: from the system. */
  readonly seed?: number;
}

export function createNodePlatform(options: NodePlatformOptions = {}): Platform {
  const clock = createClock();
  const secrets = createSecrets();
  const log = createLog(options.logLevel ?? 'warn');
  return {
    clock,
    random: createRandom(options.seed),
    secrets,
    network: createNetwork(),
    processes: createProcesses({
      clock,
      agentCommand: options.agentCommand ?? [],
      agentMain: options.agentMain,
      spareAgent: options.spareAgent,
      keeper: new Guardian(secrets, log),
      pipes: new PipePool(log),
    }),
    env: createEnvironment(),
    log,
  };
}
