/** Unmodified MPI programs of real libraries, on this machine. */
// @timeoutMs 600000
// @sameFor user, node: libraries in programs of their own; the service is core's.

import {
  chmodSync, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync,
} from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { assert, eventually, suite } from '@stci/testkit';
import { run, sh, start, type Result } from './e2e.js';
import { withPlace } from './e2e-place.js';
import { LOOPBACK, MPI_LIBRARIES, type MpiLibrary } from './mpi-libraries.js';

const LONG = { timeoutMs: 120_000 };
const DOCUMENT = new URL('../../../docs/mpi.md', import.meta.url);
const HOST = ['--launcher', 'local', '--host', 'a:8', '--oversubscribe'];

/** What libraries share memory by; other jobs of this machine may have some, too. */
function segments(): string[] {
  return existsSync('/dev/shm') ? readdirSync('/dev/shm').filter((name) => /vader|sm_seg|mpich|pmix/u.test(name)) : [];
}

function job(library: MpiLibrary, ranks: number, options: readonly string[], ...mode: string[]): Promise<Result> {
  const all = [...HOST, ...LOOPBACK, ...library.options, '-n', String(ranks), ...options];
  return run([...all, library.program(), ...mode], { limitMs: 60_000 });
}

const lines = (text: string): string[] => text.split('\n').filter((line) => line !== '').sort();
const okay = (size: number): string[] =>
  Array.from({ length: size }, (_, rank) => `rank ${rank} of ${size} host ${size} universe 8 ok`);

