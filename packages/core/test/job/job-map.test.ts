/** The job map against an oracle that places rank by rank, and by counting at large sizes. */

import { THIS_MACHINE, hostOf, localSize, mapJob, placements, ranksOf } from '@stci/core';
import type { JobMap, AllocatedJob, MapBy } from '@stci/interface';
import { assert, seededIntegers, suite } from '@stci/testkit';
import { LIMITS, app, hosts, job } from '../job-help.js';

const by = (text: string): MapBy =>
  text.startsWith('ppr') ? { by: 'ppr', perHost: Number(text.slice(4)) } : { by: text as 'slot' | 'node' };

/** `a0 b0`: host and app of each rank. */
const show = (map: JobMap): string =>
  [...placements(map)].map((place) => map.hosts[place.host]!.name + place.app).join(' ');

const map = (how: string, where: string, counts: (number | undefined)[], more: Partial<AllocatedJob> = {}): string =>
  show(mapJob(job({ mapBy: by(how), hosts: hosts(where), apps: counts.map((count) => app(count)), ...more }), LIMITS));

suite('job map', (test) => {
  test('a job that grows has the ranks where they were if all had been there at once', () => {
    for (const how of ['slot', 'node', 'ppr:2']) {
      for (const where of ['a:6 b:7 c:6', 'a~1 b~3 c~2', 'a:6 b~1 c:6']) {
        for (const counts of [[1, 2], [3, 2, 1], [2, 4], [4, 3], [5, 1]]) {
          const spec = job({ mapBy: by(how), hosts: hosts(where), apps: counts.map((count) => app(count)) });
          const first = mapJob({ ...spec, apps: spec.apps.slice(0, 1) }, LIMITS);
          const used = first.hosts.map((host) => localSize(host));
          const before = { used, next: first.size, lastHost: hostOf(first).host(first.size - 1) };
          const added = mapJob({ ...spec, apps: spec.apps.slice(1) }, LIMITS, [], before);
          const grown = first.hosts.map((host, i) => {
            const runs = added.hosts[i]!.runs.map((run) => ({ ...run, app: run.app + 1 }));
            return { ...host, runs: [...host.runs, ...runs] };
          });
          const made = show({ size: added.size, hosts: grown });
          assert.is(made, map(how, where, counts), `${how} ${where} ${counts.join()}`);
        }
      }
    }
  });

  test('by slot fills hosts, then begins another round', () => {
    assert.is(map('slot', 'a:2 b:3', [undefined]), 'a0 a0 b0 b0 b0');
    assert.is(map('slot', 'a b', [5]), 'a0 b0 a0 b0 a0');
    assert.is(map('slot', 'a~2 b~1', [5]), 'a0 a0 b0 a0 a0');
    assert.is(map('slot', 'a:2 b~1', [5]), 'a0 a0 b0 b0 b0');
    assert.is(map('slot', 'a:2 b:1', [5], { oversubscribe: true }), 'a0 a0 b0 a0 a0');
  });

  test('by node takes hosts in turn, and the next app goes on', () => {
    assert.is(map('node', 'a:2 b:3', [undefined]), 'a0 b0 a0 b0 b0');
    assert.is(map('node', 'a b c', [2, 2]), 'a0 b0 c1 a1');
    assert.is(map('slot', 'a:2 b:2', [1, 2]), 'a0 a1 b1');
  });

  test('by ppr puts N of each app on every host', () => {
    assert.is(map('ppr:2', 'a b', [undefined]), 'a0 a0 b0 b0');
    assert.is(map('ppr:2', 'a b', [3]), 'a0 a0 b0');
    assert.is(map('ppr:1', 'a b', [undefined, undefined]), 'a0 b0 a1 b1');
    const tooMany = assert.throwsCode('STCI_JOB_INVALID', () => map('ppr:2', 'a b', [5]));
    assert.match(tooMany.message, 'places 4 ranks, but 5');
    const tooFull = assert.throwsCode('STCI_SLOTS_EXCEEDED', () => map('ppr:2', 'a:1 b', [2]));
    assert.match(tooFull.message, 'puts 2 ranks on a');
  });

  test('counts by default: slots of named hosts for one program, else 1', () => {
    assert.is(map('slot', 'a~3', [undefined, undefined]), 'a0 a1');
    const here = [{ name: 'me', slots: 8, slotsBound: false, origin: THIS_MACHINE }];
    assert.is(mapJob(job({ hosts: here }), LIMITS).size, 1);
    assert.is(mapJob(job({ hosts: hosts('a:3 b:4'), apps: [app(undefined, { hosts: [1] })] }), LIMITS).size, 4);
  });

  test('too many ranks are refused with the slots of each host', () => {
    const { message } = assert.throwsCode('STCI_SLOTS_EXCEEDED', () => map('slot', 'a:2 b:3', [6]));
    for (const words of ['6 ranks', '5 on 2 hosts', 'a: 2 (--host)', 'b: 3 (--host)', '--oversubscribe']) {
      assert.match(message, words);
    }
    const many = hosts(Array.from({ length: 50 }, (_, i) => `n${i}:1`).join(' '));
    const long = assert.throwsCode('STCI_SLOTS_EXCEEDED', () => mapJob(job({ hosts: many, apps: [app(99)] }), LIMITS));
    assert.match(long.message, 'and 42 more');
  });

  test('limits: of the job, of one host, of one app', () => {
    const refused = (apps: number[], limits: typeof LIMITS, words: string): void => {
      const spec = job({ apps: apps.map((count) => app(count)) });
      assert.match(assert.throwsCode('STCI_JOB_INVALID', () => mapJob(spec, limits)).message, words);
    };
    refused([1_000_000_000], LIMITS, 'Expected 1..1000000 ranks in a job');
    refused([0], LIMITS, 'got 0');
    refused([2, 0], LIMITS, '(2 + 0)');
    refused([1.5], LIMITS, 'got 1.5');
    const few = { ...LIMITS, ranksPerHostMax: 8 };
    refused([9], few, '9 ranks on a; a host takes at most 8');
    refused([9], few, 'raise the parameter job.ranks.per.host.max');
  });

  test('is what placing rank by rank gives, for random jobs', () => {
    const random = seededIntegers(3);
    for (let round = 0; round < 3000; round++) {
      const spec = randomJob(random);
      const expected = oracle(spec);
      let got: string;
      try {
        got = show(mapJob(spec, LIMITS));
      } catch (error) {
        got = (error as { code: string }).code;
      }
      assert.is(got, expected, JSON.stringify(spec));
    }
  });

  test('local ranks ascend with the rank, for random jobs', () => {
    const random = seededIntegers(4);
    for (let round = 0; round < 300; round++) {
      const made = mapJob({ ...randomJob(random), oversubscribe: true, mapBy: by('slot') }, LIMITS);
      const lookup = hostOf(made);
      for (const host of made.hosts) {
        const ranks = [...ranksOf(host)];
        assert.equal(ranks, [...ranks].sort((a, b) => a - b));
        assert.is(ranks.length, localSize(host));
        ranks.forEach((rank, i) => assert.equal([lookup.host(rank), lookup.placement(rank).localRank], [host.host, i]));
      }
    }
  });

  test('a million ranks on 10 000 hosts are few runs', () => {
    const many = hosts(Array.from({ length: 10_000 }, (_, i) => `n${i}`).join(' '));
    for (const how of ['slot', 'node', 'ppr:100']) {
      const made = mapJob(job({ hosts: many, mapBy: by(how), apps: [app(1_000_000)] }), LIMITS);
      assert.is(made.hosts.reduce((runs, host) => runs + host.runs.length, 0), 10_000, how);
      assert.is(hostOf(made).host(999_999), 9_999, how);
    }
    const one = mapJob(job({ hosts: hosts('a~7'), apps: [app(1_000_000)] }), LIMITS);
    assert.equal(one.hosts[0]!.runs, [{ app: 0, first: 0, count: 1_000_000, stride: 1 }]);
  });

  test('a map that names a rank twice or not at all is an assertion', () => {
    const run = { app: 0, first: 0, count: 2, stride: 1 };
    assert.throws(() => hostOf({ size: 2, hosts: [{ host: 0, name: 'a', runs: [run, run] }] }), /placed once/);
    assert.throws(() => hostOf({ size: 3, hosts: [{ host: 0, name: 'a', runs: [run] }] }), /all 3 ranks/);
    assert.throws(() => hostOf({ size: 2, hosts: [{ host: 0, name: 'a', runs: [run] }] }).host(2), /0..1/);
  });
});

