/**
 * The launcherproc `slurm`: all agents by one step, one agent by a step of its own. An agent that was started so is
 * reached over the network only.
 */

import { DeferredChannel } from '@stci/interface';
import type {
  AgentGroup, AgentProcess, AgentProcessEnd, AgentProcessEvents, AgentStart, Channel, LauncherProc, LauncherProcDeps,
  Platform,
} from '@stci/interface';
import { reachPlace } from '@stci/core/component';
import { AgentSteps } from './agent-steps.js';
import { CONNECT_MS_MIN, type SlurmParams } from './command.js';

/** How long an agent waits for its parent if that does not say. */
const WAIT_MS = 60_000;
/** Silence of one host is told before its parent gives it up: that waits for a quarter of the time, or longer. */
const CONNECT_FRACTION = 1 / 5;
/** Time for which the end of an agent's step is awaited after its connection's end. */
const EXIT_MS = 3000;

export type SlurmDeps = Pick<LauncherProcDeps, 'inline'> & {
  readonly platform: { readonly [key in 'clock' | 'secrets' | 'processes' | 'env' | 'network']: Platform[key] };
};

export function createSlurm({ platform, inline }: SlurmDeps, params: SlurmParams): LauncherProc {
  return {
    name: 'slurm',
    start: (start, events) =>
      start.method === 'inline' ? inline(start, events) : new SteppedAgent(platform, params, start, events),
    startAll: (start, events) => new AgentSteps(platform, params, start, events),
    reach: ({ host: { name } }, events) => unreachable(platform, name, events),
  };
}

function unreachable({ clock }: Pick<Platform, 'clock'>, host: string, events: AgentProcessEvents): AgentProcess {
  const message = `${host}: agents that Slurm started are reached over the network, not by a login.`;
  const channel = new DeferredChannel({ kind: 'stdio', label: `slurm ${host}`, soon: clock.soon });
  clock.soon(() => {
    events.onError({ code: 'STCI_LAUNCH_FAILED', message, host, data: { reach: 'unreachable' } });
    channel.end(message);
  });
  return { pid: 0, channel, isConnection: true, kill: () => undefined };
}

/** One agent by a step of its own: a group of one, and the connection to its place. */
class SteppedAgent implements AgentProcess {
  readonly pid = 0;
  readonly channel: Channel;
  readonly #events: AgentProcessEvents;
  readonly #agentChannel: DeferredChannel;
  readonly #group: AgentGroup;
  #connection: AgentProcess | undefined;
  #end: AgentProcessEnd | undefined;
  #isOver = false;

  constructor(
    platform: SlurmDeps['platform'],
    params: SlurmParams,
    { address, host, waitMs = WAIT_MS }: AgentStart,
    events: AgentProcessEvents,
  ) {
    this.#events = events;
    this.#agentChannel = new DeferredChannel({ kind: 'tls', label: `slurm ${host.name}`, soon: platform.clock.soon });
    this.channel = this.#agentChannel;
    const connectMs = Math.max(CONNECT_MS_MIN, Math.min(params.connectMs, waitMs * CONNECT_FRACTION));
    this.#group = new AgentSteps(platform, { ...params, connectMs }, { agents: [{ address, host }], waitMs }, {
      onPlace: (_index, place) => {
        this.#connection = reachPlace(platform, place, waitMs, {
          onError: (error) => {
            this.#finish(() => events.onError({ ...error, host: host.name }));
            this.#group.kill();
          },
          onDiagnostic: () => undefined,
          onExit: () => void platform.clock.after(EXIT_MS, () => this.#exit({ status: 0, evidence: 'connection' })),
        });
        this.#agentChannel.become(this.#connection.channel);
      },
      onFailed: (_index, error) => {
        this.#finish(() => events.onError(error));
        this.#agentChannel.end(error.message);
      },
      onDiagnostic: (_index, line) => events.onDiagnostic(line),
      onExit: (_index, end) => (this.#end = end),
      onEnding: (error) => events.onDiagnostic(error.message.split('\n')[0] as string),
      onOver: () => {
        this.#exit(this.#end ?? { signal: 'SIGKILL', evidence: 'connection' });
        if (this.#connection === undefined) this.#agentChannel.end('the step has ended');
      },
    });
  }

  get phase(): string | undefined {
    return this.#group.phase ?? this.#connection?.phase;
  }

  kill(): void {
    this.#connection?.kill();
    this.#group.kill();
  }

  #exit(end: AgentProcessEnd): void {
    this.#finish(() => this.#events.onExit(end));
  }

  #finish(report: () => void): void {
    if (this.#isOver) return;
    this.#isOver = true;
    report();
  }
}
