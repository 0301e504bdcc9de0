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
interface Way {
  readonly label: string;
  connect(done: Done): Channel;
}

/** `reach` of launcherprocs whose agents share this machine's file system: connects to the agent's private socket. */
export function reachHere(
  { clock, network }: Pick<Platform, 'clock' | 'network'>,
  { path, waitMs = CONNECT_MS }: AgentReach,
  events: AgentProcessEvents,
): AgentProcess {
  return new ConnectedAgent(
    clock, 'unix', [{ label: path, connect: (done) => network.connectPrivate(path, waitMs, done) }], events,
  );
}

/** Connects to an agent at its listener. Each address has its share of the time. */
export function reachPlace(
  { clock, network }: Pick<Platform, 'clock' | 'network'>,
  { addresses, key }: AgentPlace,
  waitMs: number,
  events: AgentProcessEvents,
): AgentProcess {
  const shareMs = Math.max(1, Math.floor(waitMs / addresses.length));
  const ways = addresses.map((label) => ({
    label, connect: (done: Done) => network.connect(label, shareMs, key, done),
  }));
  return new ConnectedAgent(clock, 'tls', ways, events);
}

/** An agent that cannot be started or reached, for this reason. */
export function failedAgent(
  { clock }: Pick<Platform, 'clock'>,
  message: string,
  events: AgentProcessEvents,
): AgentProcess {
  const way: Way = {
    label: 'no agent',
    connect: (done) => {
      clock.soon(() => done({ code: 'STCI_LAUNCH_FAILED', message }));
      return new DeferredChannel({ kind: 'none', label: 'no agent', soon: clock.soon });
    },
  };
  return new ConnectedAgent(clock, 'none', [way], events);
}

/** Tries the ways in turn. */
class ConnectedAgent implements AgentProcess {
  readonly isConnection = true;
  readonly pid = 0;
  readonly channel: DeferredChannel;
  readonly #ways: readonly Way[];
  readonly #events: AgentProcessEvents;
  readonly #failures: ErrorRecord[] = [];
  #inner: Channel;
  readonly #clock: Platform['clock'];
  #isOver = false;
  #isConnected = false;

  constructor(clock: Platform['clock'], kind: string, ways: readonly Way[], events: AgentProcessEvents) {
    this.#clock = clock;
    this.#ways = ways;
    this.#events = events;
    this.channel = new DeferredChannel({ kind, label: (ways[0] as Way).label, soon: clock.soon });
    this.#inner = this.#connect(0);
  }

  get phase(): string | undefined {
    return this.#isConnected ? undefined : `connecting to ${this.#inner.label}`;
  }

  kill(): void {
    this.#inner.destroy('killed');
    if (!this.#isConnected) this.#clock.soon(() => this.#exit());
  }

  #connect(index: number): Channel {
    return (this.#ways[index] as Way).connect((error) => {
      if (this.#isOver) return;
      if (error === undefined) return this.#use();
      this.#failures.push(error);
      if (index + 1 < this.#ways.length) this.#inner = this.#connect(index + 1);
      else this.#end(() => this.#events.onError(this.#failure()));
    });
  }

  #use(): void {
    this.#isConnected = true;
    this.channel.become(this.#inner, () => this.#exit());
  }

  #exit(): void {
    this.#end(() => this.#events.onExit({ status: 0, evidence: 'connection' }));
  }

  #end(report: () => void): void {
    if (this.#isOver) return;
    this.#isOver = true;
    report();
    const reason = this.#failures.at(-1)?.data?.['reason'] ?? this.#failures.at(-1)?.message ?? 'closed';
    if (!this.#isConnected) this.channel.end(String(reason));
  }

  /** It is known to have ended only if that was found everywhere. */
  #failure(): ErrorRecord {
    const [first, ...others] = this.#failures as [ErrorRecord, ...ErrorRecord[]];
    if (others.length === 0) return first;
    const reach: ReachFailure = this.#failures.every(({ data }) => data?.['reach'] === 'dead') ? 'dead' : 'unreachable';
    const message = [first, ...others].map((error) => error.message).join(' ');
    return { ...first, message, data: { reach } };
  }
}
