/** Reports without a browser: what is escaped, what is capped, what is said loudly, and the tables beside them. */

import { assert, patient, suite } from '@stci/testkit';
import {
  comparisonText, groupsOf, injectionsCsv, readHistory, reportPage, repeatsCsv, summarize, type ReportRun,
} from '@stci/finject/experiment';
import { runLabels } from '../../dist/report/groups.js';
import { HistoryMaker, check, hostVictim, injection, rankVictim } from '../judge/histories.js';
import { exampleRun } from './example.js';

suite('report', (test) => {
  test('it has a policy that permits nothing but its style, and no address outside', () => {
    const page = reportPage([exampleRun({ repeats: 3 })]);
    assert.match(page, 'content="default-src \'none\'; style-src \'unsafe-inline\'');
    assert.not(/<script|<link|<img|<iframe|url\(|@import|\son\w+=|javascript:/i.test(page));
    assert.equal([...page.matchAll(/(?:href|src)="([^#"][^"]*)"/g)].map(([, found]) => found), []);
  });

  test('a cut-off, a simulated and a golden run say so', () => {
    const page = reportPage([exampleRun({ repeats: 2, isCutOff: true, isSimulated: true })]);
    assert.match(page, 'id="cut-off"');
    assert.match(page, 'id="simulated"');
    assert.match(page, '>incomplete<');
    const whole = reportPage([exampleRun({ repeats: 2 })]);
    assert.not(/id="(cut-off|simulated)"/.test(whole));
    const golden = new HistoryMaker({ isGolden: true });
    golden.repeat(1, []).end(900);
    const history = golden.history();
    assert.match(reportPage([{ history, summary: summarize(history) }]), 'Golden run, without faults');
  });

  test('thousands of repeats and of hosts stay small, and it is said what is left out', () => {
    const many = reportPage([exampleRun({ repeats: 2000, hosts: 12 })]);
    assert.ok(many.length < 1_500_000, `${many.length} characters`);
    assert.match(many, '24 of 2000 repeats are drawn');
    assert.match(many, 'The first 1000 of 10000; injections.csv has all.');
    const wide = reportPage([exampleRun({ repeats: 5, hosts: 12_000 })]);
    assert.ok(wide.length < 1_500_000, `${wide.length} characters`);
    assert.match(wide, 'The first 10000 are drawn.');
    const storm = new HistoryMaker({ hosts: 100 });
    const victims = Array.from({ length: 100 }, (_, rank) => rankVictim(rank));
    const repeat = storm.repeat(1, [injection('1.kill.1', 'pkill', victims)]);
    victims.forEach((_, index) => repeat.injected('1.kill.1', 100 + index, index, index));
    repeat.end(900);
    const history = storm.history();
    assert.match(reportPage([{ history, summary: summarize(history) }]), '76 more victims');
  }, { timeoutMs: patient(20_000) });

  test('control characters and marks of direction are shown as such', () => {
    const page = reportPage([exampleRun({ repeats: 1, output: 'a\u202eb\u0000c\u001b[31md\ud800e\n' })]);
    assert.match(page, 'a\ufffdb\ufffdc\ufffd[31md\ufffde');
  });

  test('several runs in one report are compared', () => {
    const runs = [
      exampleRun({ configurations: { '': 100 } }), exampleRun({ configurations: { '': 400 }, name: 'slower' }),
    ];
    const page = reportPage(runs);
    assert.match(page, 'id="comparison"');
    assert.match(page, 'Timelines: slower');
    const text = comparisonText(groupsOf(runs));
    const line = text.split('\n').find((one) => one.startsWith('detection, host')) ?? '';
    assert.match(line, /slower +24 .*ring-failures +24 .*\+4\d\d ms +\+\d+ ms to \+\d+ ms +< 0.001/);
    assert.match(text, /recovered +\d+ of 24 \(/);
  });

  test('of any part of a history there is a page', () => {
    const { records } = exampleRun({ repeats: 2, hosts: 4 }).history;
    for (let from = 0; from < records.length; from += 7) {
      const history = { directory: '', records: records.slice(from), isCutOff: true };
      assert.match(reportPage([{ history, summary: summarize(history) }]), 'was cut off');
    }
    const empty = { directory: '', records: [], isCutOff: true };
    assert.match(reportPage([{ history: empty, summary: summarize(empty) }]), 'beginning is damaged');
  });

  test('a tree\'s links that were hit, and partitions, are drawn', () => {
    const maker = new HistoryMaker({ hosts: 6 });
    maker.repeat(1, [
      injection('1.cut.1', 'link', [{ kind: 'link', ends: [1, 3] }, { kind: 'link', ends: [2, 3] }], { durationMs: 50
        }),
      injection('1.part.1', 'partition', [{ kind: 'partition', sets: [[0, 1, 2, 3], [4, 5, 6]] }], { durationMs: 50 }),
    ]).injected('1.cut.1', 100, 0, 0).injected('1.cut.1', 100, 0, 1).injected('1.part.1', 200).end(900);
    const history = maker.history();
    const page = reportPage([{ history, summary: summarize(history) }]);
    assert.is(page.match(/class="edge hit"/g)?.length, 2);
    assert.is(page.match(/class="node hit"/g)?.length, 3);
  });
});

suite('labels of runs', (test) => {
  test('of one experiment: their directories; of equal ones the paths; of the same the number', () => {
    const labels = (...runs: readonly (readonly [string, string])[]): readonly string[] => runLabels(
      runs.map(([name, directory]) => ({ history: { directory }, summary: { name } }) as unknown as ReportRun));
    assert.equal(labels(['a', 'x/a-20260101-120000'], ['a', 'x/a-20260102-120000/'], ['b', 'x/b-20260101-120000']),
      ['a-20260101-120000', 'a-20260102-120000', 'b']);
    assert.equal(labels(['a', 'x/run'], ['a', 'y/run'], ['a', '../z/last/.']), ['x/run', 'y/run', 'last']);
    assert.equal(labels(['a', 'run'], ['a', 'run']), ['run (1)', 'run (2)']);
    assert.equal(labels(['a', '.'], ['b', '.']), ['a', 'b']);
  });
});

suite('tables of a report', (test) => {
  const maker = new HistoryMaker({
    checks: [check({ type: 'exit-code', anyOf: [0] }, '=cmd("x"), of two'), check({ type: 'injected', least: 1 })],
  });
  maker.repeat(1, [injection('1.kill.1', 'pkill', [rankVictim(3)]), injection('1.host.1', 'host', [hostVictim(5)])])
    .injected('1.kill.1', 100, 3).rankFails(3, { failedMs: 101, detectedMs: 105 }).end(900, { exitCode: 137 });
  const summary = summarize(maker.history());

  test('one line a victim, with empty cells for what is not known', () => {
    const lines = injectionsCsv(summary).split('\r\n');
    assert.is(lines.length, 4);
    const header = (lines[0] ?? '').split(',');
    const of = (line: number, column: string): string | undefined => lines[line]?.split(',')[header.indexOf(column)];
    assert.is(of(1, 'victim'), 'rank 3');
    assert.is(of(1, 'detection_ms'), '5');
    assert.is(of(2, 'injected_wall_ms'), '');
    assert.is(of(2, 'victim'), 'host 5');
  });

  test('texts are quoted, and no cell is a formula', () => {
    const text = repeatsCsv(summary);
    assert.match(text, '"\'=cmd(""x""), of two: exit code 137, expected 0"');
    assert.is(text.split('\r\n').length, 3);
  });
});

suite('damaged records', (test) => {
  test('whatever one value of one line has become, the rest is judged and reported', () => {
    const { records } = exampleRun({ repeats: 2, hosts: 3 }).history;
    const lines = records.map((record) => JSON.stringify(record));
    const wrong = [null, 7, 'x', [], {}];
    let count = 0;
    lines.forEach((line, index) => {
      const paths = pathsOf(JSON.parse(line));
      paths.forEach((path, at) => {
        if ((index * 7 + at) % 9 !== 0) return;
        const value = JSON.parse(line) as object;
        replace(value, path, wrong[(index + at) % wrong.length]);
        const content = lines.with(index, JSON.stringify(value)).join('\n');
        const history = readHistory('/runs/x', `${content}\n`);
        assert.match(reportPage([{ history, summary: summarize(history) }]), '</html>', `${path.join('.')} of ${line}`);
        count++;
      });
    });
    assert.ok(count > 100, `${count} tried`);
  }, { timeoutMs: patient(60_000) });

  test('an object without a text is no name, no seed, and damage in a table', () => {
    const { history } = exampleRun({ repeats: 1, hosts: 3 });
    const bad = { toString: 0, valueOf: 0 } as never;
    const records = history.records.map((record) => (record.type === 'run'
      ? { ...record, experiment: { ...record.experiment, name: bad, seed: bad } } : record));
    const { name, seed } = summarize({ ...history, records });
    assert.equal([name, seed], ['unknown', 0]);
    const summary = summarize(history);
    const repeats = summary.repeats.map((one) => ({ ...one, configuration: bad }));
    assert.match(repeatsCsv({ ...summary, repeats }), '(damaged)');
  });

  test('lists in place of texts are no formulas, and texts stay in their cells', () => {
    const { history } = exampleRun({ repeats: 1, hosts: 3 });
    const summary = summarize(history);
    for (const evil of [['=cmd|1', '@x'], '=1+1', '\n=1', '\uff1d1', 'a,"=1"\r\n=2']) {
      const repeats = summary.repeats.map((one) => ({
        ...one, configuration: evil as string,
        injections: one.injections.map((each) => ({ ...each, id: evil as string })),
      }));
      for (const table of [injectionsCsv({ ...summary, repeats }), repeatsCsv({ ...summary, repeats })]) {
        const bare = table.replace(/"(?:[^"]|"")*"/g, (cell) => cell.replace(/[,\r\n]/g, ''));
        for (const cell of bare.split(/[,\r\n]/)) assert.ok(!/^"?[=@\uff1d]/.test(cell), cell);
        assert.is(new Set(bare.trim().split('\r\n').map((row) => row.split(',').length)).size, 1);
      }
    }
  });
});

function pathsOf(value: unknown, path: readonly string[] = []): readonly (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [path];
  return [...(path.length > 0 ? [path] : []),
    ...Object.entries(value).flatMap(([key, inner]) => pathsOf(inner, [...path, key]))];
}

function replace(value: object, path: readonly string[], by: unknown): void {
  const [first = '', ...rest] = path;
  const holder = value as Record<string, unknown>;
  if (rest.length === 0) holder[first] = by;
  else replace(holder[first] as object, rest, by);
}
