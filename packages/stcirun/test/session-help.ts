/** A session in the test's process, with fake front-end agents, and its front-ends over real sockets. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { resolveParams } from '@stci/core';
import { Scope, SessionJobs, SessionServer } from '@stci/core/resident';
import {
  makeSessionKey, SessionClient, type AcceptedJob, type HostStatus, type JobRequest, type MetricRow,
  type SessionStatus,
} from '@stci/core/session';
import type { FrontEnd, FrontEndEvents, HostSpec, JobEvent, JobSpec, StciError } from '@stci/interface';
import { createNodePlatform } from '@stci/platform-node';
import { frontEndRegistry, spoolDirectory } from '@stci/stcirun/internal';
import { eventually } from '@stci/testkit';
import { FakeFrontEnd, fakeMap } from './fake-front-end.js';

export const SPEC: JobSpec = {
  apps: [{ program: 'p', args: [], env: {} }], mapBy: { by: 'slot' }, oversubscribe: false, env: {}, wdir: '/',
  stdin: { to: 'rank', rank: 0 }, launchTimeoutMs: 1000, hosts: [],
} as unknown as JobSpec;

const HOST: HostSpec = { name: 'n1', slots: 1, slotsBound: true, origin: '--host' };

const RUN: JobRequest = { wait: false, detach: false, label: 'p' };

class Seen implements FrontEndEvents {
  out = '';
  readonly events: JobEvent[] = [];
  missed = 0;
  drains = 0;
  inputClosed = false;
  stopped = 0;
  /** Output is not released. */
  isHeld = false;
  #held: (() => void)[] = [];

  onJobEvent(event: JobEvent): void {
    this.events.push(event);
  }

  onOutput(_rank: number, _stream: string, chunk: Uint8Array, _wallMs: number, release: () => void): void {
    this.out += Buffer.from(chunk).toString('latin1');
    if (this.isHeld) this.#held.push(release);
    else release();
  }

  release(): void {
    this.isHeld = false;
    for (const release of this.#held.splice(0)) release();
  }

  onStdinDrain(): void {
    this.drains += 1;
  }

  onStdinClosed(): void {
    this.inputClosed = true;
  }

  onStopped(): void {
    this.stopped += 1;
  }

  has(type: JobEvent['type']): boolean {
    return this.events.some((event) => event.type === type);
  }
}

interface Follow {
  readonly client: SessionClient;
  readonly seen: Seen;
  readonly frontEnd: FrontEnd;
  readonly job: AcceptedJob;
}

/** A session in this process, reached over its socket. */
export class Session {
  readonly directory = mkdtempSync(join(tmpdir(), 'stci-jobs-'));
  readonly agents: FakeFrontEnd[] = [];
  /** Metrics of two agents; a third one does not answer. */
  measured: readonly MetricRow[] = [];
  /** Jobs that the controller refuses. */
  refusal: StciError | undefined;
  readonly #platform = createNodePlatform();
  readonly #key = makeSessionKey(this.#platform);
  readonly #params = resolveParams(frontEndRegistry().catalog, {}).params;
  #server: SessionServer | undefined;
  #path = '';
  stopped = 0;
  readonly jobs: SessionJobs;

  constructor(spoolBytesMax = 1 << 20) {
    this.jobs = new SessionJobs({
      name: 'test',
      version: '1',
      clock: this.#platform.clock,
      session: () => ({
        hosts: [{ host: 0, spec: HOST } as HostStatus],
        spares: [],
        holds: new Scope('session'),
        open: () => undefined,
        gatherLinks: ({ onDone }) => onDone(''),
        continues: false,
        launcher: 'local',
        useFaults: (use) => use({
          begin: () => undefined, inject: () => undefined, leave: () => false,
          undo: (_owner, _id, done) => done([]), clocks: (done) => done([]),
        }),
        follow: (events) => this.#follow(events),
        gatherMetrics: ({ onAgent, onDone }) => {
          onAgent('root:0', this.measured);
          onAgent('root:1', this.measured);
          onDone(['root:2']);
        },
        gatherHeld: ({ onDone }) => onDone([]),
        addHosts: (_hosts, done) => done([]),
        removeHosts: (_names, _options, done) => done([]),
        stop: (done) => done(),
      }),
      spoolFiles: (name) => spoolDirectory(join(this.directory, name)),
      spoolBytesMax,
      onStopped: () => (this.stopped += 1),
    });
  }

