/** Slots of ranks that wait to be started again: on which host, and which others are free. */

import type { HostIndex } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { FOUND, play } from './play-relocation.js';

suite('slots of ranks that are started again', (test) => {
  test('slots that ranks placed in the same turn, or other jobs, take are not free', () => {
    const { moves, run, lost, slotsTaken } = play({ on: 'a:3 b:3 c:3', ranks: 6 });
    lost.add(1);
    moves.add([1, 4], FOUND, 0);
    assert.equal(run(1), [
      'mapped', 'starting 0', 'job.restart to 0 of job 7: [[1,0,1]]', 'starting 2',
      'job.restart to 2 of job 7: [[4,0,1]]',
    ]);
    const taken = play({ on: 'a:3 b:3 c:3', ranks: 6 });
    taken.slotsTaken.push(1);
    taken.lost.add(1);
    taken.moves.add([1], FOUND, 0);
    assert.equal(taken.run(1), ['mapped', 'starting 2', 'job.restart to 2 of job 7: [[1,0,1]]']);
    assert.is(slotsTaken.length, 0);
  });

  test('a slot is kept for a rank of a lost host from the loss on, whatever others take', () => {
    const { moves, run, lost, slotsTaken, told } = play({ on: 'a:2 b:2 c:2' });
    const slots = (): readonly number[] => [0, 1, 2].map((host) => moves.slotsOn(host));
    moves.add([1], FOUND, 900);
    assert.equal(slots(), [1, 1, 1], 'its own host runs, and has its slot');
    lost.add(0);
    assert.is(moves.hasRoom([0]), true);
    moves.add([0], FOUND, 500);
    assert.equal(slots(), [0, 2, 1]);
    slotsTaken[2] = 1;
    assert.is(moves.hasRoom([0]), true, 'for itself it is free');
    assert.equal(run(500), ['mapped', 'starting 1', 'job.restart to 1 of job 7: [[0,0,1]]']);
    assert.equal(slots(), [0, 2, 1]);
    lost.add(2);
    assert.is(moves.hasRoom([2]), false);
    moves.giveUp();
    assert.equal(told(), []);
  });

  test('where the host with the kept slot is lost, too, another one takes the rank', () => {
    const { moves, run, lost } = play({ on: 'a:2 b:3 c:2' });
    lost.add(0);
    moves.add([0], FOUND, 500);
    assert.equal([moves.slotsOn(1), moves.slotsOn(2)], [2, 1]);
    lost.add(1);
    moves.place();
    assert.equal([moves.slotsOn(1), moves.slotsOn(2)], [1, 2]);
    assert.equal(run(500), ['mapped', 'starting 2', 'job.restart to 2 of job 7: [[0,0,1]]']);
  });

  test('its slot is on its own host again once that is back, if it has one then', () => {
    for (const [taken, slots, host] of [[1, [1, 1, 1], 0], [2, [0, 2, 1], 1]] as const) {
      const { moves, run, lost, slotsTaken } = play({ on: 'a:2 b:2 c:2' });
      lost.add(0);
      moves.add([0], FOUND, 500);
      slotsTaken[0] = taken;
      lost.delete(0);
      moves.place();
      assert.equal([0, 1, 2].map((each) => moves.slotsOn(each)), slots);
      assert.is(run(500).at(-1), `job.restart to ${host} of job 7: [[0,0,1]]`);
    }
  });

  test('a rank that leaves its host has its slot there until that is lost, and on another then', () => {
    const { moves, run, lost } = play({ on: 'a:2 b:2 c:1' });
    moves.leave(1, 1, FOUND, 500);
    assert.equal([0, 1, 2].map((host) => moves.slotsOn(host)), [1, 1, 1]);
    lost.add(1);
    moves.place();
    assert.equal([0, 1, 2].map((host) => moves.slotsOn(host)), [2, 0, 1]);
    assert.is(moves.hasRoom([2]), true, 'its own host runs');
    lost.add(2);
    assert.is(moves.hasRoom([2]), false, 'kept slots are not free');
    lost.delete(1);
    assert.equal(run(500), ['mapped', 'starting 0', 'job.restart to 0 of job 7: [[1,0,1]]']);
  });

  test('ranks wait for slots of other jobs, as many as come free when these end', () => {
    const { moves, run, lost, slotsTaken, others, placed } = play({ on: 'a:1 b:1 c:2' });
    slotsTaken.push(0, 0, 1);
    others.add(8);
    lost.add(0).add(1);
    moves.add([0, 1], FOUND, 500);
    assert.equal([moves.lacksRoom, moves.isStuck], [true, false], 'it is in its pause');
    assert.equal(run(500), ['awaits slots: 0', 'no room for 1']);
    assert.equal([moves.lacksRoom, moves.isStuck, placed], [true, true, ['soon']], 'other jobs are looked at');
    assert.equal([moves.fitsBeside([0, 0, 1]), moves.fitsBeside([])], [false, true]);
    lost.add(2);
    assert.equal([moves.lacksRoom, moves.isStuck], [false, false], 'other jobs have no slots for it');
  });

  test('a rank that had a slot meanwhile is told of again', () => {
    const { moves, run, lost, slotsTaken, others, told } = play({ on: 'a:2 b:2 c:3' });
    slotsTaken.push(0, 1, 2);
    others.add(8);
    lost.add(0);
    moves.add([0], FOUND, 500);
    assert.equal(run(500), ['awaits slots: 0']);
    slotsTaken[1] = 0;
    moves.add([2], FOUND, 500);
    assert.is(moves.slotsOn(1), 2);
    lost.add(1);
    moves.place();
    assert.equal(told(), ['awaits slots: 0']);
  });

  test('where other jobs have the slots, it waits for them, as long as one of them may end', () => {
    const { moves, run, lost, slotsTaken, others, told } = play({ on: 'a:2 b:2 c:3' });
    slotsTaken.push(0, 1, 2);
    lost.add(0);
    assert.is(moves.hasRoom([0]), false);
    others.add(8);
    assert.is(moves.hasRoom([0]), true);
    moves.add([0], FOUND, 500);
    assert.equal([moves.lacksRoom, run(500)], [true, ['awaits slots: 0']]);
    moves.place();
    assert.equal(told(), [], 'it is told once');
    slotsTaken[2] = 0;
    moves.place();
    assert.equal(told(), ['mapped', 'starting 2', 'job.restart to 2 of job 7: [[0,0,1]]']);
    assert.is(moves.lacksRoom, false);
    slotsTaken[2] = 1;
    lost.add(1);
    moves.add([1], FOUND, 500);
    assert.equal(run(500), ['awaits slots: 1']);
    others.clear();
    moves.place();
    assert.equal(told(), ['no room for 1']);
  });

  test('many ranks of a host among many are placed in one turn: each host is counted once, the map made once', () => {
    const names = Array.from({ length: 1000 }, (_, host) => `h${host}:${host % 50 === 2 ? 22 : 21}`).join(' ');
    const { moves, lost, ledger, run } = play({ on: names, ranks: 20_000 });
    lost.add(1);
    let [counted, remaps] = [0, 0];
    const { openRanks, remap } = ledger;
    Object.assign(ledger, {
      openRanks: (host: HostIndex) => (counted++, openRanks.call(ledger, host)),
      remap: (map: never) => (remaps++, remap.call(ledger, map)),
    });
    const asked = { usable: 0 };
    const { has } = lost;
    lost.has = (host) => (asked.usable++, has.call(lost, host));
    moves.add(openRanks.call(ledger, 1), FOUND, 500);
    assert.is(moves.hasRoom([0]), true);
    assert.ok(counted <= 3 * 1000, `${counted} times`);
    const log = run(500);
    assert.ok(asked.usable <= 4 * 1000, `asked ${asked.usable} times whether a host can be used`);
    assert.equal([remaps, log.filter((line) => line === 'mapped').length], [1, 1]);
    assert.equal([log.filter((line) => line.startsWith('starting')).length, ledger.openRanks(1).length], [20, 0]);
  });

  test('a slot that comes free before its pause is over is kept for it', () => {
    const { moves, run, lost, slotsTaken, others } = play({ on: 'a:2 b:2 c:2' });
    slotsTaken.push(0, 1, 1);
    others.add(8);
    lost.add(0);
    moves.add([0], FOUND, 500);
    assert.is(moves.slotsOn(1), 1);
    slotsTaken[1] = 0;
    moves.place();
    assert.equal([moves.slotsOn(1), run(0)], [2, []]);
    assert.equal(run(500), ['mapped', 'starting 1', 'job.restart to 1 of job 7: [[0,0,1]]']);
  });

  test('a host in doubt gets none; where no other has room, it is waited for', () => {
    const { moves, run, lost, doubted, told } = play({ on: 'a:2 b:2 c:1' });
    lost.add(1);
    doubted.add(0);
    assert.equal([moves.hasRoom([1]), moves.hasRoom([0])], [false, false]);
    moves.add([1], FOUND, 0);
    assert.equal(run(1), []);
    doubted.clear();
    lost.add(2);
    assert.is(moves.hasRoom([2]), false, 'the one that waits is before it');
    moves.place();
    assert.equal(told(), ['mapped', 'starting 0', 'job.restart to 0 of job 7: [[1,0,1]]']);
  });

  test('a spare that has the place of a lost host takes its ranks, as far as it has slots', () => {
    for (const [slots, to] of [[2, [1, 1]], [1, [1, 0]]] as const) {
      const { moves, run, lost, spare, ledger } = play({ on: 'a:9 b:2', ranks: 4, first: [0, 1] });
      spare(1, { name: 's', slots, slotsBound: true, origin: 'spare' });
      lost.add(1);
      moves.add([1, 3], FOUND, 0);
      run(1);
      const back = play({ on: 'a:9 b:2', ranks: 4, first: [0, 1] });
      back.spare(1, { name: 's', slots, slotsBound: true, origin: 'spare' });
      back.moves.add([1, 3], FOUND, 0);
      const log = back.run(1);
      const single = play({ on: 'a:9 b:2', ranks: 2, first: [0, 1] });
      single.spare(1, { name: 's', slots: 1, slotsBound: true, origin: 'spare' });
      single.moves.add([1], FOUND, 0);
      assert.equal(single.run(1), ['mapped', 'starting 1', 'job.restart to 1 of job 7: [[1,0,1]]']);
      assert.is(log[0], 'mapped', 'its host has another name now');
      assert.is(back.ledger.spec.hosts[1]?.name, 's');
      assert.equal([1, 3].map((rank) => back.ledger.placements.host(rank)), to);
      assert.equal([ledger.spec.hosts[1]?.name, ledger.placements.host(1)], ['b', 0], 'not before it is up');
    }
  });

  test('ranks that leave a host go as far as others have slots', () => {
    const { moves, run, doubted, told } = play({ on: 'a:2 b:3', ranks: 4 });
    doubted.add(0).add(1);
    for (const rank of [0, 2]) moves.leave(rank, 0, FOUND, 0);
    run(1);
    doubted.clear();
    moves.place();
    assert.equal(told().filter((line) => line.startsWith('job.restart')), [
      'job.restart to 1 of job 7: [[0,0,1]]', 'job.restart to 0 of job 7: [[2,0,1]]',
    ]);
  });

  test('a spare that comes for ranks which wait starts as many as it has slots', () => {
    const { moves, run, lost, restarting, spare, told } = play({ on: 'a:2 b:2', ranks: 4 });
    lost.add(1);
    restarting.add(1);
    moves.add([1, 3], FOUND, 0);
    assert.equal(run(1), []);
    spare(1, { name: 's', slots: 1, slotsBound: true, origin: 'spare' });
    lost.delete(1);
    restarting.delete(1);
    moves.place();
    assert.equal(told(), ['mapped', 'starting 1', 'job.restart to 1 of job 7: [[3,0,1]]', 'no room for 1']);
  });
});
