/** The built stcirun, end to end: exit codes, input, programs that cannot run, limits, what is left behind. */

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { neededLibraries } from '@stci/stcirun/internal';
import { assert, eventually, suite } from '@stci/testkit';
import { run, sh, start } from './e2e.js';

const FOUR = ['--launcher', 'local', '--host', 'a,b,c,d'];

suite('stcirun, exit codes', (test) => {
  const CASES: readonly (readonly [args: readonly string[], exitCode: number, ...words: string[]])[] = [
    [['-n', '2', 'true'], 0],
    [['-n', '3', ...sh('exit $((STCI_RANK == 1 ? 7 : 0))')], 7, 'Rank 1', 'status 7'],
    [['-n', '1', ...sh('kill -SEGV $$')], 139, 'SIGSEGV'],
    [[...FOUR, ...sh('test $STCI_RANK != 2 || exit 9; sleep 60')], 9, 'Rank 2 on c'],
    [['no-such-program-here'], 196, "'no-such-program-here' not found: it is not on PATH of host "],
    [['--dry-run', 'no-such-program-here'], 196, "'no-such-program-here' not found: it is not on PATH of host "],
    [['--dry-run', ...FOUR, '--wdir', '/no/such/place', 'true'], 196, "'/no/such/place' does not exist on host a"],
    [['/etc/passwd'], 196, 'permission denied'],
    [['--wdir', '/no/such/place', 'true'], 196, '/no/such/place'],
    [['-n', '0', 'true'], 193, '-n'],
    [['-n', '5000000', 'true'], 193, '1000000'],
    [['--bogus', 'true'], 193, '--bogus'],
    [[...FOUR, '--spares', '4', 'true'], 195, 'at least one'],
    [[...FOUR, '--min-hosts', '5', 'true'], 195, '4 hosts'],
    [[], 193, 'No program'],
    [['--mca', 'launcher.tree.arityy=3', 'true'], 194, 'launcher.tree.arity?'],
    [['--launcher', 'nope', 'true'], 194, 'nope'],
    [['--on-launch-failure', 'retry:0', 'true'], 194, '--on-launch-failure retry:0', 'within 1..100'],
    [['--host', 'n[1-', 'true'], 195, '--host'],
    [['--host', 'n1,localhost', 'true'], 195, '--host: localhost cannot be combined with other hosts'],
    [['--launcher', 'ssh', '--host', 'n1,localhost', '--dry-run', 'true'], 195, "Write this machine's name, "],
    [['--launcher', 'local', '--host', 'a:2', '-n', '3', 'true'], 195, '--oversubscribe'],
    [['--timeout', '300ms', '-n', '2', 'sleep', '60'], 199, '--timeout): 2 ranks had not', 'still running: ranks 0-1'],
    [['--timeout', '300ms', '--on-failure', 'continue', '-n', '2', 'sleep', '60'], 199, 'still running: ranks 0-1'],
    [['--timeout', '1s', '--on-failure', 'continue', '-n', '2', ...sh('test $STCI_RANK = 1 && sleep 60; exit 3')], 3,
      'still running: rank 1 '],
    [['--output', 'x.%q', 'true'], 193, "'%q'"],
    [['--output', '/dev/full', 'echo', 'x'], 202, '/dev/full', 'no space'],
    [['--output', '/proc/nope/%r', 'echo', 'x'], 202, '/proc/nope/0'],
  ];
  for (const [args, exitCode, ...words] of CASES) {
    test(`${exitCode}: stcirun ${args.join(' ')}`, async () => {
      const result = await run(args);
      assert.is(result.exitCode, exitCode, `${result.err}\nexit code`);
      for (const word of words) assert.match(result.err, word);
      assert.not.match(result.err, /^\s+at /mu);
    }, { timeoutMs: 20_000 });
  }

  test('a rank that fails late does not hide the one that failed first, with --on-failure continue', async () => {
    const line = 'if [ $STCI_RANK = 1 ]; then exit 5; else read line; exit 6; fi';
    const job = start(['-n', '2', '--on-failure', 'continue', ...sh(line)], { input: 'open' });
    await eventually(() => job.err().includes('status 5'), { deadlineMs: 10_000, what: 'the first failure' });
    job.child.stdin?.end('\n');
    const result = await job.result;
    assert.is(result.exitCode, 5, result.err);
    assert.match(result.err, 'also: Rank 0');
  });

  test('--color holds for errors before the job, wherever it stands', async () => {
    const colored = async (...args: string[]): Promise<boolean> => (await run(args)).err.startsWith('\x1b[31mstcirun:');
    assert.ok(await colored('--color=always', '--bogus'));
    assert.ok(await colored('--mca', 'option.color=always', '--host', 'a,', 'true'));
    assert.not.ok(await colored('--color', 'never', 'true'));
    assert.not.ok(await colored('--host', 'a,', 'true', '--color=always'));
    assert.not.ok(await colored('--color=never', '--mca', 'option.color=always', '--host', 'a,', 'true'));
  });

  test('STCI_DEBUG=1 shows where, and only then', async () => {
    const result = await run(['--bogus', 'x'], { env: { STCI_DEBUG: '1' } });
    assert.match(result.err, /^\s+at /mu);
  });
});

