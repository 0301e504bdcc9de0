/** Ends of MPI programs of real libraries: inside of a library, and around jobs of which not all ranks come. */
// @timeoutMs 900000
// @sameFor user, node: libraries in programs of their own; the service is core's.

import { existsSync, mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { assert, eventually, suite } from '@stci/testkit';
import { processOf, run, start, type Result, type Run } from './e2e.js';
import { LOOPBACK, MPI_LIBRARIES, type MpiLibrary } from './mpi-libraries.js';

const LONG = { timeoutMs: 120_000 };
const LIMIT = { limitMs: 60_000 };
const DEATHS = fileURLToPath(new URL('../test/mpi/deaths.c', import.meta.url));
const HOST = ['--launcher', 'local', '--host', 'a:8', '--oversubscribe', ...LOOPBACK];

/** What libraries and agents keep on disk; other jobs of this machine may have some, too. */
function kept(): string[] {
  const of = (place: string, names: RegExp): string[] =>
    (existsSync(place) ? readdirSync(place) : []).filter((name) => names.test(name)).map((name) => join(place, name));
  return [...of('/dev/shm', /vader|sm_seg|mpich|pmix|ucx_shm/u), ...of(tmpdir(), /^(?:stci-mpi(?!-)|ompi\.|pmix)/u)];
}

function builder(library: MpiLibrary): () => string {
  let built: string | undefined;
  return () => (built ??= library.build(DEATHS, join(mkdtempSync(join(tmpdir(), 'stci-mpi-')), 'deaths')));
}

for (const library of MPI_LIBRARIES) {
  suite(`${library.title}, ends`, (test) => {
    const deaths = builder(library);
    const real = (name: string, body: () => Promise<void>): void =>
      test.skipIf(library.why !== undefined, library.why ?? '', name, async () => {
        const before = kept();
        await body();
        const left = kept().filter((path) => !before.includes(path)); // Some may be of other tests' jobs.
        await eventually(() => !kept().some((path) => left.includes(path)),
          { deadlineMs: 60_000, what: `the end of ${left.join(', ')}` });
      }, LONG);
    const job = (options: readonly string[], program: readonly string[]): Promise<Result> =>
      run([...HOST, ...library.options, ...options, ...program], LIMIT);
    const waiting = (...options: string[]): Promise<Run> => waitingOn(HOST, options);
    const waitingOn = async (where: readonly string[], options: readonly string[] = []): Promise<Run> => {
      const started = start([...where, ...library.options, ...options, '-n', '3', library.program(), 'wait'], LIMIT);
      const isThere = (): boolean => started.out().split('waits').length === 4;
      await eventually(isThere, { deadlineMs: 60_000, what: 'three ranks that wait' });
      return started;
    };

    for (const [point, message] of [
      ['init', 'hello'], ['init', 'fence'], ['init', 'put'], ['finalize', 'fence'], ['finalize', 'bye'],
    ] as const) {
      real(`a rank that dies in MPI_${point}, behind its ${message}, ends the job`, async () => {
        const { exitCode, err } = await job(['-n', '3'], [deaths(), point, message]);
        assert.equal([exitCode, err], [137, 'stcirun: Rank 1 on a was ended by SIGKILL\n']);
      });
      // MPICH 4.0 waits for its peers there by itself.
      if (library.protocol === 'pmi1' && point === 'finalize' && message === 'fence') continue;
      for (const policy of ['notify', 'continue']) {
        real(`... and with ${policy}: the others hang neither`, async () => {
          const { exitCode, err } = await job(['-n', '3', '--on-failure', policy], [deaths(), point, message]);
          assert.is(exitCode, 137, err);
          assert.match(err, /Rank 1 on a was ended by SIGKILL/u);
          const waited = /Rank [02] on a waits in MPI_Init for rank 1, which has ended/u.test(err);
          // Open MPI 4 aborts by itself where it hears of the loss before its first fence.
          const aborted = library.protocol === 'pmix' && /Rank [02] on a called MPI_Abort: exit code 199/u.test(err);
          if (message === 'hello') assert.ok(waited || aborted, err);
        });
      }
    }

    real('a rank that ends without MPI_Init ends those that wait for it there', async () => {
      const { exitCode, err } = await job(['-n', '2'], [deaths(), ':', '-n', '1', '/bin/true']);
      assert.is(exitCode, 205, err);
      assert.match(err, /^stcirun: Rank [01] on a waits in MPI_Init for rank 2, which has ended: /mu);
    });

    const ranks = (of: Run): number[] =>
      of.leftovers().filter((pid) => processOf(pid)?.command.startsWith(`${library.program()}\0`) === true);

    real('nothing is left behind Ctrl-C, --timeout and a rank\'s SIGKILL', async () => {
      const interrupted = await waiting();
      interrupted.child.kill('SIGINT');
      assert.is((await interrupted.result).exitCode, 130);
      const timed = await (await waiting('--timeout', '5')).result;
      assert.is(timed.exitCode, 199, timed.err);
      const struck = await waiting();
      process.kill(ranks(struck)[0] as number, 'SIGKILL');
      assert.is((await struck.result).exitCode, 137);
    });

    real('nothing is left behind an agent that is killed, in its own process or in stcirun\'s', async () => {
      for (const where of [HOST, LOOPBACK]) {
        const orphaned = await waitingOn(where);
        const agent = processOf(ranks(orphaned)[0] as number)?.parent as number;
        assert.is(agent === orphaned.child.pid, where === LOOPBACK);
        process.kill(agent, 'SIGKILL');
        assert.not.equal((await orphaned.result).exitCode, 0);
        await eventually(() => orphaned.leftovers().length === 0, { deadlineMs: 20_000, what: 'the end of all' });
      }
    });
  });
}

suite('MPI programs of several libraries', (test) => {
  const [mpich, openMpi] = MPI_LIBRARIES as [MpiLibrary, MpiLibrary];
  const why = mpich.why ?? openMpi.why;

  test.skipIf(why !== undefined, why ?? '', 'end as one job, and say so', async () => {
    const apps = ['-n', '2', mpich.program(), ':', '-n', '2', openMpi.program()];
    const { exitCode, err } = await run([...HOST, ...apps], LIMIT);
    assert.is(exitCode, 205, err);
    assert.match(err, /^stcirun: Rank \d on a waits in MPI_Init for ranks of another MPI library/mu);
  }, LONG);

  test.skipIf(why !== undefined, why ?? '', 'run one after the other in the ranks of one job', async () => {
    const line = `${mpich.program()} && ${openMpi.program()}`;
    const { exitCode, out, err } = await run([...HOST, '-n', '2', '--', 'sh', '-c', line], LIMIT);
    assert.equal([exitCode, out.split(' ok\n').length], [0, 5], err);
  }, LONG);
});
