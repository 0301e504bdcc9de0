/** The last messages about a job: processes left over, and programs that may still run. */

import { failureId, type ErrorRecord, type JobReport, type RankReport } from '@stci/interface';
import { finalLines, type ShownFailures } from '@stci/core/run';
import { assert, suite } from '@stci/testkit';
import { leftOutCause } from '../../dist/run/outcome.js';
import { unreadText } from '../../dist/run/report.js';

const rank = (index: number, host: string, more: Partial<RankReport> = {}): RankReport =>
  ({ rank: index, host, app: 0, pid: 100 + index, outcome: 'exited', leftovers: 0, ...more });

const NOTHING: ShownFailures = { reported: new Set(), recorded: new Set(), leftOut: new Set() };

function words(
  ranks: RankReport[], failures: ErrorRecord[] = [], isHere?: (host: string) => boolean, shown = NOTHING,
): string[] {
  const report: JobReport = { job: 1, exitCode: 0, failures, ranks, daemons: [], submitWallMs: 0, endWallMs: 1 };
  return finalLines(report, shown, isHere).map(({ text }) => text);
}

const survived = (host: string, pids: string): ErrorRecord =>
  ({ code: 'STCI_TOOL_SURVIVED', message: 'survived', host, data: { pids } });

suite('input that no rank has read', (test) => {
  const of = (...ranks: RankReport[]): JobReport =>
    ({ job: 1, exitCode: 0, failures: [], ranks, daemons: [], submitWallMs: 0, endWallMs: 1 });
  const first = { to: 'rank', rank: 0 } as const;
  const ended = rank(0, 'a', { outcome: 'exited' });
  const attempt = { host: 'a', pid: 1, outcome: 'signalled', leftovers: 0 } as const;

  test('is told of those who should have, all of whom have ended by themselves', () => {
    const other = rank(1, 'a', { outcome: 'exited', readInput: true });
    assert.match(unreadText(of(ended, other), first) ?? '', /^rank 0 read nothing .* read for it; .* --stdin none$/u);
    assert.match(unreadText(of(ended), { to: 'all' }) ?? '', /^the ranks read nothing .* read for them;/u);
    for (const known of [
      { ...ended, readInput: true }, { ...ended, outcome: 'signalled' }, { ...ended, outcome: 'lost' },
      { ...ended, earlier: [{ ...attempt, readInput: true }] },
      { ...ended, earlier: [{ ...attempt, outcome: 'lost' }] },
    ] as RankReport[]) assert.is(unreadText(of(known), first), undefined);
    assert.is(unreadText(of(ended, other), { to: 'all' }), undefined);
    assert.not.equal(unreadText(of({ ...ended, earlier: [attempt] }), first), undefined);
  });
});

