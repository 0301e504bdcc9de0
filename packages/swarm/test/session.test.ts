// @timeoutMs 300000
/**
 * Sessions in simulation: front-ends that come and go, jobs beside each other, agents that are killed meanwhile. The
 * seeds are new with each commit; npm run swarm -- --sessions --seed N replays one.
 */

import { assert, suite, swarmSeeds } from '@stci/testkit';
import { explore, parseArguments, plainSession, runSession, type Step } from '@stci/swarm';
import { firstSeed, share } from './first-seed.js';
import { kindOf, testRegressions } from './regressions.js';

const SEEDS = swarmSeeds('sessions with front-ends');
/** Messages and acknowledgements more than without it that one kill costs for each host. */
const MESSAGES_MAX = 5;

const kill = (atMs: number, pick: number): Step => ({ kind: 'kill', atMs, victim: { of: 'roots', pick } });

suite('sessions', (test) => {
  testRegressions(test, kindOf('sessions'));

  const from = firstSeed();
  test(`${SEEDS} seeds from ${from}, this commit's`, () => {
    const lines: string[] = [];
    const plan = parseArguments(['--sessions', '--from', `${from}`, '--seeds', `${SEEDS}`]);
    const io = { print: (line: string) => void lines.push(line), nowMs: () => performance.now() };
    assert.equal(explore({ ...plan, shrinkMs: 20_000 }, io).failedSeeds, [], lines.join('\n'));
  }, { timeoutMs: 240_000 });

  test('a spool that is too small: what was dropped is told, to the byte', () => {
    const app = { program: 'lines', args: ['2000', '80'], count: 8 };
    const plan = { job: 0, atMs: 0, all: false, releaseMs: 0, leave: undefined };
    const frontEnds = [
      { ...plan, kind: 'detached' as const }, { ...plan, kind: 'attach' as const, atMs: 20 },
      { ...plan, kind: 'attach' as const, atMs: 3000 },
    ];
    for (const diskBytes of [Infinity, 100_000]) {
      const run = runSession(plainSession(app, { frontEnds, spoolBytes: 32 * 1024, diskBytes }));
      assert.equal(run.problems, []);
      assert.ok(run.frontEnds.some(({ hasMissed }) => hasMissed));
    }
  }, { timeoutMs: 30_000 });

  test('the same seed gives the same run', () => {
    const options = plainSession({ program: 'mixed', args: ['600', '80'], count: 8 }, { faults: [kill(10, 0.3)] });
    const hash = (): string => runSession(options).world.traceHash;
    assert.is(hash(), hash());
  });

  test('a kill costs messages in proportion to the hosts', () => {
    for (const hosts of share([10, 40], 2)) {
      const app = { program: 'sleep', args: ['2'], count: hosts };
      const control = (faults: readonly Step[]): number => {
        const { problems, wire } = runSession(plainSession(app, { hosts, faults }));
        assert.equal(problems, []);
        return wire.control;
      };
      const quiet = control([]);
      const more = control([kill(500, 0.3), kill(900, 0.6)]) - quiet;
      assert.ok(more < 2 * MESSAGES_MAX * hosts, `${more} more than ${quiet} messages with ${hosts} hosts`);
    }
  }, { timeoutMs: 30_000 });
});
