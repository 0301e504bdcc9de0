/** The built stcirun, end to end: tags, gathering, JSON, reports, big output, closed readers. */
// @timeoutMs 180000

import { spawn, spawnSync } from 'node:child_process';
import { constants, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { assert, eventually, suite } from '@stci/testkit';
import { PROGRAM, processOf, run, sh, start } from './e2e.js';

const TWO = ['--launcher', 'local', '--host', 'a,b'];

function isAgent(pid: string): boolean {
  return processOf(Number(pid))?.command.includes('agent.cjs') === true;
}

suite('stcirun, lines', (test) => {
  test('tags and times', async () => {
    const full = await run([...TWO, '--tag=full', '--timestamp', ...sh('echo out; echo err >&2')]);
    const stamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z /u;
    const lines = full.out.trimEnd().split('\n');
    for (const line of lines) assert.match(line, stamp);
    assert.equal(lines.map((line) => line.replace(stamp, '')).sort(), ['[a:0:stdout] out', '[b:1:stdout] out']);
    const errors = full.err.trimEnd().split('\n').map((line) => line.replace(stamp, ''));
    assert.equal(errors.sort(), ['[a:0:stderr] err', '[b:1:stderr] err']);
  });

  test('lines written in pieces by several ranks stay whole', async () => {
    const line = 'for i in 1 2 3 4 5; do printf "r$STCI_RANK "; sleep 0.05; printf "tail\\n"; done';
    const result = await run(['-n', '4', ...sh(line)]);
    const lines = result.out.trimEnd().split('\n');
    assert.is(lines.length, 20);
    for (const one of lines) assert.match(one, /^r\d tail$/u);
  }, { timeoutMs: 10_000 });

  test('one rank passes byte by byte, without a newline at the end', async () => {
    assert.is((await run(['-n', '1', 'printf', '\\377\\000a\\nb'])).out, '\u00ff\u0000a\nb');
    assert.is((await run(['-n', '1', '--tag', 'printf', 'a\\nb'])).out, '[0] a\n[0] b\n');
  });

  test('a prompt is shown while its program waits', async () => {
    const line = '[ $STCI_RANK = 1 ] || { printf "name? "; read n; echo "hello $n"; }';
    const job = start(['-n', '2', ...sh(line)], { input: 'open' });
    await eventually(() => job.out() === 'name? ', { deadlineMs: 5000, what: 'prompt' });
    job.child.stdin?.end('you\n');
    assert.is((await job.result).out, 'name? hello you\n');
  }, { timeoutMs: 10_000 });

  test('a line with a pause in it stays whole in a pipe, whoever speaks meanwhile', async () => {
    const place = mkdtempSync(join(tmpdir(), 'stci-pause-'));
    try {
      for (const [tag, other, whole] of [[[], 'other', 'abcdef'], [['--tag'], '[1] other', '[0] abcdef']] as const) {
        const [half, end] = [join(place, `half${tag.length}`), join(place, `end${tag.length}`)];
        const after = (file: string, then: string): string => `until [ -e '${file}' ]; do sleep 0.05; done; ${then}`;
        const ranks = [`printf abc; : >'${half}'; ${after(end, 'echo def')}`, after(half, 'echo other')];
        const job = start(['-n', '2', ...tag, ...sh(`if [ $STCI_RANK = 0 ]; then ${ranks[0]}; else ${ranks[1]}; fi`)]);
        await eventually(() => job.out() !== '', { deadlineMs: 10_000, what: 'the line of the other' });
        assert.is(job.out(), `${other}\n`);
        writeFileSync(end, '');
        assert.is((await job.result).out, `${other}\n${whole}\n`);
      }
    } finally {
      rmSync(place, { recursive: true });
    }
  }, { timeoutMs: 30_000 });

  test('a message of ours waits for the end of a line that is in a pipe already', async () => {
    const line = 'printf "abc" >&2; read x; printf "def\\n" >&2; read x; printf end >&2';
    const job = start(['-n', '1', '--stdin', '0', ...sh(line)], { input: 'open' });
    await eventually(() => job.err() === 'abc', { deadlineMs: 10_000, what: 'half a line' });
    job.child.kill('SIGTERM');
    const { err, exitCode } = await job.result;
    assert.is(err, 'abc\nstcirun: received SIGTERM: ending 1 rank on 1 host; SIGTERM again to kill\n');
    assert.is(exitCode, 143);
    const trap = 'printf "def\\nghi" >&3; exit 0';
    const trapping = `exec 3>&2 2>/dev/null; trap '${trap}' TERM; printf abc >&3; while :; do sleep 0.05; done`;
    const second = start(['-n', '1', ...sh(trapping)]);
    await eventually(() => second.err() === 'abc', { deadlineMs: 10_000, what: 'half a line' });
    second.child.kill('SIGTERM');
    assert.match((await second.result).err, /^abcdef\nstcirun: received SIGTERM: .*\nghi$/u);
  }, { timeoutMs: 20_000 });

  test('32 ranks, 10 000 lines each: whole, in order, none missing', async () => {
    const program = 'BEGIN { for (i = 0; i < 10000; i++) print "line " r " " i " xxxxxxxxxxxxxxxx" }';
    const line = `awk -v r=$STCI_RANK '${program}'`;
    const hosts = ['--launcher', 'local', '--host', 'a:8,b:8,c:8,d:8'];
    const result = await run([...hosts, '--tag', ...sh(line)], { limitMs: 60_000 });
    assert.is(result.exitCode, 0, result.err);
    const next = new Array<number>(32).fill(0);
    for (const one of result.out.trimEnd().split('\n')) {
      const match = /^\[(\d+)\] line (\d+) (\d+) x{16}$/u.exec(one);
      assert.ok(match !== null && match[1] === match[2], one);
      const rank = Number(match[1]);
      assert.is(Number(match[3]), next[rank], one);
      next[rank] = Number(match[3]) + 1;
    }
    assert.ok(next.every((count) => count === 10_000));
  }, { timeoutMs: 60_000 });
});

suite('stcirun, other forms', (test) => {
  test('gathered output, with and without the temporary file', async () => {
    const line = 'echo group $((STCI_RANK % 2)); [ $STCI_RANK != 3 ] || echo odd >&2';
    const { out, err } = await run(['-n', '4', '--gather', ...sh(line)]);
    const rule = '-'.repeat(16);
    assert.is(out, `${rule}\nranks 0,2 (2)\n${rule}\ngroup 0\n${rule}\nranks 1,3 (2)\n${rule}\ngroup 1\n`);
    assert.match(err, `rank 3 stderr\n${rule}\nodd\n`);
    const big = await run(['-n', '3', '--gather', ...sh('head -c 20000000 /dev/zero')], { limitMs: 30_000 });
    assert.is(big.out.length, `${rule}\nranks 0-2 (3)\n${rule}\n`.length + 20_000_000 + 1);
  }, { timeoutMs: 40_000 });

  test('gathered heads name hosts where there are several', async () => {
    const hosts = ['--launcher', 'local', '--host', 'h[1-4]'];
    const { out } = await run([...hosts, '--gather', ...sh('echo $((STCI_RANK / 3))')]);
    const heads = out.split('\n').filter((line) => line.startsWith('rank'));
    assert.equal(heads, ['ranks 0-2 (3) on h[1-3]', 'rank 3 on h4']);
  }, { timeoutMs: 20_000 });

  test('gathered output that has no room is told, and no part of it shown', async () => {
    // Files of this run may have 1 MiB: writes are cut there, as on a full disk.
    const line = `trap "" XFSZ; ulimit -f 2048; exec "${process.execPath}" "${PROGRAM}" -n 2 --gather`;
    const { status, stdout, stderr } = spawnSync('sh', ['-c', `${line} head -c 40000000 /dev/zero`], {
      encoding: 'latin1', maxBuffer: 1 << 28,
    });
    assert.is(status, 202, stderr);
    assert.match(stderr, 'cannot be written to a temporary file');
    assert.is(stdout, '');
  }, { timeoutMs: 40_000 });

  test('JSON lines', async () => {
    const { out } = await run([...TWO, '--json', ...sh('printf "line\\n\\377\\nlast"')]);
    const objects = out.trimEnd().split('\n').map((line) => JSON.parse(line));
    const lines = objects.filter(({ type, rank }) => type === 'output' && rank === 1);
    assert.equal(lines.map(({ line, lineBase64, partial }) => [line, lineBase64, partial]), [
      ['line', undefined, undefined],
      [undefined, '/w==', undefined],
      ['last', undefined, true],
    ]);
    assert.is(lines[0].host, 'b');
    const types = new Set(objects.map(({ type }) => type));
    for (const type of ['mapped', 'host-up', 'started', 'running', 'exited', 'ended']) assert.ok(types.has(type), type);
  });

  test('an exit report as a table', async () => {
    const { err } = await run(['-n', '2', '--on-failure', 'continue', '--exit-report', ...sh('kill -9 $$')]);
    assert.match(err, /^rank +host +pid +outcome +status +signal/mu);
    assert.match(err, /^0 .* signalled +- +SIGKILL/mu);
    assert.match(err, 'job exit code 137');
  });

  test('a reader that goes away ends the job quietly', async () => {
    const job = start(['-n', '2', ...sh('while :; do echo line; done')]);
    job.child.stdout?.once('data', () => job.child.stdout?.destroy());
    const result = await job.result;
    assert.is(result.exitCode, 141);
    assert.is(result.err, '');
    await eventually(() => job.leftovers().length === 0, { deadlineMs: 3000, what: 'all gone' });
  }, { timeoutMs: 10_000 });

  test('a reader of /dev/stdout that goes away ends the job as quietly', () => {
    const jobs = ['--output /dev/stdout yes', '--exit-report=json:/dev/stdout sleep 1'];
    for (const job of jobs) {
      const line = `{ "${process.execPath}" "${PROGRAM}" -n 1 ${job}; echo $? >&3; } | sleep 0.5`;
      const { output } = spawnSync('sh', ['-c', line], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe', 'pipe'] });
      assert.equal([output[3], output[2]], ['141\n', ''], job);
    }
  }, { timeoutMs: 20_000 });

  test('a reader of standard error that goes away ends a job whose ranks write there', async () => {
    const job = start(['-n', '2', ...sh('while :; do echo line >&2; done')]);
    job.child.stderr?.once('data', () => job.child.stderr?.destroy());
    assert.is((await job.result).exitCode, 141);
    await eventually(() => job.leftovers().length === 0, { deadlineMs: 3000, what: 'all gone' });
  }, { timeoutMs: 10_000 });

  test('standard error that is closed loses messages, not the job', async () => {
    const job = start(['-n', '2', '-v', ...sh('echo out')]);
    job.child.stderr?.destroy();
    const result = await job.result;
    assert.is(result.out, 'out\nout\n');
    assert.is(result.exitCode, 0);
  });

  test('pipes that others share stay blocking, while it runs and afterwards', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'stci-output-'));
    const shown = join(directory, 'shown');
    const flags = 'cat /proc/$SHARER/fdinfo/0 /proc/$SHARER/fdinfo/1 /proc/$SHARER/fdinfo/2 >&3';
    const line = `read x; echo out; echo err >&2; until grep -q err "${shown}"; do sleep 0.05; done; ${flags}`;
    const job = `"${process.execPath}" "${PROGRAM}" -n 1 --stdin 0 sh -c '${line.replaceAll('>&3', `>"${shown}.1"`)}'`;
    const sharing = `SHARER=$(sh -c 'echo $PPID'); export SHARER; ${job}; ${flags}`;
    const script = `exec 3>&1; (echo a; echo b) | { ${sharing}; } 2>&1 | cat >"${shown}"; cat "${shown}.1"`;
    const { stdout } = spawnSync('sh', ['-c', script], { encoding: 'utf8' });
    rmSync(directory, { recursive: true });
    const seen = [...stdout.matchAll(/^flags:\s+(\d+)$/gmu)].map((match) => Number.parseInt(match[1] as string, 8));
    assert.is(seen.length, 6, stdout);
    for (const each of seen) assert.is(each & constants.O_NONBLOCK, 0, stdout);
  }, { timeoutMs: 20_000 });

  test('a closed standard output is refused; one that leads to /dev/null is not', () => {
    const node = `"${process.execPath}" "${PROGRAM}"`;
    const path = `PATH="${dirname(process.execPath)}:$PATH"`;
    for (const program of [node, `${path} "${PROGRAM}"`]) {
      const tried = (redirection: string): readonly [string, string] => {
        const line = `${program} -n 1 echo hi ${redirection}; echo $? >&3`;
        const stdio = ['ignore', 'pipe', 'pipe', 'pipe'] as const;
        const { output } = spawnSync('sh', ['-c', line], { encoding: 'utf8', stdio: [...stdio] });
        return [output[3] ?? '', output[2] ?? ''];
      };
      const [closed, text] = tried('>&-');
      assert.is(closed, '202\n', program);
      assert.match(text, 'Standard output is closed');
      assert.is(tried('2>&-')[0], '202\n', program);
      for (const fine of ['', '>/dev/null', '<&-']) assert.equal(tried(fine), ['0\n', ''], `${program} ${fine}`);
    }
  }, { timeoutMs: 30_000 });

  test('the second interrupt drops output, not what we have to say', async () => {
    const line = 'trap "" TERM; echo up; while :; do echo line; done';
    const command = `exec "${process.execPath}" "${PROGRAM}" -n 2 --exit-report sh -c '${line}' 2>&1`;
    const job = spawn('sh', ['-c', command], { stdio: ['ignore', 'pipe', 'inherit'] });
    let text = '';
    job.stdout.setEncoding('latin1').on('data', (chunk: string) => (text = `${text}${chunk}`.replaceAll('line\n', '')));
    const exitCode = new Promise((resolve) => job.on('close', resolve));
    await eventually(() => text.includes('up\nup\n'), { deadlineMs: 10_000, what: 'output' });
    job.kill('SIGINT');
    await eventually(() => text.includes('again to kill'), { deadlineMs: 10_000, what: 'the first answer' });
    job.kill('SIGINT');
    assert.is(await exitCode, 130, text.slice(-1000));
    assert.match(text, /^stcirun: killing all ranks$/mu);
    assert.match(text, /^job exit code 130$/mu);
  }, { timeoutMs: 30_000 });

  test('the unfinished line of a rank whose host is lost is shown', async () => {
    // The agent has read the line when it has read what was written after it.
    const job = start([...TWO, ...sh('printf abc$STCI_RANK; sleep 0.2; echo up >&2; sleep 60')]);
    await eventually(() => job.err() === 'up\nup\n', { deadlineMs: 10_000, what: 'ranks' });
    const { pid } = job.child;
    const [agent] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(isAgent);
    process.kill(Number(agent), 'SIGKILL');
    const { exitCode, out } = await job.result;
    assert.is(exitCode, 200);
    assert.equal(out.split('\n').sort(), ['abc0', 'abc1']);
  }, { timeoutMs: 20_000 });

  test('a slow reader loses nothing', async () => {
    const job = start(['-n', '2', ...sh('yes 123456789 | head -c 30000000')], { limitMs: 30_000 });
    job.child.stdout?.pause();
    setTimeout(() => job.child.stdout?.resume(), 500);
    const result = await job.result;
    assert.is(result.out.length, 60_000_000, result.err);
  }, { timeoutMs: 30_000 });
});
