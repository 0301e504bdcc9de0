/** MPI programs as users start them: from scripts and other launchers, in Python, many, and those that others wrote. */
// @timeoutMs 900000
// @sameFor user, node: libraries in programs of their own; the service is core's.

import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { assert, patient, suite } from '@stci/testkit';
import { PROGRAM, run, start, type Result } from './e2e.js';
import { LOOPBACK, MPI_LIBRARIES } from './mpi-libraries.js';

const LONG = { timeoutMs: 120_000 };
const LIMIT = { limitMs: 100_000 };
const HOST = ['--launcher', 'local', '--host', 'a:8', '--oversubscribe', ...LOOPBACK];
/** Where Debian's packages of MPI programs are: this machine's, or unpacked into a directory. */
const ROOT = process.env['STCI_MPI_PROGRAMS'] || '/';

/** What containers are made of, as words of unshare, and what docs/mpi.md says to set for ranks of their own. */
const NAMESPACES = {
  // Not `-m -u -i`: without memory in common MPICH 4.0 may wait in MPI_Finalize for ever, under its own mpiexec, too.
  pmi1: [
    ['-n', []], ['-U -r', ['-x', 'UCX_POSIX_USE_PROC_LINK=n']],
    ['-p -f', ['-x', 'UCX_POSIX_USE_PROC_LINK=n']],
  ],
  pmix: [
    ['-m -u -i', []], ['-U -r', ['-x', 'OMPI_MCA_btl_vader_single_copy_mechanism=none']],
    ['-p -f', ['-x', 'OMPI_MCA_btl=tcp,self']],
  ],
} as const;
const noNamespaces = spawnSync('unshare', '-m -u -i -n -U -r -p -f true'.split(' ')).status === 0 ? undefined
  : 'no namespaces may be made here';

const okay = (out: string): number => out.split(' ok\n').length - 1;

for (const library of MPI_LIBRARIES) {
  suite(`${library.title}, as users start it`, (test) => {
    const real = (name: string, body: () => Promise<void>): void =>
      test.skipIf(library.why !== undefined, library.why ?? '', name, body, LONG);
    const all = [...HOST, ...library.options];
    const hasRoot = library.options.length > 0; // Programs of this machine cannot be run with its C library.

    real('64 ranks on this machine', async () => {
      const { exitCode, out, err } = await run([...all, '-n', '64', library.program()], LIMIT);
      assert.equal([exitCode, okay(out), err], [0, 64, '']);
    });

    real('its text of many lines when it aborts', async () => {
      const { exitCode, err } = await run([...all, '-n', '3', library.program(), 'wrong-rank'], LIMIT);
      assert.match(err, /^stcirun: Rank 2 on a called MPI_Abort: exit code 6/mu);
      assert.is(exitCode, 6);
      assert.ok(err.split('\n').length > 4 && /rank/iu.test(err), err);
    });

    real('standard input, tags, a directory and variables', async () => {
      const options = ['--tag', '--wdir', '/', '-x', 'OWN=x', '--stdin', '1'];
      const { exitCode, out, err } = await run([...all, ...options, '-n', '2', library.program(), 'says'],
        { ...LIMIT, input: 'hello\n' });
      const told = out.split('\n').filter((line) => line.includes('says'));
      assert.equal([exitCode, told.sort()], [0, ['[0] rank 0 says / x -', '[1] rank 1 says / x hello']], err);
    });

    if (hasRoot) return;

    for (const wrapper of [
      ['env', 'A=b'], ['nice', '-n', '1'], ['setsid', '-w'], ['sh', '-c', '"$0" "$@"; exit $?'],
      ['sh', '-c', 'exec 4>&- 5>&- 6>&-; exec "$0"'],
    ]) {
      real(`by ${wrapper.join(' ')}`, async () => {
        const { exitCode, out, err } = await run([...all, '-n', '2', '--', ...wrapper, library.program()], LIMIT);
        assert.equal([exitCode, okay(out), err], [0, 2, '']);
      });
    }

    for (const [words, options] of NAMESPACES[library.protocol]) {
      const why = library.why ?? noNamespaces;
      test.skipIf(why !== undefined, why ?? '', `each rank in namespaces of its own: ${words}`, async () => {
        const command = ['unshare', ...words.split(' '), library.program()];
        const { exitCode, out, err } = await run([...all, ...options, '-n', '2', '--', ...command], LIMIT);
        assert.equal([exitCode, okay(out)], [0, 2], err);
      }, LONG);
    }

    for (const [launcher, options] of [
      ['mpiexec.mpich', []], ['mpirun.openmpi', ['--allow-run-as-root', '--oversubscribe']],
    ] as const) {
      real(`in a stcirun that ${launcher} runs`, async () => {
        const own = [...options, '-n', '1', process.execPath, PROGRAM, ...all, '-n', '2', library.program()];
        const { status, stdout, stderr } = spawnSync(launcher, own, { encoding: 'utf8', timeout: patient(60_000) });
        assert.equal([status, okay(stdout)], [0, 2], stderr);
      });
    }

    real('two jobs at a time', async () => {
      const jobs = [1, 2].map(() => start([...all, '-n', '3', library.program()], LIMIT).result);
      for (const { exitCode, out, err } of await Promise.all(jobs)) assert.equal([exitCode, okay(out)], [0, 3], err);
    });
  });
}

