/** Classes of repeats, checks, figures and coverage. */

import { assert, suite } from '@stci/testkit';
import { summarize, type Check, type Outcome, type RepeatSummary } from '@stci/finject/experiment';
import {
  HistoryMaker, check, hostVictim, injection, rankVictim, type CheckSpec, type RepeatMaker,
} from './histories.js';

const kill = injection('1.kill.1', 'pkill', [rankVictim(3)]);

function judged(
  what: (repeat: RepeatMaker) => unknown, checks: readonly Check[] = [], isGolden = false,
): RepeatSummary {
  const maker = new HistoryMaker({ checks, isGolden });
  what(maker.repeat(1, isGolden ? [] : [kill], '', 0));
  const summary = summarize(maker.history()).repeats[0];
  assert.ok(summary !== undefined);
  return summary;
}

const killed = (repeat: RepeatMaker): RepeatMaker => repeat.injected('1.kill.1', 100, 3);
const found = (repeat: RepeatMaker): RepeatMaker => killed(repeat).rankFails(3, { failedMs: 101, detectedMs: 110 });
const ending = (repeat: RepeatMaker): RepeatMaker => repeat.event(120, { type: 'ending', reason: 'why' });
const selfish = (repeat: RepeatMaker): RepeatMaker =>
  repeat.rankFails(5, { cause: 'exited', failedMs: 49, detectedMs: 50 });
const alarm = (repeat: RepeatMaker): RepeatMaker => repeat.hostFails(6, { detectedMs: 90 });

