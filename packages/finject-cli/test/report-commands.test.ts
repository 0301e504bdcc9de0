/** `finject report` and `compare` as processes, on records that are whole, cut off, damaged, or not there. */

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { RUN_FILES } from '@stci/finject-cli';
import { encodeRecord, type HistoryRecord } from '@stci/finject/experiment';
import { assert, patient, suite } from '@stci/testkit';

const FINJECT = fileURLToPath(new URL('../bin/finject.cjs', import.meta.url));
const EPOCH = 1_800_000_000_000;
const OPTIONS = { timeoutMs: patient(30_000) };

/** Ten repeats in which rank 0 is killed, and detected after `latencyMs` and some more each time. */
function records(name: string, latencyMs: number): readonly HistoryRecord[] {
  const experiment = {
    name, description: '', target: { options: ['-n', '1'], program: ['true'] }, hosts: [], repeats: 10, seed: 1,
    checks: [], configurations: [],
  };
  const shape = { hosts: ['a'], hostOfRank: [0], arity: 2 };
  const list: object[] = [{
    type: 'run', format: 2, experiment, file: 'e.yaml', text: 'name: e\n', shape, isSimulated: false, isGolden: false,
    versions: {}, parameters: [], ms: 0,
  }];
  for (let repeat = 1; repeat <= 10; repeat++) {
    const ms = repeat * 10_000;
    const id = `${repeat}.kill.1`;
    const injection = {
      id, fault: 'kill', kind: 'pkill', args: {}, victims: [{ kind: 'rank', rank: 0 }],
      trigger: { on: 'event', event: 'start', nth: 1 }, delayMs: 0, impact: 'ends',
    };
    const confirmedWallMs = EPOCH + ms + 100 + latencyMs + repeat;
    const record = {
      subject: { kind: 'tool', host: 0, job: 1, rank: 0, attempt: 1 }, cause: 'signalled', evidence: 'SIGKILL',
      detector: 'process', reporter: 'root:0', hostName: 'a', suspectedWallMs: confirmedWallMs, confirmedWallMs,
    };
    list.push(
      { type: 'repeat', plan: { repeat, number: repeat, configuration: '', injections: [injection] }, ms },
      { type: 'start', repeat, ms },
      { type: 'injection', repeat, id, state: 'injected', text: '', agent: 'root:0', sourceWallMs: EPOCH + ms + 100,
        ms },
      { type: 'event', repeat, event: { type: 'failure-record', record }, ms: ms + 900 },
      { type: 'repeat-end', repeat, isTimeOut: false, orphans: 0, ms: ms + 1000 },
    );
  }
  list.push({ type: 'run-end', text: 'done', ms: 200_000 });
  return list.map((one) => {
    const { ms, ...rest } = one as { readonly ms: number };
    return { ...rest, wallMs: EPOCH + ms, monotonicMs: ms } as unknown as HistoryRecord;
  });
}

function text(list: readonly HistoryRecord[]): string {
  return list.map(encodeRecord).join('');
}

function finject(cwd: string, ...args: readonly string[]) {
  return spawnSync(process.execPath, [FINJECT, ...args], { cwd, encoding: 'utf8', timeout: patient(20_000) });
}

suite('finject report and compare', (test) => {
  let place = '';
  test.beforeEach(() => {
    place = mkdtempSync(join(tmpdir(), 'stci-finject-report-'));
    for (const [name, latencyMs] of [['quick', 10], ['slow', 60]] as const) {
      mkdirSync(join(place, name));
      writeFileSync(join(place, name, RUN_FILES.history), text(records(name, latencyMs)));
    }
  });
  test.afterEach(() => rmSync(place, { recursive: true, force: true }));

  test('report makes all files of a run from its record alone', () => {
    const { status, stdout, stderr } = finject(place, 'report', 'quick');
    assert.is(status, 0, stderr);
    assert.match(stdout, /10 repeats, the record is complete; 10 passed\nreport: quick\/report.html\n$/);
    assert.match(readFileSync(join(place, 'quick', RUN_FILES.report), 'utf8'), '<h1>quick');
    assert.is(readFileSync(join(place, 'quick', RUN_FILES.injections), 'utf8').split('\r\n').length, 12);
    assert.is(readFileSync(join(place, 'quick', RUN_FILES.repeats), 'utf8').split('\r\n').length, 12);
    const summary = JSON.parse(readFileSync(join(place, 'quick', RUN_FILES.summary), 'utf8')) as {
      readonly figures: readonly { readonly measure: string; readonly median: number }[];
    };
    assert.is(summary.figures.find(({ measure }) => measure === 'detection')?.median, 15.5);
    assert.not(existsSync(join(place, 'finject-report.html')));
  }, OPTIONS);

  test('several runs have a report in common', () => {
    const { status, stderr } = finject(place, 'report', 'quick', 'slow', '--output', 'both.html');
    assert.is(status, 0, stderr);
    const page = readFileSync(join(place, 'both.html'), 'utf8');
    assert.match(page, 'id="comparison"');
    assert.match(page, 'Timelines: slow');
  }, OPTIONS);

  test('compare tells the difference with its interval', () => {
    const { status, stdout, stderr } = finject(place, 'compare', 'quick', 'slow');
    assert.is(status, 0, stderr);
    const line = stdout.split('\n').find((one) => one.startsWith('detection')) ?? '';
    assert.equal(line.split(/ {2,}/), [
      'detection', 'slow', '10', '65.5 ms', 'quick', '10', '15.5 ms', '+50.0 ms', '+47.0 ms to +53.0 ms', '< 0.001',
    ]);
    const json = JSON.parse(finject(place, 'compare', '--json', 'quick', 'slow').stdout) as {
      readonly measures: readonly { readonly shift: { readonly estimate: number } }[];
    };
    assert.is(json.measures[0]?.shift.estimate, 50);
    assert.match(stderr, 'runs of different experiments are compared: quick, slow');
  }, OPTIONS);

  test('of a record that is cut off or damaged is said what it has, and what is lost', () => {
    const whole = text(records('quick', 10));
    const lines = whole.split('\n');
    lines[12] = '{"type":"event","wallMs":';
    // Proper JSON, and a proper record but for what is in it.
    lines[19] = '{"type":"event","repeat":4,"event":{"type":"failure-record"},"wallMs":1,"monotonicMs":1}';
    const cut = lines.slice(0, 30).join('\n').slice(0, -9);
    writeFileSync(join(place, 'quick', RUN_FILES.history), cut);
    const { status, stdout, stderr } = finject(place, 'report', 'quick');
    assert.is(status, 0, stderr);
    assert.match(stderr, 'history.jsonl:13: the line is damaged');
    assert.match(stderr, 'the line is cut off');
    assert.match(stdout, 'the record was cut off');
    assert.match(stdout, 'its record is damaged');
    assert.match(readFileSync(join(place, 'quick', RUN_FILES.report), 'utf8'), 'id="cut-off"');
  }, OPTIONS);

  test('no run, no record, nothing to compare with: an error without a stack, and the remedy', () => {
    for (const [args, expected] of [
      [['report'], 'No run is named'], [['report', 'nowhere'], 'nowhere/history.jsonl cannot be read'],
      [['compare', 'quick'], 'There is nothing to compare with'], [['compare'], 'No run is named'],
    ] as const) {
      const { status, stderr } = finject(place, ...args);
      assert.ok(status !== 0 && status !== null, args.join(' '));
      assert.match(stderr, expected);
      assert.not(/ at .*:\d+:\d+/.test(stderr), stderr);
    }
  }, OPTIONS);
});
