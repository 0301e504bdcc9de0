/** Which failure belongs to which injection, and what is a false detection. */

import { assert, suite } from '@stci/testkit';
import { summarize, type InjectionMeasures, type RepeatSummary } from '@stci/finject/experiment';
import { EPOCH, HistoryMaker, hostVictim, injection, rankVictim, type RepeatMaker } from './histories.js';

type Setting = ReturnType<typeof injection>;

/** One repeat of 8 hosts, one rank on each. */
function judged(injections: readonly Setting[], what: (repeat: RepeatMaker) => unknown, endMs = 5000): RepeatSummary {
  const maker = new HistoryMaker();
  const repeat = maker.repeat(1, injections, '', 0);
  what(repeat);
  repeat.end(endMs);
  const summary = summarize(maker.history()).repeats[0];
  assert.ok(summary !== undefined);
  return summary;
}

function only(summary: RepeatSummary): InjectionMeasures {
  assert.is(summary.injections.length, 1);
  const [one] = summary.injections;
  assert.ok(one !== undefined);
  return one;
}

const kill3 = injection('1.kill.1', 'pkill', [rankVictim(3)], { args: { signal: 'SIGKILL' } });
const host2 = injection('1.host.1', 'host', [hostVictim(2)]);

suite('measures', (test) => {
  test('a killed rank: detection, notification, restart, since the fault', () => {
    const one = only(judged([kill3], (repeat) => repeat
      .injected('1.kill.1', 100, 3)
      .rankFails(3, { failedMs: 101, detectedMs: 105, notifiedMs: 112, reporter: 'root:3', detector: 'process' })
      .event(620, { type: 'started', rank: 3, host: 3, pid: 9, wallMs: repeat.wall(615), attempt: 2 })));
    assert.is(one.injectedMs, EPOCH + 100);
    assert.is(one.detectionMs, 5);
    assert.is(one.notificationMs, 12);
    assert.is(one.recoveryMs, 515);
    assert.is(one.detector, 'process');
    assert.equal(one.subjects, ['tool 1 3#1']);
    assert.is(one.victimName, 'rank 3');
  });

  test('times are corrected by the hosts\' clocks, and their error bounds added', () => {
    const one = only(judged([kill3], (repeat) => repeat
      .clocks([{ host: 0, offsetMs: -20, errorMs: 0.5 }, { host: 3, offsetMs: 1000, errorMs: 0.25 }])
      .injected('1.kill.1', 1100, 3)
      .rankFails(3, { failedMs: 1101, detectedMs: 90, reporter: 'root:0' })));
    assert.is(one.injectedMs, EPOCH + 100);
    assert.is(one.detectedMs, EPOCH + 110);
    assert.is(one.detectionMs, 10);
    assert.is(one.errorMs, 0.75);
    const same = only(judged([kill3], (repeat) => repeat
      .clocks([{ host: 3, offsetMs: 1000, errorMs: 0.25 }])
      .injected('1.kill.1', 1100, 3)
      .rankFails(3, { failedMs: 1101, detectedMs: 1104, reporter: 'root:3' })));
    assert.is(same.errorMs, 0);
    assert.is(same.detectionMs, 4);
  });

  test('of several measurements of a clock the nearest counts', () => {
    const one = only(judged([kill3], (repeat) => repeat
      .clocks([{ host: 3, offsetMs: 1, errorMs: 0.5 }])
      .injected('1.kill.1', 3000, 3)
      .add(3000, {
        type: 'clock', repeat: 1, clocks: [{ host: 3, name: 'n3', offsetMs: 4, errorMs: 0.5, samples: 1 }],
      })));
    assert.is(one.injectedMs, EPOCH + 2996);
  });

  test('a host: its rank and session agent are its failures, too', () => {
    const summary = judged([host2], (repeat) => repeat
      .injected('1.host.1', 100, 2)
      .hostFails(2, { heardMs: 90, suspectedMs: 400, detectedMs: 420, notifiedMs: 440 })
      .rankFails(2, { cause: 'unreachable', detectedMs: 425 })
      .fails({ kind: 'session-agent', host: 2, incarnation: 1, job: 1, attempt: 1 }, { detectedMs: 424 })
      .event(700, {
        type: 'member', change: 'linked', host: 6, name: 'n6', incarnation: 1, wallMs: EPOCH + 640, parent: 'root:0',
      }));
    const one = only(summary);
    assert.is(one.subjects.length, 3);
    assert.is(one.detectionMs, 320);
    assert.is(one.suspectedMs, EPOCH + 400);
    assert.is(one.recoveryMs, 540);
    assert.equal(summary.falseDetections, []);
    assert.is(summary.outcome, 'recovered');
  });

  test('several victims of one injection have their own failures', () => {
    const both = injection('1.kill.1', 'pkill', [rankVictim(1), rankVictim(4)]);
    const { injections } = judged([both], (repeat) => repeat
      .injected('1.kill.1', 100, 1, 0).injected('1.kill.1', 103, 4, 1)
      .rankFails(4, { failedMs: 103, detectedMs: 108 }).rankFails(1, { failedMs: 100, detectedMs: 107 }));
    assert.equal(injections.map(({ detectionMs }) => detectionMs), [7, 5]);
  });

  test('the same victim twice: each start\'s failure belongs to its own injection', () => {
    const again = { ...kill3, id: '1.kill.2' };
    const { injections, falseDetections } = judged([kill3, again], (repeat) => repeat
      .injected('1.kill.1', 100, 3).rankFails(3, { failedMs: 101, detectedMs: 105 })
      .event(400, { type: 'started', rank: 3, host: 3, pid: 9, wallMs: repeat.wall(400), attempt: 2 })
      .injected('1.kill.2', 900, 3).rankFails(3, { failedMs: 901, detectedMs: 903 }, 2)
      .event(1300, { type: 'started', rank: 3, host: 3, pid: 9, wallMs: repeat.wall(1300), attempt: 3 }));
    assert.equal(injections.map(({ subjects }) => subjects), [['tool 1 3#1'], ['tool 1 3#2']]);
    assert.equal(injections.map(({ recoveryMs }) => recoveryMs), [300, 400]);
    assert.equal(falseDetections, []);
  });

  test('of two pauses of a host that one counts which began after its last sign of life', () => {
    const pauses = [1, 2].map((n) => injection(`1.pause.${n}`, 'pause', [hostVictim(2)], { durationMs: 300 }));
    const { injections } = judged(pauses, (repeat) => repeat
      .injected('1.pause.1', 100, 2).state('1.pause.1', 'undone', 400, 2).injected('1.pause.2', 900, 2)
      .hostFails(2, { heardMs: 890, suspectedMs: 1000, detectedMs: 1010 }));
    assert.equal(injections.map(({ detectionMs }) => detectionMs), [undefined, 110]);
  });

  test('a second failure of a killed rank is not explained by the first fault', () => {
    const summary = judged([kill3], (repeat) => repeat
      .injected('1.kill.1', 100, 3).rankFails(3, { failedMs: 101, detectedMs: 105 })
      .rankFails(3, { cause: 'watchdog', failedMs: 3000, detectedMs: 3005 }, 2));
    assert.is(summary.falseDetections.length, 1);
    assert.is(summary.outcome, 'false-alarm');
  });

  test('what no injection explains is a false detection, before any and elsewhere', () => {
    // What the operating system has seen end did end: that is no false detection.
    for (const [cause, count] of [['watchdog', 1], ['signalled', 0], ['exited', 0]] as const) {
      const early = judged([kill3], (repeat) => repeat.rankFails(3, { cause, failedMs: 20, detectedMs: 22 })
        .injected('1.kill.1', 100, 3));
      assert.is(early.falseDetections.length, count);
      assert.equal(early.problems.some((text) => text.includes('failed by itself')), count === 0);
      assert.is(only(early).detectedMs, undefined);
    }
    const elsewhere = judged([kill3], (repeat) => repeat.injected('1.kill.1', 100, 3)
      .rankFails(3, { failedMs: 101, detectedMs: 105 }).hostFails(6, { detectedMs: 900 }));
    assert.match(elsewhere.falseDetections.join(), 'host 6#1');
    const suspected = judged([kill3], (repeat) => repeat.injected('1.kill.1', 100, 3).suspects(6, 900));
    assert.match(suspected.falseDetections.join(), 'host 6 was suspected by swim at root:1');
  });

  test('what merely follows is none: the job\'s ending, programs that end by themselves, hosts below', () => {
    const ending = judged([kill3], (repeat) => repeat.injected('1.kill.1', 100, 3)
      .rankFails(3, { failedMs: 101, detectedMs: 105 })
      .event(110, { type: 'ending', reason: 'rank 3 failed' })
      .hostFails(6, { detectedMs: 120 }).suspects(7, 130));
    assert.equal(ending.falseDetections, []);
    assert.is(ending.outcome, 'aborted');
    const alone = judged([kill3], (repeat) => repeat.injected('1.kill.1', 100, 3)
      .rankFails(3, { failedMs: 101, detectedMs: 105 })
      .rankFails(5, { cause: 'exited', failedMs: 800, detectedMs: 801 }));
    assert.equal(alone.falseDetections, []);
    assert.equal(only(alone).subjects, ['tool 1 3#1', 'tool 1 5#1']);
    assert.is(only(alone).detectionMs, 5);
    // Of host 2, position 3, with arity 2: positions 7 and 8, hosts 6 and 7.
    const below = judged([host2], (repeat) => repeat.injected('1.host.1', 100, 2)
      .hostFails(2, { detectedMs: 200 }).hostFails(6, { detectedMs: 600 }));
    assert.equal(below.falseDetections, []);
    const beside = judged([host2], (repeat) => repeat.injected('1.host.1', 100, 2)
      .hostFails(2, { detectedMs: 200 }).hostFails(5, { detectedMs: 600 }));
    assert.is(beside.falseDetections.length, 1);
  });

  test('a partition: who is cut off from the controller has failed, others may be reported', () => {
    const sets = [[0, 1, 2, 3, 4], [5, 6, 7, 8]];
    const cut = injection('1.cut.1', 'partition', [{ kind: 'partition', sets }], { durationMs: 1000 });
    const summary = judged([cut], (repeat) => repeat.injected('1.cut.1', 100).suspects(1, 300)
      .hostFails(5, { detectedMs: 500 }).hostFails(4, { detectedMs: 450 })
      .state('1.cut.1', 'undone', 1100));
    assert.equal(summary.falseDetections, []);
    assert.is(only(summary).detectionMs, 350);
    assert.is(only(summary).undoneMs, EPOCH + 1100);
    assert.is(only(summary).victimName, 'partition {0-4} {5-8}');
    // Twice the lease (1 s here) after the end it explains nothing any more.
    const late = judged([cut], (repeat) => repeat.injected('1.cut.1', 100).state('1.cut.1', 'undone', 1100)
      .hostFails(5, { detectedMs: 3200 }));
    assert.is(late.falseDetections.length, 1);
  });

  test('a link: the host at its end, and those below it', () => {
    const link = injection('1.cut.1', 'link', [{ kind: 'link', ends: [1, 3] }], { durationMs: 1000 });
    const summary = judged([link], (repeat) => repeat.injected('1.cut.1', 100)
      .suspects(2, 300).suspects(7, 310).event(800, {
        type: 'member', change: 'linked', host: 2, name: 'n2', incarnation: 1, wallMs: repeat.wall(790),
        parent: 'controller',
      }));
    assert.equal(summary.falseDetections, []);
    assert.is(only(summary).suspectedMs, EPOCH + 300);
    assert.is(only(summary).detectedMs, undefined);
    assert.is(only(summary).recoveryMs, 690);
    assert.is(summary.outcome, 'masked');
  });

  test('a site that died with its fault: the time of the order', () => {
    const maker = (state: 'ordered' | 'failed'): InjectionMeasures => only(judged([host2], (repeat) => repeat
      .state('1.host.1', 'ordered', 100, 2).state('1.host.1', state, 101, 2)));
    assert.is(maker('ordered').injectedMs, EPOCH + 100);
    assert.is(maker('failed').injectedMs, undefined);
  });

  test('of several agents the first in force and the last to undo count, in whatever order they tell', () => {
    const cut = injection('1.cut.1', 'pause', [hostVictim(2)], { durationMs: 1000 });
    for (const [first, second] of [[100, 130], [130, 100]] as const) {
      const one = only(judged([cut], (repeat) => repeat
        .injected('1.cut.1', first, 0).injected('1.cut.1', second, 1)
        .state('1.cut.1', 'undone', first + 1000, 0).state('1.cut.1', 'undone', second + 1000, 1)));
      assert.equal([one.injectedMs, one.undoneMs], [EPOCH + 100, EPOCH + 1130]);
    }
  });

  test('a site stamps what it has made: an end that was seen shortly before belongs to it', () => {
    const outcomeAt = (failedMs: number): string => judged([kill3], (repeat) => repeat.injected('1.kill.1', 100, 3)
      .rankFails(3, { failedMs, detectedMs: failedMs + 1 }).end(900)).outcome;
    assert.equal([60, 40].map(outcomeAt), ['recovered', 'failed']);
  });

  test('who was told last is not known: the error is that of the worst clock', () => {
    const one = only(judged([kill3], (repeat) => repeat
      .clocks([{ host: 3, offsetMs: 0, errorMs: 0.5 }, { host: 5, offsetMs: -7, errorMs: 2 }])
      .injected('1.kill.1', 100, 3)
      .rankFails(3, { failedMs: 101, detectedMs: 105, notifiedMs: 112, reporter: 'root:3' })));
    assert.equal([one.errorMs, one.notificationErrorMs], [0, 9.5]);
  });

  test('the next incarnation of a killed host is another: a suspicion of it is not explained', () => {
    const falseOf = (incarnation: number): number => judged([host2], (repeat) => repeat
      .injected('1.host.1', 100, 2).hostFails(2, { detectedMs: 200 }).suspects(2, 300, incarnation))
      .falseDetections.length;
    assert.equal([1, 2].map(falseOf), [0, 1]);
  });

  test('a failure whose record was cut off counts by its first news', () => {
    const one = only(judged([kill3], (repeat) => repeat.injected('1.kill.1', 100, 3).event(140, {
      type: 'failure', error: { code: 'STCI_TOOL_SIGNAL', message: 'Rank 3 was ended\nmore', rank: 3, host: 'n3' },
    })));
    assert.is(one.detectionMs, 40);
  });
});
