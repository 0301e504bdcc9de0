/** The built stcirun: ranks that failed are started again, by the agents that run them. */
// @sameFor user, node: core decides; processes and their ends are e2e-run's.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { assert, eventually, suite } from '@stci/testkit';
import { run, sh, start } from './e2e.js';

const SOON = ['--mca', 'errmgr.restart.pause=10ms'];
const LATE = ['--mca', 'errmgr.restart.pause=60s'];
const HOSTS = ['--launcher', 'local', '--host', 'a,b'];

interface Rank {
  readonly rank: number;
  readonly host: string;
  readonly outcome: string;
  readonly status?: number;
  readonly earlier?: readonly Rank[];
}

/** The ranks of an exit report, which follows other messages. */
function ranksOf(err: string): readonly Rank[] {
  return (JSON.parse(err.slice(err.indexOf('{\n'))) as { ranks: readonly Rank[] }).ranks;
}

suite('stcirun --on-failure restart', (test) => {
  test('a number for a policy that takes none is refused by that name', async () => {
    for (const policy of ['continue:3', 'tool=restart:2,host=continue:3']) {
      const { exitCode, err } = await run(['--dry-run', '--on-failure', policy, 'true']);
      assert.is(exitCode, 193);
      assert.is(err, `stcirun: --on-failure ${policy}: policy continue takes no number. Write continue alone.\n`);
    }
  }, { timeoutMs: 20_000 });

  test('a rank that failed is started again; its last attempt counts, all output is there in order', async () => {
    const line = 'echo "$STCI_RANK: $STCI_ATTEMPT"; printf begun; '
      + '[ $STCI_RANK$STCI_ATTEMPT -gt 12 ] || [ $STCI_RANK = 0 ]';
    const { exitCode, out, err } = await run([...HOSTS, '-n', '2', '--tag', '--on-failure', 'restart:3', ...SOON,
      '--exit-report', 'json', ...sh(line)]);
    assert.is(exitCode, 0, err);
    const ofOne = out.split('\n').filter((each) => each.startsWith('[1]'));
    assert.equal(ofOne, ['[1] 1: 1', '[1] begun', '[1] 1: 2', '[1] begun', '[1] 1: 3', '[1] begun']);
    assert.match(err, 'rank 1 on b: exited, status 1; started again in 10 ms, attempt 2');
    const [first, second] = ranksOf(err);
    assert.equal([first?.earlier, second?.outcome, second?.status], [undefined, 'exited', 0]);
    assert.equal(second?.earlier?.map(({ outcome, status }) => [outcome, status]), [['exited', 1], ['exited', 1]]);
  }, { timeoutMs: 20_000 });

  test('so often and no more: then the job ends with the last status, or goes on', async () => {
    const args = ['-n', '2', '--on-failure', 'tool=restart:2', ...SOON];
    const ended = await run([...args, ...sh('test $STCI_RANK = 0 || exit $STCI_ATTEMPT')]);
    assert.is(ended.exitCode, 3, ended.err);
    assert.match(ended.err, 'Rank 1 on');
    const more = ['--mca', 'errmgr.restart.then=continue', '-n', '2', '--on-failure', 'restart:1', ...SOON];
    const rest = await run([...more, ...sh('test $STCI_RANK = 1 && exit 4; sleep 0.3; echo done')]);
    assert.equal([rest.exitCode, rest.out], [4, 'done\n'], rest.err);
  }, { timeoutMs: 20_000 });

  test('a killed rank is started again, with the rest of the input; a program that does not exist is not', async () => {
    const line = 'read word; echo $word; [ $STCI_ATTEMPT = 2 ] || kill -9 $$';
    const job = start(['-n', '1', '--on-failure', 'restart', ...SOON, ...sh(line)], { input: 'open' });
    job.child.stdin?.write('one\n');
    await eventually(() => job.err().includes('attempt 2'), { deadlineMs: 10_000, what: 'the second attempt' });
    job.child.stdin?.end('two\n');
    const { exitCode, out, err } = await job.result;
    assert.equal([exitCode, out], [0, 'one\ntwo\n'], err);
    const missing = await run(['--on-failure', 'restart', '-n', '1', 'no-such-program-here']);
    assert.is(missing.exitCode, 196);
    assert.not.match(missing.err, 'started again');
  }, { timeoutMs: 20_000 });

  test('a rank that waits for its next attempt is not started when the job ends', async () => {
    const line = 'echo $STCI_ATTEMPT; [ $STCI_RANK = 0 ] || exit 5; sleep 60';
    const over = await run(['-n', '2', '--on-failure', 'restart', ...LATE, '--timeout', '3s', ...sh(line)]);
    // The failure of its attempt came first, and nothing has made up for it.
    assert.equal([over.exitCode, over.out], [5, '1\n1\n'], over.err);
    const job = start(['-n', '2', '--on-failure', 'restart', ...LATE, ...sh(line)]);
    await eventually(() => job.err().includes('attempt 2'), { deadlineMs: 10_000, what: 'the wait' });
    job.child.kill('SIGINT');
    const { exitCode, out } = await job.result;
    assert.equal([exitCode, out], [5, '1\n1\n']);
  }, { timeoutMs: 20_000 });

  test('what an attempt left behind has ended before the next begins', async () => {
    const line = 'sh -c \'trap "" TERM; while :; do echo left; sleep 0.05; done\' & '
      + 'sleep 0.2; echo $STCI_ATTEMPT; [ $STCI_ATTEMPT = 2 ] && kill -9 $!';
    const args = ['-n', '1', '--on-failure', 'restart', ...SOON, '--mca', 'tool.grace=200ms'];
    const { exitCode, out, err } = await run([...args, '--exit-report', 'json', ...sh(line)]);
    assert.is(exitCode, 0, err);
    const words = out.split('\n').filter((word) => word !== '');
    assert.equal(words.filter((word) => word !== 'left'), ['1', '2']);
    assert.match(err, /ended \d process(?:es)? that ranks had left behind/);
  }, { timeoutMs: 20_000 });
});

