/** `finject run --simulate` as a user runs it: the same record and report as of a real run, at a virtual clock. */

import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { assert, patient, suite } from '@stci/testkit';
import { Lab, recordsOf, said, withLab, writePlugin } from './e2e-finject.js';

const FINJECT = fileURLToPath(new URL('../bin/finject.cjs', import.meta.url));

const FILE = `
name: storm
target: { options: --ppn 1 --on-failure continue --mca detector=ring, program: ./solver, simulated: sleep 8 }
hosts: h[1-200]
repeats: 2
faults:
  - { kind: pkill, who: { ranks: random 2, distinct: true }, when: uniform 100ms 2s, count: 3 }
checks: [no-orphan, no-false-detection, failed-ranks: victims, detected: 1s]
`;

suite('finject run --simulate', (test) => {
  test('two hundred hosts; the same file gives the same record', async () => {
    const lab = new Lab();
    try {
      lab.file('storm.yaml', FILE);
      const texts: string[] = [];
      for (const run of ['a', 'b']) {
        const { exitCode, out, err } = await lab.run('finject', 'run', '--simulate', 'storm.yaml', '--output', run);
        assert.is(exitCode, 0, err);
        assert.match(out, /2 of 2 repeats; 2 passed/u);
        texts.push(readFileSync(lab.path(run, 'history.jsonl'), 'utf8').split('\n').slice(1).join('\n'));
        assert.ok(existsSync(lab.path(run, 'report.html')), 'it has a report');
      }
      assert.is(texts[0], texts[1]);
      const history = lab.history('a');
      const [first] = recordsOf(history, 'run');
      assert.is(first?.isSimulated, true);
      const starts = recordsOf(history, 'start');
      const ends = recordsOf(history, 'repeat-end');
      assert.ok(ends.every(({ wallMs }, i) => wallMs - (starts[i]?.wallMs ?? 0) > 7900), 'its time is virtual');
    } finally {
      await lab.close();
    }
  }, { timeoutMs: 60_000 });

  const SMALL = FILE.replace('1-200', '1-8').replace('checks: [', 'checks: [exit-code: 137, ');

  test('repeats of two configurations are numbered by configuration', withLab(async (lab) => {
    const two = SMALL.replace('exit-code: 137', 'exit-code: 3').replace(' --mca detector=ring', '');
    lab.file('two.yaml', `${two}configurations: { ring: --mca detector=ring, swim: --mca detector=swim }\n`);
    const { exitCode, out, err } = await lab.run('finject', 'run', '--simulate', 'two.yaml', '--output', 'run');
    assert.is(exitCode, 204, err);
    const names = ['1, ring', '1, swim', '2, ring', '2, swim'];
    assert.equal(err.match(/^repeat .*$/gmu),
      names.map((name, at) => `repeat ${name.replace(',', ' of 2,')} (${at + 1} of 4)`));
    assert.equal([...new Set(err.match(/fault \S+/gu))].sort(), [1, 2, 3].map((number) => `fault pkill.${number}`));
    assert.equal([...out.matchAll(/^([12]) +(ring|swim) /gmu)].map(([, number, name]) => `${number}, ${name}`), names);
    assert.equal([...out.matchAll(/^repeat (.*): exit-code: /gmu)].map(([, name]) => name), names);
    const rows = readFileSync(lab.path('run', 'repeats.csv'), 'utf8').split('\r\n').slice(1, -1);
    assert.equal(rows.map((row) => row.split(',').slice(0, 2).join(', ')), names);
    const report = readFileSync(lab.path('run', 'report.html'), 'utf8');
    assert.equal([...report.matchAll(/<summary>Repeat ([^:]*):/gu)].map(([, name]) => name), names);
    const cells = [...report.matchAll(/<tr><td class="num">(\d)<\/td><td>(ring|swim)<\/td><td>(pkill\.\d)</gu)];
    assert.equal([...new Set(cells.map(([, number, name]) => `${number}, ${name}`))], names);
    const plan = await lab.run('finject', 'plan', 'two.yaml', '--repeat', '2');
    assert.equal(plan.out.match(/^repeat .*$/gmu), ['repeat 2, ring', 'repeat 2, swim']);
    assert.match(plan.out, /^storm: seed \d+, 2 repeats of each configuration\n/u);
    const none = await lab.run('finject', 'plan', 'two.yaml', '--repeat', '3');
    assert.match(none.err, /has repeats 1 to 2/u);
  }), { timeoutMs: 60_000 });

  test('replayed: the same record, its first line too', withLab(async (lab) => {
    lab.file('storm.yaml', SMALL);
    const over = ['--quiet', '--repeats', '1', '--seed', '9', '--output', 'run'];
    said(await lab.run('finject', 'run', '--simulate', 'storm.yaml', ...over), 0);
    lab.file('storm.yaml', 'changed');
    said(await lab.run('finject', 'replay', 'run', '--quiet', '--output', 'again'), 0);
    const textOf = (run: string): string => readFileSync(lab.path(run, 'history.jsonl'), 'utf8');
    assert.is(textOf('again'), textOf('run'));
  }), { timeoutMs: 60_000 });

  test('a kind of fault from a plugin', withLab(async (lab) => {
    writePlugin(lab.path('own'));
    lab.file('own.yaml', `
name: own
target: { options: --ppn 1 --plugin own, program: ./solver, simulated: sleep 1 }
hosts: h[1-3]
faults: [{ kind: own, args: { word: abc }, who: { hosts: [h3] }, when: 200ms }]
`);
    said(await lab.run('finject', 'run', '--simulate', 'own.yaml', '--output', 'run'), 0);
    assert.ok(recordsOf(lab.history('run'), 'injection').some(({ text }) => text === 'abc'));
  }), { timeoutMs: 60_000 });

  test('a plugin that hangs in the simulation is ended, and named', withLab(async (lab) => {
    writePlugin(lab.path('own'));
    lab.file('own.yaml', `
name: own
target:
  options: --ppn 1 --plugin own --mca plugin.timeout=500ms
  program: ./solver
  simulated: sleep 1
hosts: h[1-3]
faults: [{ kind: own, args: { word: abc }, who: { hosts: [h3] }, when: 200ms }]
`);
    said(await lab.run('finject', 'run', '--simulate', 'own.yaml', '--output', 'good'), 0);
    const module = lab.path('own/index.js');
    writeFileSync(module, readFileSync(module, 'utf8').replace('open:', 'open: () => { for (;;); }, other:'));
    for (const words of [['run', '--simulate', 'own.yaml'], ['replay', 'good']]) {
      const { exitCode, err } = await lab.run('finject', ...words, '--output', `bad-${words[0]}`);
      assert.is(exitCode, 194, err);
      assert.match(err, /^finject: plugin .*own: fault:own\.open has not returned for 500 ms \(plugin\.timeout\)/mu);
    }
  }), { timeoutMs: 60_000 });

  test('the disk is full: the run ends at once and says so, and its record is read as far as it goes',
    withLab(async (lab) => {
      lab.file('storm.yaml', SMALL);
      // No file may be larger than 8 KiB.
      const { status, stderr } = spawnSync('sh', ['-c', 'ulimit -f 16; exec "$@"', 'sh', process.execPath, FINJECT,
        'run', '--simulate', 'storm.yaml', '--quiet', '--repeats', '100', '--output', 'full'], {
        cwd: lab.directory, encoding: 'utf8', timeout: patient(30_000),
        env: { ...process.env, STCI_MCA_session_directory: lab.path('sessions') },
      });
      assert.is(status, 202, stderr);
      assert.match(stderr, /full\/history\.jsonl cannot be written: file too large\.\n$/u);
      const report = await lab.run('finject', 'report', 'full');
      assert.is(report.exitCode, 0, report.err);
      assert.match(report.err, 'the line is cut off');
      assert.match(report.out, 'the record was cut off');
      assert.ok(recordsOf(lab.history('full'), 'repeat').length < 100, 'no repeat is run whose record is lost');
    }), { timeoutMs: 60_000 });

  test('the golden run', withLab(async (lab) => {
    lab.file('storm.yaml', SMALL);
    const { exitCode, err } = await lab.run('finject', 'probe', '--simulate', 'storm.yaml', '--output', 'golden');
    assert.is(exitCode, 0, err);
    const golden = lab.history('golden');
    const [first] = recordsOf(golden, 'run');
    const names = first?.experiment.checks.map(({ type }) => type);
    assert.equal([first?.isSimulated, first?.isGolden, names], [true, true, ['no-orphan', 'no-false-detection']]);
    assert.equal(recordsOf(golden, 'repeat-end').map(({ report }) => report?.exitCode), [0]);
    assert.equal(recordsOf(golden, 'injection'), []);
  }), { timeoutMs: 60_000 });

  test('what cannot be simulated is told before anything is run', async () => {
    const lab = new Lab();
    try {
      lab.file('real.yaml', 'name: real\ntarget: { options: [-n, 2], program: [./solver] }\nhosts: [a, b]\n');
      const { exitCode, err } = await lab.run('finject', 'run', '--simulate', 'real.yaml');
      assert.is(exitCode, 193, err);
      assert.match(err, /^finject: real\.yaml:2:.*no program \.\/solver.*target\.simulated.*sleep/su);
      assert.not.ok(existsSync(lab.path('finject-runs')));
    } finally {
      await lab.close();
    }
  }, { timeoutMs: 60_000 });
});