suite('outcome', (test) => {
  const cases: readonly (readonly [Outcome, string, (repeat: RepeatMaker) => unknown])[] = [
    ['recovered', 'the job went on', (repeat) => found(repeat).end(900, { exitCode: 137 })],
    ['aborted', 'the job was ended', (repeat) => ending(found(repeat)).end(900, { exitCode: 137 })],
    ['missed', 'no report of a killed rank', (repeat) => killed(repeat).end(900)],
    ['hung', 'the time limit', (repeat) => found(repeat).end(60_000, { isTimeOut: true })],
    ['hung', 'the time limit comes before a false alarm', (repeat) => alarm(repeat).end(60_000, { isTimeOut: true })],
    ['false-alarm', 'another host', (repeat) => alarm(found(repeat)).end(900)],
    ['cut-off', 'no end', (repeat) => found(repeat)],
    ['cut-off', 'stopped, whatever else',
      (repeat) => alarm(repeat).end(60_000, { isTimeOut: true, stopped: 'signal' })],
    ['false-alarm', 'also where no injection was made',
      (repeat) => alarm(repeat).state('1.kill.1', 'skipped', 100).end(900)],
    ['failed', 'a rank ended by itself before the fault, which was found, too',
      (repeat) => found(selfish(repeat)).end(900, { exitCode: 137 })],
    ['failed', 'the job was ended for it, before any fault',
      (repeat) => ending(selfish(repeat)).state('1.kill.1', 'never', 200).end(300, { exitCode: 3 })],
    ['failed', 'a program that cannot be started',
      (repeat) => repeat.rankFails(5, { cause: 'not-started', detectedMs: 50 }).end(900, { exitCode: 127 })],
    ['failed', 'no more than the exit code says it',
      (repeat) => repeat.state('1.kill.1', 'never', 200).end(300, { exitCode: 3 })],
    ['false-alarm', 'of who lived, and a rank of the target failed by itself',
      (repeat) => alarm(selfish(repeat)).end(900)],
    ['false-alarm', 'for which the job was ended',
      (repeat) => ending(alarm(repeat)).state('1.kill.1', 'never', 200).end(300, { exitCode: 137 })],
    ['recovered', 'another rank ended by itself after the fault: it follows',
      (repeat) => found(repeat).rankFails(5, { cause: 'exited', detectedMs: 300 }).end(900, { exitCode: 137 })],
    ['hung', 'a rank ended by itself before', (repeat) => selfish(repeat).end(60_000, { isTimeOut: true })],
    ['missed', 'also where the job was ended', (repeat) => ending(killed(repeat)).end(900)],
    ['no-fault', 'the injection failed', (repeat) => repeat.state('1.kill.1', 'skipped', 100).end(900)],
  ];
  for (const [outcome, title, what] of cases) {
    test(`${outcome}: ${title}`, () => {
      assert.is(judged(what).outcome, outcome);
    });
  }

  test('what a kind says of itself decides, whatever its name: also a kind of a plugin', () => {
    const outcomes = (['ends', 'may-end', 'disturbs'] as const).map((impact) => {
      const maker = new HistoryMaker();
      maker.repeat(1, [injection('1.c.1', 'crowd', [rankVictim(3)], { impact })]).injected('1.c.1', 100, 3).end(900);
      return summarize(maker.history()).repeats[0]?.outcome;
    });
    assert.equal(outcomes, ['missed', 'masked', 'masked']);
  });

  test('a killed controller: nobody is left who reports it, and there is no report of the job', () => {
    const maker = new HistoryMaker();
    const controller = injection('1.c.1', 'agent', [{ kind: 'agent', role: 'controller', host: 0 }]);
    maker.repeat(1, [controller]).injected('1.c.1', 100).add(900, {
      type: 'repeat-end', repeat: 1, report: undefined, isTimeOut: false, orphans: 0, stopped: undefined,
    });
    assert.is(summarize(maker.history()).repeats[0]?.outcome, 'aborted');
  });

  test('how long a repeat takes: of those alone that came to their end', () => {
    const maker = new HistoryMaker();
    maker.repeat(1, []).end(900);
    maker.repeat(2, []).end(60_000, { isTimeOut: true });
    maker.repeat(3, []).end(50, { stopped: 'signal' });
    const { figures } = summarize(maker.history());
    assert.equal(figures.find(({ measure }) => measure === 'duration')?.values, [900]);
  });

  test('masked: a pause that nobody noticed', () => {
    const maker = new HistoryMaker();
    maker.repeat(1, [injection('1.p.1', 'pause', [hostVictim(1)], { durationMs: 50 })])
      .injected('1.p.1', 100, 1).state('1.p.1', 'undone', 150, 1).end(900);
    assert.is(summarize(maker.history()).repeats[0]?.outcome, 'masked');
  });

  test('the time limit, which ends the target: it did not fail by itself', () => {
    for (const isGolden of [false, true]) {
      const end = { isTimeOut: true, exitCode: 143 };
      const { outcome, problems } = judged((repeat) => repeat.end(2000, end), [], isGolden);
      assert.equal([outcome, problems.filter((text) => text.includes('by itself'))], ['hung', []]);
    }
  });

  test('a target that fails by itself: no false detection, but nothing passes, whatever the checks say', () => {
    const checks = [check({ type: 'no-false-detection' }), check({ type: 'exit-code', anyOf: [3] })];
    for (const isGolden of [false, true]) {
      const own = judged((repeat) => selfish(repeat).end(300, { exitCode: 3 }), checks, isGolden);
      assert.is(own.outcome, 'failed');
      assert.not(own.isPassed);
      const failed = own.checks.filter(({ isPassed }) => !isPassed).map(({ name }) => name);
      assert.equal(failed, isGolden ? [] : ['injected']);
      assert.match(own.problems.join(), 'the target failed by itself, without a fault: rank 5: ');
    }
  });

  test('a fault that lasts explains a rank that ended by itself for as long as its consequences may come', () => {
    const outcomeAt = (ms: number): Outcome | undefined => {
      const maker = new HistoryMaker();
      maker.repeat(1, [injection('1.p.1', 'pause', [hostVictim(1)], { durationMs: 50 })])
        .injected('1.p.1', 100, 1).state('1.p.1', 'undone', 150, 1)
        .rankFails(5, { cause: 'exited', detectedMs: ms }).end(9000, { exitCode: 3 });
      return summarize(maker.history()).repeats[0]?.outcome;
    };
    assert.equal([40, 120, 2100, 2200].map(outcomeAt), ['failed', 'recovered', 'recovered', 'failed']);
  });

  test('the golden run has no fault and passes; planned faults that never came do not', () => {
    const golden = judged((repeat) => repeat.end(900), [], true);
    assert.is(golden.outcome, 'no-fault');
    assert.ok(golden.isPassed);
    const idle = judged((repeat) => repeat.state('1.kill.1', 'never', 900).end(900));
    assert.not(idle.isPassed);
    assert.equal(idle.checks, [
      { name: 'injected', isPassed: false, text: '0 of 1 victims hit; not: 1.kill.1 (rank 3): never: never' },
    ]);
  });
});

