/**
 * Agents on this machine: in processes, in threads, or as objects of this process, as `AgentStart.method` says. The
 * host's name is not used once the component is selected, so that several names can stand for hosts on one machine.
 */

import { DeferredChannel } from '@stci/interface';
import type {
  AgentProcess,
  AgentProcessEvents,
  AgentReach,
  AgentStart,
  LauncherProc,
  LauncherProcDeps,
  LauncherProcRequest,
} from '@stci/interface';

/** Default time for a connection on this machine. */
const CONNECT_MS = 10_000;

export type LocalDeps = Pick<LauncherProcDeps, 'inline'> & {
  readonly platform: Pick<LauncherProcDeps['platform'], 'clock' | 'network' | 'processes'>;
};

/** The launcherproc `local`. */
export function createLocal({ platform, inline }: LocalDeps): LauncherProc {
  const { processes } = platform;
  return {
    name: 'local',
    start: (start: AgentStart, events) =>
      start.method === 'inline'
        ? inline(start, events)
        : processes.spawnAgent(start.method, processes.agentCommand, events),
    reach: (reach, events) => reachHere(platform, reach, events),
  };
}

/** The connection is the whole of the process: its close is its exit. */
export function reachHere(
  { clock, network }: Pick<LauncherProcDeps['platform'], 'clock' | 'network'>,
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

const OWN_NAMES = ['localhost', '127.0.0.1', '::1'];

/** Hosts of the request that are not this machine; `hostname` may be the full or the short name. */
export function foreignHosts(request: LauncherProcRequest, hostname: string): string[] {
  const short = (name: string): string => name.split('.', 1)[0] as string;
  const isOwn = (name: string): boolean =>
    OWN_NAMES.includes(name) || (hostname !== '' && [hostname, short(hostname)].includes(name));
  return request.hosts.map((host) => host.name).filter((name) => !isOwn(name.toLowerCase()));
}
