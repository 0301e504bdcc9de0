// @timeoutMs 120000
/** MPI programs of both protocols in simulated jobs: what they exchange, how they end, and what their wire-up costs. */

import { PLAIN, drawOptions, runJob, type SwarmOptions } from '@stci/swarm';
import { assert, suite } from '@stci/testkit';
import { firstSeed, isFull, range } from './first-seed.js';

const SEEDS = isFull ? 400 : 12;
const HOSTS = 64;
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

  test(`${SEEDS} drawn jobs`, () => {
    for (const seed of range(firstSeed(), firstSeed() + SEEDS)) {
      assert.equal([seed, runJob(drawOptions(seed, { mpi: true })).problems], [seed, []]);
    }
  }, { timeoutMs: 120_000 });
});
