/** A job whose ranks are started again, with a session that only notes what it is told. */

import { Ledger, mapJob } from '@stci/core';
import { StciError, sessionAddress, type Failure, type HostIndex, type HostSpec, type JobEvent } from '@stci/interface';
import { Scope } from '../../dist/event/scope.js';
import type { RecoveringJob } from '../../dist/jobs/job-session.js';
import { RankRelocation } from '../../dist/jobs/rank-relocation.js';
import type { Launch, MessageBody } from '../../dist/messages/messages.js';
import { LIMITS, app, hosts, job } from '../job-help.js';
import { testPlace } from '../world.js';

export const FOUND = { kind: 'host-lost' } as unknown as Failure;

interface Options {
  /** Of a message. */
  readonly bytesMax?: number;
  readonly on?: string;
  readonly ranks?: number;
  readonly oversubscribe?: boolean;
  readonly first?: readonly HostIndex[];
}

/** A job of `ranks` over hosts by node; all session agents were started, but for those of hosts not in `first`. */
export function play({
  on = 'a:2 b:2 c:2', ranks = 3, oversubscribe = false, first = [0, 1, 2], bytesMax = 1 << 24,
}: Options = {}) {
  const place = testPlace();
  const spec = job({ apps: [app(ranks)], hosts: hosts(on), mapBy: { by: 'node' }, oversubscribe });
  const ledger = new Ledger({ job: 7, spec, map: mapJob(spec, LIMITS), submitWallMs: 0 });
  const members = [...spec.hosts];
  const log: string[] = [];
  const launches: Launch[] = [];
  const [lost, doubted] = [new Set<HostIndex>(), new Set<HostIndex>()];
  /** Of hosts whose root agent runs. */
  const agentLost = new Set<HostIndex>();
  const restarting = new Set<HostIndex>();
  const slotsTaken: number[] = [];
  /** Other jobs that may end. */
  const others = new Set<number>();
  const placed: string[] = [];
  const unsent: { error?: StciError } = {};
  const session = {
    node: {
      platform: place.platform, params: { int: () => bytesMax },
      messages: {
        send: (to: number, name: string, { start, ranks: those, ...news }: MessageBody<'job.restart'>, of: number) => {
          const agent = `${to - sessionAddress(0)}${start === 1 ? '' : `, start ${start},`}`;
          const text = `${name} to ${agent} of job ${of}: ${JSON.stringify(those)}`;
          log.push(Object.keys(news).length === 0 ? text : `${text} ${JSON.stringify(news)}`);
        },
      },
    },
    members: {
      hosts: () => [...members.keys()], nameOf: (host: HostIndex) => members[host]?.name,
      get: (host: HostIndex) => ({ spec: members[host] }),
      isUsable: (host: HostIndex) => !lost.has(host), isDoubted: (host: HostIndex) => doubted.has(host),
      isRestarting: (host: HostIndex) => restarting.has(host),
    },
    slots: {
      taken: () => slotsTaken, held: () => (others.size > 0 ? [] : slotsTaken), onFree: () => void placed.push('soon'),
    },
    passLaunch: (launch: Launch, of: number) => {
      launches.push(launch);
      const [[host]] = launch.hosts as unknown as [[HostIndex]];
      log.push(`launch ${launch.start} of job ${of} on ${host}: ${JSON.stringify(launch.restarts)}`);
      return unsent.error;
    },
  };
  const hostsOf = (): unknown => ledger.map.hosts.map(({ host }) => [host, 0, []]);
  const holds = new Scope('job 7');
  const phase = { now: 'running' };
  const growing = {
    session, holds, job: 7, ledger, launchNow: () => ({ hosts: hostsOf() }),
    isLaunched: true, get phase() { return phase.now; },
    params: { int: (name: string) => (name === 'job.size.max' ? 8 : name === 'job.ranks.per.host.max' ? 4 : 2) },
    hasFirstAgent: (host: HostIndex) => first.includes(host),
    hosts: { isLost: (host: HostIndex) => lost.has(host) || agentLost.has(host) },
    front: {
      emit: (event: JobEvent) => log.push(event.type === 'warning' ? event.text : event.type),
      check: (error?: StciError) => error && log.push(`unsent: ${error.code}`),
    },
  } as unknown as RecoveringJob;
  const moves = new RankRelocation(growing, {
    onStarting: (host, isNew) => log.push(`starting ${host}${isNew ? ' anew' : ''}`),
    onAwaitingSlots: (those) => log.push(`awaits slots: ${those.join()}`),
    onNoRoom: (those) => log.push(`no room for ${[...those.keys()].join()}`),
  });
  Object.assign(growing, { recovery: { relocation: moves } });
  const told = (): string[] => log.splice(0);
  const run = (ms: number): string[] => (place.run(ms), told());
  const isQuiet = (): boolean => place.world.scheduler.queue.pending().length === 0;
  const spare = (host: HostIndex, spec1: HostSpec): void => void (members[host] = spec1);
  return {
    moves, holds, ledger, lost, doubted, agentLost, restarting, slotsTaken, others, unsent, launches, placed, told, run,
    isQuiet, spare, growing, phase,
  };
}