suite('faults that were not carried out', (test) => {
  const kills = [1, 2, 3].map((number) => injection(`1.kill.${number}`, 'pkill', [rankVictim(3)]));
  const late = injection('1.late.1', 'pkill', [rankVictim(5)]);

  function checkOf(what: (repeat: RepeatMaker) => unknown, least?: number | 'all'): readonly [boolean, string] {
    const maker = new HistoryMaker({ checks: least === undefined ? [] : [check({ type: 'injected', least })] });
    what(maker.repeat(1, [...kills, late], '', 0));
    const [repeat] = summarize(maker.history()).repeats;
    const result = repeat?.checks.find(({ name }) => name === 'injected');
    assert.is(repeat?.isPassed, result?.isPassed);
    return [result?.isPassed ?? false, result?.text ?? ''];
  }

  const first = (repeat: RepeatMaker): RepeatMaker =>
    repeat.injected('1.kill.1', 100, 3).rankFails(3, { failedMs: 101, detectedMs: 110 });
  /** The second finds what the first has left; the third, too, in a race that its agent sees. */
  const same = (repeat: RepeatMaker): RepeatMaker =>
    first(repeat).state('1.kill.2', 'skipped', 200).state('1.kill.3', 'failed', 300);

  test('one that fails, never comes or is not told of fails the repeat, without a check in the file', () => {
    for (const state of ['failed', 'never', 'due'] as const) {
      const [isPassed, text] = checkOf((repeat) => same(repeat).state('1.late.1', state, 400).end(900));
      assert.not(isPassed);
      assert.match(text, `1 of 4 victims hit, 2 gone by an earlier fault; not: 1.late.1 (rank 5): ${state}: ${state}`);
    }
  });

  test('a victim that an earlier fault has ended counts as hit; one that ended by itself does not', () => {
    const hit = (repeat: RepeatMaker): RepeatMaker =>
      repeat.injected('1.late.1', 400, 5).rankFails(5, { failedMs: 401, detectedMs: 410 });
    assert.ok(checkOf((repeat) => hit(same(repeat)).end(900))[0]);
    const [isPassed, text] = checkOf((repeat) => same(repeat).state('1.late.1', 'skipped', 400).end(900));
    assert.not(isPassed);
    assert.match(text, '1.late.1 (rank 5): skipped');
    // Before the first was made: it cannot be its work.
    assert.not(checkOf((repeat) => hit(repeat.state('1.kill.2', 'skipped', 50).state('1.kill.3', 'failed', 60)
      .injected('1.kill.1', 100, 3).rankFails(3, { failedMs: 101, detectedMs: 110 })).end(900))[0]);
  });

  test('ranks of a host that was killed have gone with it', () => {
    const maker = new HistoryMaker();
    maker.repeat(1, [injection('1.crash.1', 'host', [hostVictim(3)]), kills[0]!, late])
      .injected('1.crash.1', 100, 3).hostFails(3, { detectedMs: 110 }).state('1.kill.1', 'skipped', 200)
      .state('1.late.1', 'skipped', 200).end(900);
    assert.is(summarize(maker.history()).repeats[0]?.checks[0]?.text,
      '1 of 3 victims hit, 1 gone by an earlier fault; not: 1.late.1 (rank 5): skipped: skipped');
  });

  test('an experiment says how many are enough; 0: none', () => {
    const some = (repeat: RepeatMaker): unknown => first(repeat).state('1.late.1', 'failed', 400).end(900);
    assert.equal([0, 1, 2, 'all' as const].map((least) => checkOf(some, least)[0]), [true, true, false, false]);
    const none = (repeat: RepeatMaker): unknown => repeat.state('1.late.1', 'never', 400).end(900);
    assert.equal([0, 1].map((least) => checkOf(none, least)[0]), [true, false]);
    // No more than there are.
    const all = (repeat: RepeatMaker): unknown => {
      for (const { id } of [...kills, late]) repeat.injected(id, 100, 3);
      return repeat.rankFails(3, { detectedMs: 110 }).rankFails(5, { detectedMs: 110 }).end(900);
    };
    assert.ok(checkOf(all, 9)[1].startsWith('4 of 4 victims hit'));
  });

  test('of a partition at several agents one that failed makes another fault of it', () => {
    const maker = new HistoryMaker();
    const cut = injection('1.cut.1', 'partition', [{ kind: 'partition', sets: [[0, 1], [2, 3]] }], { durationMs: 50 });
    maker.repeat(1, [cut]).injected(cut.id, 100, 1).state(cut.id, 'failed', 110, 2).state(cut.id, 'undone', 150, 1)
      .end(900);
    assert.is(summarize(maker.history()).repeats[0]?.checks[0]?.text,
      '0 of 1 victims hit; not: 1.cut.1 (partition {0-1} {2-3}): failed: failed');
  });
});

