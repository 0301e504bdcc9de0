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
  const way: Way = { label: path, connect: (done) => network.connectPrivate(path, waitMs, done) };
  return connectAgent(clock, 'unix', [way], events);
}

/** Connects to an agent at its listener. Each address has its share of the time. */
export function reachPlace(
  { clock, network }: Pick<Platform, 'clock' | 'network'>,
  { addresses, key }: AgentPlace,
  waitMs: number,
  events: AgentProcessEvents,
): AgentProcess {
  if (addresses.length === 0) return failedAgent({ clock }, 'it is not known where the agent waits', events);
  const shareMs = Math.max(1, Math.floor(waitMs / addresses.length));
  const ways = addresses.map((label) => ({
    label, connect: (done: Done) => network.connect(label, shareMs, key, done),
  }));
  return connectAgent(clock, 'tls', ways as [Way, ...Way[]], events);
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
  return connectAgent(clock, 'none', [way], events);
}

/** Tries the ways in turn. */
function connectAgent(
  clock: Platform['clock'],
  kind: string,
  ways: readonly [Way, ...Way[]],
  events: AgentProcessEvents,
): AgentProcess {
  const channel = new DeferredChannel({ kind, label: ways[0].label, soon: clock.soon });
  const failures: ErrorRecord[] = [];
  let isConnected = false;
  let isOver = false;
  const end = (report: () => void): void => {
    if (isOver) return;
    isOver = true;
    report();
    const last = failures.at(-1);
    if (!isConnected) channel.end(String(last?.data?.['reason'] ?? last?.message ?? 'closed'));
  };
  const exit = (): void => end(() => events.onExit({ status: 0, evidence: 'connection' }));
  const connect = ([way, ...others]: readonly [Way, ...Way[]]): Channel => way.connect((error) => {
    if (isOver) return;
    if (error === undefined) {
      isConnected = true;
      return channel.become(inner, exit);
    }
    failures.push(error);
    const [next, ...rest] = others;
    if (next === undefined) end(() => events.onError(failureOf(failures)));
    else inner = connect([next, ...rest]);
  });
  let inner = connect(ways);
  return {
    pid: 0,
    channel,
    isConnection: true,
    get phase() {
      return isConnected ? undefined : `connecting to ${inner.label}`;
    },
    kill: () => {
      inner.destroy('killed');
      if (!isConnected) clock.soon(exit);
    },
  };
}

/** It is known to have ended only if that was found everywhere. */
function failureOf(failures: readonly ErrorRecord[]): ErrorRecord {
  const [first, ...others] = failures as [ErrorRecord, ...ErrorRecord[]];
  if (others.length === 0) return first;
  const reach: ReachFailure = failures.every(({ data }) => data?.['reach'] === 'dead') ? 'dead' : 'unreachable';
  const message = failures.map((error) => error.message).join(' ');
  return { ...first, message, data: { reach } };
}
