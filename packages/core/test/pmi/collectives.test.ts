/** Collectives of several hosts at the controller. */

import { assert, suite } from '@stci/testkit';
import type { StciError } from '@stci/interface';
import { Collectives, type CollectingJob } from '../../dist/pmi/collectives.js';
import { PMI1_FENCE, type CollectiveId, type Range } from '../../dist/pmi/contracts.js';

type Told = readonly [to: string, problem: string, data: number];

class Job implements CollectingJob {
  readonly job: number;
  readonly places: number[];
  readonly gone = new Set<number>();
  readonly told: Told[];
  bytesMax = Infinity;

  constructor(job: number, places: number[], told: Told[]) {
    this.job = job;
    this.places = places;
    this.told = told;
  }

  has(rank: number): boolean {
    return rank < this.places.length;
  }

  awaitedAt(rank: number): number | undefined {
    return this.gone.has(rank) ? undefined : this.places[rank];
  }

  checkRank(host: number, rank: number): void {
    assert.is(this.places[rank], host);
  }

  sets() {
    const { job, places: { length: size } } = this;
    return [{ nspace: `n${job}`, job, first: 0, size, universe: 1, hosts: [], apps: [] }];
  }

  onSplit(rank: number, absent: number | undefined): void {
    this.told.push([`${this.job}: ${rank} awaits ${absent}`, '', 0]);
  }

  send(host: number, { problem, data }: { problem: string; data: readonly unknown[] }): StciError | undefined {
    if (data.length > this.bytesMax) return { message: 'too long' } as StciError;
    this.told.push([`${this.job}:${host}`, problem, data.length]);
    return undefined;
  }

  sendAll(result: { problem: string; data: readonly unknown[] }): StciError | undefined {
    if (result.data.length > this.bytesMax) return { message: 'too long' } as StciError;
    this.told.push([`${this.job}:all`, result.problem, result.data.length]);
    return undefined;
  }
}

const id = (members: readonly Range[], more: Partial<CollectiveId> = {}): CollectiveId =>
  ({ kind: 'fence', name: '', members, sequence: 1, ...more });

function place(...jobs: number[][]) {
  const told: Told[] = [];
  const made = jobs.map((places, i) => new Job(i + 1, places, told));
  const collectives = new Collectives(new Map(made.map((job) => [job.job, job])));
  const enter = (number: number, host: number, of: CollectiveId, count = 0): void => {
    const job = made[number - 1] as Job;
    const data = Array.from({ length: count }, () => [job.places.indexOf(host), []] as const);
    collectives.onEnter(job, { host, id: of, data });
  };
  return { told, jobs: made, collectives, enter };
}

suite('collectives of MPI libraries', (test) => {
  test('have so many members, all together, which are free again however one ends', () => {
    const places: number[] = Array(4 * 0x10_0000);
    [places[0], places[1]] = [0, 1];
    const { told, jobs, collectives, enter } = place(places);
    const all = (sequence: number): CollectiveId => id([[1, 0, places.length - 1]], { kind: 'connect', sequence });
    const [one, done] = [id([[1, 1, 1]], { kind: 'connect' }), ['1:all', '', 0]];
    enter(1, 0, all(1));
    enter(1, 1, one);
    assert.equal(told.splice(0), [['1:1', 'at most 4194304 members of all collectives', 0]]);
    enter(1, 1, all(1));
    enter(1, 1, one);
    enter(1, 0, all(2));
    jobs[0]!.gone.add(1);
    collectives.onGone(1, [1]);
    enter(1, 0, all(3));
    jobs[0]!.gone.delete(1);
    enter(1, 0, all(4));
    collectives.onJobEnded(1);
    enter(1, 1, one);
    assert.equal(told, [done, ['1:1', '', 0], done, done, done, ['1:1', '', 0]]);
  });

  test('of a whole job are told to all once, with what each host brought', () => {
    const { told, enter } = place([0, 0, 1, 2]);
    const all = id([[1, 0, 3]]);
    enter(1, 0, all, 1);
    enter(1, 2, all, 1);
    enter(1, 2, all, 1); // Again: it has come already.
    assert.equal(told, []);
    enter(1, 1, all);
    assert.equal(told, [['1:all', '', 2]]);
  });

  test('of some go to their hosts, of two jobs to each one\'s', () => {
    const { told, enter } = place([0, 1, 2], [0, 1]);
    enter(1, 0, id([[1, 0, 1]]));
    enter(1, 1, id([[1, 0, 1]]));
    assert.equal(told.splice(0), [['1:0', '', 0], ['1:1', '', 0]]);
    const both = id([[1, 2, 2], [2, 0, 0]], { kind: 'connect' });
    enter(2, 0, both);
    enter(1, 2, both);
    assert.equal(told, [['1:2', '', 0], ['2:0', '', 0]]);
  });

  test('go on without who is gone, before and after they have begun', () => {
    const { told, jobs, collectives, enter } = place([0, 1, 1, 2]);
    jobs[0]?.gone.add(3);
    enter(1, 0, id([[1, 0, 3]], { sequence: 3 }));
    collectives.onGone(1, [1]);
    assert.equal(told, []);
    collectives.onGone(1, [2]);
    assert.equal(told, [['1:all', '', 0]]);
  });

  test('of MPI_Init end the job without one of the ranks', () => {
    const { told, jobs, collectives, enter } = place([0, 1, 2]);
    enter(1, 0, id([[1, 0, 2]]));
    jobs[0]?.gone.add(1);
    collectives.onGone(1, [1]);
    assert.equal(told, []);
    enter(1, 2, id([[1, 0, 2]]));
    assert.equal(told, [['1: 0 awaits 1', '', 0]]);
  });

  test('of several libraries end the job', () => {
    const { told, enter } = place([0, 1]);
    enter(1, 0, id([[1, 0, 1]]));
    enter(1, 1, id([[1, 0, 1]], { name: PMI1_FENCE }));
    assert.equal(told, [['1: 1 awaits undefined', '', 0]]);
  });

  test('that differ in name, kind or count are others', () => {
    const { told, enter } = place([0, 1]);
    const members = [[1, 0, 1]] as const;
    enter(1, 0, id(members));
    enter(1, 1, id(members, { sequence: 2 }));
    enter(1, 1, id(members, { kind: 'group', name: 'a' }));
    enter(1, 0, id(members, { kind: 'group', name: 'b' }));
    assert.equal(told, []);
  });

  test('with a job that is over go on without it; with one that is unknown they fail', () => {
    const { told, collectives, enter } = place([0], [0]);
    enter(1, 0, id([[1, 0, 0], [2, 0, 0]]));
    collectives.onJobEnded(2);
    assert.equal(told.splice(0), [['1:0', '', 0]]);
    enter(1, 0, id([[1, 0, 0], [7, 0, 0]]));
    enter(1, 0, id([[1, 0, 5]]));
    assert.equal(told, [
      ['1:0', 'job 7 has no process 0, or does not run', 0], ['1:0', 'job 1 has no process 5, or does not run', 0],
    ]);
  });

  test('whose data are more than a message takes fail for all', () => {
    const { told, jobs, enter } = place([0, 1]);
    (jobs[0] as Job).bytesMax = 1;
    enter(1, 0, id([[1, 0, 1]]), 1);
    enter(1, 1, id([[1, 0, 1]]), 1);
    assert.equal(told, [['1:all', 'too long', 0]]);
  });

  test('of others are refused', () => {
    const { enter } = place([0, 1], [0]);
    assert.throws(() => enter(2, 0, id([[1, 0, 1]])), /Expected a member on host 0/);
  });
});
