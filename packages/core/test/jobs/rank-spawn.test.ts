/** Ranks that a program of a job spawns: where they are placed, what is sent for them, and when there are none. */

import type { Rank, SpawnedApp } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { spawnRanks } from '../../dist/jobs/rank-spawn.js';
import { FOUND, play } from './play-relocation.js';

type Play = ReturnType<typeof play>;

const app = (count: number, hosts?: readonly string[]): SpawnedApp =>
  ({ program: 'w', args: [], env: {}, count, ...(hosts && { hosts }) });

/** What is answered, and in order with it what is told. */
function ask({ growing, told }: Play, apps: readonly SpawnedApp[], parent: Rank = 0): [string, string[]] {
  let answer = '';
  let before: string[] = [];
  spawnRanks(growing, { parent, apps }, (spawn, problem) => {
    before = told();
    answer = spawn === undefined ? `refused: ${problem}` : JSON.stringify(spawn);
  });
  return [answer, [...before, '-', ...told()]];
}

suite('ranks that are spawned', (test) => {
  test('they have the next numbers, go on where the last rank is, and are told after the answer', () => {
    const game = play({ ranks: 2 });
    const news = (apps: string) =>
      ` {"apps":[${apps}],"spawns":[{"parent":1,"first":2,"count":3,"app":1}]}`;
    const of = (number: number) => `[${number},{"program":"w","args":[],"env":{},"count":${number === 1 ? 2 : 1}}]`;
    assert.equal(ask(game, [app(2), app(1)], 1), ['{"parent":1,"first":2,"count":3,"app":1}', [
      'mapped', '-',
      'starting 2', `job.restart to 2 of job 7: [[2,1,1]]${news(of(1))}`,
      'starting 0', `job.restart to 0 of job 7: [[3,1,1]]${news(of(1))}`,
      'starting 1', `job.restart to 1 of job 7: [[4,2,1]]${news(of(2))}`,
    ]]);
    const { ledger } = game;
    assert.equal([ledger.map.size, ledger.ranksOpen, ledger.spec.apps.length, ledger.openRanks(0)], [5, 5, 3, [0, 3]]);
    assert.equal([0, 1, 2].map((host) => game.moves.slotsOn(host)), [2, 2, 1]);
  });

  test('a host without a session agent gets one by a launch that names them', () => {
    const game = play({ ranks: 2, first: [0, 1] });
    assert.equal(ask(game, [app(1)])[1], ['mapped', '-', 'starting 2 anew', 'launch 2 of job 7 on 2: [[2,1]]']);
    assert.equal(ask(game, [app(1, ['c'])])[1].slice(-1), ['job.restart to 2, start 2, of job 7: [[3,2,1]] '
      + '{"apps":[[2,{"program":"w","args":[],"env":{},"count":1,"hosts":[2]}]],'
      + '"spawns":[{"parent":0,"first":3,"count":1,"app":2}]}'], 'then by a message');
  });

  test('slots that others have, or ranks that run, are not free; those of ranks that have ended are', () => {
    const game = play({ on: 'a:1 b:1 c:2' });
    assert.equal(ask(game, [app(2)]), ['refused: 2 ranks more need more slots than are left: 1 on 3 hosts. '
      + 'Give the job more hosts or slots, or allow more ranks than slots with --oversubscribe.', ['-']]);
    assert.is(game.ledger.map.size, 3, 'nothing has changed');
    game.ledger.exited({ rank: 0, pid: 1, outcome: 'exited', end: { status: 0 }, leftovers: 0 }, 1);
    game.slotsTaken.push(0, 0, 1);
    assert.match(ask(game, [app(2)])[0], /left: 1 on/u);
    assert.match(ask(game, [app(1)])[0], /"first":3/u);
    assert.is(game.ledger.placements.host(3), 0);
    assert.match(ask(play({ on: 'a:1 b:1 c:1', oversubscribe: true }), [app(4)])[0], /"count":4/u);
    assert.match(ask(play({ on: 'a~1 b~1 c~1' }), [app(1)])[0], /"count":1/u, 'a hint is no bound');
  });

  test('hosts that are asked for, of those that live', () => {
    const game = play();
    assert.equal(ask(game, [app(1, ['d'])]), ['refused: d is no host of the job', ['-']]);
    game.lost.add(1);
    assert.equal(ask(game, [app(1, ['b'])]), ['refused: none of the hosts that are asked for is there', ['-']]);
    game.doubted.add(2);
    assert.match(ask(game, [app(1, ['b', 'c', 'a'])])[0], /"first":3/u);
    assert.is(game.ledger.placements.host(3), 0);
    assert.match(ask(game, [app(1, ['c', 'b'])])[0], /none of the hosts/u);
    assert.match(ask(game, [app(1, ['a'])])[0], /left: 0 on 1 host\./u);
  });

  test('none in a job that is ending, or whose ranks have ended, beyond its bounds, or that cannot be told', () => {
    const game = play({ oversubscribe: true });
    assert.equal(ask(game, [app(6)])[0],
      'refused: the job has 3 ranks, and can have 8 (job.size.max): not 6 more');
    assert.equal(ask(game, [app(4, ['a'])])[0],
      'refused: host a would have had 5 ranks of the job, of at most 4 (job.ranks.per.host.max)');
    assert.match(ask(game, [app(0)])[0], /expected at least 1 rank, got 0/u);
    assert.match(ask(game, [])[0], /at least one program/u);
    game.phase.now = 'ending';
    assert.equal(ask(game, [app(1)]), ['refused: the job is ending', ['-']]);
    game.phase.now = 'running';
    const ended = { pid: 1, outcome: 'exited', end: { status: 0 }, leftovers: 0 } as const;
    for (const rank of [0, 1, 2]) game.ledger.exited({ ...ended, rank }, 1);
    assert.equal(ask(game, [app(1)]), ['refused: all ranks of the job have ended', ['-']]);
    assert.match(ask(play({ bytesMax: 100 }), [app(1)])[0], /message\.bytes\.max = 100/u);
  });

  test('one whose host is lost is started again elsewhere, with what is to be known of it', () => {
    const game = play({ ranks: 2 });
    ask(game, [app(1)]);
    game.lost.add(2);
    game.moves.add([2], FOUND, 0);
    const [mapped, starting, sent] = game.run(1);
    assert.equal([mapped, starting], ['mapped', 'starting 0']);
    assert.match(sent ?? '', /job\.restart to 0 of job 7: \[\[2,1,1\]\] \{"apps":\[\[1,/u);
    assert.match(sent ?? '', /"spawns":\[\{"parent":0,"first":2/u);
  });
});