/** Says where it runs; rank 1's first attempt begins a line and kills the agent above it. */
const KILLS = 'echo "$STCI_RANK on $STCI_HOST"; if [ $STCI_RANK$STCI_ATTEMPT = 11 ]; then read go; printf begun; '
  + 'sleep 0.2; kill -9 $PPID; sleep 60; fi; ';

suite('stcirun --on-failure restart, a host on which every attempt fails', (test) => {
  const args = ['--launcher', 'local', '--on-failure', 'restart:4', ...SOON, '--tag=full', '--exit-report', 'json'];
  let place = '';
  test.before(() => { place = mkdtempSync(join(tmpdir(), 'stci-restart-')); });
  test.after(() => rmSync(place, { recursive: true }));

  test('after two quick failures a rank goes to another host with a free slot, with its input and output', async () => {
    const line = 'read x; echo attempt $STCI_ATTEMPT on $STCI_HOST got $x; [ $STCI_HOST != a ]';
    const { exitCode, out, err } = await run([...args, '--host', 'a:1,b:1', '-n', '1', ...sh(line)],
      { input: 'one\ntwo\nthree\n' });
    assert.is(exitCode, 0, err);
    assert.equal(out.split('\n').map((each) => each.replace(/ got.*/u, '')).filter((each) => each !== ''), [
      '[a:0:stdout] attempt 1 on a', '[a:0:stdout] attempt 2 on a', '[b:0:stdout] attempt 3 on b',
    ]);
    const [rank] = ranksOf(err);
    assert.equal([rank?.host, rank?.earlier?.map(({ host }) => host)], ['b', ['a', 'a']]);
  }, { timeoutMs: 30_000 });

  test('without room elsewhere it stays, as with errmgr.elsewhere=0; a host that three leave is named', async () => {
    const line = '[ $STCI_ATTEMPT = 4 ] && echo done on $STCI_HOST; [ $STCI_ATTEMPT = 4 ]';
    // None ends before both are there: its slot would be free.
    const both = '[ $STCI_ATTEMPT = 4 ] && touch $STCI_RANK && until [ -e 0 ] && [ -e 1 ]; do sleep 0.05; done; ';
    const full = await run([...args, '--host', 'a:1,b:1', '-n', '2', ...sh(both + line)], { cwd: place });
    assert.equal([full.exitCode, full.out.split('\n').sort().slice(1)],
      [0, ['[a:0:stdout] done on a', '[b:1:stdout] done on b']], full.err);
    const stays = await run([...args, '--host', 'a:1,b:1', '-n', '1', '--mca', 'errmgr.elsewhere=0', ...sh(line)]);
    assert.equal([stays.exitCode, stays.out], [0, '[a:0:stdout] done on a\n'], stays.err);
    const many = await run([...args, '--host', 'a:3,b:3', '-n', '3', ...sh('[ $STCI_HOST != a ]')]);
    assert.is(many.exitCode, 0, many.err);
    assert.match(many.err, /host a is set aside: ranks 0-2 failed there soon after each start \(errmgr\.aside\)/u);
  }, { timeoutMs: 60_000 });
});

