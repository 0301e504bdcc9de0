// @sameFor user, node: pure computation
/** The files of regressions: what is wrong in one is told, and they are written as a finding prints its plan. */

import { assert, suite } from '@stci/testkit';
import { CONTROLLER, KINDS, encode, readRegressions, regressionText, rootAgent } from '@stci/swarm';
import { range } from './first-seed.js';
import { kindOf, regressionsText } from './regressions.js';

const JOBS = kindOf('jobs');

function refusal(name: string, ...entries: readonly object[]): string {
  try {
    readRegressions(kindOf(name), encode(entries));
  } catch (error) {
    return (error as Error).message;
  }
  return 'nothing';
}

suite('regressions', (test) => {
  test('the files have only what is not plain, in the lines that a finding prints', () => {
    for (const kind of KINDS) {
      const text = regressionsText(kind);
      const entries = readRegressions(kind, text).map((each) => regressionText(kind, each));
      for (const entry of entries) assert.ok(text.includes(`\n${entry}`), `expected in ${kind.regressions}:\n${entry}`);
      assert.is(text.length, `[\n${entries.join(',\n')}\n]\n`.length);
    }
    assert.is(regressionText(JOBS, { found: 'x', plan: JOBS.plain }), '  {\n    "found": "x"\n  }');
  });

  test('an entry that is wrong is told with its file and place', () => {
    const a = { found: 'a' };
    assert.is(refusal('jobs', a, { seed: 2 }), 'jobs.json, entry 2: found: expected what it found');
    const wrong: readonly (readonly [kind: string, values: object, expected: string])[] = [
      ['jobs', { hots: 2 }, 'hots: unknown; known are seed, hosts, remote, slots, apps, byNode, settings, stdin, '],
      ['jobs', { apps: [{ program: 'x', args: [], count: '1' }] }, 'apps[0].count: expected a number, got "1"'],
      ['jobs', { stdin: { to: 'rank' } }, 'stdin.rank: expected a number, got undefined'],
      ['jobs', { settings: { errmgr: 1 } }, 'settings.errmgr: expected a string, got 1'],
      ['jobs', { link: [] }, 'link: expected an object, got []'],
      ['sessions', { faults: {} }, 'faults: expected a list, got {}'],
      ['sessions', { faults: [{ atMs: 1, kind: 'kill', victim: { of: 'hosts', pick: 0 } }] },
        'faults[0].victim.of: expected ranks, agents, roots, links, got "hosts"'],
      ['jobs', { faults: [{ atMs: 1, kind: 'cut', victim: { kind: 'link', ends: [1] }, durationMs: 1 }] },
        'faults[0].victim.ends: expected a list of two, got [1]'],
      ['jobs', { faults: [{ atMs: 1, kind: 'kill', victim: rootAgent(0), during: 'end' }] },
        'faults[0].during: unknown; known are '],
      ['sessions with failures', { faults: [{ kind: 'kil' }] }, 'faults[0].kind: expected kill, pause, crash, part'],
      ['sessions with failures', { faults: [{ kind: 'pause', victim: CONTROLLER, atMs: 5 }] },
        'faults[0].durationMs: expected a number, got undefined'],
      ['sessions with failures', { faults: [{ kind: 'kill', victim: rootAgent(0), atMs: 5, during: 'quiet' }] },
        'faults[0].during: expected launch, end, got "quiet"'],
    ];
    for (const [kind, values, expected] of wrong) {
      const begin = `${kindOf(kind).regressions}, entry 2 (a): ${expected}`;
      assert.is(refusal(kind, a, { ...a, ...values }).slice(0, begin.length), begin);
    }
  });

  test('what is drawn is not refused', () => {
    for (const kind of KINDS) {
      const refused = range(1, 1000).map((seed) => kind.refuse(kind.draw(seed, {})));
      assert.equal(refused.filter((each) => each !== undefined), []);
    }
  });

  test('what is no JSON is told with its line', () => {
    const missingComma = '[\n  { "found": "a" }\n  { "found": "b" }\n]';
    assert.throws(() => readRegressions(JOBS, missingComma), /^jobs\.json, line 3: /);
    assert.throws(() => readRegressions(JOBS, '[\n'), /^jobs\.json, line 2: /);
    assert.throws(() => readRegressions(JOBS, '{}'), /^jobs\.json: expected a list/);
  });
});