  async listen(): Promise<this> {
    const [platform, params, key, service] = [this.#platform, this.#params, this.#key, this.jobs];
    this.#server = new SessionServer({ platform, params, key, service });
    await new Promise<void>((resolve, reject) => {
      this.#server?.listen((error, path) => {
        this.#path = path;
        if (error === undefined) resolve();
        else reject(error);
      });
    });
    return this;
  }

  connect(key = this.#key): SessionClient {
    const channel = this.#platform.network.connectPrivate(this.#path, 5000);
    return new SessionClient({ platform: this.#platform, params: this.#params, channel, key, name: 'test' });
  }

  strangers(): SessionClient {
    return this.connect(makeSessionKey(this.#platform));
  }

  async submit(request: Partial<JobRequest> = {}, spec = SPEC, client = this.connect()): Promise<Follow> {
    return this.follow(client, await new Promise<AcceptedJob>((resolve, reject) => {
      client.submit(spec, { ...RUN, ...request }, () => undefined, (error, job) => {
        if (job === undefined) reject(error);
        else resolve(job);
      });
    }));
  }

  async attach(job: number, all = false, input = false): Promise<Follow> {
    const client = this.connect();
    return this.follow(client, await new Promise<AcceptedJob>((resolve, reject) => {
      client.call('client.attach', { job, all, input }, (error, accepted) => {
        if (accepted === undefined) reject(error);
        else resolve(accepted);
      });
    }));
  }

  follow(client: SessionClient, job: AcceptedJob): Follow {
    const seen = new Seen();
    const frontEnd = client.follow(seen, () => (seen.missed += 1));
    frontEnd.submit(SPEC);
    return { client, seen, frontEnd, job };
  }

  status(): Promise<SessionStatus> {
    const client = this.connect();
    return new Promise((resolve, reject) => {
      client.call('client.status', {}, (error, status) => {
        client.close();
        if (status === undefined) reject(error);
        else resolve(status);
      });
    });
  }

  /** Those that read get what there is. */
  async close(): Promise<void> {
    await new Promise<void>((resolve) => this.#server?.disconnect(resolve));
    rmSync(this.directory, { recursive: true, force: true });
  }

  #follow(events: FrontEndEvents): FakeFrontEnd {
    const agent = new FakeFrontEnd(events);
    this.agents.push(agent);
    const number = this.agents.length;
    setImmediate(() => {
      const error = this.refusal;
      if (error !== undefined) {
        const cause = { code: error.code, message: error.message, data: error.data };
        return agent.end({ job: 0, exitCode: error.exitCode, cause, failures: [cause] });
      }
      agent.job = number;
      events.onJobEvent({ type: 'mapped', map: fakeMap(1) });
      events.onJobEvent({ type: 'started', rank: 0, host: 0, pid: 7, wallMs: 1 });
      events.onJobEvent({ type: 'running' });
    });
    return agent;
  }
}

export function withSession(body: (session: Session) => Promise<void>, spoolBytesMax?: number): () => Promise<void> {
  return async () => {
    const session = await new Session(spoolBytesMax).listen();
    try {
      await body(session);
    } finally {
      await session.close();
    }
  };
}

/** Whether it is so within `ms` of real time: for what is expected not to be, while something else has a deadline. */
export async function happens(condition: () => boolean, ms: number): Promise<boolean> {
  const endMs = performance.now() + ms;
  // eslint-disable-next-line no-restricted-syntax -- it waits for what must not be
  while (!condition() && performance.now() < endMs) await new Promise((resolve) => setTimeout(resolve, 5));
  return condition();
}

export const soon = (condition: () => boolean, what: string): Promise<unknown> =>
  eventually(condition, { deadlineMs: 4000, what });
