// @timeoutMs 300000
/**
 * The exploration that every test run makes: real agents, whole jobs, faults; mostly a few hosts, some of them many.
 * A failure names its seed: npm run swarm -- --seed N replays it.
 */

import { assert, suite, swarmSeeds, swarmTotal } from '@stci/testkit';
import { commitSeed, explore, parseArguments, type ExplorePlan } from '@stci/swarm';
import { firstSeed, isFull } from './first-seed.js';
import { kindOf, testRegressions } from './regressions.js';

const SEEDS = swarmSeeds('jobs');

const DEADLINE_MS = 240_000;

function run(args: readonly string[]): string[] {
  const lines: string[] = [];
  const plan: ExplorePlan = { ...parseArguments(args), shrinkMs: 20_000 };
  const { failedSeeds } = explore(plan, { print: (line) => lines.push(line), nowMs: () => performance.now() });
  assert.equal(failedSeeds, [], lines.join('\n'));
  return lines;
}

suite('swarm', (test) => {
  testRegressions(test, kindOf('jobs'));

  const from = String(firstSeed());
  test(`${SEEDS} seeds from ${from}, this commit's`, () => void run(['--from', from, '--seeds', String(SEEDS)]),
    { timeoutMs: DEADLINE_MS });

  test('programs that agree, in every run', () => {
    run(['--agree', '--from', from, '--seeds', String(swarmSeeds('jobs that agree'))]);
  }, { timeoutMs: DEADLINE_MS });

  test('each commit has seeds of its own, 20 000 and more', () => {
    assert.ok(swarmTotal() >= 20_000, `${swarmTotal()}`);
    assert.equal(['0000000fff', '1037bfa000', 'fffffff000'].map(commitSeed), [1, 0x1037bfa + 1, 0xfffffff + 1]);
  });

  test('100, 300 and 1000 hosts', () => {
    for (const hosts of ['100', '300', '1000']) run(['--from', from, '--seeds', isFull ? '10' : '1', '--hosts', hosts]);
  }, { timeoutMs: DEADLINE_MS });

  test('a replay prints its seed first and last', () => {
    const lines = run(['--seed', '3']);
    assert.is(lines[0], 'seed 3');
    assert.is(lines.at(-1), 'seed 3: ok');
    assert.ok(run(['--seed', '3', '--trace']).length > 100);
  });

  test('refuses what it does not know', () => {
    assert.throws(() => parseArguments(['--sead', '5']), /Unknown option --sead/);
    assert.throws(() => parseArguments(['--seed', 'x']), /--seed takes a whole number above 0, got 'x'/);
    assert.throws(() => parseArguments(['--seed']), /got ''/);
    assert.throws(() => parseArguments(['--hosts', '1001']), /at most 1000/);
    assert.throws(() => parseArguments(['--plan', '{']), /--plan takes the JSON object .* prints, got '\{'/);
    const blind = ['--failures', '--plan', '{"settings":{"detector":"ring"}}'];
    assert.throws(() => parseArguments(blind), /--plan: settings\.detector has to name witness, .*, got 'ring'/);
    assert.throws(() => parseArguments(['--failures', '--plan', '{"settings":{}}']), /to name witness, .*, got ''/);
    const misspelt = ['--plan', '{"faults":[{"kind":"crash","atMs":5,"vitcim":0}]}'];
    assert.throws(() => parseArguments(misspelt), /--plan: faults\[0\]\.vitcim: unknown; known are kind, /);
    assert.throws(() => parseArguments(['--small']), /No kind of runs is chosen by --small/);
    assert.throws(() => parseArguments(['--shrink', '-1']), /--shrink takes a number above 0, got '-1'/);
    assert.throws(() => parseArguments(['--hosts', '1', '--systematic']), /at least 2 here, got 1/);
    assert.throws(() => parseArguments(['--every', '3']), /--every needs --systematic/);
    assert.throws(() => parseArguments(['--runs', '3', '--seed', '1']), /--runs needs --blame/);
    assert.throws(() => parseArguments(['--seed', '3', '--blame', '4']), /--seed and --blame do not go together/);
    assert.throws(() => parseArguments(['--systematic', '--failures']), /--systematic and --failures do not go/);
    assert.equal(parseArguments(['--minutes', '0.5']).seeds, Infinity);
    const kinds = (...args: string[]): string[] => parseArguments(args).kinds.map(({ name }) => name);
    assert.equal([kinds(), kinds('--sessions'), kinds('--small', '--failures')],
      [['jobs'], ['sessions'], ['small sessions with failures']]);
    assert.equal(kinds('--all').length, 4);
  });
});
