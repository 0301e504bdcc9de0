/** The launch message of a job, cut to the hosts of a subtree: each agent is told what concerns it and no more. */

import type { HostIndex, JobId, JobMap, JobSpec, Params } from '@stci/interface';
import type { MessageBody } from '../am/messages.js';

type Launch = MessageBody<'job.launch'>;

/** Least window of one session agent: two full reads of a pipe. */
const CREDIT_BYTES_MIN = 128 * 1024;
const CREDIT_BYTES_MAX = 4 * 1024 * 1024;

/** Window of each session agent, bytes: its share of iof.window, within bounds that keep pipes flowing. */
export function creditBytes(params: Params, hosts: number): number {
  const share = Math.floor(params.int('iof.window') / hosts);
  return Math.min(CREDIT_BYTES_MAX, Math.max(CREDIT_BYTES_MIN, share));
}

export class JobLaunch {
  readonly #common: Omit<Launch, 'hosts'>;
  readonly #entries: Launch['hosts'];

  constructor(session: string, job: JobId, spec: JobSpec, map: JobMap, window: number) {
    this.#common = {
      job,
      session,
      size: map.size,
      nodes: spec.hosts.length,
      apps: spec.apps,
      env: spec.env,
      wdir: spec.wdir,
      stdin: spec.stdin,
      creditBytes: window,
    };
    this.#entries = map.hosts
      .filter(({ runs }) => runs.length > 0)
      .map(({ host, runs }) => [
        host,
        runs.map(({ app, first, count, stride }) => [app, first, count, stride] as const),
      ]);
  }

  /** Hosts that have ranks. */
  get hosts(): readonly HostIndex[] {
    return this.#entries.map(([host]) => host);
  }

  /** The message for the hosts that `wanted` picks; undefined where none of them has ranks. */
  below(wanted: (host: HostIndex) => boolean): Launch | undefined {
    const hosts = this.#entries.filter(([host]) => wanted(host));
    return hosts.length === 0 ? undefined : { ...this.#common, hosts };
  }
}
