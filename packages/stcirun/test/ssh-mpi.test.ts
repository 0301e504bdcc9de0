/** Unmodified MPI programs of real libraries over ssh, each host with a network, a name and processes of its own. */
// @timeoutMs 600000
// @sameFor user, node: ssh and hosts; the libraries are programs of their own.

import { assert, suite } from '@stci/testkit';
import { up, whyNoHosts, type Hosts } from '@stci/testkit/hosts';
import { MPI_LIBRARIES, type MpiLibrary } from './mpi-libraries.js';
import { LoginSide } from './ssh-jobs.js';

const whyNot = whyNoHosts();
const LONG = { timeoutMs: 120_000 };
/** MPICH 4.0.2 hangs in MPI_Finalize on several hosts, under its own mpiexec as well. */
const LIBRARIES = MPI_LIBRARIES.filter(({ title }) => title !== 'MPICH');
const TWO = ['--launcher', 'ssh', '--host', 'h1:2,h2:2'];
const THREE = ['--launcher', 'ssh', '--host', 'h1:2,h2:2,h3:2'];

const lines = (text: string): string[] => text.split('\n').filter((line) => line !== '').sort();
const okay = (size: number, universe: number): string[] =>
  Array.from({ length: size }, (_, rank) => `rank ${rank} of ${size} host 2 universe ${universe} ok`);

suite('MPI programs on hosts', (test) => {
  let hosts: Hosts;
  let login: LoginSide;
  test.before(async () => {
    if (whyNot !== undefined || LIBRARIES.every(({ why }) => why !== undefined)) return;
    hosts = await up(3);
    login = new LoginSide(hosts);
  }, LONG);
  test.after(() => hosts?.down(), LONG);

  function real(library: MpiLibrary, name: string, body: () => Promise<void>): void {
    const why = whyNot ?? library.why;
    test.skipIf(why !== undefined, why ?? '', `${library.title}: ${name}`, async () => {
      await body();
      await login.nothingLeft();
    }, LONG);
  }

  for (const library of LIBRARIES) {
    const job = (where: readonly string[], ranks: number, more: readonly string[], ...mode: string[]) =>
      login.stcirun(...where, ...library.options, '-n', String(ranks), ...more, library.program(), ...mode);

    for (const by of ['slot', 'node']) {
      real(library, `init, collectives, finalize, ranks by ${by}`, async () => {
        const { code, stdout, stderr } = await job(THREE, 6, ['--map-by', by]);
        assert.equal([code, lines(stdout)], [0, okay(6, 6)], stderr);
      });
    }

    real(library, 'the failure of a rank elsewhere ends the job', async () => {
      const { code, stderr } = await job(TWO, 4, [], 'dies');
      // A library that sees its connection close may abort before the end of the rank is known.
      assert.match(stderr, /^stcirun: (also: )?Rank 3 on h2 was ended by SIGKILL/mu);
      assert.is(code, 137);
    });

    real(library, 'an abort elsewhere is the exit code', async () => {
      const { code, stderr } = await job(TWO, 4, [], 'abort');
      assert.match(stderr, /^stcirun: Rank 3 on h2 called MPI_Abort: exit code 37/mu);
      assert.is(code, 37);
    });

    real(library, 'a host that is lost ends the job', async () => {
      const all = [...TWO, '--mca', 'bootcom.lease=4s', ...library.options, '-n', '4', library.program(), 'wait'];
      const waiting = login.start(...all);
      await waiting.has(4, /waits$/);
      await hosts.cut('h2');
      assert.is(await waiting.ended(), 200, waiting.err);
      await hosts.mend('h2');
    });

    if (library.protocol !== 'pmix') continue;

    real(library, 'publish, look up, accept and connect', async () => {
      const { code, stdout, stderr } = await job(TWO, 4, [], 'connect');
      assert.equal([code, lines(stdout)], [0, okay(4, 4)], stderr);
    });

    real(library, 'ranks spawn others, on hosts with free slots', async () => {
      const { code, stdout, stderr } = await job(TWO, 2, ['--map-by', 'node'], 'spawn');
      assert.equal([code, lines(stdout).length, /wrong/u.test(stdout)], [0, 4, false], stderr);
    });

    if (!library.isFive) continue;

    real(library, 'survivors go on without a rank of another host', async () => {
      const options = ['--on-failure', 'notify', '-x', 'OMPI_MCA_mpi_ft_enable=1'];
      const { code, stdout, stderr } = await job(TWO, 4, options, 'survive');
      assert.equal([code, lines(stdout)], [137, [0, 1, 2].map((rank) => `rank ${rank} of 4 ok`)], stderr);
    });

    real(library, 'sessions of MPI-4', async () => {
      const { code, stdout, stderr } = await job(TWO, 4, [], 'sessions');
      assert.equal([code, lines(stdout).length, /wrong/u.test(stdout)], [0, 4, false], stderr);
    });
  }
});