suite('checks', (test) => {
  /** What of [spec, in a repeat] passes. */
  const cases: readonly (readonly [string, CheckSpec, (repeat: RepeatMaker) => unknown, boolean])[] = [
    ['exit code', { type: 'exit-code', anyOf: [0, 137] }, (r) => found(r).end(9, { exitCode: 137 }), true],
    ['exit code', { type: 'exit-code', anyOf: [0] }, (r) => found(r).end(9, { exitCode: 137 }), false],
    ['no report', { type: 'exit-code', anyOf: [0] }, (r) => found(r), false],
    ['the limit of the repeat', { type: 'time-limit', limitMs: 1000 }, (r) => r.end(900, { isTimeOut: true }), false],
    ['a victim that was not hit', { type: 'failed-ranks', ranks: 'victims' },
      (r) => r.state('1.kill.1', 'skipped', 100).end(9), true],
    ['the last result of a command',
      { type: 'command', command: ['x'], phase: 'during', timeoutMs: 1 }, (r) => r
        .add(1, { type: 'check', repeat: 1, name: 'command', phase: 'during', isPassed: true, text: '' })
        .add(2, { type: 'check', repeat: 1, name: 'command', phase: 'during', isPassed: false, text: '' })
        .end(9), false],
    ['a line over two pieces', { type: 'output', pattern: '^sum 10$', expect: 'some', rank: 1 },
      (r) => found(r).output(1, 1, 'a\nsum ').output(2, 1, '10\n').end(9), true],
    ['pieces of other ranks', { type: 'output', pattern: '^sum 10$', expect: 'some', rank: undefined },
      (r) => found(r).output(1, 1, 'sum ').output(2, 2, '10\n').end(9), false],
    ['no such line', { type: 'output', pattern: 'error', expect: 'none', rank: undefined },
      (r) => found(r).output(1, 0, 'an error\n').end(9), false],
    ['a bad pattern', { type: 'output', pattern: '(', expect: 'none', rank: undefined }, (r) => found(r).end(9), false],
    ['time limit', { type: 'time-limit', limitMs: 800 }, (r) => found(r).end(799), true],
    ['time limit', { type: 'time-limit', limitMs: 800 }, (r) => found(r).end(801), false],
    ['victims failed', { type: 'failed-ranks', ranks: 'victims' }, (r) => found(r).end(9, { failed: [3] }), true],
    ['others failed', { type: 'failed-ranks', ranks: 'victims' }, (r) => found(r).end(9, { failed: [3, 4] }), false],
    ['these failed', { type: 'failed-ranks', ranks: [4, 3] }, (r) => found(r).end(9, { failed: [3, 4] }), true],
    ['detected', { type: 'detected', withinMs: 10 }, (r) => found(r).end(9), true],
    ['late', { type: 'detected', withinMs: 9 }, (r) => found(r).end(9), false],
    ['within the error of the clocks', { type: 'detected', withinMs: 9 },
      (r) => found(r.clocks([{ host: 3, offsetMs: 0, errorMs: 2 }])).end(9), true],
    ['never', { type: 'detected', withinMs: 9 }, (r) => killed(r).end(9), false],
    ['false detection', { type: 'no-false-detection' }, (r) => alarm(found(r)).end(9), false],
    ['none', { type: 'no-false-detection' }, (r) => found(r).end(9), true],
    ['orphans', { type: 'no-orphan' }, (r) => found(r).end(9, { orphans: 2 }), false],
    ['one that an agent could not end', { type: 'no-orphan' }, (r) => found(r).end(9, { survived: true }), false],
    ['no orphan', { type: 'no-orphan' }, (r) => found(r).end(9), true],
    ['a host that could not be looked at', { type: 'no-orphan' },
      (r) => found(r).end(9, { unknown: [{ host: 'n2', reason: 'refused' }] }), false],
    ['other hosts were not looked at', { type: 'no-orphan' }, (r) => found(r).end(9, { unknown: undefined }), false],
    ['a command that was not run', { type: 'command', command: ['true'], phase: 'after', timeoutMs: 9 },
      (r) => found(r).end(9), false],
    ['a command that passed', { type: 'command', command: [], phase: 'after', timeoutMs: 9 }, (r) => found(r).add(5, {
      type: 'check', repeat: 1, name: 'command', phase: 'after', isPassed: true, text: 'status 0',
    }).end(9), true],
  ];
  for (const [title, spec, what, isPassed] of cases) {
    test(`${spec.type}: ${title}: ${isPassed ? 'passes' : 'fails'}`, () => {
      const summary = judged(what, [check(spec)]);
      assert.is(summary.checks[0]?.isPassed, isPassed, summary.checks[0]?.text);
      if (!isPassed) assert.not(summary.isPassed);
    });
  }
});