const compiler = spawnSync('sh', ['-c', 'command -v cc']).status === 0;

suite('stcirun, programs linked with MPI', (test) => {
  test('libraries of a program', () => {
    assert.ok(neededLibraries(process.execPath).some((name) => name.startsWith('libc.so')));
    assert.equal(neededLibraries('/dev/null'), []);
    assert.equal(neededLibraries('/no/such/file'), []);
  });

  test('a part of PATH that may not be searched is passed over', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'stci-path-'));
    symlinkSync('loop', join(directory, 'loop')); // To root, too, it cannot be searched.
    const result = await run(['-n', '2', 'true'], { env: { PATH: `${directory}/loop:${process.env['PATH']}` } });
    assert.equal([result.exitCode, result.err], [0, '']);
    rmSync(directory, { recursive: true });
  });

  test.skipIf(!compiler, 'needs a C compiler', 'a remark, once a job of several ranks, and its exit code', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'stci-mpi-'));
    const compile = (source: string, ...args: readonly string[]): void => {
      const made = spawnSync('cc', ['-x', 'c', '-', ...args], { cwd: directory, input: source });
      assert.is(made.status, 0, String(made.stderr));
    };
    compile('int MPI_Init(void) { return 0; }', '-shared', '-fPIC', '-Wl,-soname,libmpi.so.12', '-o', 'libmpi.so.12');
    const link = ['-Wl,-rpath,$ORIGIN', '-x', 'none', './libmpi.so.12'];
    compile('int MPI_Init(void);\nint main(void) { return MPI_Init(); }', '-o', 'program', ...link);
    const result = await run(['-n', '3', './program'], { cwd: directory });
    assert.is(result.exitCode, 205, result.err);
    assert.is(result.err.split('program is linked with MPI').length, 2, result.err);
    assert.match(result.err, './program: all ranks ended with 0, each as an MPI job of size 1');
    assert.is((await run(['-n', '1', './program'], { cwd: directory })).err, '');
    const quiet = ['-q', '-n', '2', './program'];
    assert.match((await run(quiet, { cwd: directory })).err, /^stcirun: \.\/program: all ranks .*singletons=warn\n$/u);
    const warn = await run(['--mca', 'mpi.singletons=warn', ...quiet.slice(1)], { cwd: directory });
    assert.is(warn.exitCode, 0, warn.err);
    assert.match(warn.err, /^stcirun: \.\/program is linked with MPI[^\n]*\n$/u);
    const failed = await run(['-n', '2', 'sh', '-c', 'exit 3', ':', ...quiet.slice(1)], { cwd: directory });
    assert.is(failed.exitCode, 3, failed.err);
    assert.not.match(failed.err, 'all ranks ended with 0');
    const report = await run(['--json', ...quiet.slice(1)], { cwd: directory });
    const last = JSON.parse(report.out.trimEnd().split('\n').at(-1) as string);
    assert.equal([last.report.exitCode, last.report.cause.code], [205, 'STCI_MPI_SINGLETONS']);
    rmSync(directory, { recursive: true });
  }, { timeoutMs: 30_000 });
});

