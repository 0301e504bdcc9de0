/** Unmodified MPI programs of real libraries in allocations of a real Slurm: whatever it sets, the job is stcirun's. */
// @timeoutMs 600000
// @sameFor user, node: Slurm and hosts; the libraries are programs of their own.

import { assert, suite } from '@stci/testkit';
import { whyNoSlurm } from '@stci/testkit/hosts';
import { MPI_LIBRARIES } from './mpi-libraries.js';
import { SlurmSide } from './slurm-side.js';

const whyNot = whyNoSlurm();
const LONG = { timeoutMs: 120_000 };
/** What libraries take for word of a launcher, in a rank that Slurm has not started. */
const MISLEADING = 'SLURM_(PROCID|LOCALID|GTIDS|STEP_(NODELIST|TASKS_PER_NODE|LAUNCHER_PORT)|SRUN_COMM_.*|PMI.*)='
  + '|PMI2_|PALS_';

const lines = (text: string): string[] => text.split('\n').filter((line) => line !== '').sort();

suite('MPI programs in an allocation of Slurm', (test) => {
  let side: SlurmSide;
  test.before(async () => {
    if (whyNot === undefined) side = await SlurmSide.up(3);
  }, LONG);
  test.after(() => side?.down(), LONG);

  for (const library of MPI_LIBRARIES) {
    const why = whyNot ?? library.why;
    // MPICH 4.0.2 hangs in MPI_Finalize on several hosts, under its own mpiexec as well.
    const hosts = library.title === 'MPICH' ? 1 : 3;
    const okay = (size: number): string[] =>
      Array.from({ length: size }, (_, rank) => `rank ${rank} of ${size} host 2 universe ${size} ok`);
    const real = (name: string, body: (line: string) => Promise<void>): void =>
      test.skipIf(why !== undefined, why ?? '', `${library.title}: ${name}`, async () => {
        await body(`stcirun ${library.options.join(' ')} ${library.program()}`);
        await side.settled();
      }, LONG);

    real(`on ${hosts} hosts, from the script and from a step of srun`, async (line) => {
      for (const by of ['', 'srun --overlap -N1 -n1 ']) {
        const run = await side.salloc(`-N${hosts} --ntasks-per-node=2`, `${by}${line}; echo rc $?`);
        assert.equal(lines(run.stdout), [...okay(2 * hosts), 'rc 0'].sort(), `${by}${run.stderr}`);
      }
    });

    real('a rank that dies ends the job', async (line) => {
      const run = await side.salloc(`-N${hosts} --ntasks-per-node=2`, `${line} dies; echo rc $?`);
      assert.equal(lines(run.stdout).at(-1), 'rc 137', run.stderr);
    });
  }

  test.skipIf(whyNot !== undefined, whyNot ?? '', 'what misleads libraries stays out of ranks', async () => {
    for (const by of ['', 'srun --overlap -N1 -n1 ']) {
      const check = `env | grep -E "^(${MISLEADING})" | cut -d= -f1 | sort -u | tr "\\n" " "`;
      const run = await side.salloc('-N2 --ntasks-per-node=2', `${by}stcirun -n 4 sh -c '${check}'; echo rc $?`);
      assert.is(run.stdout, 'rc 0\n', by);
    }
    await side.settled();
  }, LONG);
});