suite('check no-orphan', (test) => {
  const textOf = (more: Parameters<RepeatMaker['end']>[1]): string | undefined =>
    judged((r) => found(r).end(9, more), [check({ type: 'no-orphan' })]).checks[0]?.text;

  test('names what was left, and hosts that are not known with the reason', () => {
    const left = [1, 2, 3, 4].map((pid) => ({ host: 'n1', pid, command: 'sleep 9' }));
    assert.is(textOf({ orphans: 1, left: left.slice(0, 1) }), '1 process was left: n1: 1 sleep 9');
    assert.is(textOf({ orphans: 9, left, unknown: [{ host: 'n2', reason: 'refused' }] }),
      '9 processes were left: n1: 1 sleep 9, n1: 2 sleep 9, n1: 3 sleep 9, and 6 more; '
      + 'not known of 1 host: n2: refused');
    const unknown = ['a', 'b', 'c', 'd'].map((host) => ({ host, reason: 'late' }));
    assert.is(textOf({ unknown }), 'not known of 4 hosts: a: late, b: late, c: late, and 1 more');
  });
});

suite('patterns of checks', (test) => {
  const cases = [['some', 'converged'], ['none', 'error']] as const;

  test('the text says what was looked for, and what was found', () => {
    const textOf = (expect: 'some' | 'none', pattern: string, line: string): string | undefined => judged(
      (repeat) => found(repeat).output(1, 2, `${line}\n`).end(9),
      [check({ type: 'output', pattern, expect, rank: undefined })]).checks[0]?.text;
    for (const [expect, pattern] of cases) {
      assert.is(textOf(expect, pattern, 'a line'), `no line matches /${pattern}/`);
      const line = `now ${pattern}`;
      assert.is(textOf(expect, pattern, line), `a line of rank 2 matches /${pattern}/: ${line}`);
    }
  });

  test('one that takes forever fails its check, whatever it expects', () => {
    for (const [expect, pattern] of cases) {
      const maker = new HistoryMaker({ checks: [check({ type: 'output', pattern, expect, rank: undefined })] });
      found(maker.repeat(1, [kill])).output(1, 2, 'a line\n').end(9);
      const [repeat] = summarize(maker.history(), () => undefined).repeats;
      assert.is(repeat?.isPassed, false);
      assert.match(repeat?.checks[0]?.text ?? '', `/${pattern}/ was not done within 5000 ms`);
    }
  });
});

