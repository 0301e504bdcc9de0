/**
 * Agents that are reached by a connection of this platform: at a private socket of this machine, or at the addresses of
 * a listener. The connection is the whole of such a process: its close is its exit, which says nothing of the agent.
 */

import { DeferredChannel } from '@stci/interface';
import type {
  AgentPlace, AgentProcess, AgentProcessEvents, AgentReach, Channel, ErrorRecord, Platform, ReachFailure,
} from '@stci/interface';

/** Default time for a connection on this machine. */
const CONNECT_MS = 10_000;

type Done = (error: ErrorRecord | undefined) => void;

/** Where an agent may be reached. */
interface Endpoint {
  readonly label: string;
  connect(done: Done): Channel;
}

/** `reach` of launcherprocs whose agents share this machine's file system: connects to the agent's private socket. */
export function reachHere(
  { clock, network }: Pick<Platform, 'clock' | 'network'>,
  { path, waitMs = CONNECT_MS }: AgentReach,
  events: AgentProcessEvents,
): AgentProcess {
  const endpoint: Endpoint = { label: path, connect: (done) => network.connectPrivate(path, waitMs, done) };
  return new AgentConnection({ clock, kind: 'unix', endpoints: [endpoint] }, events);
}

/** Connects to an agent at its listener. Each address has its share of the time. `start`: if it is not reached. */
export function reachPlace(
  { clock, network }: Pick<Platform, 'clock' | 'network'>,
  { addresses, key }: AgentPlace,
  waitMs: number,
  events: AgentProcessEvents,
  start?: () => AgentProcess,
): AgentProcess {
  if (addresses.length === 0) return failedAgent({ clock }, 'it is not known where the agent waits', events);
  const shareMs = Math.max(1, Math.floor(waitMs / addresses.length));
  const endpoints = addresses.map((label) => ({
    label, connect: (done: Done) => network.connect(label, shareMs, key, done),
  }));
  return new AgentConnection({ clock, kind: 'tls', endpoints: endpoints as [Endpoint, ...Endpoint[]], start }, events);
}

/** An agent that cannot be started or reached, for this reason. */
export function failedAgent(
  { clock }: Pick<Platform, 'clock'>,
  message: string,
  events: AgentProcessEvents,
): AgentProcess {
  const endpoint: Endpoint = {
    label: 'no agent',
    connect: (done) => {
      clock.soon(() => done({ code: 'STCI_LAUNCH_FAILED', message }));
      return new DeferredChannel({ kind: 'none', label: 'no agent', soon: clock.soon });
    },
  };
  return new AgentConnection({ clock, kind: 'none', endpoints: [endpoint] }, events);
}

interface ConnectionInit {
  readonly clock: Platform['clock'];
  readonly kind: string;
  readonly endpoints: readonly [Endpoint, ...Endpoint[]];
  /** If all fail, the agent is started. */
  readonly start?: (() => AgentProcess) | undefined;
}

/** Tries the endpoints in turn. */
class AgentConnection implements AgentProcess {
  readonly channel: DeferredChannel;
  readonly #init: ConnectionInit;
  readonly #events: AgentProcessEvents;
  readonly #failures: ErrorRecord[] = [];
  #inner: Channel;
  #started: AgentProcess | undefined;
  #isConnected = false;
  #isKilled = false;
  #isOver = false;

  constructor(init: ConnectionInit, events: AgentProcessEvents) {
    const { clock, kind, endpoints } = init;
    this.#init = init;
    this.#events = events;
    this.channel = new DeferredChannel({ kind, label: endpoints[0].label, soon: clock.soon });
    this.#inner = this.#connect(endpoints);
  }

  get pid(): number {
    return this.#started?.pid ?? 0;
  }

  get isConnection(): boolean {
    return this.#started === undefined;
  }

  get phase(): string | undefined {
    if (this.#started !== undefined) return this.#started.phase;
    return this.#isConnected ? undefined : `connecting to ${this.#inner.label}`;
  }

  kill(): void {
    if (this.#started !== undefined) return this.#started.kill();
    this.#isKilled = true;
    this.#inner.destroy('killed');
    if (!this.#isConnected) this.#init.clock.soon(() => this.#exit());
  }

  #connect([endpoint, ...others]: readonly [Endpoint, ...Endpoint[]]): Channel {
    return endpoint.connect((error) => {
      if (this.#isOver) return;
      if (error === undefined) {
        this.#isConnected = true;
        return this.channel.become(this.#inner, () => this.#exit());
      }
      this.#failures.push(error);
      const [next, ...rest] = others;
      if (next === undefined) this.#failed();
      else this.#inner = this.#connect([next, ...rest]);
    });
  }

  #failed(): void {
    const { start } = this.#init;
    const failures = this.#failures;
    if (start === undefined || this.#isKilled) {
      return this.#end(() => this.#events.onError(failureOf(failures)));
    }
    this.#started = start();
    this.channel.become(this.#started.channel);
  }

  #exit(): void {
    this.#end(() => this.#events.onExit({ status: 0, evidence: 'connection' }));
  }

  #end(report: () => void): void {
    if (this.#isOver) return;
    this.#isOver = true;
    report();
    const last = this.#failures.at(-1);
    if (!this.#isConnected) this.channel.end(String(last?.data?.['reason'] ?? last?.message ?? 'closed'));
  }
}

/** The agent is known to have ended only if that was found everywhere. */
function failureOf(failures: readonly ErrorRecord[]): ErrorRecord {
  const [first, ...others] = failures as [ErrorRecord, ...ErrorRecord[]];
  if (others.length === 0) return first;
  const reach: ReachFailure = failures.every(({ data }) => data?.['reach'] === 'dead') ? 'dead' : 'unreachable';
  const message = failures.map((error) => error.message).join(' ');
  return { ...first, message, data: { reach } };
}
