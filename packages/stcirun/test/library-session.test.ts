/** The library in a session that runs: jobs beside each other, their names, leaving them, waiting for slots. */
// @timeoutMs 300000
// @sameFor user: jobs as in e2e-session; the session's place is session-place's.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { launch, plan, type Job, type LaunchOptions } from '@stci/stcirun';
import { assert, suite } from '@stci/testkit';
import { LONG, soon, withPlace, type Place } from './e2e-place.js';
import { eventsOf, linesOf, rejected, shell } from './library-help.js';

const submit = (place: Place, line: string, options: Partial<LaunchOptions> = {}): Job =>
  launch({
    session: 'night', np: 1, env: { ...process.env, ...place.env }, ...shell(line), ...options,
  } as LaunchOptions);

const sleepers = "trap 'exit 0' USR1; echo up; while :; do sleep 0.05; done";

suite('library: in a session', (test) => {
  test('jobs of it, two at once: output, events, input, names', withPlace(async (place) => {
    place.start('night');
    const one = submit(place, 'echo one $STCI_RANK', { np: 2 });
    const two = submit(place, 'cat; exit 3', { input: 'two\n' });
    const events = eventsOf(one);
    assert.equal([await linesOf(one), await linesOf(two)], [{ 0: ['one 0'], 1: ['one 1'] }, { 0: ['two'] }]);
    assert.equal([(await one.result).exitCode, (await two.result).exitCode], [0, 3]);
    assert.equal([one.id, two.id].sort(), ['night.1', 'night.2']);
    assert.is((await events).at(-1)?.type, 'ended');
    const env = { ...process.env, ...place.env };
    const { map, launch: tree } = await plan({ ...shell('true'), session: 'night', env });
    assert.equal([map.hosts.map(({ name }) => name), tree], [['a', 'b'], undefined]);
    // No session of that name, and one that the environment names.
    const named = { ...process.env, ...place.env, STCI_SESSION: 'night' };
    const byName = launch({ ...shell('echo here'), np: 1, env: named });
    assert.equal(await linesOf(byName), { 0: ['here'] });
    assert.is(byName.id, 'night.3');
    const none = launch({ ...shell('echo own'), np: 1, env: named, session: 'none' });
    assert.equal([await linesOf(none), none.id], [{ 0: ['own'] }, undefined]);
  }), LONG);

  test('a job is left to it, and goes on', withPlace(async (place) => {
    place.start('night');
    const job = submit(place, sleepers);
    for await (const { line } of job.lines()) {
      assert.is(line, 'up');
      job.detach();
      break;
    }
    assert.equal(await job.result, { exitCode: 0, report: undefined });
    assert.is(place.states(), 'night.1 running');
    assert.is(place.stci('kill', 'night.1', '--signal', 'USR1').exitCode, 0);
    await soon(() => place.states() === 'night.1 ended', 'its end');
    const own = launch({ ...shell(sleepers), env: { ...process.env, ...place.env }, session: 'none' });
    for await (const event of own.events) if (event.type === 'running') break;
    assert.throws(() => own.detach(), /the job is of no session/);
    own.kill();
    assert.is((await own.result).exitCode, 130);
  }), LONG);

  test('one that waits for slots is withdrawn when it is aborted; one that runs is ended', withPlace(async (place) => {
    place.start('night');
    const job = submit(place, sleepers, { np: 4 });
    for await (const { line } of job.lines()) if (line === 'up') break;
    const abort = new AbortController();
    const waiting = submit(place, 'echo never', { np: 4, wait: true, signal: abort.signal });
    for await (const event of waiting.events) {
      if (event.type === 'message' && event.text.startsWith('waiting: ')) break;
    }
    abort.abort();
    assert.is((await rejected(waiting.result)).code, 'STCI_JOB_INTERRUPTED');
    await soon(() => !place.states().includes('waiting'), 'the withdrawal');
    const refused = submit(place, 'true', { np: 4 });
    assert.is((await rejected(refused.result)).code, 'STCI_SLOTS_EXCEEDED');
    job.end();
    const { exitCode, report } = await job.result;
    assert.is(exitCode, 130);
    assert.is(report?.cause?.code, 'STCI_JOB_INTERRUPTED');
  }), LONG);

  test('what a session has decided is refused, and one that is lost ends its job', withPlace(async (place) => {
    place.start('night');
    const agents = await rejected(submit(place, 'true', { params: { 'launcher.window': 3 } }).result);
    assert.match(agents.message, /^params launcher\.window=3 is a parameter of the agents/);
    const job = submit(place, sleepers);
    for await (const { line } of job.lines()) if (line === 'up') break;
    const facts = readFileSync(join(place.directory, 'sessions/night/session.json'), 'utf8');
    process.kill((JSON.parse(facts) as { process: { pid: number } }).process.pid, 'SIGKILL');
    const { exitCode, report } = await job.result;
    assert.is(report?.cause?.code, 'STCI_SESSION_LOST');
    assert.is(exitCode, 200);
  }), LONG);
});
