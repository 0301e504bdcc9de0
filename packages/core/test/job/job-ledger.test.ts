/** The ledger of a job: every rank counted once whatever is reported, and the exit rule with its documented table. */

import { FAILURES_MAX, Ledger, decideExit, mapJob, signalExitCode, signalNamed, signalNumber } from '@stci/core';
import type { RankEnd } from '@stci/core';
import { EXIT } from '@stci/interface';
import type { ErrorRecord, Failure, RankOutcome } from '@stci/interface';
import { assert, seededIntegers, suite } from '@stci/testkit';
import { hostFailure } from '../../dist/job/exit-rule.js';
import { LIMITS, app, hosts, job } from '../job-help.js';

const LOST: ErrorRecord = { code: 'STCI_AGENT_LOST', message: 'gone' };

const lose = (ledger: Ledger, host: number, wallMs: number): boolean =>
  ledger.agentLost(hostFailure('agent-lost', host, LOST, wallMs), ledger.openRanks(host));

/** `ranks` over hosts a, b, c by node: rank r is on host r mod 3. */
function ledgerOf(ranks: number): Ledger {
  const spec = job({ apps: [app(ranks)], hosts: hosts('a b c'), mapBy: { by: 'node' } });
  return new Ledger({ job: 1, spec, map: mapJob(spec, LIMITS), submitWallMs: 0 });
}

const ended = (rank: number, status: number, endWallMs: number): RankEnd =>
  ({ rank, pid: rank + 1, outcome: 'exited', end: { status }, endWallMs, leftovers: 0 });

const killed = (rank: number, outcome: RankOutcome, signal: `SIG${string}`, endWallMs: number): RankEnd =>
  ({ rank, pid: rank + 1, outcome, end: { signal }, endWallMs, leftovers: 0 });