for (const library of MPI_LIBRARIES) {
  suite(library.title, (test) => {
    const real = (name: string, body: () => Promise<void>): void =>
      test.skipIf(library.why !== undefined, library.why ?? '', name, async () => {
        const before = segments();
        await body();
        const left = segments().filter((name) => !before.includes(name)); // Some may be of other tests' jobs.
        await eventually(() => !segments().some((name) => left.includes(name)),
          { deadlineMs: 60_000, what: `the end of shared memory: ${left.join(', ')}` });
      }, LONG);

    for (const size of [1, 2, 5]) {
      real(`${size} ranks: init, collectives, finalize`, async () => {
        const { exitCode, out, err } = await job(library, size, []);
        assert.equal([exitCode, lines(out), err], [0, okay(size), '']);
      });
    }

    real('files', async () => {
      const directory = mkdtempSync(join(tmpdir(), 'stci-mpi-'));
      try {
        const { exitCode, out, err } = await job(library, 3, [], 'file', join(directory, 'file'));
        assert.equal([exitCode, lines(out)], [0, okay(3)], err);
      } finally {
        rmSync(directory, { recursive: true, force: true });
      }
    });

    real('two programs are one job', async () => {
      const program = library.program();
      const more = [':', '-n', '1', program, 'collectives'];
      const { exitCode, out } = await run([
        ...HOST, ...LOOPBACK, ...library.options, '-n', '2', program, ...more.slice(0, 1),
        ...(library.options.length > 0 ? library.options : []), ...more.slice(1),
      ], { limitMs: 60_000 });
      assert.equal([exitCode, lines(out)], [0, okay(3)]);
    });

    for (const [given, wanted] of [['37', 37], ['256', 1], ['-1', 255]] as const) {
      real(`abort ${given} is exit code ${wanted}, and is told`, async () => {
        const { exitCode, err } = await job(library, 3, [], 'abort', given);
        assert.match(err, new RegExp(`^stcirun: Rank 2 on a called MPI_Abort: exit code ${wanted}`, 'mu'));
        assert.is(exitCode, wanted);
      });
    }

    real('a rank that ends with 0 and without finalize has failed', async () => {
      const { exitCode, err } = await job(library, 3, [], 'vanish');
      assert.equal([exitCode, lines(err)],
        [1, ['stcirun: Rank 2 on a ended between MPI_Init and MPI_Finalize, with status 0']]);
    });

    for (const [mode, wanted, text] of [
      ['fail', 3, 'Rank 2 on a ended with status 3'], ['dies', 137, 'Rank 2 on a was ended by SIGKILL'],
      ['dies-before', 137, 'Rank 1 on a was ended by SIGKILL'], ['after', 5, 'Rank 2 on a ended with status 5'],
    ] as const) {
      real(`the failure of a rank ends the job: ${mode}`, async () => {
        const { exitCode, err } = await job(library, 3, [], mode);
        assert.ok(err.includes(`stcirun: ${text}`), err);
        assert.is(exitCode, wanted);
      });
    }

    real('two jobs of one session at a time', withPlace(async (place) => {
      place.start('night');
      const jobs = [1, 2].map(() => place.run('night', [
        '--host', 'a', '--oversubscribe', ...LOOPBACK, ...library.options, '-n', '2', library.program(),
      ], { limitMs: 60_000 }));
      for (const { result } of jobs) {
        const { exitCode, out, err } = await result;
        assert.equal([exitCode, lines(out).length], [0, 2], err);
      }
      place.stci('stop', 'night');
    }));

    real('nothing is left of a job whose stcirun was killed', async () => {
      const all = [...HOST, ...LOOPBACK, ...library.options, '-n', '3', library.program(), 'wait'];
      const waiting = start(all, { limitMs: 60_000 });
      await eventually(() => lines(waiting.out()).length === 3, { deadlineMs: 60_000, what: 'three ranks that wait' });
      waiting.child.kill('SIGKILL');
      await waiting.result;
      await eventually(() => waiting.leftovers().length === 0, { deadlineMs: 20_000, what: 'the end of all' });
    });

    real('the program of docs/mpi.md says what it speaks; without a protocol each rank is alone', async () => {
      const directory = mkdtempSync(join(tmpdir(), 'stci-mpi-'));
      try {
        const [, source = ''] = /```C\n(.*?)```/su.exec(readFileSync(DOCUMENT, 'utf8')) ?? [];
        writeFileSync(join(directory, 'hello.c'), source);
        const program = library.build(join(directory, 'hello.c'), join(directory, 'hello'));
        const all = [...HOST, ...LOOPBACK, ...library.options];
        const { exitCode, out, err } = await run([...all, '--verbose', '-n', '4', program], { limitMs: 60_000 });
        assert.equal([exitCode, lines(out)], [0, [0, 1, 2, 3].map((rank) => `rank ${rank} of 4`)], err);
        assert.match(err, new RegExp(`MPI libraries speak ${library.protocol}`, 'u'));
        if (library.isFive) return; // It leaves its shared memory to a launcher, and there is none.
        const alone = await run([...all, '--mpi', 'none', '-n', '2', program], { limitMs: 60_000 });
        assert.equal([alone.exitCode, lines(alone.out)], [205, ['rank 0 of 1', 'rank 0 of 1']], alone.err);
        assert.match(alone.err, /each was an MPI job of size 1/u);
      } finally {
        rmSync(directory, { recursive: true, force: true });
      }
    });

    real('ranks are not started again', async () => {
      const { exitCode, err } = await job(library, 2, ['--on-failure', 'restart']);
      assert.equal([exitCode, /of which no rank can be started again/u.test(err)], [194, true], err);
    });

    if (library.protocol === 'pmi1' && library.options.length === 0) return; // MPICH 4.0 puts wrong values.

    real('windows', async () => {
      const { exitCode, out, err } = await job(library, 3, [], 'windows');
      assert.equal([exitCode, lines(out)], [0, okay(3)], err);
    });

    if (library.protocol !== 'pmix') return;

    real('publish, look up, accept and connect', async () => {
      const { exitCode, out, err } = await job(library, 4, [], 'connect');
      assert.equal([exitCode, lines(out)], [0, okay(4)], err);
    });

    real('ranks spawn others, which are ranks of the same job', async () => {
      const { exitCode, out, err } = await job(library, 2, ['--tag'], 'spawn');
      assert.equal([exitCode, lines(out)], [0, [
        '[0] rank 0 of 2 host 2 universe 8 ok', '[1] rank 1 of 2 host 2 universe 8 ok',
        '[2] rank 0 of 2 host 2 universe 8 ok', '[3] rank 1 of 2 host 2 universe 8 ok',
      ]], err);
    });

    real('what does not fit is not spawned, and told', async () => {
      const where = ['--launcher', 'local', '--host', 'a:3', ...LOOPBACK, ...library.options];
      const { exitCode, err } = await run([...where, '-n', '2', library.program(), 'spawn'], { limitMs: 60_000 });
      assert.ok(exitCode !== 0 && /MPI_Comm_spawn: .*slots/u.test(err), err);
    });

    for (const [key, value, problem] of [
      ['map_by', 'ppr:1', 'ppr:1 on 1 host places 1 ranks'], ['map_by', 'moon', 'expected slot, node or ppr:N, got'],
      ['npernode', '1', 'ppr:1 on 1 host places 1 ranks'], ['host', 'moon', 'moon is no host of the job'],
      ['hostfile', '/nowhere/hosts', 'key hostfile: /nowhere/hosts cannot be used: there is no such file'],
      ['add-host', 'b', 'key add-host is not served'],
    ] as const) {
      real(`a spawn with ${key} ${value} is refused, and why is told`, async () => {
        const { exitCode, err } = await job(library, 1, [], 'spawn', key, value);
        assert.ok(exitCode !== 0 && err.includes(`MPI_Comm_spawn: `) && err.includes(problem), err);
      });
    }

    real('more ranks than slots are spawned with --oversubscribe', async () => {
      const where = ['--launcher', 'local', '--host', 'a:1', '--oversubscribe', ...LOOPBACK, ...library.options];
      const { exitCode, out, err } = await run([...where, '-n', '1', library.program(), 'spawn'], { limitMs: 60_000 });
      assert.equal([exitCode, lines(out).length], [0, 3], err);
    });

    real('two jobs of a session connect', withPlace(async (place) => {
      place.start('night');
      const jobs = ['accept', 'meet'].map((mode, i) => place.run('night', [
        '--host', 'a', '--oversubscribe', ...LOOPBACK, ...library.options, '-n', String(i + 1), library.program(), mode,
      ], { limitMs: 60_000 }));
      for (const { result } of jobs) {
        const { exitCode, out, err } = await result;
        assert.equal([exitCode, /ok$/mu.test(out)], [0, true], err);
      }
      place.stci('stop', 'night');
    }));

    real('ranks are spawned on the hosts that a hostfile names, which nobody else may write', async () => {
      const directory = mkdtempSync(join(tmpdir(), 'stci-spawn-'));
      const file = join(directory, 'hosts');
      const where = ['--launcher', 'local', '--host', 'a:3,b:3', '--wdir', directory, '--verbose', ...LOOPBACK];
      const spawn = (): Promise<Result> => run([...where, ...library.options, '-n', '1', library.program(), 'spawn',
        'hostfile', 'hosts'], { limitMs: 60_000 });
      writeFileSync(file, '# ours\nb slots=1\n');
      const { exitCode, err } = await spawn();
      const on = [...err.matchAll(/rank [12] on (.): exited/gu)].map(([, host]) => host);
      assert.equal([exitCode, on], [0, ['b', 'b']], err);
      chmodSync(file, 0o666);
      assert.match((await spawn()).err, `key hostfile: ${file} cannot be used: it is world-writable`);
      rmSync(directory, { recursive: true });
    });

    if (!library.isFive) return;

    real('map_by of a spawn says where its ranks are', async () => {
      for (const [by, hosts] of [['slot', 'aa'], ['node', 'ab'], ['ppr:1', 'ab']] as const) {
        const where = ['--launcher', 'local', '--host', 'a:3,b:3', '--verbose', ...LOOPBACK, ...library.options];
        const { exitCode, err } = await run([...where, '-n', '1', library.program(), 'spawn', 'map_by', by],
          { limitMs: 60_000 });
        const on = [...err.matchAll(/rank [12] on (.): exited/gu)].map(([, host]) => host).sort().join('');
        assert.equal([by, exitCode, on], [by, 0, hosts], err);
      }
    });

    real('sessions of MPI-4', async () => {
      const { exitCode, out, err } = await job(library, 3, [], 'sessions');
      assert.equal([exitCode, lines(out).length, /wrong/u.test(out)], [0, 3, false], err);
    });

    for (const policy of ['notify', 'continue', 'ulfm']) {
      real(`survivors go on without a rank that dies: ${policy}`, async () => {
        const options = policy === 'ulfm' ? ['--with-ft', policy] : ['--on-failure', policy];
        const { exitCode, out, err } = await job(library, 4, options, 'survive');
        assert.equal([exitCode, lines(out)], [137, [0, 1, 2].map((rank) => `rank ${rank} of 4 ok`)], err);
      });
    }
  });
}

