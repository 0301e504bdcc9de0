/** Reading histories, whole, cut off anywhere, and damaged. */

import { encodeRecord, readHistory, readRecords, type HistoryRecord } from '@stci/finject/experiment';
import { assert, suite } from '@stci/testkit';

const at = { wallMs: 1, monotonicMs: 2 };
const RECORDS = [
  { ...at, type: 'run', format: 2, experiment: {}, shape: {}, file: 'a.yaml', text: '', isSimulated: false,
    isGolden: false, versions: {}, parameters: [] },
  { ...at, type: 'repeat', plan: { repeat: 1, number: 1, configuration: '', injections: [] } },
  { ...at, type: 'output', repeat: 1, rank: 0, stream: 'stdout', text: 'ä\n\u2028"', sourceWallMs: 3 },
  { ...at, type: 'repeat-end', repeat: 1, isTimeOut: false, orphans: 0 },
  { ...at, type: 'run-end', text: 'done' },
] as unknown as HistoryRecord[];

const TEXT = RECORDS.map(encodeRecord).join('');

suite('history', (test) => {
  test('what is written is read', () => {
    const { records, isCutOff, problems } = readHistory('d', TEXT);
    assert.equal(records, RECORDS);
    assert.equal([isCutOff, problems], [false, []]);
  });

  test('cut off anywhere: the records before, and it says so', () => {
    for (let end = 0; end < TEXT.length; end += 1) {
      const { records, isCutOff, problems } = readHistory('d', TEXT.slice(0, end));
      const whole = TEXT.slice(0, end).split('\n').length - 1;
      assert.equal(records, RECORDS.slice(0, whole));
      assert.is(isCutOff, true);
      const isWithin = end > 0 && TEXT[end - 1] !== '\n';
      assert.is(problems.includes(`history.jsonl:${whole + 1}: the line is cut off; left out`), isWithin);
    }
  });

  test('in pieces of any size it is the same', () => {
    for (const size of [1, 2, 7, 64, TEXT.length - 1]) {
      const pieces = Array.from({ length: Math.ceil(TEXT.length / size) }, (_, at) =>
        TEXT.slice(at * size, (at + 1) * size));
      assert.equal(readHistory('d', pieces), { directory: 'd', records: RECORDS, isCutOff: false, problems: [] });
    }
  });

  test('a line that is too long is damage, of which nothing is kept, and the rest is read', () => {
    const lines = TEXT.split('\n');
    const longest = Math.max(...lines.map(({ length }) => length));
    const long = lines.toSpliced(2, 0, 'x'.repeat(longest + 1), 'y'.repeat(longest)).join('\n');
    for (const pieces of [[long], [...long]]) {
      const found: HistoryRecord[] = [];
      const state = readRecords(pieces, (record) => found.push(record), longest);
      assert.equal(found, RECORDS);
      assert.equal(state, { isCutOff: false, problems: [
        `history.jsonl:3: the line has more than ${longest} characters; left out`,
        'history.jsonl:4: the line is damaged (no JSON); left out',
      ] });
    }
    const endless = readRecords([TEXT, 'z'.repeat(longest * 3)], () => undefined, longest);
    assert.equal([endless.isCutOff, endless.problems.length], [true, 1]);
  });

  test('of a file that is no history not each line is told', () => {
    const { problems } = readHistory('d', ['nothing\n'.repeat(5000)]);
    assert.is(problems.length, 1001);
    assert.is(problems.at(-1), '4001 more lines are damaged');
  });

  test('what stands behind the end of a run is damage, too', () => {
    const { isCutOff, problems } = readHistory('d', `${TEXT}{"type":`);
    assert.equal([isCutOff, problems.length], [true, 1]);
  });

  test('damage is named by its line, and the rest is read', () => {
    const lines = TEXT.split('\n');
    const DAMAGED: readonly (readonly [string, RegExp])[] = [
      ['{', /history\.jsonl:3: the line is damaged/u],
      ['[]', /:3: the line is no record/u],
      ['{"type":"outpt"}', /:3: unknown type of record "outpt"/u],
      ['{"type":"__proto__","wallMs":1,"monotonicMs":1}', /:3: unknown type/u],
      ['{"type":"output","repeat":1,"wallMs":1,"monotonicMs":1}',
        /:3: the record of type output has no proper 'rank'/u],
      ['{"type":"repeat-end","repeat":1,"isTimeOut":false,"orphans":0,"wallMs":1,"monotonicMs":1,"unknown":[{}]}',
        /:3: the record of type repeat-end has no proper 'unknown'/u],
      ['\0\0\0', /:3: the line is damaged/u],
      [`{"type":${'['.repeat(100_000)}${']'.repeat(100_000)}}`, /:3: unknown type of record \(object\); left out$/u],
      [`{"type":"${'x'.repeat(10_000)}"}`, /:3: unknown type of record "x{80}"; left out$/u],
      ['{"type":"clock","repeat":1,"clocks":[null],"wallMs":1,"monotonicMs":1}', /clock has no proper 'clocks'/u],
      ['{"type":"repeat","plan":{"repeat":1,"configuration":{},"injections":[]},"wallMs":1,"monotonicMs":1}',
        /of type repeat has no proper 'plan'/u],
    ];
    for (const [line, expected] of DAMAGED) {
      const { records, problems, isCutOff } = readHistory('d', lines.with(2, line).join('\n'));
      assert.is(records.length, 4);
      assert.is(isCutOff, false);
      assert.match(problems.join(), expected);
    }
    const noParameters = readHistory('d', TEXT.replace('"parameters":[]', '"parameters":[{"name":{}}]'));
    assert.match(noParameters.problems.join(), /:1: the record of type run has no proper 'parameters'/u);
    const { problems } = readHistory('d', TEXT.replace('"format":2', '"format":9'));
    assert.match(problems.join(), 'it has format 9');
  });
});
