// @timeoutMs 120000
/** MPI programs of both protocols in simulated jobs: what they exchange, how they end, and what their wire-up costs. */

import { PLAIN, drawOptions, factsOf, runJob, truthOf, type SwarmOptions } from '@stci/swarm';
import { assert, suite } from '@stci/testkit';
import { firstSeed, isFull, range } from './first-seed.js';

const SEEDS = isFull ? 400 : 12;
const HOSTS = 64;
/** Runs that lose a host; when its ranks are told of as lost, as `stci info detector` prints it. */
const RINGS = isFull ? 100 : 10;
const RING_MS = [900, 1060] as const;
/** Messages of the wire-up by their number: pmi.open, pmi.enter, pmi.done; pmi.get. */
const WIRE_UP = [150, 151, 152, 153];

function job(program: string, count: number, over: Partial<SwarmOptions>, args: readonly string[]): SwarmOptions {
  const app = { program, args: [String(count), count < 100 ? '4' : '1', '0.01', ...args], count };
  const settings = { launcherproc: 'remote', ...over.settings };
  return { ...PLAIN, hosts: 3, slots: Math.ceil(count / 3), remote: true, ...over, apps: [app], settings };
}

suite('MPI programs in simulation', (test) => {
  for (const program of ['pmi1', 'pmix']) {
    test(`${program}: jobs end well, or as the rank that ends them says`, () => {
      const ends: readonly (readonly [end: string, exitCode: number])[] = [
        ['well', 0], ['abort', 37], ['leave', 1], ['die', 139], ['fail', 3], ['garbage', 1],
      ];
      for (const [end, exitCode] of ends) {
        for (const step of ['1', '3', '9']) {
          const { run, problems } = runJob(job(program, 7, {}, [end, '2', step]));
          assert.equal([end, step, problems, run.record.exitCode], [end, step, [], exitCode]);
        }
      }
    });

    test(`${program}: a tolerant job goes on without the rank that dies`, () => {
      for (const errmgr of ['notify', 'continue']) {
        const { run, problems } = runJob(job(program, 7, { settings: { errmgr } }, ['die', '2', '9']));
        assert.equal(problems, []);
        const ends = run.record.report?.ranks.map(({ outcome, end }) => [outcome, end?.status]);
        assert.is(ends?.filter(([outcome, status]) => outcome === 'exited' && status === 0).length, 6);
      }
    });

    test(`${program}: messages of the wire-up of ${HOSTS} hosts are as many for 1024 ranks as for 128`, () => {
      const types = [2, 16].map((slots) => {
        const over = { hosts: HOSTS, slots, settings: { 'iof.window': String(1 << 24) } };
        const { run, problems } = runJob(job(program, HOSTS * slots, over, ['well', '-1', '0']));
        assert.equal(problems, []);
        return WIRE_UP.map((type) => run.wire.types.get(type) ?? 0);
      });
      assert.equal(types[1], types[0]);
      assert.equal(types[1]?.map((count) => count > 0), [true, true, true, false]);
    }, { timeoutMs: 60_000 });
  }

  test('detector ring: ranks of a lost host are told of as lost in the time that it promises', () => {
    const settings = {
      errmgr: 'notify', detector: 'ring', 'detector.ring.period': '100ms', 'detector.ring.grace': '0',
      'bootcom.lease': '20s',
    };
    for (let seed = 1; seed <= RINGS; seed++) {
      // Its observer is another host, or the controller.
      const host = 1 + (seed % 2);
      const crash = { kind: 'crash', victim: { kind: 'host', host }, atMs: 3000 + 7 * seed } as const;
      const link = { ...PLAIN.link, latencyMs: 1, jitterMs: 8 };
      const over = { seed, faults: [crash], link, settings };
      const apps = [{ program: 'pmix', args: ['6', '9', '1', 'well', '-1', '0'], count: 6 }];
      const { run, problems } = runJob({ ...job('pmix', 6, over, []), apps });
      assert.equal([seed, problems], [seed, []]);
      const others = truthOf(run).filter(({ rank }) => rank >> 1 !== host);
      const told = others.flatMap(({ rank: by, process }) => factsOf(process).flatMap((fact) =>
        fact.kind === 'lost' ? [{ by, lost: fact.rank, ms: fact.atMs - crash.atMs }] : []));
      const expected = [2 * host, 2 * host + 1].flatMap((lost) => others.map(({ rank }) => `${lost} at ${rank}`));
      assert.equal(told.map(({ by, lost }) => `${lost} at ${by}`).sort(), expected);
      for (const { ms } of told) assert.ok(ms >= RING_MS[0] && ms <= RING_MS[1], `seed ${seed}: after ${ms} ms`);
    }
  }, { timeoutMs: 60_000 });

  test(`${SEEDS} drawn jobs`, () => {
    for (const seed of range(firstSeed(), firstSeed() + SEEDS)) {
      assert.equal([seed, runJob(drawOptions(seed, { mpi: true })).problems], [seed, []]);
    }
  }, { timeoutMs: 120_000 });
});
