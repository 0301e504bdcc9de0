/** Assembles the platform. Nothing is opened or loaded here: each part is loaded at its first use. */

import type { LogLevel, Platform } from '@stci/interface';
import { createFiles } from './files/named-files.js';
import { Guardian, GUARD_VARIABLE, SHELL } from './processes/guardian.js';
import { takeOverHeld } from './processes/held.js';
import { PipePool } from './processes/pipe-pool.js';
import { createProcesses, type ProcessesDeps } from './processes/processes.js';
import { bundleOf, shippedBundle, shippedCommand, shippedThread, type ShippedBundle } from './shipped-bundle.js';
import { createNetwork } from './sockets/network.js';
import { createClock } from './system/clock.js';
import { createEnvironment } from './system/environment.js';
import { createLog } from './system/log.js';
import { createRandom } from './system/random.js';
import { createSecrets } from './system/secrets.js';

export interface NodePlatformOptions {
  /** Program and arguments that start an agent on this machine. */
  readonly agentCommand?: readonly string[];
  /** Script that a worker thread runs as an agent's main. */
  readonly agentMain?: string | URL;
  /** File of the agent bundle, for hosts on which STCI is not installed. */
  readonly agentBundle?: string;
  /** The bundle of this agent if it was sent to this host; it starts and sends other agents from it. */
  readonly shipped?: ShippedBundle | undefined;
  /** Descriptors that the shell which became this process opened (start-script.ts). */
  readonly held?: string | undefined;
  /** Default `warn`. */
  readonly logLevel?: LogLevel;
  /** Takes the log, line by line, in place of standard error. */
  readonly writeLog?: ((line: string) => void) | undefined;
  /** In place of this process's variables, and over them for agents that it starts. */
  readonly variables?: Readonly<Record<string, string>> | undefined;
  /** In place of this process's working directory, also for agents that it starts. */
  readonly wdir?: string | undefined;
  /** For reproducible choices; default: from the system. */
  readonly seed?: number;
}

export interface NodePlatform extends Platform {
  /** Gives back what is held for processes that may be started: none will be, and the channels are closed. */
  close(): void;
}

export function createNodePlatform(options: NodePlatformOptions = {}): NodePlatform {
  const clock = createClock();
  const secrets = createSecrets();
  const log = createLog(options.logLevel ?? 'warn', options.writeLog);
  const held = takeOverHeld(options.held);
  const keeper = new Guardian(secrets, log, held?.guardian);
  const pipes = new PipePool(log, SHELL, held?.pipes);
  return {
    clock,
    random: createRandom(options.seed),
    secrets,
    network: createNetwork(),
    processes: createProcesses({
      clock,
      ...agentSource(options),
      agentPlace: () => ({ variables: agentVariables(options.variables), wdir: options.wdir }),
      keeper,
      pipes,
    }),
    files: createFiles(),
    env: createEnvironment(options),
    log,
    close: () => {
      keeper.close();
      pipes.drain();
    },
  };
}

/** Below a tool of another run an agent has that one's mark, whatever it is given. */
function agentVariables(given: NodePlatformOptions['variables']): Readonly<Record<string, string | undefined>> {
  if (given === undefined) return process.env;
  return { ...process.env, ...given, [GUARD_VARIABLE]: process.env[GUARD_VARIABLE] };
}

/** How further agents are started. */
function agentSource(options: NodePlatformOptions): Pick<ProcessesDeps, 'agentCommand' | 'agentMain' | 'agentBundle'> {
  const { shipped, agentCommand = [], agentMain } = options;
  if (shipped === undefined) {
    return {
      agentCommand: () => agentCommand,
      agentMain: () => agentMain,
      agentBundle: bundleOf(options.agentBundle),
    };
  }
  return {
    agentCommand: () => shippedCommand(shipped),
    agentMain: () => shippedThread(shipped),
    agentBundle: () => shippedBundle(shipped),
  };
}
