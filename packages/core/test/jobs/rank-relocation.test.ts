/** Ranks of lost agents that are started again: when, on which host, by which message, each once. */

import { StciError } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { FOUND, play } from './play-relocation.js';

const ASIDE = 'host a is set aside: ranks 0,3 failed there soon after each start (errmgr.aside)';

suite('moves of ranks', (test) => {
  test('a rank goes back to its own host after its pause, in a message to the session agent that runs there', () => {
    const { moves, run, isQuiet } = play();
    moves.add([1], FOUND, 500);
    assert.equal(run(499), []);
    moves.place();
    assert.equal(run(0), [], 'others that are placed do not bring it forward');
    assert.equal(run(1), ['starting 1', 'job.restart to 1 of job 7: [[1,0,1]]']);
    assert.equal([moves.sentTo(1), moves.sentTo(0), moves.launchOf(1), moves.startedAgain(1)], [1, 0, 1, false]);
    moves.place();
    assert.equal([isQuiet(), run(60_000)], [true, []], 'once');
    moves.add([1], FOUND, 0);
    run(1);
    assert.is(moves.sentTo(1), 2);
  });

  test('where its agent was lost, or none was started yet, a launch of the next number starts one', () => {
    const { moves, run, lost, launches } = play({ first: [0, 2] });
    moves.add([1], FOUND, 0);
    assert.equal(run(1), ['starting 1 anew', 'launch 2 of job 7 on 1: [[1,1]]']);
    assert.equal([moves.launchOf(1), moves.startedAgain(1), moves.sentTo(1)], [2, true, 0]);
    moves.add([1], FOUND, 0);
    assert.equal(run(1), ['starting 1', 'job.restart to 1, start 2, of job 7: [[1,0,1]]'], 'this one runs');
    assert.is(moves.sentTo(1), 1);
    assert.equal([moves.launches.length, moves.launches[0] === launches[0], launches[0]?.hosts.length], [1, true, 1]);
    assert.is(lost.size, 0);
  });

  test('that a launch cannot be sent is told: the ranks in it would not start, and their job not end', () => {
    const { moves, run, unsent } = play({ first: [0, 2] });
    unsent.error = new StciError('STCI_MESSAGE_TOO_LARGE', 'too large');
    moves.add([1], FOUND, 0);
    assert.equal(run(1), ['starting 1 anew', 'launch 2 of job 7 on 1: [[1,1]]', 'unsent: STCI_MESSAGE_TOO_LARGE']);
  });

  test('what a lost session agent was sent is not counted for the one in its place', () => {
    const { moves, run, agentLost } = play();
    moves.add([1], FOUND, 0);
    run(1);
    agentLost.add(1);
    moves.add([1], FOUND, 0);
    assert.equal(run(1), ['starting 1 anew', 'launch 2 of job 7 on 1: [[1,1]]']);
    assert.is(moves.sentTo(1), 0);
    moves.add([1], FOUND, 0);
    assert.equal(run(1), ['starting 1 anew', 'launch 3 of job 7 on 1: [[1,1]]']);
    assert.equal([moves.launches.length, moves.launchOf(1)], [1, 3], 'the last one counts');
  });

  test('ranks of a lost host go to the one with the most free slots, and are told with their attempts', () => {
    const { moves, run, lost, ledger } = play({ on: 'a:2 b:2 c:4' });
    ledger.again({ rank: 1, pid: 1, outcome: 'lost', leftovers: 0 } as never);
    lost.add(1);
    moves.add([1], FOUND, 100);
    assert.equal(run(100), ['mapped', 'starting 2', 'job.restart to 2 of job 7: [[1,0,2]]']);
    assert.equal([ledger.placements.host(1), ledger.openRanks(1), ledger.openRanks(2)], [2, [], [2, 1]]);
  });

  test('a rank that leaves goes to a host with a free slot, else back; a host that many left is set aside', () => {
    const { moves, run, ledger } = play({ on: 'a:2 b:2 c:3', ranks: 4 });
    moves.leave(0, 0, FOUND, 100);
    assert.equal(run(100), ['mapped', 'starting 2', 'job.restart to 2 of job 7: [[0,0,1]]']);
    moves.leave(0, 2, FOUND, 0);
    assert.equal(run(1), ['mapped', 'starting 0', 'job.restart to 0 of job 7: [[0,0,1]]'], 'the other way');
    moves.leave(3, 0, FOUND, 0);
    assert.equal(run(1), [ASIDE, 'mapped', 'starting 2', 'job.restart to 2 of job 7: [[3,0,1]]']);
    assert.is(ledger.placements.host(3), 2);
    moves.add([0], FOUND, 0);
    assert.equal(run(1), ['mapped', 'starting 1', 'job.restart to 1 of job 7: [[0,0,1]]'], 'not where it is set aside');
    const full = play({ on: 'a:1 b:1 c:1' });
    full.moves.leave(1, 1, FOUND, 0);
    assert.equal(full.run(1), ['starting 1', 'job.restart to 1 of job 7: [[1,0,1]]'], 'no other has room');
  });

  test('where there is no room, the rank is given up, unless a host is awaited', () => {
    const { moves, run, lost, restarting, told, isQuiet } = play({ on: 'a:1 b:1 c:1' });
    lost.add(1);
    restarting.add(1);
    moves.add([1], FOUND, 0);
    assert.equal(run(1), [], 'it waits for host b');
    lost.delete(1);
    moves.place();
    assert.equal(told(), ['starting 1', 'job.restart to 1 of job 7: [[1,0,1]]']);
    lost.add(1);
    moves.add([1], FOUND, 0);
    run(1);
    restarting.delete(1);
    moves.place();
    assert.equal(told(), ['no room for 1']);
    moves.place();
    assert.equal([told(), isQuiet(), moves.giveUp().size], [[], true, 0], 'once');
  });

  test('beyond the slots only where the job, or the host, permits that', () => {
    for (const [on, oversubscribe, isMoved] of [['a:1 b:1', true, true], ['a~1 b~1', false, true],
      ['a:1 b:1', false, false]] as const) {
      const { moves, run, lost } = play({ on, oversubscribe, ranks: 2, first: [0, 1] });
      lost.add(1);
      moves.add([1], FOUND, 0);
      assert.equal(run(1).at(-1), isMoved ? 'job.restart to 0 of job 7: [[1,0,1]]' : 'no room for 1');
    }
  });

  test('the job ends: the ranks that wait are named with their failures, and none is started', () => {
    const { moves, run, isQuiet } = play();
    const other = { ...FOUND };
    moves.add([0, 1], FOUND, 500);
    moves.add([2], other, 700);
    const given = moves.giveUp();
    assert.equal([[...given.keys()], given.get(1) === FOUND, given.get(2) === other], [[0, 1, 2], true, true]);
    assert.equal([isQuiet(), run(60_000), moves.giveUp().size], [true, [], 0]);
  });

  test('with the end of its scope the ranks that wait are given up, also those that wait for a host', () => {
    const { moves, holds, run, lost, restarting, told, isQuiet } = play({ on: 'a:1 b:1 c:1' });
    lost.add(1);
    restarting.add(1);
    moves.add([1], FOUND, 0);
    moves.add([2], FOUND, 500);
    assert.equal([run(1), moves.isWaiting(1), moves.isWaiting(2)], [[], true, true]);
    holds.close();
    assert.equal([isQuiet(), moves.isWaiting(1), moves.isWaiting(2), moves.lacksRoom], [true, false, false, false]);
    lost.delete(1);
    moves.place();
    assert.equal(told(), []);
  });

  test('ranks of one failure that return to one host are named in one message', () => {
    const { moves, run } = play({ ranks: 6, on: 'a:2 b:2 c:2' });
    moves.add([1, 4, 2], FOUND, 300);
    assert.equal(run(300), [
      'starting 1', 'job.restart to 1 of job 7: [[1,0,1],[4,0,1]]',
      'starting 2', 'job.restart to 2 of job 7: [[2,0,1]]',
    ]);
  });
});