suite('MPI programs that others wrote', (test) => {
  let place = '';
  test.before(() => void (place = mkdtempSync(join(tmpdir(), 'stci-mpi-'))));
  test.after(() => rmSync(place, { recursive: true, force: true }));
  const at = (path: string): string => join(ROOT, path);
  const libraries = `/usr/lib/${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu`;
  const go = (ranks: number, ...program: string[]): Promise<Result> => {
    const path = ROOT === '/' ? [] : ['-x', `LD_LIBRARY_PATH=${at(`${libraries}/blas`)}:${at(libraries)}`];
    return run([...HOST, ...path, '--wdir', place, '-n', String(ranks), ...program], LIMIT);
  };
  const real = (package_: string, path: string, name: string, body: () => Promise<void>): void =>
    test.skipIf(!existsSync(at(path)), `${package_} is not installed`, name, body, LONG);

  real('python3-mpi4py', 'usr/lib/python3/dist-packages/mpi4py', 'mpi4py: objects, a sum, an exception', async () => {
    const program = join(place, 'objects.py');
    writeFileSync(program, `import sys
from mpi4py import MPI
world = MPI.COMM_WORLD
seen = world.allgather({'rank': world.rank})
print('rank', world.rank, 'ok' if [each['rank'] for each in seen] == list(range(world.size)) else 'wrong')
if len(sys.argv) > 1 and world.rank == 1: world.Abort(9)
world.barrier()
`);
    const python = ['-x', `PYTHONPATH=${at('usr/lib/python3/dist-packages')}`, '/usr/bin/python3', program];
    const { exitCode, out, err } = await go(3, ...python);
    assert.equal([exitCode, okay(out)], [0, 3], err);
    assert.is((await go(3, ...python, 'abort')).exitCode, 9);
  });

  for (const [library, command] of [['mpich2', 'NPmpich2'], ['openmpi', 'NPopenmpi']] as const) {
    real(`netpipe-${library}`, `usr/bin/${command}`, `NetPIPE's check of what it sends, ${library}`, async () => {
      const { exitCode, err } = await go(2, at(`usr/bin/${command}`), '-i', '-u', '512');
      assert.is(exitCode, 0, err);
      assert.ok(/check passed/u.test(err) && !/fail/iu.test(err), err);
    });
  }

  const example = 'usr/share/doc/hpcc/examples/_hpccinf.txt';
  real('hpcc with its example', example, 'Linpack, PTRANS, FFT and others, with their checks', async () => {
    const input = readFileSync(at(example), 'utf8').replace(/^1000( +Ns)/mu, '120$1').replace(/^80( +NBs)/mu, '20$1');
    writeFileSync(join(place, 'hpccinf.txt'), input);
    const { exitCode, err } = await go(4, at('usr/bin/hpcc'));
    const result = readFileSync(join(place, 'hpccoutf.txt'), 'utf8');
    assert.equal([exitCode, /^Success=1$/mu.test(result), /FAILED/u.test(result)], [0, true, false], err);
  });
});
