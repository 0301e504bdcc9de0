/** Hosts of a session that are lost, and what follows: on real processes. */
// @timeoutMs 240000
// @sameFor user, node: core decides; processes and their ends are e2e-run's and e2e-session's.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { assert, suite } from '@stci/testkit';
import { run, sh } from './e2e.js';
import { LONG, soon, withPlace } from './e2e-place.js';

suite('lost hosts of a session', (test) => {
  test('an agent that is killed is started again: told in the log and with -v; the next job has all hosts',
    withPlace(async (place) => {
      place.start('night', '--mca', 'errmgr.loss=start-again', '--mca', 'errmgr.loss.pause=250ms');
      const before = await place.agents('night');
      const job = place.run('night', ['-v', '--ppn', '1', '--on-failure', 'continue', ...sh('echo $STCI_HOST; read x')],
        { input: 'open' });
      await soon(() => job.out().includes('a\n') && job.out().includes('b\n'), 'both ranks');
      process.kill(before.get('b') as number, 'SIGKILL');
      await soon(() => place.hosts() === 'a up 1,b up 2', 'another agent of b');
      const after = await place.agents('night');
      assert.equal([[...after.keys()].sort(), after.get('a')], [['a', 'b'], before.get('a')]);
      assert.is.not(after.get('b'), before.get('b'));
      job.child.stdin?.end('go\n');
      const { err } = await job.result;
      assert.match(err, /^stcirun: [\d.]+ s: restarting the agent of host b in 250 ms, attempt 2$/mu);
      assert.match(err, /^stcirun: [\d.]+ s: host b is up \(2 of 2\)$/mu);
      const log = readFileSync(join(place.directory, 'sessions', 'night', 'log'), 'utf8');
      assert.match(log, /^\d{4}-\S+Z restarting the agent of host b in 250 ms, attempt 2: .*host b/mu);
      assert.match(log, /^\d{4}-\S+Z host b is up$/mu);
    }), LONG);

  test('a host that is to be started again: ps says so, jobs wait for it, or are told', withPlace(async (place) => {
    place.start('night', '--mca', 'errmgr.loss=start-again', '--mca', 'errmgr.loss.pause=8s');
    process.kill((await place.agents('night')).get('b') as number, 'SIGKILL');
    await soon(() => place.hosts() === 'a up 1,b failed 1', 'the loss of b');
    assert.match(place.stci('ps').out, /\n +b +restarting +1 +0 +Agent root:1/u);
    const refused = await place.run('night', ['--host', 'b', '--', 'true']).result;
    assert.equal([refused.exitCode, refused.err.split('.')[0]],
      [195, 'stcirun: The job does not fit now: agents are being started again on b']);
    assert.is((await place.run('night', sh('echo $STCI_HOST')).result).out, 'a\na\n');
    const waiting = place.run('night', ['--wait', '-n', '4', ...sh('echo $STCI_HOST')]);
    await soon(() => waiting.err() !== '', 'a word of the job that waits');
    assert.match(waiting.err(), 'stcirun: waiting: The job does not fit now: agents are being started again on b.');
    assert.equal((await waiting.result).out.split('\n').sort().join(''), 'aabb');
  }), LONG);

  test('an agent that is killed is replaced by one on a spare host, where there is one', withPlace(async (place) => {
    place.start('night', '--host', 's:1', '--spares', '1');
    process.kill((await place.agents('night')).get('a') as number, 'SIGKILL');
    await soon(() => place.hosts() === 's up 2,b up 1', 'the spare host');
    assert.equal([...(await place.agents('night')).keys()].sort(), ['b', 's']);
    process.kill((await place.agents('night')).get('b') as number, 'SIGKILL');
    await soon(() => place.hosts() === 's up 2,b failed 1', 'the loss of b');
    const log = readFileSync(join(place.directory, 'sessions', 'night', 'log'), 'utf8');
    assert.match(log, 'host b is left out: no spare host is left (--spares): ');
  }), LONG);
});

