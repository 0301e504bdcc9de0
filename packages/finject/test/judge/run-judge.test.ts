/** A run that is judged while it is made: the same result as from its history, and little that is kept. */

import { reportPage, RunJudge, summarize, type HistoryRecord } from '@stci/finject/experiment';
import { assert, suite } from '@stci/testkit';
import { exampleRun } from '../report/example.js';

const OUTPUT_CHARS = 50_000;

function outputChars(records: readonly HistoryRecord[]): number {
  return records.reduce((sum, record) => sum + (record.type === 'output' ? record.text.length : 0), 0);
}

/** The same of another repeat. */
function shifted(record: HistoryRecord, by: number): HistoryRecord {
  if (record.type === 'repeat') return { ...record, plan: { ...record.plan, repeat: record.plan.repeat + by } };
  return 'repeat' in record ? { ...record, repeat: record.repeat + by } : record;
}

suite('a run that is judged while it is made', (test) => {
  test('summary and report are those of the whole history', () => {
    for (const repeats of [1, 24, 90]) {
      const { history, summary } = exampleRun({ repeats, hosts: 8 });
      const judge = new RunJudge(history.directory);
      for (const record of history.records) judge.add(record);
      assert.equal(judge.summary(), summary);
      assert.is(judge.didPass, summary.repeats.at(-1)?.isPassed);
      const run = { history: judge.history(), summary: judge.summary() };
      assert.is(reportPage([run]), reportPage([{ history, summary }]));
    }
  }, { timeoutMs: 30_000 });

  test('of a repeat that is under way, all that there is', () => {
    const { history } = exampleRun({ repeats: 3, hosts: 8 });
    const judge = new RunJudge(history.directory);
    const end = history.records.findLastIndex(({ type }) => type === 'repeat-end');
    for (const record of history.records.slice(0, end)) judge.add(record);
    assert.equal(judge.summary().repeats.map(({ outcome }) => outcome === 'cut-off'), [false, false, true]);
    assert.is(judge.history().records.length, end);
  });

  test('a repeat whose end or plan was lost, and a cut at any place: as from the whole history', () => {
    const { history } = exampleRun({ repeats: 3, hosts: 8 });
    const lost = (record: HistoryRecord): boolean => (record.type === 'repeat-end' && record.repeat === 1)
      || (record.type === 'repeat' && record.plan.repeat === 2);
    const whole = history.records.filter((record) => !lost(record));
    for (let end = 1; end <= whole.length; end += 3) {
      const records = whole.slice(0, end);
      const judge = new RunJudge(history.directory);
      for (const record of records) judge.add(record);
      assert.equal(judge.summary(true), summarize({ directory: history.directory, records, isCutOff: true }));
      assert.is(judge.history(true).isCutOff, true);
    }
  });

  test('2000 repeats: neither output nor events of more than those that a report draws', () => {
    const { history: { records } } = exampleRun({ repeats: 40, hosts: 8, output: 'x'.repeat(OUTPUT_CHARS) });
    const ofOne = records.filter((record) => 'repeat' in record || record.type === 'repeat');
    const judge = new RunJudge('/runs/test');
    judge.add(records[0] as HistoryRecord);
    for (let round = 0; round < 50; round += 1) {
      for (const record of ofOne) judge.add(shifted(record, 40 * round));
    }
    const kept = judge.history().records;
    assert.is(judge.summary().repeats.length, 2000);
    assert.ok(outputChars(kept) <= 24 * OUTPUT_CHARS, `${outputChars(kept)} characters of output`);
    assert.is(kept.filter(({ type }) => type === 'repeat-end').length, 24);
    assert.ok(kept.filter(({ type }) => type === 'event').length <= 24 * 20);
  }, { timeoutMs: 30_000 });
});
