/** `reach` of launcherprocs whose agents share this machine's file system. */

import { DeferredChannel } from '@stci/interface';
import type { AgentProcess, AgentProcessEvents, AgentReach, Platform } from '@stci/interface';

/** Default time for a connection on this machine. */
const CONNECT_MS = 10_000;

/** Connects to the agent's private socket. The connection is the whole of the process: its close is its exit. */
export function reachHere(
  { clock, network }: Pick<Platform, 'clock' | 'network'>,
  { path, waitMs = CONNECT_MS }: AgentReach,
  events: AgentProcessEvents,
): AgentProcess {
  let isOver = false;
  const once = (report: () => void): void => {
    if (!isOver) report();
    isOver = true;
  };
  const inner = network.connectPrivate(path, waitMs, (error) => {
    if (error !== undefined) once(() => events.onError(error));
  });
  const channel = new DeferredChannel({ kind: inner.kind, label: inner.label, soon: clock.soon, inner });
  inner.bind({
    onData: (chunk) => channel.onData(chunk),
    onDrain: () => channel.onDrain(),
    onClose: (reason) => {
      once(() => events.onExit({ status: 0, evidence: 'connection' }));
      channel.end(reason);
    },
  });
  channel.open(new Uint8Array());
  return { pid: 0, channel, kill: () => inner.destroy('killed') };
}
