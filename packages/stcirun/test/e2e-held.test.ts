/** What the agents of a session hold, by real agents: before a job, while it runs, after it; one that is stopped. */
// @timeoutMs 300000
// @sameFor user, node: rows of scopes; the session is as in e2e-session.

import { isDeepStrictEqual } from 'node:util';
import { assert, suite } from '@stci/testkit';
import { LONG, soon, withPlace, type Place } from './e2e-place.js';

interface Held {
  readonly session: string;
  readonly agents: readonly {
    readonly agent: string;
    readonly host?: string;
    readonly held: readonly { readonly depth: number; readonly label: string; readonly count: number }[];
  }[];
  readonly silent: readonly string[];
}

function held(place: Place): Held {
  const { exitCode, out, err } = place.stci('info', '--held', '--session', 'night', '--json');
  assert.equal([exitCode, err], [0, '']);
  return JSON.parse(out) as Held;
}

/** The client library, as a program imports it. */
const CLIENT = new URL('../../client/dist/index.js', import.meta.url).href;

/** Timers come and go, and a session keeps the results of its jobs. */
const COMES_AND_GOES = /^timer |^record of a job$/u;

/** By agent, with its host. */
function rowsOf({ agents }: Held): Map<string, string[]> {
  return new Map(agents.map((each) => [
    `${each.agent} ${each.host ?? '-'}`,
    each.held.filter(({ label }) => !COMES_AND_GOES.test(label))
      .map(({ depth, label, count }) => `${depth} ${label} ${count}`),
  ]));
}

suite('what agents hold', (test) => {
  test('a job and its ranks while it runs; after it what was held before', withPlace(async (place) => {
    place.start('night');
    let before = new Map<string, string[]>();
    await soon(() => {
      before = rowsOf(held(place));
      return before.get('controller -')?.filter((row) => row === '1 front-end 1').length === 1;
    }, 'the only front-end is the one that asks');
    assert.equal([...before.keys()], ['controller -', 'root:0 a', 'root:1 b']);
    const run = place.run('night', ['-n', '3', 'sleep', '600']);
    await soon(() => place.states() === 'night.1 running', 'the job');
    const during = rowsOf(held(place));
    assert.equal([...during.keys()],
      ['controller -', 'root:0 a', 'session:0 of job 1 a', 'root:1 b', 'session:1 of job 1 b']);
    const of = (agent: string, what: RegExp): string[] =>
      (during.get(agent) ?? []).filter((row) => what.test(row)).map((row) => row.replace(/^\d+ /u, ''));
    assert.equal(of('controller -', /^\d+ job /u), ['job 1 1']);
    assert.equal(of('root:0 a', /session:0/u), ['link to session:0 of job 1 (child) 1', 'agent session:0 of job 1 1']);
    assert.equal(of('session:0 of job 1 a', /process/u), ['process of rank 0 1', 'process of rank 1 1']);
    assert.equal(of('session:1 of job 1 b', /process/u), ['process of rank 2 1']);
    assert.equal([of('root:0 a', /process/u), of('root:1 b', /process/u)], [[], []]);
    const { out } = place.stci('info', '--held', 'nig');
    assert.match(out, /^session:1 of job 1 on b\n(?: {2}.+\n)*? {2}process of rank 2\n/mu);
    assert.is(place.stci('kill', 'night.1').exitCode, 0);
    await run.result;
    await soon(() => isDeepStrictEqual(rowsOf(held(place)), before), 'what was held before');
    place.stci('stop', 'night');
  }), LONG);

  test('from the first program with the client library on, the watch of all agents', withPlace(async (place) => {
    place.start('night');
    const watching = (): string[] => [...rowsOf(held(place))]
      .flatMap(([agent, rows]) => (rows.some((row) => row.endsWith(' service watch 1')) ? [agent] : []));
    const plain = place.run('night', ['-n', '2', 'true']);
    assert.equal([(await plain.result).exitCode, watching()], [0, []]);
    const program = `(await import('${CLIENT}')).connect().then(() => setTimeout(() => undefined, 600_000))`;
    const run = place.run('night', ['-n', '1', '--client', process.execPath, '--input-type=module', '-e', program]);
    await soon(() => isDeepStrictEqual(watching(), ['root:0 a', 'root:1 b']), 'the watch, also where it does not run');
    place.stci('kill', 'night.2');
    await run.result;
    place.stci('stop', 'night');
  }), LONG);

  test('an agent that is stopped is named; so are the sessions that there are', withPlace(async (place) => {
    place.start('night');
    const other = place.stci('info', '--held', '--session', 'day');
    assert.equal([other.exitCode, other.out], [195, '']);
    assert.match(other.err, "there is no session 'day'. There are night.");
    const pid = (await place.agents('night')).get('b') as number;
    process.kill(pid, 'SIGSTOP');
    try {
      const { exitCode, out, err } = place.stci('info', '--held');
      assert.equal([exitCode, err], [0, 'stci info: without root:1, which did not answer\n']);
      assert.equal(out.match(/^\S.*$/gmu), ['controller', 'root:0 on a']);
      const { silent } = JSON.parse(place.stci('info', '--held', '--json').out) as Held;
      assert.equal(silent, ['root:1']);
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    await soon(() => held(place).agents.length === 3, 'its answer');
    place.stci('stop', 'night');
  }), LONG);
});