suite('stcirun, hosts that may not come up', (test) => {
  test('spares stand in map and plan, and carry no rank', async () => {
    const text = await run([...FOUR, '--spares', '1', '--dry-run', 'true']);
    assert.match(text.out, 'Job map: 3 ranks');
    assert.match(text.out, '  spares: d\n');
    assert.match(text.out, 'a host that does not come up: spare\n');
    const json = await run([...FOUR, '--spares', '1', '--dry-run', '--json', 'true']);
    const [map, plan] = json.out.trim().split('\n').map((line) => JSON.parse(line));
    assert.equal(map.spares, ['d']);
    assert.is(plan.onLaunchFailure, 'spare');
    const job = await run([...FOUR, '--spares', '1', '--tag=full', 'echo', 'x']);
    assert.equal(job.out.split('\n').sort(), ['', '[a:0:stdout] x', '[b:1:stdout] x', '[c:2:stdout] x']);
  });

  test('where all hosts come up, each policy is as none', async () => {
    for (const options of ['--on-launch-failure retry:3', '--min-hosts 4', '--on-launch-failure shrink']) {
      const job = await run([...FOUR, ...options.split(' '), 'true']);
      assert.is(job.exitCode, 0, job.err);
      assert.is(job.err, '');
    }
  });
});

suite('stcirun, input', (test) => {
  test('goes to rank 0, and its end closes it', async () => {
    const result = await run(['-n', '3', '--tag', 'cat'], { input: 'one\ntwo\n' });
    assert.is(result.out, '[0] one\n[0] two\n');
    assert.is(result.exitCode, 0);
  });

  test('goes to a rank that is named, to all, or to none', async () => {
    assert.is((await run([...FOUR, '--tag', '--stdin', '2', 'cat'], { input: 'x\n' })).out, '[2] x\n');
    const all = await run([...FOUR, '--tag', '--stdin', 'all', 'cat'], { input: 'x\n' });
    assert.equal(all.out.split('\n').sort(), ['', '[0] x', '[1] x', '[2] x', '[3] x']);
    assert.is((await run(['--stdin', 'none', 'cat'], { input: 'x\n' })).out, '');
  });

  test('that no rank reads is told: the lines of a shell\'s loop', async () => {
    const hint = / rank 0 read nothing of the standard input that was read for it; .* with --stdin none\n$/u;
    // It has input, and does not read it.
    const idle = ['bash', '-c', 'until read -t 0; do sleep 0.05; done'];
    assert.match((await run(idle, { input: 'a\nb\n' })).err, hint);
    const all = await run(['-n', '2', '--stdin', 'all', ...idle], { input: 'a\n' });
    assert.match(all.err, / the ranks read nothing of/u);
    const quiet: [readonly string[], string][] = [
      [sh('read x'), 'a\nb\n'], [sh('(read x; echo $x)'), 'a\n'], [['true'], ''],
      [['--stdin', 'none', 'true'], 'a\n'], [['--quiet', ...idle], 'a\n'],
      [['-n', '2', '--stdin', 'all', ...sh('test $STCI_RANK = 0 || read x')], 'a\n'],
    ];
    for (const [args, input] of quiet) assert.is((await run(args, { input })).err, '', args.join(' '));
    const failed = await run(sh('exit 3'), { input: 'a\n' });
    assert.is(failed.exitCode, 3);
    const report = await run(['--exit-report=json', 'cat'], { input: 'a\n' });
    assert.match(report.err, '"readInput": true');
  });

  test('much input comes whole', async () => {
    const input = 'a line of some length\n'.repeat(200_000);
    const result = await run(['-n', '2', 'wc', '-c'], { input });
    assert.equal(result.out.split('\n').sort(), ['', '0', String(input.length)]);
  }, { timeoutMs: 20_000 });

  test('a job ends although its input stays open', async () => {
    assert.is((await run(['-n', '2', 'true'], { input: 'open' })).exitCode, 0);
  });

  test('a program that closes its input early is no failure', async () => {
    const result = await run(['-n', '1', ...sh('exec <&-; sleep 0.2; echo done')], { input: 'x'.repeat(1_000_000) });
    assert.is(result.out, 'done\n');
    assert.is(result.exitCode, 0, result.err);
  });
});