suite('summary', (test) => {
  test('shares and figures by configuration and kind, coverage, and what was never hit', () => {
    const maker = new HistoryMaker({ checks: [check({ type: 'injected', least: 1 })] });
    for (let repeat = 1; repeat <= 20; repeat++) {
      const kill = injection(`${repeat}.kill.1`, 'pkill', [rankVictim(repeat % 8)]);
      const host = injection(`${repeat}.host.1`, 'host', [hostVictim(7)]);
      const run = maker.repeat(repeat, [kill, host], repeat % 2 === 0 ? 'ring' : 'mesh')
        .injected(kill.id, 100, repeat % 8).rankFails(repeat % 8, { failedMs: 100, detectedMs: 100 + repeat });
      run.state(host.id, 'never', 800).end(900);
    }
    const summary = summarize(maker.history());
    const recovered = summary.outcomes.find((one) => one.what === 'recovered' && one.configuration === 'ring');
    assert.is(recovered?.count, 10);
    assert.is(recovered?.n, 10);
    const detection = summary.figures.find((one) => one.measure === 'detection' && one.configuration === 'ring');
    assert.is(detection?.n, 10);
    assert.is(detection?.median, 11);
    assert.equal(detection?.medianInterval, [4, 18]);
    const kinds = summary.coverage.find(({ dimension }) => dimension === 'kind');
    assert.equal(kinds?.hit, [{ name: 'pkill', count: 20 }]);
    assert.equal(kinds?.missed, ['host']);
    assert.ok(summary.isPassed);
  });

  test('of several victims those that were hit are covered', () => {
    const maker = new HistoryMaker();
    const both = injection('1.kill.1', 'pkill', [rankVictim(1), rankVictim(2)]);
    maker.repeat(1, [both]).injected(both.id, 100, 1).state(both.id, 'skipped', 100, 2, 1).end(900);
    const victims = summarize(maker.history()).coverage.find(({ dimension }) => dimension === 'victim');
    assert.equal([victims?.hit, victims?.missed], [[{ name: 'rank 1', count: 1 }], ['rank 2']]);
  });

  test('stabilization: until the last agent was told of the last of several victims; none may be missed', () => {
    const maker = new HistoryMaker();
    const several = injection('1.kill.1', 'pkill', [rankVictim(1), rankVictim(2)]);
    const one = injection('1.other.1', 'pkill', [rankVictim(3)]);
    maker.repeat(1, [several, one])
      .injected(several.id, 100, 1).injected(several.id, 100, 2, 1).injected(one.id, 100, 3)
      .rankFails(1, { detectedMs: 110, notifiedMs: 120 }).rankFails(2, { detectedMs: 130, notifiedMs: 160 })
      .rankFails(3, { detectedMs: 170, notifiedMs: 180 }).end(900);
    const missed = injection('2.kill.1', 'pkill', [rankVictim(1), rankVictim(2)]);
    maker.repeat(2, [missed]).injected(missed.id, 100, 1).rankFails(1, { detectedMs: 110, notifiedMs: 120 }).end(900);
    const found = summarize(maker.history()).figures.find(({ measure }) => measure === 'stabilization');
    assert.equal(found?.values, [60]);
  });

  test('of any part of a history something is said, and nothing throws', () => {
    const checks = [check({ type: 'no-orphan' }), check({ type: 'detected', withinMs: 50 })];
    const maker = new HistoryMaker({ checks });
    for (const repeat of [1, 2]) {
      const one = injection(`${repeat}.kill.1`, 'pkill', [rankVictim(3)]);
      maker.repeat(repeat, [one]).injected(one.id, 100, 3).rankFails(3, { detectedMs: 110 }).end(900);
    }
    const { records } = maker.history();
    for (let from = 0; from < records.length; from++) {
      for (let to = from; to <= records.length; to++) {
        const summary = summarize({ directory: '', records: records.slice(from, to), isCutOff: true });
        assert.not(summary.isPassed);
        assert.ok(summary.isCutOff);
      }
    }
  });
});
