/** finject as a user has it: experiments on this machine, from the file to the record. */
// @timeoutMs 600000

import { statSync } from 'node:fs';
import { assert, eventually, suite } from '@stci/testkit';
import { LONG, recordsOf, said, states, withLab } from './e2e-finject.js';

const TARGET = `target:
  options: [-n, 4, --host, 'a:2,b:2', --launcher, local, --on-failure, continue]
  program: [sh, -c, 'echo hello $STCI_RANK; sleep 1.5']
`;

const KILL = `name: kill-one
${TARGET}seed: 7
faults:
  - name: kill
    kind: pkill
    who: { ranks: random 1, not: 0 }
    when: { after: start, delay: uniform 100ms 300ms }
checks:
  - exit-code: 137
  - no-orphan
  - no-false-detection
  - failed-ranks: victims
`;

suite('finject run', (test) => {
  test('three repeats with a kill each: recorded, judged; replayed with the same schedule', withLab(async (lab) => {
    lab.file('kill.yaml', `${KILL}repeats: 3\n`);
    const run = await lab.run('finject', 'run', 'kill.yaml', '--output', 'first');
    said(run, 0);
    assert.match(run.out, /3 of 3 repeats; 3 passed\n/u);
    assert.match(run.err, /\[2\] {2}hello 2\n/u);
    assert.match(run.err, /fault 2\.kill\.1 pkill rank [123]: injected \(SIGKILL to rank [123]\)/u);
    const history = lab.history('first');
    assert.equal([history.isCutOff, history.problems], [false, []]);
    assert.equal(states(history).filter((state) => !/due|ordered/u.test(state)),
      ['1.kill.1 injected', '2.kill.1 injected', '3.kill.1 injected']);
    assert.equal(recordsOf(history, 'repeat-end').map(({ report, orphans }) => [report?.exitCode, orphans]),
      [[137, 0], [137, 0], [137, 0]]);
    assert.is(recordsOf(history, 'clock')[0]?.clocks.length, 2);
    assert.is(statSync(lab.path('first', 'history.jsonl')).mode & 0o777, 0o600);
    await lab.checkGone();

    const replay = await lab.run('finject', 'replay', 'first', '--output', 'second', '--quiet');
    said(replay, 0);
    assert.equal([replay.out, replay.err], ['', '']);
    assert.equal(lab.plans('second'), lab.plans('first'));
    const changed = ['--repeats', '1', '--seed', '8', '--json', '--output', 'third'];
    const other = await lab.run('finject', 'run', 'kill.yaml', ...changed);
    said(other, 0);
    const lines = other.out.trim().split('\n').map((line) => JSON.parse(line) as { type: string });
    assert.equal([lines[0]?.type, lines.at(-1)?.type], ['run', 'run-end']);
    assert.is(JSON.stringify(lab.plans('third')) === JSON.stringify(lab.plans('first').slice(0, 1)), false);
  }), LONG);

  test('the time limit ends a repeat, and is why it does not pass', withLab(async (lab) => {
    lab.file('e.yaml', 'name: e\ntarget: stcirun -n 1 --host a --launcher local sleep 30\ntime-limit: 2s\n');
    const run = await lab.run('finject', 'run', 'e.yaml', '--output', 'r');
    said(run, 204);
    assert.match(run.out, /hung .*no: The target was not over within the time limit, 2 s\. /u);
    assert.match(run.out, /record: r\nreport: r\/report\.html\n/u);
    assert.is(`${run.out}${run.err}`.includes('by itself'), false);
  }), LONG);

  test('a reader of --json that goes ends the run: told, recorded, nothing left', withLab(async (lab) => {
    lab.file('kill.yaml', `${KILL}repeats: 3\n`);
    const run = lab.start('finject', 'run', 'kill.yaml', '--json', '--output', 'r');
    run.child.stdout?.once('data', () => run.child.stdout?.destroy());
    const { exitCode, err } = await run.result;
    assert.equal([exitCode, err], [141, '']); // As SIGPIPE would, and as stcirun does.
    assert.is(recordsOf(lab.history('r'), 'run-end')[0]?.stopped, 'error');
    await lab.checkGone();
  }), LONG);

  test('the golden run has no faults; a check that fails is 204, and the table says which', withLab(async (lab) => {
    lab.file('kill.yaml', KILL);
    const probe = await lab.run('finject', 'probe', 'kill.yaml', '--output', 'golden');
    said(probe, 0);
    const golden = lab.history('golden');
    assert.equal([states(golden), recordsOf(golden, 'run')[0]?.isGolden], [[], true]);
    lab.file('wrong.yaml', KILL.replace('exit-code: 137', 'exit-code: 3'));
    const wrong = await lab.run('finject', 'run', 'wrong.yaml', '--output', 'wrong');
    said(wrong, 204);
    assert.match(wrong.out, /no: exit-code/u);
    assert.match(wrong.out, /^repeat 1: exit-code: .*137/mu);
    assert.match(wrong.out, /1 of 1 repeats; 0 passed/u);
    const quiet = await lab.run('finject', 'run', 'wrong.yaml', '--quiet', '--output', 'quiet');
    said(quiet, 204);
    assert.equal([quiet.out, quiet.err.replace(/ \S*quiet\//u, ' ')],
      ['', 'finject: 1 of 1 repeats; 1 did not pass. Report: report.html\n']);
  }), LONG);

  test('what is wrong is told at once, and nothing is started', withLab(async (lab) => {
    lab.file('bad.yaml', KILL.replace('pkill', 'pkil').replace('-n, 4', '-n, 0').replace('seed', 'sead'));
    const bad = await lab.run('finject', 'run', 'bad.yaml');
    said(bad, 193);
    assert.match(bad.err, /bad\.yaml:\d+:\d+: target: -n: expected an integer/u);
    assert.match(bad.err, /Did you mean seed\?/u);
    assert.match(bad.err, /Did you mean pkill\?/u);
    lab.file('kill.yaml', KILL);
    const taken = await lab.run('finject', 'run', 'kill.yaml', '--output', '.');
    said(taken, 193);
    assert.match(taken.err, 'exists and is not empty');
    said(await lab.run('finject', 'run', 'none.yaml'), 193);
    said(await lab.run('finject', 'run'), 193);
    assert.match((await lab.run('finject', 'run', 'kill.yaml', '--repeats', '0')).err, /--repeats/u);
    assert.equal(lab.processes(), []);
    lab.file('host.yaml', KILL.replace("'a:2,b:2', --launcher, local", "'nowhere.invalid:4', --launcher, ssh"));
    const host = await lab.run('finject', 'run', 'host.yaml', '--output', 'host');
    assert.is(host.exitCode, 197, host.err);
    assert.match(host.out, /no: not begun/u);
    assert.is(`${host.out}${host.err}`.split('did not come up').length - 1, 1, 'it is told once');
    assert.match(host.err, 'what to do: Correct the name');
    const failed = lab.history('host');
    assert.equal([failed.isCutOff, recordsOf(failed, 'run-end')[0]?.stopped], [false, 'error']);
  }), LONG);

  test('in a session that stays, and by hand: finject kill', withLab(async (lab) => {
    const start = await lab.run('stci', 'start', '--host', 'a:2,b:2', '--launcher', 'local', '--name', 'stay');
    said(start, 0);
    try {
      const options = "  options: [-n, 4, --on-failure, continue]\n  session: stay\n";
      lab.file('stay.yaml', KILL.replace(/ {2}options.*\n/u, options));
      const run = await lab.run('finject', 'run', 'stay.yaml', '--output', 'stay');
      said(run, 0);
      const job = lab.start('stcirun', '--session', 'stay', '-n', '4', '--on-failure', 'continue', '--', 'sleep', '30');
      await eventually(() => lab.processes().length > 8, { deadlineMs: 20_000, what: 'four ranks' });
      const paused = lab.start('finject', 'kill', 'stay.2', '--rank', '3', '--for', '60s');
      await eventually(() => lab.processes().some((one) => one.endsWith(' T')), { deadlineMs: 20_000, what: 'a stop' });
      paused.child.kill('SIGINT');
      said(await paused.result, 130);
      assert.is(lab.processes().some((one) => one.endsWith(' T')), false);
      const killed = await lab.run('finject', 'kill', 'stay.2', '--rank', '0-3');
      said(killed, 0);
      assert.match(killed.out, /^injected: SIGKILL to rank 0 \(session:0 on a\)$/mu);
      assert.is((await job.result).exitCode, 137);
      const gone = await lab.run('finject', 'kill', 'stay.2', '--rank', '1');
      said(gone, 204);
      for (const [args, expected] of [
        [['stay.2'], 'No victim is named'], [['stay.2', '--rank', 'x'], "'x' is no rank"],
        [['stay.2', '--rank', '1', '--kind', 'paus', '--for', '1s'], 'Did you mean pause?'],
        [['stay.2', '--rank', '1', '--arg', 'signl=9'], 'Did you mean signal?'],
        [['stay.2', '--rank', '2-9'], '--rank: the job has no rank 4: expected 0..3.'],
        [['stay.2', '--host', 'c'], "host c is not one of the session's"],
        [['stay.9', '--rank', '1'], 'There is no job stay.9.'],
        [['stay.2', '--rank', '1', '--for', '30h'], "--for: expected at most 24h, got '30h'"],
        [[], 'finject kill night.3 --rank 0.'],
      ] as const) {
        const wrong = await lab.run('finject', 'kill', ...args);
        assert.match(wrong.err, expected);
      }
    } finally {
      said(await lab.run('stci', 'stop', 'stay'), 0);
    }
  }), LONG);
});