function randomJob(random: (below: number) => number): AllocatedJob {
  const where = Array.from({ length: 1 + random(5) }, (_, i) => `h${i}${random(2) ? ':' : '~'}${1 + random(4)}`);
  const apps = Array.from({ length: 1 + random(3) }, () => {
    const subset = where.flatMap((_, i) => (random(2) ? [i] : []));
    return app(1 + random(14), subset.length > 0 && random(3) === 0 ? { hosts: subset } : {});
  });
  const mapBy = by(random(2) ? 'slot' : 'node');
  return job({ hosts: hosts(where.join(' ')), apps, mapBy, oversubscribe: random(3) === 0 });
}

/** Rank by rank: by slot the open host with the fewest full rounds, by node the next open one. */
function oracle(spec: AllocatedJob): string {
  const used = spec.hosts.map(() => 0);
  const placed: string[] = [];
  let last = -1;
  for (const [index, one] of spec.apps.entries()) {
    const among = one.hosts ?? spec.hosts.map((_, i) => i);
    for (let i = 0; i < one.count!; i++) {
      const bound = (h: number): boolean => spec.hosts[h]!.slotsBound && !spec.oversubscribe;
      const open = among.filter((h) => !bound(h) || used[h]! < spec.hosts[h]!.slots);
      if (open.length === 0) return 'STCI_SLOTS_EXCEEDED';
      const rounds = (h: number): number => Math.floor(used[h]! / spec.hosts[h]!.slots);
      const least = Math.min(...open.map(rounds));
      const next = spec.mapBy.by === 'slot' ? open.find((h) => rounds(h) === least) : open.find((h) => h > last);
      const host = next ?? open[0]!;
      used[host]!++;
      last = host;
      placed.push(spec.hosts[host]!.name + index);
    }
  }
  return placed.join(' ');
}
