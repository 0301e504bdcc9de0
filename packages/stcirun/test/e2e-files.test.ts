/** The built stcirun, end to end: output in files. */
// @timeoutMs 180000

import { execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  mkdtempSync, openSync, readdirSync, readFileSync, readlinkSync, rmSync, symlinkSync, writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { assert, eventually, suite } from '@stci/testkit';
import { PROGRAM, run, sh, start } from './e2e.js';

const TWO = ['--launcher', 'local', '--host', 'a,b'];

/** The shell opens its end with ours: opened for writing too, the pipe has a reader in any order. */
function hasOpened(pid: number | undefined, name: string): boolean {
  return readdirSync(`/proc/${pid}/fd`).some((fd) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${fd}`).endsWith(`/${name}`);
    } catch {
      return false; // It is closed meanwhile.
    }
  });
}

suite('stcirun, files', (test) => {
  let directory = '';
  test.beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'stci-output-'));
  });
  test.afterEach(() => rmSync(directory, { recursive: true, force: true }));
  const read = (name: string): string => readFileSync(join(directory, name), 'utf8');

  test('a file for each rank and stream, empty ones too; nothing on the screen', async () => {
    const line = 'echo out $STCI_RANK; [ $STCI_RANK = 0 ] || echo err >&2';
    const result = await run([...TWO, '--output', 'o/%h/%3r.%s', ...sh(line)], { cwd: directory });
    assert.is(result.exitCode, 0, result.err);
    assert.is(result.out, '');
    assert.is(read('o/a/000.stdout'), 'out 0\n');
    assert.is(read('o/a/000.stderr'), '');
    assert.is(read('o/b/001.stderr'), 'err\n');
  });

  test('files are emptied at the start, and named by process', async () => {
    for (const text of ['a long text', 'short']) {
      assert.is((await run(['-n', '1', '--output', 'f', 'echo', text], { cwd: directory })).exitCode, 0);
    }
    assert.is(read('f'), 'short\n');
    await run(['-n', '2', '--output', 'p/%p', ...sh('echo $$')], { cwd: directory });
    for (const name of readdirSync(join(directory, 'p'))) assert.is(read(`p/${name}`), `${name}\n`);
  });

  test('--tee: the files, and the screen as without them', async () => {
    const line = 'echo out $STCI_RANK; echo err $STCI_RANK >&2; head -c 300000 /dev/zero | tr "\\0" x; echo';
    const { exitCode, out, err } = await run([...TWO, '--output', 't/%r.%s', '--tee', '--tag', ...sh(line)],
      { cwd: directory });
    assert.is(exitCode, 0, err);
    const long = 'x'.repeat(300_000);
    assert.equal(out.split('\n').sort(), ['', `[0] ${long}`, '[0] out 0', `[1] ${long}`, '[1] out 1'].sort());
    assert.equal(err.trim().split('\n').sort(), ['[0] err 0', '[1] err 1']);
    const read = (name: string): string => readFileSync(join(directory, 't', name), 'utf8');
    for (const rank of [0, 1]) {
      assert.is(read(`${rank}.stdout`), `[${rank}] out ${rank}\n[${rank}] ${long}\n`);
      assert.is(read(`${rank}.stderr`), `[${rank}] err ${rank}\n`);
    }
    const alone = await run(['-n', '1', '--tee', 'true']);
    assert.equal([alone.exitCode, alone.err.includes('--tee shows what --output writes')], [193, true]);
  });

  test('ranks and streams of one name are merged line by line', async () => {
    const body = 'printf a$STCI_RANK; printf "b\\n"; printf c$STCI_RANK >&2; echo d >&2';
    const line = `for i in 1 2 3 4 5 6 7 8 9; do ${body}; done`;
    await run(['-n', '4', '--output', 'all', ...sh(line)], { cwd: directory });
    const lines = read('all').trimEnd().split('\n');
    assert.is(lines.length, 72);
    for (const one of lines) assert.match(one, /^(?:a\db|c\dd)$/u);
  });

  test('more files than may be open: each is whole, and closed when its rank has ended', async () => {
    const line = 'i=0; while [ $i -lt 5 ]; do echo $STCI_RANK $i; echo e$i >&2; i=$((i+1)); done';
    const limited = `ulimit -n 256; exec "${process.execPath}" "${PROGRAM}" -n 160 --output 'o/%r.%s' sh -c '${line}'`;
    const { status, stderr } = spawnSync('sh', ['-c', limited], { cwd: directory, encoding: 'utf8' });
    assert.is(status, 0, stderr);
    for (let rank = 0; rank < 160; rank += 1) {
      assert.is(read(`o/${rank}.stdout`), [0, 1, 2, 3, 4].map((i) => `${rank} ${i}\n`).join(''));
      assert.is(read(`o/${rank}.stderr`), 'e0\ne1\ne2\ne3\ne4\n');
    }
  }, { timeoutMs: 40_000 });

  test('a named pipe without a reader is refused, with one it is written; the loop goes on', async () => {
    execFileSync('mkfifo', [join(directory, 'p')]);
    const refused = await run(['-n', '1', '--output', 'p', 'echo', 'x'], { cwd: directory });
    assert.is(refused.exitCode, 202);
    assert.match(refused.err, 'a pipe that no program reads');
    // A reader that does not read for longer than a lease: the job goes on when it does.
    const reader = spawn('sh', ['-c', 'exec 3<>p 4<p 3>&-; read go; cat <&4 | wc -c'], { cwd: directory });
    let count = '';
    reader.stdout.on('data', (chunk: Buffer) => (count += chunk.toString()));
    const args = ['--mca', 'bootcom.lease=1s', '-n', '2', '--output', 'p', ...sh('yes | head -c 1000000')];
    await eventually(() => hasOpened(reader.pid, 'p'), { deadlineMs: 10_000, what: 'a reader' });
    const job = start(args, { cwd: directory, limitMs: 30_000 });
    // Before, its reader would find no writer, which is the end.
    await eventually(() => hasOpened(job.child.pid, 'p'), { deadlineMs: 20_000, what: 'the pipe' });
    // eslint-disable-next-line no-restricted-syntax -- three leases pass while nobody reads
    await new Promise((resolve) => setTimeout(resolve, 3000));
    reader.stdin.end('go\n');
    const { exitCode, err } = await job.result;
    assert.is(exitCode, 0, err);
    await eventually(() => count !== '', { deadlineMs: 10_000, what: 'the count' });
    assert.is(Number(count), 2_000_000);
  }, { timeoutMs: 40_000 });

  test('an exit report into a pipe without a reader is refused before the job starts', async () => {
    execFileSync('mkfifo', [join(directory, 'report')]);
    const refused = await run(['-n', '1', '--exit-report=json:report', 'echo', 'x'], { cwd: directory });
    assert.is(refused.exitCode, 202);
    assert.is(refused.out, '');
    assert.match(refused.err, 'a pipe that no program reads');
    const reader = spawn('sh', ['-c', 'exec 3<>report 4<report 3>&-; read go; exec cat <&4'], { cwd: directory });
    let text = '';
    reader.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()));
    await eventually(() => hasOpened(reader.pid, 'report'), { deadlineMs: 5000, what: 'a reader' });
    assert.is((await run(['-n', '1', '--exit-report=json:report', 'true'], { cwd: directory })).exitCode, 0);
    reader.stdin.end('go\n');
    await new Promise((resolve) => reader.on('close', resolve));
    assert.is(JSON.parse(text).exitCode, 0);
  }, { timeoutMs: 20_000 });

  test('a file of events that cannot be one is refused before the job starts; a link is followed', async () => {
    execFileSync('mkfifo', [join(directory, 'unread')]);
    symlinkSync('events', join(directory, 'link'));
    const refusals = [
      ['.', 'it is a directory'], ['unread', 'a pipe that no program reads'],
      ['/proc/events', 'a directory of its path does not exist'], ['h/x', 'a part of the path is no directory'],
    ] as const;
    writeFileSync(join(directory, 'h'), '');
    for (const [file, reason] of refusals) {
      const { exitCode, out, err } = await run(['-n', '1', '--events', file, 'echo', 'x'], { cwd: directory });
      assert.equal([exitCode, out], [202, ''], err);
      assert.match(err, reason);
    }
    const { exitCode } = await run(['-n', '1', '--events', 'link', 'true'], { cwd: directory });
    assert.is(exitCode, 0);
    const lines = readFileSync(join(directory, 'events'), 'utf8').trimEnd().split('\n');
    assert.equal(JSON.parse(lines[0] as string).type, 'mapped');
    assert.equal(JSON.parse(lines.at(-1) as string).report.exitCode, 0);
  }, { timeoutMs: 20_000 });

  test('a file that cannot be written is refused before the job starts, and in a dry run', async () => {
    writeFileSync(join(directory, 'h'), '');
    const refusals = [
      ['.', 'it is a directory'], ['h/x', 'a part of the path is no directory'],
      ['/proc/x/y', 'a directory of its path does not exist'], ['/sys/x', 'a directory of its path does not exist'],
    ] as const;
    for (const option of ['--exit-report=json:', '--events=', '--output=']) {
      for (const [file, reason] of refusals) {
        for (const more of [[], ['--dry-run']]) {
          const args = ['-n', '1', `${option}${file}`, ...more, ...sh('echo x; touch started')];
          const { exitCode, err } = await run(args, { cwd: directory });
          assert.equal([exitCode, readdirSync(directory)], [202, ['h']], `${option}${file}: ${err}`);
          assert.match(err, reason);
        }
      }
    }
    const { exitCode, err } = await run(['-n', '1', '--output=/proc/x/%r', '--dry-run', 'true'], { cwd: directory });
    assert.is(exitCode, 202, err);
    // One that can be is not made.
    const files = ['--output=new/%h/%r.%p', '--events=e', '--exit-report=json:r/r'];
    const dry = await run(['-n', '1', ...files, '--dry-run', 'true'], { cwd: directory });
    assert.equal([dry.exitCode, readdirSync(directory)], [0, ['h']], dry.err);
  }, { timeoutMs: 60_000 });

  test('a pipe whose reader stands still: the exit status is that of the report', async () => {
    execFileSync('mkfifo', [join(directory, 'still')]);
    const reader = spawn('sleep', ['60'], { stdio: [openSync(join(directory, 'still'), 'r+'), 'ignore', 'ignore'] });
    const args = ['-n', '1', '--output', 'still', '--exit-report=json:still.json', 'yes'];
    const job = start(args, { cwd: directory });
    await eventually(() => hasOpened(job.child.pid, 'still'), { deadlineMs: 10_000, what: 'the pipe' });
    job.child.kill('SIGINT');
    await eventually(() => job.err().includes('again to'), { deadlineMs: 5000, what: 'the first answer' });
    job.child.kill('SIGINT');
    assert.is((await job.result).exitCode, 130);
    assert.is(JSON.parse(read('still.json')).exitCode, 130);
    reader.kill();
  }, { timeoutMs: 20_000 });

  test('an exit report in a file, as JSON', async () => {
    const options = ['-n', '2', '--on-failure', 'continue', '--exit-report=json:r.json'];
    const result = await run([...options, ...sh('exit $STCI_RANK')], { cwd: directory });
    assert.is(result.exitCode, 1);
    const report = JSON.parse(read('r.json'));
    assert.is(report.exitCode, 1);
    assert.equal(report.ranks.map((rank: { status: number }) => rank.status), [0, 1]);
    assert.ok(report.ranks[0].pid > 0 && report.ranks[0].durationMs >= 0);
  });
});