suite('job ledger', (test) => {
  test('a job that grows is complete when its new ranks have ended too', () => {
    const ledger = ledgerOf(2);
    for (const rank of [0, 1]) assert.ok(ledger.started(rank, rank + 1, 10));
    ledger.exited(ended(0, 0, 20), 21);
    const { map } = ledger;
    const run = { app: 1, first: 2, count: 2, stride: 1 };
    const grown = { size: 4, hosts: map.hosts.map((each) => (each.host === 2 ? { ...each, runs: [run] } : each)) };
    ledger.grow({ parent: 1, first: 2, count: 2, app: 1 }, [app(2, { program: 'w' })], grown);
    assert.equal([ledger.ranksOpen, ledger.allStarted, ledger.openRanks(2), ledger.attempt(3)], [3, false, [2, 3], 1]);
    assert.equal(ledger.spec.apps.map(({ program }) => program), ['prog', 'w']);
    assert.equal([ledger.started(3, 9, 30), ledger.ranksAlive, ledger.allStarted], [true, 2, false]);
    for (const rank of [1, 3]) ledger.exited(ended(rank, 0, 40), 41);
    assert.is(ledger.complete, false);
    assert.equal([ledger.closeUnstarted(), ledger.complete, ledger.allStarted], [[2], true, true]);
    assert.equal(ledger.report(50).ranks.map(({ rank, host, app: of, outcome }) => [rank, host, of, outcome]), [
      [0, 'a', 0, 'exited'], [1, 'b', 0, 'exited'], [2, 'c', 1, 'not-started'], [3, 'c', 1, 'exited'],
    ]);
    assert.throws(() => ledger.grow({ parent: 1, first: 5, count: 1, app: 2 }, [app(1)], grown), /the next ones/u);
  });

  test('follows a good job', () => {
    const ledger = ledgerOf(3);
    assert.equal([ledger.ranksAlive, ledger.ranksOpen, ledger.allStarted, ledger.complete], [0, 3, false, false]);
    for (const rank of [2, 0, 1]) assert.ok(ledger.started(rank, rank + 1, 10));
    assert.equal([ledger.ranksAlive, ledger.allStarted], [3, true]);
    for (const rank of [1, 2, 0]) assert.equal(ledger.exited(ended(rank, 0, 20), 21), { counted: true });
    const report = ledger.report(30);
    assert.equal([report.exitCode, report.cause, report.failures, ledger.complete], [0, undefined, [], true]);
    assert.equal(report.ranks[2], {
      rank: 2, host: 'c', app: 0, pid: 3, outcome: 'exited', end: { status: 0 }, leftovers: 0,
      startWallMs: 10, endWallMs: 20,
    });
  });

  test('of several attempts the last one counts, and the others are in its report', () => {
    const ledger = ledgerOf(2);
    for (const rank of [0, 1]) ledger.started(rank, rank + 1, 10);
    const report = ledger.again({ ...ended(1, 3, 20), attempt: 1 });
    assert.equal([report?.end, report?.earlier], [{ status: 3 }, undefined]);
    assert.equal([ledger.attempt(0), ledger.attempt(1)], [1, 2]);
    assert.equal([ledger.ranksAlive, ledger.ranksOpen, ledger.allStarted], [1, 2, true]);
    assert.ok(ledger.started(1, 9, 30));
    ledger.exited({ ...ended(1, 0, 40), pid: 9, attempt: 2 }, 41);
    ledger.exited(ended(0, 0, 50), 51);
    assert.is(ledger.again(ended(1, 5, 60)), undefined);
    const { exitCode, failures, ranks } = ledger.report(60);
    assert.equal([exitCode, failures, ranks[0]?.earlier, ranks[1]?.pid, ledger.ranksAlive], [0, [], undefined, 9, 0]);
    assert.equal(ranks[1]?.earlier, [
      { host: 'b', pid: 2, outcome: 'exited', end: { status: 3 }, leftovers: 0, startWallMs: 10, endWallMs: 20 },
    ]);
  });

  test('an attempt that was to be followed by another counts if the job ends before that', () => {
    const ledger = ledgerOf(2);
    for (const rank of [0, 1]) ledger.started(rank, rank + 1, 10);
    ledger.again({ ...ended(1, 3, 20), attempt: 1 });
    ledger.exited(ended(0, 4, 30), 31);
    ledger.exited({ ...ended(1, 3, 20), attempt: 1 }, 40);
    const { exitCode, ranks } = ledger.report(60);
    assert.equal([exitCode, ranks[1]?.earlier, ranks[1]?.pid, ledger.complete], [3, undefined, 2, true]);
  });

  test('a host that takes the place of a lost one has what runs there from then on', () => {
    const ledger = ledgerOf(8);
    for (const rank of [1, 4, 7]) ledger.started(rank, rank + 1, 10);
    ledger.exited(ended(1, 0, 20), 21);
    for (const rank of [4, 7]) ledger.again({ rank, pid: 0, outcome: 'lost', leftovers: 0 });
    ledger.replaceHost(1, { ...ledger.spec.hosts[1]!, name: 'spare' });
    ledger.started(4, 9, 30);
    ledger.exited(ended(4, 0, 40), 41);
    ledger.giveUp(7, LOST);
    const { ranks } = ledger.report(60);
    assert.equal([1, 4, 7].map((rank) => ranks[rank]?.host), ['b', 'spare', 'b']);
    assert.equal([ranks[4]?.earlier?.[0]?.host, ledger.spec.hosts[1]?.name], ['b', 'spare']);
  });

  test('a failure has the id of its rank and attempt, also in the report; a lost rank has that of its loss', () => {
    const ledger = ledgerOf(3);
    for (const rank of [0, 1, 2]) ledger.started(rank, rank + 1, 10);
    ledger.again({ ...ended(1, 3, 20), failure: 'tool 1 1#1' });
    assert.is(ledger.exited(ended(1, 3, 30), 31).failure?.error.failure, 'tool 1 1#2');
    ledger.agentLost(hostFailure('agent-lost', 2, { ...LOST, failure: 'host 2#1' }, 40), [2]);
    ledger.exited(ended(0, 0, 50), 51);
    const { ranks, failures } = ledger.report(60);
    assert.equal(ranks.map(({ failure }) => failure), [undefined, 'tool 1 1#2', 'host 2#1']);
    assert.equal(ranks[1]?.earlier?.[0]?.failure, 'tool 1 1#1');
    assert.equal(failures.map(({ failure }) => failure), ['tool 1 1#2', 'host 2#1']);
  });

  test('what a host says of the id of a failure does not count', () => {
    const ledger = ledgerOf(2);
    for (const rank of [0, 1]) ledger.started(rank, rank + 1, 10);
    const failure = 'host 1#1';
    const claimed = { failure, error: { code: 'STCI_TOOL_FAILED', message: 'm', failure } } as const;
    ledger.exited({ ...ended(0, 0, 50), ...claimed }, 51);
    ledger.exited({ ...ended(1, 3, 50), ...claimed }, 51);
    const { ranks, failures } = ledger.report(60);
    assert.equal(ranks.map((rank) => rank.failure), [undefined, 'tool 1 1#1']);
    assert.equal(ranks[0]?.error?.failure, undefined);
    assert.equal(failures.map((each) => each.failure), ['tool 1 1#1']);
  });

  test('a rank that had not started is lost with the host that was lost, whoever has its place by now', () => {
    const ledger = ledgerOf(2);
    ledger.replaceHost(1, { ...ledger.spec.hosts[1]!, name: 'spare' });
    ledger.giveUp(1, { ...LOST, host: 'b' });
    ledger.giveUp(0, LOST);
    assert.equal(ledger.report(60).ranks.map(({ host, outcome }) => [host, outcome]), [['a', 'lost'], ['b', 'lost']]);
  });

  test('an attempt that could not be started, and a lost host, leave the counts right', () => {
    const ledger = ledgerOf(2);
    ledger.again({ rank: 0, pid: 0, outcome: 'failed-start', leftovers: 0, attempt: 1 });
    assert.equal([ledger.ranksAlive, ledger.ranksOpen, ledger.allStarted], [0, 2, false]);
    ledger.started(1, 2, 10);
    assert.ok(ledger.allStarted);
    assert.ok(lose(ledger, 0, 20));
    assert.equal([ledger.ranksAlive, ledger.ranksOpen], [1, 1]);
  });

  test('counts each rank once, late or twice', () => {
    const ledger = ledgerOf(3);
    assert.ok(ledger.exited(ended(0, 0, 5), 5).counted);
    assert.not.ok(ledger.started(0, 1, 4), 'a start that comes after the end');
    assert.ok(ledger.started(1, 2, 4));
    assert.not.ok(ledger.started(1, 2, 4));
    assert.ok(lose(ledger, 1, 6));
    assert.equal([lose(ledger, 1, 7), ledger.openRanks(1)], [false, []]);
    assert.equal(ledger.exited(ended(1, 9, 5), 8), { counted: false });
    assert.equal([ledger.ranksAlive, ledger.ranksOpen, ledger.failureCount], [0, 1, 1]);
    assert.equal(ledger.closeUnstarted(), [2]);
    assert.equal(ledger.report(9).ranks.map((rank) => rank.outcome), ['exited', 'lost', 'not-started']);
    assert.is(ledger.report(9).exitCode, EXIT.agentLost);
  });

  test('what a host says of a rank keeps its place and its times in order', () => {
    const ledger = ledgerOf(3);
    ledger.started(1, 2, 100);
    const error = { code: 'STCI_PROGRAM_SPAWN', message: 'no', host: 'a', rank: 0 };
    const entry = ledger.exited({ rank: 1, pid: 2, outcome: 'failed-start', error, endWallMs: 5, leftovers: 0 }, 7);
    const report = ledger.rankReport(1);
    assert.equal([report?.error?.host, report?.error?.rank, report?.endWallMs], ['b', 1, 100]);
    assert.equal([entry.failure?.error.host, entry.failure?.rank, entry.failure?.wallMs], ['b', 1, 100]);
  });

  test('a report of an unfinished job calls nobody ended', () => {
    const ledger = ledgerOf(2);
    ledger.started(0, 1, 1);
    assert.is(ledger.rankReport(0), undefined);
    const report = ledger.report(2);
    assert.equal(report.ranks.map((rank) => rank.outcome), ['lost', 'not-started']);
    assert.is(report.exitCode, EXIT.internal);
  });

  test('random facts in any order keep the sums', () => {
    for (let seed = 0; seed < 300; seed++) {
      const random = seededIntegers(seed);
      const size = 1 + random(12);
      const ledger = ledgerOf(size);
      for (let i = 0; i < 60; i++) {
        const rank = random(size);
        const fact = random(8);
        if (fact < 3) ledger.started(rank, 1, i);
        else if (fact < 6) ledger.exited(ended(rank, random(2), random(50)), i);
        else if (fact === 6 && i > 40) lose(ledger, random(3), i);
        let [open, alive] = [0, 0];
        for (const row of ledger.report(99).ranks) {
          if (ledger.rankReport(row.rank) !== undefined) continue;
          open++;
          if (row.startWallMs !== undefined) alive++;
        }
        assert.equal([ledger.ranksOpen, ledger.ranksAlive], [open, alive], `seed ${seed}`);
        assert.equal([ledger.complete, ledger.allStarted], [open === 0, open === alive], `seed ${seed}`);
      }
    }
  });

  test('failures are bounded, and the earliest decides all the same', () => {
    const ledger = ledgerOf(FAILURES_MAX + 5);
    for (let rank = 0; rank < FAILURES_MAX + 5; rank++) ledger.exited(ended(rank, 1 + (rank % 100), 5000 - rank), 0);
    const report = ledger.report(9);
    assert.equal([report.failures.length, ledger.failureCount], [FAILURES_MAX, FAILURES_MAX + 5]);
    assert.is(report.exitCode, 1 + ((FAILURES_MAX + 4) % 100));
  });
});

