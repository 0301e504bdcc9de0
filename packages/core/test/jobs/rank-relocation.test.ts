/** Ranks of lost agents that are started again: when, on which host, by which message, each once. */

import { createLedger, mapJob } from '@stci/core';
import { StciError, sessionAddress, type Failure, type HostIndex, type HostSpec, type Rank } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { RankRelocation, type RankRelocationInit } from '../../dist/jobs/rank-relocation.js';
import type { Launch } from '../../dist/messages/messages.js';
import { LIMITS, app, hosts, job } from '../job-help.js';
import { testPlace } from '../world.js';

const FOUND = { kind: 'host-lost' } as unknown as Failure;

interface Options {
  readonly on?: string;
  readonly ranks?: number;
  readonly oversubscribe?: boolean;
  readonly first?: readonly HostIndex[];
}

/** A job of `ranks` over hosts by node; all session agents were started, but for those of hosts not in `first`. */
function play({ on = 'a:2 b:2 c:2', ranks = 3, oversubscribe = false, first = [0, 1, 2] }: Options = {}) {
  const place = testPlace();
  const spec = job({ apps: [app(ranks)], hosts: hosts(on), mapBy: { by: 'node' }, oversubscribe });
  const ledger = createLedger({ job: 7, spec, map: mapJob(spec, LIMITS), submitWallMs: 0 });
  const members = [...spec.hosts];
  const log: string[] = [];
  const launches: Launch[] = [];
  const [lost, doubted] = [new Set<HostIndex>(), new Set<HostIndex>()];
  /** Of hosts whose root agent runs. */
  const agentLost = new Set<HostIndex>();
  const restarting = new Set<HostIndex>();
  const slotsTaken: number[] = [];
  /** Other jobs that may end. */
  const others = new Set<number>();
  const unsent: { error?: StciError } = {};
  const session = {
    node: {
      platform: place.platform,
      messages: {
        send: (to: number, name: string, { ranks: those }: { readonly ranks: unknown }, of: number) =>
          void log.push(`${name} to ${to - sessionAddress(0)} of job ${of}: ${JSON.stringify(those)}`),
      },
    },
    members: {
      hosts: members,
      table: { isUsable: (host: HostIndex) => !lost.has(host), isDoubted: (host: HostIndex) => doubted.has(host) },
      isRestarting: (host: HostIndex) => restarting.has(host),
    },
    slotsTaken: () => slotsTaken,
    awaitsSlots: () => others.size > 0,
    passLaunch: (launch: Launch, of: number) => {
      launches.push(launch);
      const [[host]] = launch.hosts as unknown as [[HostIndex]];
      log.push(`launch ${launch.start} of job ${of} on ${host}: ${JSON.stringify(launch.restarts)}`);
      return unsent.error;
    },
  };
  const hostsOf = (): unknown => ledger.map.hosts.map(({ host }) => [host, 0, []]);
  const moves = new RankRelocation({
    session, job: 7, ledger, launchNow: () => ({ hosts: hostsOf() }),
    hasFirstAgent: (host: HostIndex) => first.includes(host),
    isLost: (host: HostIndex) => lost.has(host) || agentLost.has(host),
    onStarting: (host: HostIndex, isNew: boolean) => log.push(`starting ${host}${isNew ? ' anew' : ''}`),
    ranksMax: 2,
    onSetAside: (host: HostIndex, those: ReadonlySet<Rank>) => log.push(`aside ${host}: ${[...those].join()}`),
    onMapped: () => log.push('mapped'), onUnsent: (error?: StciError) => error && log.push(`unsent: ${error.code}`),
    onAwaitingSlots: (those: readonly Rank[]) => log.push(`awaits slots: ${those.join()}`),
    onNoRoom: (those: ReadonlyMap<Rank, Failure>) => log.push(`no room for ${[...those.keys()].join()}`),
  } as unknown as RankRelocationInit);
  const told = (): string[] => log.splice(0);
  const run = (ms: number): string[] => (place.run(ms), told());
  const isQuiet = (): boolean => place.world.scheduler.queue.pending().length === 0;
  const spare = (host: HostIndex, spec1: HostSpec): void => void (members[host] = spec1);
  return {
    moves, ledger, lost, doubted, agentLost, restarting, slotsTaken, others, unsent, launches, told, run, isQuiet,
    spare,
  };
}

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
    assert.equal(run(1), ['starting 1', 'job.restart to 1 of job 7: [[1,0,1]]'], 'this one runs');
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

  test('slots that ranks placed in the same turn, or other jobs, take are not free', () => {
    const { moves, run, lost, slotsTaken } = play({ on: 'a:3 b:3 c:3', ranks: 6 });
    lost.add(1);
    moves.add([1, 4], FOUND, 0);
    assert.equal(run(1), [
      'mapped', 'starting 0', 'job.restart to 0 of job 7: [[1,0,1]]', 'mapped', 'starting 2',
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
    const kept = (): readonly number[] => [0, 1, 2].map((host) => moves.keptOn(host));
    moves.add([1], FOUND, 900);
    assert.equal(kept(), [0, 0, 0], 'its own host runs, and has its slot');
    lost.add(0);
    assert.is(moves.hasRoom([0]), true);
    moves.add([0], FOUND, 500);
    assert.equal(kept(), [0, 1, 0]);
    slotsTaken[2] = 1;
    assert.is(moves.hasRoom([0]), true, 'for itself it is free');
    assert.equal(run(500), ['mapped', 'starting 1', 'job.restart to 1 of job 7: [[0,0,1]]']);
    assert.equal(kept(), [0, 0, 0]);
    lost.add(2);
    assert.is(moves.hasRoom([2]), false);
    moves.giveUp();
    assert.equal(told(), []);
  });

  test('where the host with the kept slot is lost, too, another one takes the rank', () => {
    const { moves, run, lost } = play({ on: 'a:2 b:3 c:2' });
    lost.add(0);
    moves.add([0], FOUND, 500);
    assert.equal([moves.keptOn(1), moves.keptOn(2)], [1, 0]);
    lost.add(1);
    moves.place();
    assert.equal([moves.keptOn(1), moves.keptOn(2)], [0, 1]);
    assert.equal(run(500), ['mapped', 'starting 2', 'job.restart to 2 of job 7: [[0,0,1]]']);
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

  test('many ranks of a host among many are placed in one turn, each host counted once', () => {
    const names = Array.from({ length: 1000 }, (_, host) => `h${host}:130`).join(' ');
    const { moves, lost, ledger } = play({ on: names, ranks: 20_000 });
    lost.add(1);
    let counted = 0;
    const { openRanks } = ledger;
    Object.assign(ledger, { openRanks: (host: HostIndex) => (counted++, openRanks.call(ledger, host)) });
    moves.add(openRanks.call(ledger, 1), FOUND, 500);
    assert.is(moves.hasRoom([0]), true);
    assert.ok(counted <= 3 * 1000, `${counted} times`);
    assert.is(ledger.openRanks(1).length, 20);
  });

  test('a slot that comes free before its pause is over is kept for it', () => {
    const { moves, run, lost, slotsTaken, others } = play({ on: 'a:2 b:2 c:2' });
    slotsTaken.push(0, 1, 1);
    others.add(8);
    lost.add(0);
    moves.add([0], FOUND, 500);
    assert.is(moves.keptOn(1), 0);
    slotsTaken[1] = 0;
    moves.place();
    assert.equal([moves.keptOn(1), run(0)], [1, []]);
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
    assert.equal([moves.hasRoom([1]), moves.hasRoom([1, 1])], [true, false]);
    moves.place();
    assert.equal(told(), ['mapped', 'starting 0', 'job.restart to 0 of job 7: [[1,0,1]]']);
  });

  test('a rank that leaves goes to a host with a free slot, else back; a host that many left is set aside', () => {
    const { moves, run, ledger } = play({ on: 'a:2 b:2 c:3', ranks: 4 });
    moves.leave(0, 0, FOUND, 100);
    assert.equal(run(100), ['mapped', 'starting 2', 'job.restart to 2 of job 7: [[0,0,1]]']);
    moves.leave(0, 2, FOUND, 0);
    assert.equal(run(1), ['mapped', 'starting 0', 'job.restart to 0 of job 7: [[0,0,1]]'], 'the other way');
    moves.leave(3, 0, FOUND, 0);
    assert.equal(run(1), ['aside 0: 0,3', 'mapped', 'starting 2', 'job.restart to 2 of job 7: [[3,0,1]]']);
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

  test('a spare that has the place of a lost host takes its ranks, as far as it has slots', () => {
    for (const [slots, to] of [[2, 1], [1, 0]] as const) {
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
      assert.equal([back.ledger.spec.hosts[1]?.name, back.ledger.placements.host(1)], ['s', to]);
      assert.equal([ledger.spec.hosts[1]?.name, ledger.placements.host(1)], ['b', 0], 'not before it is up');
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

  test('ranks of one failure that return to one host are named in one message', () => {
    const { moves, run } = play({ ranks: 6, on: 'a:2 b:2 c:2' });
    moves.add([1, 4, 2], FOUND, 300);
    assert.equal(run(300), [
      'starting 1', 'job.restart to 1 of job 7: [[1,0,1],[4,0,1]]',
      'starting 2', 'job.restart to 2 of job 7: [[2,0,1]]',
    ]);
  });
});