suite('stcirun, places and programs', (test) => {
  test('hosts, ranks and sizes', async () => {
    const line = 'echo $STCI_RANK/$STCI_SIZE $STCI_HOST $STCI_LOCAL_RANK';
    const args = ['--launcher', 'local', '--host', 'a:2,b'];
    assert.equal((await run([...args, ...sh(line)])).out.split('\n').sort(), ['', '0/3 a 0', '1/3 a 1', '2/3 b 0']);
  });

  test('several programs, each with its directory and variables', async () => {
    const one = ['-n', '1', '-x', 'V=1', 'sh', '-c', 'echo $STCI_RANK $V $PWD'];
    const two = ['-n', '2', '-x', 'V=2', '--wdir', '/tmp', 'sh', '-c', 'echo $STCI_RANK $V $PWD'];
    const result = await run([...one, ':', ...two], { cwd: '/usr' });
    assert.equal(result.out.split('\n').sort(), ['', '0 1 /usr', '1 2 /tmp', '2 2 /tmp']);
  });

  test('STCI_MCA_* sets parameters and is not passed on', async () => {
    const env = { STCI_MCA_errmgr: 'continue', KEPT: 'yes' };
    assert.is((await run(['-n', '1', ...sh('echo ${STCI_MCA_errmgr-unset} $KEPT')], { env })).out, 'unset yes\n');
    assert.is((await run(['-n', '1', 'true'], { env: { STCI_MCA_nope: '1' } })).exitCode, 194);
  });

  test('a dry run prints map and plan and starts nothing', async () => {
    const result = await run([...FOUR, '-n', '8', '--oversubscribe', '--dry-run', 'touch', '/tmp/no/such']);
    assert.is(result.exitCode, 0);
    assert.match(result.out, 'Job map: 8 ranks');
    assert.match(result.out, 'Launch plan');
    const json = await run([...FOUR, '--dry-run', '--json', 'true']);
    assert.equal(json.out.trimEnd().split('\n').map((line) => JSON.parse(line).type), ['map', 'plan']);
  });

  test('every embodiment of the agents', async () => {
    for (const method of ['process', 'inline', 'thread']) {
      const result = await run([...FOUR, '--tag', '--mca', `launcher.root.method=${method}`, ...sh('echo $STCI_HOST')]);
      assert.equal(result.out.split('\n').sort(), ['', '[0] a', '[1] b', '[2] c', '[3] d'], `${method}: ${result.err}`);
    }
  }, { timeoutMs: 20_000 });
});

suite('stcirun, nothing is left', (test) => {
  test('children that a program leaves behind are ended and told', async () => {
    const job = start(['-n', '2', ...sh('sleep 600 & echo $STCI_RANK')]);
    const result = await job.result;
    assert.is(result.exitCode, 0);
    assert.match(result.err, 'ended 2 processes that ranks had left behind');
    await eventually(() => job.leftovers().length === 0, { deadlineMs: 3000, what: 'all gone' });
  });

  test('a program that closes its output early is watched to its end', async () => {
    const result = await run(['-n', '1', ...sh('exec >&- 2>&-; sleep 0.2; exit 3')]);
    assert.is(result.exitCode, 3);
  });

  test('an agent that was started ahead and is not needed is gone with stcirun', async () => {
    for (const args of [['-n', '0', 'true'], ['-n', '1', '--timeout', 'x', 'true'], ['no-such-program-here']]) {
      const job = start(args);
      await job.result;
      await eventually(() => job.leftovers().length === 0, { deadlineMs: 3000, what: 'all gone' });
    }
  });

  test('kill -9 of stcirun ends all ranks and agents', async () => {
    const job = start([...FOUR, ...sh('sleep 600 & echo up; wait')]);
    await eventually(() => job.out().split('\n').length === 5, { deadlineMs: 10_000, what: 'four ranks' });
    job.child.kill('SIGKILL');
    await job.result;
    await eventually(() => job.leftovers().length === 0, { deadlineMs: 5000, what: 'all gone' });
  }, { timeoutMs: 20_000 });
});