suite('programs that may speak to their agent', (test) => {
  const offered = sh('env | grep -c ^PMI_ ; env | grep -c ^PMIX_ ; exit 0');

  test('find both protocols, those that are selected, or none', async () => {
    const counts = async (...options: string[]): Promise<string[]> =>
      (await run([...HOST, ...options, '-n', '1', ...offered])).out.split('\n').slice(0, 2);
    const all = await counts();
    assert.ok(all.every((count) => Number(count) >= 3), all.join());
    assert.equal(await counts('--mpi', 'auto'), all);
    assert.equal(await counts('--mpi', 'none'), ['0', '0']);
    assert.equal((await counts('--mpi', 'pmi1'))[1], '0');
    assert.equal((await counts('--mpi', 'pmix'))[0], '0');
  });

  test('cost their own connection with garbage, half a header, a length of 4 GiB', async () => {
    const waiting = start([...HOST, '-n', '1', ...sh('echo $PMIX_SERVER_URI41; read -r line')], { input: 'open' });
    await eventually(() => waiting.out().includes('\n'), { deadlineMs: 20_000, what: 'the port' });
    const port = Number(/:(\d+)$/mu.exec(waiting.out())?.[1]);
    const long = Buffer.alloc(16);
    long.writeInt32LE(-1, 0);
    long.writeUInt32LE(0xffff_ffff, 4);
    long.writeUInt32LE(0xffff_ffff, 8);
    for (const bytes of [Buffer.from('GET / HTTP/1.1\r\n\r\n'), Buffer.alloc(64, 0xff), long]) {
      const socket = connect(port, '127.0.0.1');
      let isClosed = false;
      socket.on('error', () => undefined).on('close', () => (isClosed = true)).resume().write(bytes);
      await eventually(() => isClosed, { deadlineMs: 20_000, what: 'the end of the connection' });
    }
    const half = connect(port, '127.0.0.1');
    half.on('error', () => undefined);
    half.write(long.subarray(0, 7));
    waiting.child.stdin?.end('go\n');
    assert.is((await waiting.result).exitCode, 0);
    half.destroy();
  });
});
