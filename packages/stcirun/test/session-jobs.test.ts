/** Front-ends that come and go: connections to a session's jobs over real sockets, with fake front-end agents. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { resolveParams } from '@stci/core';
import { SessionJobs, SessionServer } from '@stci/core/resident';
import {
  makeSessionKey, SessionClient, type AcceptedJob, type JobRequest, type RankPage, type SessionStatus,
} from '@stci/core/session';
import { StciError, type FrontEnd, type FrontEndEvents, type JobEvent, type JobSpec } from '@stci/interface';
import { createNodePlatform } from '@stci/platform-node';
import { ask, askRanks, frontEndRegistry, spoolDirectory } from '@stci/stcirun';
import { assert, eventually, suite } from '@stci/testkit';
import { FakeFrontEnd, fakeMap } from './fake-front-end.js';

const SPEC: JobSpec = {
  apps: [{ program: 'p', args: [], env: {} }], mapBy: { by: 'slot' }, oversubscribe: false, env: {}, wdir: '/',
  stdin: { to: 'rank', rank: 0 }, launchTimeoutMs: 1000, hosts: [],
} as unknown as JobSpec;

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
class Session {
  readonly directory = mkdtempSync(join(tmpdir(), 'stci-jobs-'));
  readonly agents: FakeFrontEnd[] = [];
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
      backend: {
        hosts: () => [],
        spares: () => [],
        continues: false,
        openFrontEnd: (events) => this.#openFrontEnd(events),
        addHosts: (_hosts, done) => done([]),
        removeHosts: (_names, _options, done) => done([]),
        stop: (done) => done(),
      },
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

  async submit(request: Partial<JobRequest> = {}): Promise<Follow> {
    const client = this.connect();
    return this.follow(client, await new Promise<AcceptedJob>((resolve, reject) => {
      client.submit(SPEC, { ...RUN, ...request }, () => undefined, (error, job) => {
        if (job === undefined) reject(error);
        else resolve(job);
      });
    }));
  }

  async attach(job: number, all = false, input = false): Promise<Follow> {
    const client = this.connect();
    return this.follow(client, await new Promise<AcceptedJob>((resolve, reject) => {
      client.attach(job, { all, input }, (error, accepted) => {
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
      client.request('client.status', {}, (error, reply) => {
        client.close();
        if (error === undefined) resolve(reply as SessionStatus);
        else reject(error);
      });
    });
  }

  /** Those that read get what there is. */
  async close(): Promise<void> {
    await new Promise<void>((resolve) => this.#server?.disconnect(resolve));
    rmSync(this.directory, { recursive: true, force: true });
  }

  #openFrontEnd(events: FrontEndEvents): FakeFrontEnd {
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

function withSession(body: (session: Session) => Promise<void>, spoolBytesMax?: number): () => Promise<void> {
  return async () => {
    const session = await new Session(spoolBytesMax).listen();
    try {
      await body(session);
    } finally {
      await session.close();
    }
  };
}

const soon = (condition: () => boolean, what: string): Promise<unknown> =>
  eventually(condition, { deadlineMs: 4000, what });

suite('front-ends of a session', (test) => {
  test('a job runs as under a front-end agent: events, output, input, the report', withSession(async (session) => {
    const { seen, frontEnd, job } = await session.submit();
    const [agent] = session.agents as [FakeFrontEnd];
    assert.is(job.job, 1);
    agent.output(0, 'stdout', 'hello');
    agent.output(0, 'stdout', '');
    frontEnd.writeStdin(Buffer.from('in'));
    frontEnd.closeStdin();
    await soon(() => agent.inputClosed, 'the end of input');
    assert.is(Buffer.concat(agent.input).toString(), 'in');
    agent.events.onStdinClosed();
    await soon(() => seen.inputClosed, 'nobody reads');
    const failure = { code: 'STCI_TOOL_STATUS', message: 'status 3' };
    agent.end({ exitCode: 3, cause: failure, failures: [failure] });
    await soon(() => seen.has('ended'), 'the end');
    assert.equal(seen.events.map(({ type }) => type), ['mapped', 'started', 'running', 'ended']);
    const last = seen.events.at(-1);
    assert.equal(last?.type === 'ended' && [last.report.exitCode, last.report.failures], [3, [failure]]);
    assert.is(seen.out, 'hello');
    frontEnd.stop();
    await soon(() => seen.stopped === 1, 'the end of the link');
    assert.is(agent.stops, 1);
  }));

  test('events with long texts come whole, however many they are', withSession(async (session) => {
    const { frontEnd, seen: first } = await session.submit();
    frontEnd.stop();
    await soon(() => first.stopped === 1, 'the link to close');
    const [agent] = session.agents as [FakeFrontEnd];
    const error = { code: 'STCI_TOOL_NOT_FOUND', message: 'x'.repeat(4096) };
    for (let i = 0; i < 6000; i += 1) agent.events.onJobEvent({ type: 'failure', error });
    agent.end();
    const { seen } = await session.attach(1);
    await soon(() => seen.has('ended'), 'the end');
    assert.is(seen.events.filter(({ type }) => type === 'failure').length, 6000);
  }));

  test('what a session tells of its jobs fits into messages: long command lines, many ranks',
    withSession(async (session) => {
      for (let i = 0; i < 12; i += 1) await session.submit({ label: 'x'.repeat(1_700_000) });
      assert.is((await session.status()).jobs.length, 12);
      const [agent] = session.agents as [FakeFrontEnd];
      agent.events.onJobEvent({ type: 'mapped', map: fakeMap(2500) });
      for (let rank = 1; rank < 2500; rank += 1) {
        agent.events.onJobEvent({ type: 'started', rank, host: 0, pid: 7, wallMs: 1 });
      }
      const client = session.connect();
      const first = await ask<RankPage>(client, 'client.ranks', { job: 1, from: 0 });
      assert.equal([first.ranks.length, first.next], [1000, 1000]);
      assert.equal((await askRanks(client, 1)).map(({ rank }) => rank), Array.from({ length: 2500 }, (_, i) => i));
      client.close();
    }));

  test('of ended jobs with many events the last is kept', withSession(async (session) => {
    const error = { code: 'STCI_TOOL_NOT_FOUND', message: 'x'.repeat(1 << 20) };
    for (let job = 1; job <= 3; job += 1) {
      const { seen, frontEnd } = await session.submit({ detach: true });
      for (let i = 0; i < 40; i += 1) session.agents.at(-1)?.events.onJobEvent({ type: 'failure', error });
      session.agents.at(-1)?.end();
      frontEnd.stop();
      await soon(() => seen.stopped === 1, 'the link to close');
    }
    assert.equal((await session.status()).jobs.map(({ job }) => job), [3]);
    assert.match((await assert.rejectsWith('STCI_JOB_UNKNOWN', session.attach(1))).message, 'has forgotten job 1');
  }));

  test('one that leaves ends nothing; the next sees what was missed, then what comes', withSession(async (session) => {
    const first = await session.submit();
    const [agent] = session.agents as [FakeFrontEnd];
    agent.output(0, 'stdout', 'one ');
    await soon(() => first.seen.out === 'one ', 'the first output');
    first.frontEnd.stop();
    await soon(() => first.seen.stopped === 1, 'the link to close');
    agent.output(0, 'stdout', 'two ');
    const second = await session.attach(1);
    await soon(() => second.seen.out === 'two ', 'what was missed');
    const viewer = await session.attach(1);
    const whole = await session.attach(1, true);
    agent.output(0, 'stdout', 'three');
    await soon(() => second.seen.out === 'two three', 'what came since');
    await soon(() => viewer.seen.out === 'three' && whole.seen.out === 'one two three', 'two more');
    agent.end();
    for (const { seen } of [second, viewer, whole]) {
      await soon(() => seen.has('ended'), 'the end');
      assert.equal(seen.events.map(({ type }) => type), ['mapped', 'started', 'running', 'ended']);
    }
    const late = await session.attach(1);
    await soon(() => late.seen.has('ended'), 'the end, told again');
    assert.is(late.seen.out, '');
  }));

  test('what a front-end that dies had not written comes again', withSession(async (session) => {
    const first = await session.submit();
    const [agent] = session.agents as [FakeFrontEnd];
    agent.output(0, 'stdout', 'one ');
    await soon(() => first.seen.out === 'one ', 'output');
    first.seen.isHeld = true;
    agent.output(0, 'stdout', 'two ');
    await soon(() => first.seen.out === 'one two ', 'output that is not written');
    first.client.close();
    await soon(() => first.seen.stopped === 1, 'the link to close');
    const second = await session.attach(1);
    await soon(() => second.seen.out === 'two ', 'it again');
  }));

  test('what a front-end shows last as it leaves does not come again', withSession(async (session) => {
    const first = await session.submit();
    const [agent] = session.agents as [FakeFrontEnd];
    first.seen.isHeld = true;
    for (let chunk = 0; chunk < 200; chunk += 1) agent.output(0, 'stdout', 'x'.repeat(4096));
    await soon(() => first.seen.out.length === 200 * 4096, 'output');
    first.frontEnd.stop();
    first.seen.release();
    await soon(() => first.seen.stopped === 1, 'the link to close');
    const second = await session.attach(1);
    agent.output(0, 'stdout', 'next');
    await soon(() => second.seen.out.endsWith('next'), 'what comes next');
    assert.is(second.seen.out.length, 4);
  }));

  test('one that does not write holds up neither the job for long nor another', withSession(async (session) => {
    const stuck = await session.submit();
    stuck.seen.isHeld = true;
    const [agent] = session.agents as [FakeFrontEnd];
    const viewer = await session.attach(1);
    let released = 0;
    const chunk = 'x'.repeat(64 * 1024);
    let sent = 0;
    for (; sent === released; sent += 1) {
      agent.output(0, 'stdout', chunk, () => (released += 1));
      await soon(() => released === sent + 1, 'room').catch(() => undefined);
      if (released < sent + 1) break;
    }
    // The spool (256 KiB), its memory (4 MiB) and the credit (1 MiB) are full: the job waits for its front-end.
    assert.is(sent > 80 && sent < 120, true, `${sent} chunks`);
    await soon(() => viewer.seen.out.length >= sent * chunk.length, 'another that reads');
    stuck.seen.release();
    await soon(() => released === sent + 1, 'the job to go on');
    agent.end();
    await soon(() => stuck.seen.has('ended'), 'the end');
    assert.is(stuck.seen.missed, 0);
    assert.is(stuck.seen.out.length, (sent + 1) * chunk.length);
  }, 256 * 1024), { timeoutMs: 15_000 });

  test('a job that does not fit is refused, or waits; those behind it wait, too', withSession(async (session) => {
    const refused = (busy: boolean): void => {
      session.refusal = new StciError('STCI_SLOTS_EXCEEDED', busy ? 'taken' : 'never', { data: { busy } });
    };
    const first = await session.submit();
    refused(true);
    assert.is((await assert.rejectsWith('STCI_SLOTS_EXCEEDED', session.submit())).message, 'taken');
    let accepted = '';
    const wait = (name: string): void => {
      void session.submit({ wait: true, label: name }).then(
        ({ job }) => (accepted += `${name}${job.job} `),
        ({ message }: Error) => (accepted += `${name}:${message} `),
      );
    };
    wait('a');
    await soon(() => session.agents.length === 3, 'the first try');
    wait('b');
    await eventually(async () => (await session.status()).jobs.filter(({ state }) => state === 'waiting').length === 2,
      { deadlineMs: 4000, what: 'two that wait' });
    assert.equal((await session.status()).jobs.map(({ state, label }) => `${label} ${state}`),
      ['p running', 'a waiting', 'b waiting']);
    session.refusal = undefined;
    session.agents[0]?.end();
    await soon(() => first.seen.has('ended'), 'the end of the first');
    await soon(() => accepted === 'a4 b5 ', 'both, in their order');
    refused(false);
    wait('c');
    await soon(() => accepted.endsWith('c:never '), 'a refusal for good');
  }));

  test('a job that never was, a stranger, a session that stops', withSession(async (session) => {
    const unknown = await assert.rejectsWith('STCI_JOB_UNKNOWN', session.attach(9));
    assert.match(unknown.message, 'Session test never had a job 9. See stci ps.');
    const lost = await new Promise<StciError | undefined>((resolve) => {
      session.strangers().request('client.status', {}, (error) => resolve(error));
    });
    assert.is(lost?.code, 'STCI_SESSION_LOST');
    const { seen } = await session.submit();
    const [agent] = session.agents as [FakeFrontEnd];
    agent.endsAsTold();
    session.jobs.stop();
    await soon(() => seen.has('ended') && session.stopped === 1, 'the end');
    const last = seen.events.at(-1);
    assert.is(last?.type === 'ended' && last.report.exitCode, 143);
    assert.match((await assert.rejectsWith('STCI_SESSION_REFUSED', session.submit())).message, 'is stopping');
  }));
});