suite('records of failures', (test) => {
  const records = async (...args: readonly string[]): Promise<readonly Record<string, unknown>[]> => {
    const { out } = await run(['--launcher', 'local', '--json', ...args]);
    const events = out.trimEnd().split('\n').map((line) => JSON.parse(line) as Record<string, unknown>);
    return events.filter(({ type }) => type === 'failure-record');
  };

  test('a session agent that is lost alone, with its ranks', async () => {
    const own = ['--mca', 'launcher.session.method=process', '--on-failure', 'continue'];
    const line = 'if [ $STCI_HOST = b ]; then kill -KILL $PPID; fi';
    const found = await records('--host', 'a,b:2', ...own, '-n', '3', ...sh(line));
    assert.equal(found.map(({ subject, hostName, cause, lostRanks, policy, detector }) =>
      [subject, hostName, cause, lostRanks, policy, detector]), [[
      { kind: 'session-agent', host: 1, job: 1, attempt: 1, incarnation: 1 }, 'b', 'closed',
      [{ job: 1, ranks: [1, 2] }], ['continue: the job goes on'], 'link',
    ]]);
  });

  test('each session agent of a job that is lost on a host, and what is started again', async () => {
    const own = ['--mca', 'launcher.session.method=process', '--mca', 'errmgr.restart.pause=10ms'];
    const line = '[ $STCI_RANK$STCI_ATTEMPT -gt 12 ] || { [ $STCI_RANK = 1 ] && kill -KILL $PPID; sleep 0.3; }';
    const found = await records('--host', 'b', ...own, '-n', '2', '--on-failure', 'restart', ...sh(line));
    const policy = ['restart: its root agent starts another', 'restart: its ranks are started again'];
    assert.equal(found.map(({ subject, lostRanks, policy }) => [subject, lostRanks, policy]), [1, 2].map((attempt) =>
      [{ kind: 'session-agent', host: 0, job: 1, attempt, incarnation: 1 }, [{ job: 1, ranks: [0, 1] }], policy]));
  }, { timeoutMs: 20_000 });

  test('each attempt of a rank that is started again', async () => {
    const own = ['-n', '1', '--on-failure', 'restart:1', '--mca', 'errmgr.restart.pause=10ms'];
    for (const more of [[], ['--overlay', 'bmg']]) {
      const found = await records('--host', 'a,b', ...own, ...more, ...sh('exit 3'));
      assert.equal(found.map(({ subject, lostRanks, policy }) => [subject, lostRanks, policy]), [
        ['restart: its session agent starts it again'], ['restart: the job is ended'],
      ].map((decided, i) =>
        [{ kind: 'tool', host: 0, job: 1, rank: 0, attempt: i + 1 }, [{ job: 1, ranks: [0] }], decided]));
    }
  }, { timeoutMs: 20_000 });

  test('ranks that cannot be started, and one that ends with a status; policies by kind', async () => {
    const found = await records('--host', 'a,b', '-n', '1', '/nowhere/x');
    const rank = { kind: 'tool', host: 0, job: 1, rank: 0, attempt: 1 };
    assert.equal(found.map(({ subject, cause, reporter, policy }) => [subject, cause, reporter, policy]),
      [[rank, 'not-started', 'controller', ['abort: the job is ended']]]);
    assert.match(String(found[0]?.['evidence']), "Program '/nowhere/x' not found");
    const [one] = await records('--host', 'a,b', '--on-failure', 'tool=continue', '-n', '2', ...sh('exit $STCI_RANK'));
    assert.equal([one?.['cause'], one?.['evidence'], one?.['policy']],
      ['exited', 'Rank 1 on b ended with status 1', ['continue: the job goes on']]);
    // It failed by the clock of its host, and was found by that of the controller.
    assert.equal([one?.['reporter'], one?.['achievedMs'], typeof one?.['failed']], ['controller', undefined, 'string']);
    const [watched] = await records('--host', 'a,b', '--overlay', 'bmg', '-n', '2', '--on-failure', 'tool=continue',
      ...sh('[ $STCI_RANK = 0 ] && exec sleep 1; exit 3'));
    assert.is(watched?.['reporter'], 'root:1');
    assert.ok(Number(watched?.['achievedMs']) >= 0);
  });
});