suite('exit rule', (test) => {
  const codeOf = (feed: (ledger: Ledger) => void): number => {
    const ledger = ledgerOf(4);
    for (let rank = 0; rank < 4; rank++) ledger.started(rank, rank + 1, 1);
    feed(ledger);
    return ledger.report(99).exitCode;
  };

  test('the failure that came first at its source decides, ties by rank', () => {
    assert.is(codeOf((l) => { l.exited(ended(1, 3, 20), 21); l.exited(ended(2, 4, 10), 22); }), 4);
    assert.is(codeOf((l) => { l.exited(ended(2, 4, 10), 21); l.exited(ended(1, 3, 10), 22); }), 3);
    assert.is(codeOf((l) => { lose(l, 0, 10); l.exited(ended(1, 3, 10), 22); }), 3);
    const crash = killed(1, 'signalled', 'SIGSEGV', 9);
    assert.is(codeOf((l) => { l.exited(crash, 9); l.exited(ended(2, 1, 10), 10); }), 139);
  });

  test('what the runtime ended decides nothing', () => {
    const timeout: Failure = {
      kind: 'timeout', error: { code: 'STCI_JOB_TIMEOUT', message: 'late' }, wallMs: 50, exitCode: EXIT.jobTimeout,
    };
    const endAll = (l: Ledger): void => {
      for (let rank = 0; rank < 4; rank++) l.exited(killed(rank, 'ended', 'SIGTERM', 40), 41);
    };
    assert.is(codeOf((l) => { endAll(l); l.failed(timeout); }), 199);
    assert.is(codeOf(endAll), 143);
    const trapped: RankEnd = { ...ended(0, 0, 40), outcome: 'ended' };
    assert.is(codeOf((l) => { l.exited(trapped, 41); for (let r = 1; r < 4; r++) l.exited(ended(r, 0, 40), 41); }), 0);
  });

  test('a program that does not start has the code of its error', () => {
    const missing: RankEnd = {
      rank: 0, pid: 0, outcome: 'failed-start', leftovers: 0, error: { code: 'STCI_PROGRAM_NOT_FOUND', message: 'no' },
    };
    assert.is(codeOf((l) => {
      const { failure } = l.exited(missing, 7);
      const { kind, wallMs, error } = failure!;
      assert.equal([kind, wallMs, error.host, error.rank], ['tool-start', 7, 'a', 0]);
    }), EXIT.program);
  });

  test('the first of two failures of one rank or host stays', () => {
    const failure = (exitCode: number): Failure =>
      ({ kind: 'agent-launch', host: 1, error: LOST, wallMs: 50 - exitCode / 10, exitCode });
    assert.is(codeOf((l) => { assert.ok(l.failed(failure(197))); assert.not.ok(l.failed(failure(198))); }), 197);
    assert.is(decideExit([], []).exitCode, 0);
  });

  test('signals have their numbers', () => {
    assert.equal(['SIGHUP', 'SIGKILL', 'SIGTERM', 'SIGSYS', 'SIG34'].map(signalNumber), [1, 9, 15, 31, 34]);
    assert.equal([signalNumber('SIG65'), signalNumber('TERM'), signalExitCode('SIGNO')], [undefined, undefined, 128]);
    assert.equal(['9', 'SIG9', 'sig15', 'kill', ' USR1'].map(signalNamed),
      ['SIGKILL', 'SIGKILL', 'SIGTERM', 'SIGKILL', 'SIGUSR1']);
    assert.equal(['0', '64', 'SIG64', 'SIG', '', 'x', '9x'].map(signalNamed), Array(7).fill(undefined));
  });
});