suite('stcirun --on-failure restart, agents that are lost', (test) => {
  const args = (hosts: string, ...more: string[]): string[] =>
    ['--launcher', 'local', '--host', hosts, '-n', '2', '--on-failure', 'restart:2', ...SOON, '--tag', ...more];

  test('a lost host: its rank starts on a host that had none, with the rest of its input', async () => {
    const place = mkdtempSync(join(tmpdir(), 'stci-restart-'));
    const done = join(place, 'done');
    const job = start([...args('a:1,b:1,c:1', '--stdin', '1', '--exit-report', 'json'),
      ...sh(`${KILLS}[ $STCI_RANK = 1 ] && exec cat; until [ -e ${done} ]; do sleep 0.1; done`)], { input: 'open' });
    job.child.stdin?.write('go\n');
    await eventually(() => job.out().includes('1 on c'), { deadlineMs: 15_000, what: 'the second attempt' });
    job.child.stdin?.end('rest\n');
    writeFileSync(done, '');
    const { exitCode, out, err } = await job.result;
    rmSync(place, { recursive: true });
    assert.is(exitCode, 0, err);
    assert.equal(out.split('\n').filter((line) => line.startsWith('[1]')),
      ['[1] 1 on b', '[1] begun', '[1] 1 on c', '[1] rest']);
    const [, second] = ranksOf(err);
    assert.equal([second?.host, second?.earlier?.map(({ outcome }) => outcome)], ['c', ['lost']]);
  }, { timeoutMs: 30_000 });

  test('a lost session agent is replaced on its host', async () => {
    const { exitCode, out, err } = await run([...args('a,b', '--mca', 'launcher.session.method=process'),
      '--exit-report', 'json', ...sh(`${KILLS}exit 0`)], { input: 'go\n' });
    assert.is(exitCode, 0, err);
    assert.equal(out.split('\n').filter((line) => line.startsWith('[1]')), ['[1] 1 on b', '[1] begun', '[1] 1 on b']);
    assert.match(err, 'rank 1 on b: lost; started again in 500 ms, attempt 2');
    assert.match(err, 'restart: its root agent starts another');
    assert.match(err, 'restart: its ranks are started again');
  }, { timeoutMs: 30_000 });

  test('what is left of a session agent whose guardian hangs has ended before the next attempt begins', async () => {
    const place = mkdtempSync(join(tmpdir(), 'stci-restart-'));
    const hang = `for c in $(cat /proc/$PPID/task/*/children); do [ $c = $$ ] || { kill -STOP $c; echo $c; }; done`;
    const line = `if [ $STCI_RANK$STCI_ATTEMPT = 11 ]; then echo $$ >${place}/first; ${hang} >${place}/guardian; `
      + `kill -9 $PPID; exec sleep 60; fi; [ $STCI_RANK = 0 ] || { read first <${place}/first; `
      + "grep -q '^State:.[RSD]' /proc/$first/status 2>/dev/null && echo overlap; "
      + `kill -CONT $(cat ${place}/guardian); }`;
    const { exitCode, out, err } = await run([...args('a,b', '--mca', 'launcher.session.method=process'), ...sh(line)]);
    const guardians = readFileSync(join(place, 'guardian'), 'utf8');
    rmSync(place, { recursive: true });
    assert.equal([exitCode, out], [0, ''], err);
    assert.match(guardians, /^\d+\n$/);
  }, { timeoutMs: 30_000 });

  test('a spare that takes the place of a lost host gets its ranks', async () => {
    const place = mkdtempSync(join(tmpdir(), 'stci-restart-'));
    // Rank 0 stays until rank 1 is back, so that its slot is taken.
    const wait =
      `if [ $STCI_RANK = 1 ]; then : >${place}/done; else until [ -e ${place}/done ]; do sleep 0.1; done; fi`;
    const { exitCode, out, err } = await run([...args('a:1,b:1,c:1', '--spares', '1', '--exit-report', 'json'),
      ...sh(KILLS + wait)]);
    rmSync(place, { recursive: true });
    assert.is(exitCode, 0, err);
    assert.equal(out.split('\n').filter((line) => line.startsWith('[1]')), ['[1] 1 on b', '[1] begun', '[1] 1 on c']);
    const [, second] = ranksOf(err);
    assert.equal([second?.host, second?.earlier?.map(({ host }) => host)], ['c', ['b']]);
  }, { timeoutMs: 30_000 });

  test('without room the loss counts; a host that is started again is waited for', async () => {
    const full = await run([...args('a:1,b:1'), ...sh(`${KILLS}sleep 60`)]);
    assert.is(full.exitCode, 200, full.err);
    assert.match(full.err, 'Agent root:1 on host b is lost');
    // Rank 0 stays until rank 1 is back, so that its slot is taken.
    const again = start([...args('a:1,b:1', '--stdin', '0', '--mca', 'errmgr.loss=start-again'),
      ...sh(`${KILLS}[ $STCI_RANK = 1 ] || read end`)], { input: 'open' });
    const onB = (): number => again.out().split('\n').filter((line) => line === '[1] 1 on b').length;
    await eventually(() => onB() === 2, { deadlineMs: 15_000, what: 'the second attempt' });
    again.child.stdin?.end('end\n');
    const { exitCode, err } = await again.result;
    assert.is(exitCode, 0, err);
  }, { timeoutMs: 30_000 });

  test('of lost hosts and failed programs together each rank has so many starts and no more', async () => {
    const line = `${KILLS}[ $STCI_RANK = 0 ] || exit 6`;
    const { exitCode, out, err } = await run([...args('a,b,c'), ...sh(line)]);
    assert.is(exitCode, 6, err);
    assert.is(out.split('\n').filter((each) => each.startsWith('[1] 1 on')).length, 3, out);
  }, { timeoutMs: 30_000 });
});
