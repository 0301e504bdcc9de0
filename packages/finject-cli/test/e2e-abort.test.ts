/** Runs that are ended from outside at any moment: nothing is left, nothing stays stopped, the record is readable. */
// @timeoutMs 900000

import { assert, eventually, suite } from '@stci/testkit';
import { LONG, recordsOf, said, withLab, type Lab, type Started } from './e2e-finject.js';

const PAUSE = `name: pause
target:
  options: [-n, 4, --host, 'a:2,b:2', --launcher, local]
  program: [sleep, '60']
repeats: 5
faults:
  - name: stop
    kind: pause
    who: { ranks: all }
    when: { after: start, delay: 50ms }
    duration: 50s
`;

async function paused(lab: Lab, output: string): Promise<Started> {
  lab.file('pause.yaml', PAUSE);
  const run = lab.start('finject', 'run', 'pause.yaml', '--output', output);
  await eventually(() => lab.processes().filter((one) => one.endsWith(' T')).length === 4,
    { deadlineMs: 30_000, what: 'four ranks that are stopped' });
  return run;
}

/** Whole or cut off, but readable. */
function checkHistory(lab: Lab, run: string, isCutOff: boolean): void {
  const history = lab.history(run);
  assert.is(history.isCutOff, isCutOff);
  assert.equal(history.problems?.filter((problem) => !problem.includes('cut off')), []);
}

suite('finject is ended', (test) => {
  test('by abort from another terminal, which waits, and can be repeated', withLab(async (lab) => {
    const run = await paused(lab, 'out');
    const abort = await lab.run('finject', 'abort', 'out');
    said(abort, 0);
    assert.match(abort.out, /out: aborted, after 1 of 5 repeats\n$/u);
    assert.equal(lab.processes(), []);
    said(await run.result, 143);
    checkHistory(lab, 'out', false);
    assert.is(recordsOf(lab.history('out'), 'repeat-end')[0]?.stopped, 'abort');
    const again = await lab.run('finject', 'abort', 'out');
    said(again, 0);
    assert.match(again.out, 'was not running');
  }), LONG);

  test('by abort without a name: one run only, unless all are meant', withLab(async (lab) => {
    const one = await paused(lab, 'one');
    const other = lab.start('finject', 'run', 'pause.yaml', '--output', 'other');
    await eventually(() => lab.hasHistory('other'), { deadlineMs: 30_000, what: 'another run' });
    const which = await lab.run('finject', 'abort');
    said(which, 193);
    assert.match(which.err,
      /^finject: 2 runs go on\. Name those to end, or give --all:\n(?: {2}\S+\/(?:one|other)\n){2}$/u);
    said(await lab.run('finject', 'abort', '--all', 'one'), 193);
    said(await lab.run('finject', 'abort', 'other'), 0);
    said(await other.result, 143);
    const abort = await lab.run('finject', 'abort');
    said(abort, 0);
    assert.match(abort.out, /one: aborted/u);
    said(await one.result, 143);
    assert.equal(lab.processes(), []);

    const more = [await paused(lab, 'more'), lab.start('finject', 'run', 'pause.yaml', '--output', 'most')];
    await eventually(() => lab.hasHistory('most'), { deadlineMs: 30_000, what: 'another run' });
    said(await lab.run('finject', 'abort', '--all'), 0);
    for (const { result } of more) said(await result, 143);
    assert.equal(lab.processes(), []);
    const none = await lab.run('finject', 'abort', '--all');
    assert.equal([none.exitCode, none.out], [0, 'no run goes on\n']);
  }), LONG);

  test('by Ctrl-C once, and twice', withLab(async (lab) => {
    const once = await paused(lab, 'once');
    once.child.kill('SIGINT');
    said(await once.result, 130);
    assert.equal(lab.processes(), []);
    checkHistory(lab, 'once', false);
    assert.is(recordsOf(lab.history('once'), 'run-end')[0]?.stopped, 'signal');
    const twice = await paused(lab, 'twice');
    twice.child.kill('SIGINT');
    await eventually(() => twice.err().includes('once more: faster'), { deadlineMs: 20_000, what: 'the first one' });
    twice.child.kill('SIGINT');
    said(await twice.result, 130);
    await lab.checkGone();
    checkHistory(lab, 'twice', false);
  }), LONG);

  test('by SIGKILL: its session undoes everything and ends; abort waits for that', withLab(async (lab) => {
    const run = await paused(lab, 'out');
    run.child.kill('SIGKILL');
    await run.result;
    const abort = await lab.run('finject', 'abort', 'out');
    said(abort, 0);
    assert.match(abort.out, 'nothing of it is left');
    assert.equal(lab.processes(), []);
    checkHistory(lab, 'out', true);
  }), LONG);

  test('by SIGKILL while the command of a check runs: it ends too, with all of its group', withLab(async (lab) => {
    const command = "{ command: \"sh -c 'setsid sleep 301 & sleep 302 & sleep 303'\", phase: before, timeout: 5m }";
    lab.file('check.yaml', `${PAUSE}checks: [${command}]\n`);
    const run = lab.start('finject', 'run', 'check.yaml', '--output', 'out');
    const isThere = (seconds: number): boolean => lab.commands().includes(`sleep ${seconds}`);
    await eventually(() => [301, 302, 303].every(isThere), { deadlineMs: 30_000, what: 'the command' });
    run.child.kill('SIGKILL');
    await run.result;
    await lab.checkGone();
  }), LONG);

  test('at random moments, by each of these', withLab(async (lab) => {
    lab.file('pause.yaml', PAUSE);
    for (let round = 0; round < 9; round += 1) {
      const output = `round${round}`;
      const run = lab.start('finject', 'run', 'pause.yaml', '--output', output);
      const signal = (['SIGKILL', 'SIGINT', 'SIGTERM'] as const)[round % 3] as NodeJS.Signals;
      const momentMs = Math.random() * 1200;
      // eslint-disable-next-line no-restricted-syntax -- a signal at any moment
      await new Promise((resolve) => setTimeout(resolve, momentMs));
      run.child.kill(signal);
      const { err } = await run.result;
      await lab.checkGone().catch((thrown: Error) => {
        throw new Error(`${signal} after ${momentMs} ms: ${thrown.message}: ${lab.processes().join()}\n${err}`);
      });
      if (lab.hasHistory(output)) checkHistory(lab, output, signal === 'SIGKILL');
    }
  }), LONG);
});
