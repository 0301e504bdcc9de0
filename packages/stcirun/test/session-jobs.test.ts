/** Front-ends that come and go: connections to a session's jobs. */
// @sameFor user: messages between processes of one user.

import { StciError } from '@stci/interface';
import { ask, askRanks } from '@stci/stcirun/internal';
import { assert, eventually, suite } from '@stci/testkit';
import { fakeMap, type FakeFrontEnd } from './fake-front-end.js';
import { happens, soon, SPEC, withSession } from './session-help.js';

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
      const first = await ask(client, 'client.ranks', { job: 1, from: 0 });
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
      if (!(await happens(() => released === sent + 1, 3000))) break;
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

  test('one that waits and leaves holds up none behind it; none overtakes it', withSession(async (session) => {
    await session.submit();
    session.refusal = new StciError('STCI_SLOTS_EXCEEDED', 'taken', { data: { busy: true } });
    const client = session.connect();
    const first = assert.rejectsWith('STCI_SESSION_LOST', session.submit({ wait: true }, SPEC, client));
    await soon(() => session.agents.length === 2, 'the first to be tried');
    const second = session.submit({ wait: true });
    await eventually(async () => (await session.status()).jobs.length === 3, { deadlineMs: 4000, what: 'two to wait' });
    session.refusal = undefined;
    const { message } = await assert.rejectsWith('STCI_SLOTS_EXCEEDED', session.submit());
    assert.match(message, 'Other jobs wait for slots before it. Wait behind them (--wait)');
    assert.is((await session.submit({}, { ...SPEC, oversubscribe: true })).job.job, 3);
    client.close();
    assert.is((await second).job.job, 4);
    await first;
    assert.is((await session.status()).jobs.length, 3);
  }));

  test('input is that of the first front-end, then of the next', withSession(async (session) => {
    const first = await session.submit();
    const second = await session.attach(1, false, true);
    assert.equal([first.job.input, second.job.input], [true, false]);
    const [agent] = session.agents as [FakeFrontEnd];
    const input = (): string => Buffer.concat(agent.input).toString();
    second.frontEnd.writeStdin(Buffer.alloc(256 * 1024, 'b'));
    first.frontEnd.writeStdin(Buffer.from('a'));
    await soon(() => input() === 'a', 'the input of the first');
    first.client.close();
    await soon(() => input().length === 1 + 256 * 1024, 'the input of the second');
    await soon(() => second.seen.drains === 1, 'room');
    second.frontEnd.closeStdin();
    await soon(() => agent.inputClosed && second.seen.inputClosed, 'the end of input');
  }));

  test('input of many small chunks counts for more than its bytes', withSession(async (session) => {
    const first = await session.submit();
    const second = await session.attach(1, false, true);
    const third = await session.attach(1, false, true);
    let chunks = 1;
    while (second.frontEnd.writeStdin(Buffer.from('b')) && chunks < 10_000) chunks += 1;
    assert.is(chunks, 4033, 'each counts for 64 bytes more');
    first.client.close();
    await soon(() => second.seen.drains === 1, 'all of its room');
    // Whoever goes on without room is not kept.
    for (let i = 0; i < 32_768 + 1; i += 1) third.frontEnd.writeStdin(Buffer.alloc(64));
    await eventually(() => third.seen.has('failure'), { deadlineMs: 15_000, what: 'the end of its connection' });
    assert.match(JSON.stringify(third.seen.events), 'Expected no more input while 4194304 bytes wait');
    assert.is(Buffer.concat((session.agents[0] as FakeFrontEnd).input).toString(), 'b'.repeat(4033));
  }), { timeoutMs: 25_000 });

  test('how much was dropped is told also after a front-end has come', withSession(async (session) => {
    const first = await session.submit();
    first.client.close();
    await soon(() => first.seen.stopped === 1, 'the link to close');
    const dropped = async (): Promise<number> => (await session.status()).jobs[0]?.droppedBytes ?? 0;
    const [agent] = session.agents as [FakeFrontEnd];
    let released = 0;
    for (let i = 1; i <= 40; i += 1) {
      agent.output(0, 'stdout', 'x'.repeat(16 * 1024), () => (released += 1));
      await soon(() => released === i, 'room');
    }
    const before = await dropped();
    assert.is(before > 0, true);
    const second = await session.attach(1);
    agent.end();
    await soon(() => second.seen.has('ended'), 'the end');
    assert.equal([second.seen.missed, second.seen.out.length, await dropped()], [1, 40 * 16 * 1024 - before, before]);
  }, 64 * 1024));

  test('a connection has one job', withSession(async (session) => {
    const client = session.connect();
    await session.submit({}, SPEC, client);
    const { message } = await assert.rejectsWith('STCI_SESSION_REFUSED', session.submit({ wait: true }, SPEC, client));
    assert.match(message, 'This connection has a job already.');
  }));

  test('a job that never was, a stranger, a session that stops', withSession(async (session) => {
    const unknown = await assert.rejectsWith('STCI_JOB_UNKNOWN', session.attach(9));
    assert.match(unknown.message, 'Session test never had a job 9. See stci ps.');
    const lost = await new Promise<StciError | undefined>((resolve) => {
      session.strangers().call('client.status', {}, (error) => resolve(error));
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
