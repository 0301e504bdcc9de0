// @timeoutMs 600000
/**
 * Sessions whose agents fail, by seeds: detectors, overlays, notifiers, faults. A failure names its seed:
 * npm run swarm -- --failures --seed N replays it. Each checker is seen to find what it is for.
 */

import { assert, suite } from '@stci/testkit';
import {
  FAILURE_REGRESSIONS, checkFailures, explore, parseArguments, plainFailures, runFailures, type FailureRun,
} from '@stci/swarm';
import { firstSeed, isFull } from './first-seed.js';

const SEEDS = isFull ? 1000 : 20;

const WELL = runFailures(plainFailures({ hosts: 4, faults: [{ kind: 'kill', host: 3, atMs: 500 }] }));

/** What the checkers say of a run that was well until it was changed. */
function red(pattern: RegExp, change: (run: FailureRun) => Partial<FailureRun>): void {
  const { witness } = WELL.run;
  const views = new Map([...witness.views].map(([by, view]) => [by, new Set(view)]));
  const heard = new Set(witness.heard);
  const copy = { ...WELL.run, witness: Object.assign(Object.create(witness), { views, heard }) };
  const found = checkFailures({ ...copy, ...change(copy) });
  assert.ok(found.some((text) => pattern.test(text)), `expected ${pattern}, got: ${found.join(' | ') || 'nothing'}`);
}

suite('failures', (test) => {
  for (const [index, { found, plan, incarnationMax = Infinity }] of FAILURE_REGRESSIONS.entries()) {
    test(`regression ${index + 1}: ${found}`, () => {
      const { run, problems } = runFailures(plan);
      const often = run.quiet?.hosts.filter(({ incarnation }) => incarnation > incarnationMax);
      assert.equal([problems, often], [[], []]);
    }, { timeoutMs: 30_000 });
  }

  const from = firstSeed();
  test(`${SEEDS} seeds from ${from}, this commit's`, () => {
    const lines: string[] = [];
    const plan = parseArguments(['--failures', '--from', String(from), '--seeds', String(SEEDS)]);
    const { failedSeeds } = explore(plan, { print: (line) => lines.push(line), nowMs: () => performance.now() });
    assert.equal(failedSeeds, [], lines.join('\n'));
  }, { timeoutMs: 590_000 });

  test('the checkers find who is not told, or wrongly, who goes on, who is not reached or recorded', () => {
    assert.equal(WELL.problems, []);
    const viewOf = ({ witness }: FailureRun) => witness.views.get('1#1') as Set<`${number}#${number}`>;
    red(/^completeness: 1#1 was not told that 4#1 is dead/, (run) => (viewOf(run).add('4#1'), {}));
    red(/^completeness: 1#1 believes that 2#1 is dead/, (run) => (viewOf(run).delete('2#1'), {}));
    red(/^routes: 2#1 does not reach 1#1/, ({ witness }) => (witness.heard.delete('1#1 2#1'), {}));
    red(/^accuracy: host 3 is failed/, ({ plan }) => ({ plan: { ...plan, faults: [] } }));
    red(/^decision: host 3 is failed, and has 1 agents/, (run) =>
      changed(run, ({ agents }) => ({ agents: [...agents, 'n3'] })));
    red(/^decision: host 0 is up, and has 0 agents/, (run) => changed(run, () => ({ agents: ['n1', 'n2'] })));
    red(/^decision: host 3 is failed, and has tools/, (run) => changed(run, () => ({ tools: ['n3'] })));
    red(/^records: host 3#1 has no record/, () => ({ events: [] }));
    red(/^records: host 3#1 has two records/, ({ events }) => ({ events: [...events, ...events] }));
    red(/^the session did not end/, () => ({ problems: ['the session did not end: idle'] }));
  });
});

function changed(
  { quiet }: FailureRun, change: (quiet: NonNullable<FailureRun['quiet']>) => Partial<NonNullable<FailureRun['quiet']>>,
): Partial<FailureRun> {
  return quiet === undefined ? {} : { quiet: { ...quiet, ...change(quiet) } };
}
