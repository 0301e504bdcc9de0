// @timeoutMs 600000
/**
 * Sessions whose agents fail, by seeds: detectors, overlays, notifiers, faults. A failure names its seed:
 * npm run swarm -- --failures --seed N replays it. Each checker is seen to find what it is for.
 */

import type { JobEvent } from '@stci/interface';
import { assert, suite, swarmSeeds } from '@stci/testkit';
import {
  agreementProblems, checkFailures, explore, parseArguments, plainFailures, rootAgent, runFailures, type FailureRun,
} from '@stci/swarm';
import { firstSeed } from './first-seed.js';
import { kindOf, testRegressions } from './regressions.js';

const WELL = runFailures(plainFailures({ hosts: 4, faults: [{ kind: 'kill', victim: rootAgent(3), atMs: 500 }] }));

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
  testRegressions(test, kindOf('sessions with failures'));

  const from = firstSeed();
  const sizes = [
    ['small', swarmSeeds('small sessions with failures')], ['of any size', swarmSeeds('sessions with failures')],
  ] as const;
  for (const [size, seeds] of sizes) {
    test(`${seeds} sessions, ${size}, seeds from ${from}, this commit's`, () => {
      const lines: string[] = [];
      const args = ['--failures', ...(size === 'small' ? ['--small'] : []), '--from', `${from}`, '--seeds', `${seeds}`];
      const io = { print: (line: string) => void lines.push(line), nowMs: () => performance.now() };
      assert.equal(explore({ ...parseArguments(args), shrinkMs: 20_000 }, io).failedSeeds, [], lines.join('\n'));
    }, { timeoutMs: 590_000 });
  }

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
    red(/^records: host 3#1 has no record/, () => ({ history: [] }));
    red(/^records: host 3#1 has two records/, ({ history }) => ({ history: [...history, ...history] }));
    const timed = WELL.run.plan;
    red(/^stabilization: all knew all deaths after/, () =>
      ({ plan: { ...timed, isTimed: true, settings: { ...timed.settings, 'detector.ring.timeout': '-1000ms' } } }));
    red(/^repeats: host 0 was started 1 times; at most 0/, () => ({ plan: { ...timed, incarnationMax: 0 } }));
    const linked: JobEvent = {
      type: 'member', change: 'linked', name: 'n1', host: 0, incarnation: 1, wallMs: 0, parent: 'controller',
    };
    const told = { wallMs: 0, monotonicMs: 0, type: 'event', repeat: 1, event: linked } as const;
    red(/^repeats: n1 was linked again 2 times; at most 1/, ({ history }) =>
      ({ plan: { ...timed, linksMax: 1 }, history: [...history, told, told] }));
    const agree = { rounds: 1, pauseMs: 0, policy: 'continue' };
    red(/^agreement: the job whose ranks agree did not end/, () => ({ plan: { ...timed, agree } }));
    red(/^talk: the job whose ranks talk did not end/, () => ({ plan: { ...timed, talk: agree } }));
    const brief = { ranksOverMs: 0, endedMs: undefined };
    red(/^end: the brief job has not ended .* after its last rank/, () => ({ brief }));
    red(/^end: ranks of the brief job have not ended/, () => ({ brief: { ...brief, ranksOverMs: undefined } }));
    red(/^end: the brief job ended .* after its last rank/, () => ({ brief: { ...brief, endedMs: 1e6 } }));
    red(/^judged: no fault explains host 3#1: /, ({ plan }) => ({ faults: [], plan: { ...plan, faults: [] } }));
    red(/^judged: host 3 was killed, and has not failed/, () => ({ history: [] }));
    red(/^the session did not end/, () => ({ problems: ['the session did not end: idle'] }));
  });
});

suite('agreement of ranks', (test) => {
  const result = (flag: boolean, failed: readonly (readonly [number, number])[] = []): string =>
    JSON.stringify({ flag, isMismatch: false, ranks: [[1, 2]], joined: [], failed });
  const found = (one: readonly string[], two: readonly string[]): string =>
    agreementProblems(new Map([[1, one], [2, two]]), new Set([1])).join(' | ');

  test('each result is that of all, of their votes, and who is lost stays lost', () => {
    assert.is(found([result(true), result(true)], [result(true)]), '');
    assert.ok(/rank 2, round 0/.test(found([result(true)], [result(false)])), 'it was decided twice');
    assert.ok(/round 0: false/.test(found([result(false)], [])), 'nobody voted against it');
    const four = Array.from({ length: 5 }, () => result(true));
    assert.ok(/round 4: true/.test(found(four, [])), 'rank 1 voted against it');
    assert.ok(/called lost/.test(found([result(true, [[1, 1]])], [])), 'rank 1 ended well');
    assert.ok(/lost ranks by round: 1,0/.test(found([result(true, [[0, 0]]), result(true)], [])), 'rank 0 is back');
  });
});

function changed(
  { quiet }: FailureRun, change: (quiet: NonNullable<FailureRun['quiet']>) => Partial<NonNullable<FailureRun['quiet']>>,
): Partial<FailureRun> {
  return quiet === undefined ? {} : { quiet: { ...quiet, ...change(quiet) } };
}
