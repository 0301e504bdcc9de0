/** What ranks find of PMI in their environment, and who says so. */
// @sameFor user, node: variables are made by core.

import { availableParallelism } from 'node:os';
import { assert, suite } from '@stci/testkit';
import { run } from './e2e.js';

const OWN = /^(?:PMI_FD|PMIX_RANK|HWLOC_COMPONENTS|OMPI_MCA_mpi_\w+)=/u;

async function variables(options: readonly string[], ranks = 1): Promise<string[]> {
  const local = ['--launcher', 'local', '--host', 'a', '--oversubscribe', '-n', String(ranks)];
  const { exitCode, out, err } = await run([...local, ...options, 'env']);
  assert.equal([exitCode, err], [0, '']);
  const found = out.split('\n').filter((line) => OWN.test(line));
  return found.map((line) => line.replace(/^(PMI_FD|PMIX_RANK)=.*/u, '$1')).sort();
}

const HWLOC = 'HWLOC_COMPONENTS=-gl,-opencl';
const FT = 'OMPI_MCA_mpi_ft_enable=1';

suite('stcirun, what MPI libraries are told', (test) => {
  for (const [options, expected] of [
    [[], [HWLOC, 'PMIX_RANK', 'PMI_FD']],
    [['--mpi', 'auto'], [HWLOC, 'PMIX_RANK', 'PMI_FD']],
    [['--mpi', 'pmi1'], [HWLOC, 'PMI_FD']],
    [['--mpi', 'pmix'], [HWLOC, 'PMIX_RANK']],
    [['--mpi', 'none', '--with-ft', 'ulfm'], []],
    [['--with-ft', 'ulfm'], [HWLOC, FT, 'PMIX_RANK', 'PMI_FD']],
    [['--on-failure=continue', '--mpi=pmix'], [HWLOC, FT, 'PMIX_RANK']],
    [['--with-ft=ulfm', '-x', 'OMPI_MCA_mpi_ft_enable=0', '-x', 'HWLOC_COMPONENTS=x', '--mpi', 'pmix'],
      ['HWLOC_COMPONENTS=x', 'OMPI_MCA_mpi_ft_enable=0', 'PMIX_RANK']],
  ] as const) {
    test(`variables with ${options.join(' ') || 'no option'}`, async () => {
      assert.equal(await variables(options), [...expected]);
    });
  }

  test('ranks give way on a host that has more of them than processors', async () => {
    const ranks = availableParallelism() + 1;
    const yielding = (await variables(['--mpi', 'pmix'], ranks)).filter((line) => line.includes('yield'));
    assert.equal(yielding, new Array<string>(ranks).fill('OMPI_MCA_mpi_yield_when_idle=1'));
  });

  for (const [mpi, text, json] of [
    ['auto', 'pmix, pmi1', ['pmix', 'pmi1']], ['pmi1', 'pmi1', ['pmi1']], ['none', 'none', []],
  ] as const) {
    test(`a dry run says what is offered with --mpi ${mpi}`, async () => {
      const options = ['--dry-run', '--launcher', 'local', '--mpi', mpi];
      const { out } = await run([...options, 'true']);
      assert.match(out, `MPI libraries: ${text}\n`);
      const plan = (await run([...options, '--json', 'true'])).out.trim().split('\n').at(-1) ?? '';
      assert.equal((JSON.parse(plan) as { mpi: unknown }).mpi, json);
    });
  }
});
