/** `--each`: a program on each host by itself, by a client in place of ssh that refuses or is slow. */
// @timeoutMs 180000
// @sameFor user, node: core runs each job; what a client in place of ssh does is ssh-fake's.

import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { assert, eventually, suite } from '@stci/testkit';
import { eachExitCode, eachSummary, type EachOutcome } from '../dist/run/each.js';
import { run, sh, start, type Run, type RunOptions } from './e2e.js';

const CLIENT = fileURLToPath(new URL('../test/fake-ssh.sh', import.meta.url));
const SSH = ['--launcher', 'ssh', '--mca', `launcher.ssh.client=${CLIENT}`];
const LONG = { timeoutMs: 60_000 };
const sorted = (text: string): string[] => text.split('\n').filter((line) => line !== '').sort();

suite('--each', (test) => {
  let directory = '';
  test.before(() => { directory = mkdtempSync(join(tmpdir(), 'stci-each-')); });
  test.after(() => rmSync(directory, { recursive: true, force: true }));

  const begin = (words: string, program: readonly string[], options: RunOptions = {}): Run => {
    const env = { XDG_CACHE_HOME: directory, FAKE_SSH_DIR: directory, ...options.env };
    return start([...SSH, '--each', ...words.split(' '), ...program], { limitMs: 40_000, ...options, env });
  };
  const each = (words: string, ...program: readonly string[]) => begin(words, program).result;

  test('goes on whatever fails: output by host, each failure with its reason, a summary, an exit code', async () => {
    const line = sh('echo out of $STCI_HOST; case $STCI_HOST in b) exit 3;; c) kill -9 $$;; esac');
    const { exitCode, out, err } = await each('--host a,dead1,b,c,dead2,d,e', ...line);
    assert.is(exitCode, 197, err);
    assert.equal(sorted(out), ['a', 'b', 'c', 'd', 'e'].map((host) => `[${host}] out of ${host}`));
    assert.match(err, /^stcirun: b: exit code 3$/mu);
    assert.match(err, /^stcirun: c: exit code 137$/mu);
    const missing = await each('--host a,b', './nope');
    assert.is(missing.exitCode, 196);
    assert.match(missing.err, /^stcirun: a: exit code 196: Program '\.\/nope' not found/mu);
    assert.match(err, /^stcirun: dead1: not reached: [^]*Connection refused/mu);
    const summary = err.slice(err.indexOf('stcirun: 3 of 7 hosts ok\n')).split('\n').slice(0, -1).sort();
    assert.equal(summary, ['stcirun: 3 of 7 hosts ok', 'stcirun: exit code 137: c (1)', 'stcirun: exit code 3: b (1)',
      'stcirun: not reached: dead[1-2] (2)']);
  }, LONG);

  test('begins on a host as it comes up: one that is slow holds up no other, one too slow is given up', async () => {
    const job = begin('--host slow1,a,b', sh('echo $STCI_HOST'));
    await eventually(() => sorted(job.out()).length === 2, { deadlineMs: 20_000, what: 'the others' });
    assert.equal(sorted(job.out()), ['[a] a', '[b] b']);
    const { exitCode, out, err } = await job.result;
    assert.equal([exitCode, sorted(out).length, err], [0, 3, 'stcirun: 3 hosts: all ok\n']);
    const line = 'echo $STCI_HOST; [ $STCI_HOST = slow2 ] || exit 0';
    const late = await each('--host slow2,a --hosttimeout 1s', ...sh(line));
    assert.is(late.exitCode, 198, late.err);
    assert.equal(sorted(late.out), ['[a] a']);
    assert.match(late.err, /^stcirun: slow2: not reached: Job was not running 1 s after it was submitted/mu);
    const long = await each('--host a,b --hosttimeout 2s', ...sh('[ $STCI_HOST = b ] || exec sleep 60'));
    assert.equal([long.exitCode, /^stcirun: not done in time: a \(1\)$/mu.test(long.err)], [199, true], long.err);
  }, LONG);

  test('--fanout: so many hosts at a time', async () => {
    const place = mkdtempSync(join(directory, 'fanout-'));
    const line = `touch ${place}/$STCI_HOST; ls ${place} | wc -l; sleep 0.3; rm ${place}/$STCI_HOST`;
    const { exitCode, out, err } = await each('--host h[1-7] --fanout 2 --tag=none', ...sh(line));
    assert.is(exitCode, 0, err);
    assert.ok(sorted(out).every((count) => Number(count) <= 2), out);
    assert.equal(readdirSync(place), []);
  }, LONG);

  test('--ppn, --output, --gather, --json and --quiet as for any job', async () => {
    const two = await each('--host a,b --ppn 2 --tag=full --quiet', ...sh('echo $STCI_RANK of $STCI_SIZE'));
    assert.equal([two.exitCode, two.err], [0, '']);
    assert.equal(sorted(two.out),
      ['[a:0:stdout] 0 of 2', '[a:1:stdout] 1 of 2', '[b:0:stdout] 0 of 2', '[b:1:stdout] 1 of 2']);
    const files = await each(`--host a,b --quiet --output ${directory}/%h.out`, ...sh('echo in $STCI_HOST'));
    assert.equal([files.exitCode, files.out], [0, '']);
    assert.equal(['a', 'b'].map((host) => readFileSync(join(directory, `${host}.out`), 'utf8')), ['in a\n', 'in b\n']);
    const gathered = await each('--host a,b,c --quiet --gather', 'echo', 'same');
    assert.is(gathered.out.split('\n').filter((line) => line === 'same').length, 1, gathered.out);
    assert.match(gathered.out, /^rank 0 on a,b,c$/mu);
    const { out } = await each('--host a,dead3 --quiet --json', 'echo', 'x');
    const objects = out.trim().split('\n').map((line) => JSON.parse(line) as Record<string, unknown>);
    const ends = objects.filter(({ type }) => type === 'host-ended')
      .map(({ host, what, exitCode }) => [host, what, exitCode]);
    assert.equal(ends.sort(), [['a', 'ok', 0], ['dead3', 'unreached', 197]]);
    const pair = await each('--host a,b --ppn 2 --quiet --json', ...sh('echo $STCI_RANK'));
    const lines = pair.out.trim().split('\n').map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter(({ type }) => type === 'output').map(({ host, rank, line }) => `${host} ${rank} ${line}`);
    assert.equal(lines.sort(), ['a 0 0', 'a 1 1', 'b 0 0', 'b 1 1']);
  }, LONG);

  test('Ctrl-C ends what runs and begins no more; nothing is left', async () => {
    const job = begin('--host h[1-6] --fanout 2', sh('echo up; exec sleep 1000'));
    await eventually(() => sorted(job.out()).length === 2, { deadlineMs: 20_000, what: 'two hosts' });
    job.child.kill('SIGINT');
    const { exitCode, err } = await job.result;
    assert.is(exitCode, 130, err);
    assert.match(err, /^stcirun: not begun: h\[3-6\] \(4\)$/mu);
    await eventually(() => job.leftovers().length === 0, { deadlineMs: 20_000, what: 'nothing left' });
  }, LONG);

  test('what is of one job over all hosts is refused', async () => {
    for (const [words, says] of [
      ['--each -n 2 true', '--each and -n/--np cannot be combined: with --each every host has a job of its own'],
      ['--each --session x true', '--each and --session cannot be combined'],
      ['--each --stdin 0 cat', '--each and --stdin cannot be combined: its programs have no input'],
      ['--fanout 3 true', '--fanout is for --each: give that as well'],
      ['--each true : false', '--each runs one program, and several are given'],
    ] as const) {
      const { exitCode, err } = await run(['--host', 'a', ...words.split(' ')]);
      assert.equal([exitCode, err.includes(says)], [193, true], err);
    }
  }, LONG);

  test('the summary groups hosts by what became of them', () => {
    const of = (host: string, what: EachOutcome['what'], exitCode: number): EachOutcome =>
      ({ host, what, exitCode, text: '' });
    const outcomes = [
      of('n2', 'failed', 1), of('n1', 'ok', 0), of('n3', 'failed', 1), of('n9', 'lost', 200), of('n4', 'failed', 2),
      of('n5', 'timed-out', 199), of('n6', 'not-started', 197),
    ];
    assert.equal(eachSummary(outcomes), ['1 of 7 hosts ok', 'exit code 1: n[2-3] (2)', 'lost: n9 (1)',
      'exit code 2: n4 (1)', 'not done in time: n5 (1)', 'not begun: n6 (1)']);
    assert.equal([eachExitCode(outcomes), eachExitCode([])], [200, 0]);
    assert.equal(eachSummary([of('a', 'ok', 0)]), ['1 host: all ok']);
  });
});