suite('final words', (test) => {
  test('what could not be ended is not told as ended', () => {
    assert.equal(words([rank(0, 'a', { leftovers: 2 })], [survived('a', '7,8')]), []);
    const mixed = words([rank(0, 'a', { leftovers: 2 }), rank(1, 'b', { leftovers: 1 })], [survived('a', '7')]);
    assert.equal(mixed, ['ended 2 processes that ranks had left behind on a,b']);
    // A rank that could not be ended has no left-over processes of its own.
    assert.equal(words([rank(0, 'a', { leftovers: 1 })], [survived('a', '100')]).length, 1);
  });

  test('of a lost agent: the command that ends its programs, here without --host; none for what survived', () => {
    const lost = rank(0, 'a', { outcome: 'lost' });
    assert.match(words([lost])[0] ?? '', "'stci doctor --clean --host a' ends those of this user");
    assert.match(words([lost], [], () => true)[0] ?? '', "'stci doctor --clean' ends those of this user");
    const error = { code: 'STCI_TOOL_SURVIVED', message: 'x' };
    assert.equal(words([{ ...lost, error }]), []);
  });

  test('a cause that several hosts share names them all in its sentence', () => {
    const of = (host: string): ErrorRecord =>
      ({ code: 'STCI_PROGRAM_WDIR', message: "'/x' does not exist on this host; create it", host, rank: 0 });
    const failures = [of('h1'), of('h2')];
    const report = { job: 1, exitCode: 190, failures, ranks: [], daemons: [], submitWallMs: 0, endWallMs: 1 };
    const [first] = finalLines({ ...report, cause: of('h2') }, NOTHING);
    assert.is(first?.text, "'/x' does not exist on hosts h[1-2]; create it");
  });

  test('of a lost host: the ranks that were there; not those of others, nor those that run elsewhere since', () => {
    const lost = { code: 'STCI_AGENT_LOST', message: 'Agent root:1 on host b is lost', host: 'b' } as const;
    const on = (index: number, host: string): RankReport => rank(index, host, { outcome: 'lost', pid: 0 });
    assert.equal(words([rank(0, 'a'), on(2, 'b'), on(3, 'b'), on(4, 'c'), rank(5, 'b')], [lost]),
      ['lost: ranks 2-3 on b']);
    const shown = { ...NOTHING, recorded: new Set(['host 1#1']) };
    const [told, untold] = ([['b', 1], ['b', 2]] as const).map(([host, incarnation]) =>
      ({ ...on(2, host), failure: failureId({ kind: 'host', host: 1, incarnation }) }));
    assert.equal(words([told as RankReport], [lost], undefined, shown), []);
    assert.equal(words([untold as RankReport], [lost], undefined, shown), ['lost: rank 2 on b']);
    assert.equal(words([rank(0, 'a')], [lost]), []);
  });

  test('where a batch system has taken the hosts, their loss is no news, and nothing is to be cleaned up', () => {
    const taken = { code: 'STCI_ALLOCATION_ENDED', message: 'Slurm ended job 7' } as const;
    const lost = { code: 'STCI_AGENT_LOST', message: 'Agent root:1 on host b is lost', host: 'b' } as const;
    const signalled = {
      code: 'STCI_TOOL_SIGNAL', message: 'Rank 0 on a was ended by SIGTERM', data: { signal: 'SIGTERM' },
    } as const;
    const ranks = [rank(0, 'a', { outcome: 'ended' }), rank(1, 'b', { outcome: 'lost' })];
    const report: JobReport = {
      job: 1, exitCode: 143, failures: [taken, signalled, lost], ranks, daemons: [], submitWallMs: 0, endWallMs: 1,
    };
    assert.equal(finalLines({ ...report, cause: taken }, NOTHING).map(({ text }) => text),
      ['Slurm ended job 7', 'lost: rank 1 on b']);
  });

  test('hosts that were left out are named last, and no remark; not twice where they are the failure', () => {
    const shown = { ...NOTHING, leftOut: new Set(['h2', 'h1', 'h9']) };
    assert.equal(words([rank(0, 'a')], [], undefined, shown), ['ran without h[1-2,9]: they did not come up']);
    const one = { ...NOTHING, leftOut: new Set(['b']) };
    const report: JobReport =
      { job: 1, exitCode: 0, failures: [], ranks: [], daemons: [], submitWallMs: 0, endWallMs: 1 };
    assert.equal(finalLines(report, one), [{ text: 'ran without b: it did not come up', isRemark: false }]);
    const { error: cause, exitCode } = leftOutCause(['b', 'c']);
    const strict = finalLines({ ...report, cause, exitCode, failures: [cause] }, one).map(({ text }) => text);
    assert.equal([exitCode, strict], [197, ['The job ran without b,c, which did not come up (--strict)']]);
  });

  test('ranks that ran at a time limit are told also where an earlier failure decides', () => {
    const late = { code: 'STCI_JOB_TIMEOUT', message: 'late' };
    assert.match(words([rank(0, 'a', { outcome: 'ended' })], [late])[0] ?? '', 'still running: rank 0 on a');
  });
});