suite('job ledger: the end of an allocation', (test) => {
  const end: Failure = {
    kind: 'interrupt', wallMs: 1000, exitCode: 143,
    error: { code: 'STCI_ALLOCATION_ENDED', message: 'Slurm ended job 7' },
  };
  const lost: Failure = { kind: 'agent-lost', error: LOST, host: 1, wallMs: 960, exitCode: 200 };
  const codes = (ledger: Ledger): (string | number)[] => {
    const { exitCode, failures } = ledger.report(2000);
    return [exitCode, ...failures.map(({ code }) => code)];
  };

  test('it comes before what came of it: ranks that got its SIGTERM, agents that were lost', () => {
    const ledger = ledgerOf(3);
    ledger.exited(killed(0, 'signalled', 'SIGTERM', 950), 950);
    ledger.failed(lost);
    assert.ok(ledger.explain(end));
    assert.equal(codes(ledger), [143, 'STCI_ALLOCATION_ENDED', 'STCI_TOOL_SIGNAL', 'STCI_AGENT_LOST']);
    assert.is(ledger.report(2000).cause?.message, 'Slurm ended job 7');
  });

  test('also before those that are told after it, with an earlier time', () => {
    const ledger = ledgerOf(3);
    ledger.explain(end);
    ledger.exited(killed(0, 'signalled', 'SIGTERM', 950), 950);
    ledger.failed(lost);
    assert.equal(codes(ledger), [143, 'STCI_ALLOCATION_ENDED', 'STCI_TOOL_SIGNAL', 'STCI_AGENT_LOST']);
  });

  test('what failed by itself, or long before, decides', () => {
    for (const found of [ended(0, 3, 950), killed(0, 'signalled', 'SIGSEGV', 950)]) {
      const ledger = ledgerOf(3);
      ledger.exited(found, 950);
      ledger.exited(killed(1, 'signalled', 'SIGTERM', 960), 960);
      ledger.explain(end);
      assert.equal(codes(ledger)[0], found.end?.status ?? 139);
    }
    const ledger = ledgerOf(3);
    ledger.failed({ ...lost, wallMs: 100 });
    ledger.explain({ ...end, wallMs: 100 + 10_001 });
    assert.equal(codes(ledger), [200, 'STCI_AGENT_LOST', 'STCI_ALLOCATION_ENDED']);
  });

  test('later words take the place of the first, once', () => {
    const ledger = ledgerOf(3);
    assert.ok(ledger.explain(end));
    assert.not.ok(ledger.explain(end));
    assert.ok(ledger.explain({ ...end, error: { ...end.error, message: 'CANCELLED' }, wallMs: 1200 }));
    assert.equal([codes(ledger), ledger.failureCount], [[143, 'STCI_ALLOCATION_ENDED'], 1]);
    assert.is(ledger.report(2000).cause?.message, 'CANCELLED');
  });

  test('it is kept where as many failures as are kept came before', () => {
    const ledger = ledgerOf(FAILURES_MAX + 2);
    for (let rank = 0; rank < FAILURES_MAX + 2; rank++) ledger.exited(killed(rank, 'signalled', 'SIGTERM', 950), 950);
    ledger.explain(end);
    assert.equal(codes(ledger).slice(0, 3), [143, 'STCI_ALLOCATION_ENDED', 'STCI_TOOL_SIGNAL']);
    assert.is(ledger.report(2000).failures.length, FAILURES_MAX);
  });
});
