/**
 * Agents on this machine: in processes, in threads, or as objects of this process, as `AgentStart.method` says. The
 * host's name is not used once the component is selected, so that several names can stand for hosts on one machine.
 */

import { reachHere } from '@stci/core/component';
import type {
  AgentStart,
  LauncherProc,
  LauncherProcDeps,
  LauncherProcRequest,
} from '@stci/interface';

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

const OWN_NAMES = ['localhost', '127.0.0.1', '::1'];

/** Hosts of the request that are not this machine; `hostname` may be the full or the short name. */
export function foreignHosts(request: Pick<LauncherProcRequest, 'hosts'>, hostname: string): string[] {
  const short = (name: string): string => name.split('.', 1)[0] as string;
  const isOwn = (name: string): boolean =>
    OWN_NAMES.includes(name) || (hostname !== '' && [hostname, short(hostname)].includes(name));
  return request.hosts.map((host) => host.name).filter((name) => !isOwn(name.toLowerCase()));
}
