/** Clients of PMIx without MPI, of real libraries: what they ask of their launcher. */
// @timeoutMs 600000
// @sameFor user, node: libraries in programs of their own; the service is core's.

import { basename } from 'node:path';
import { assert, suite } from '@stci/testkit';
import { run } from './e2e.js';
import { PMIX_LIBRARIES } from './mpi-libraries.js';

const LONG = { timeoutMs: 60_000 };
const ONE = ['--launcher', 'local', '--host', 'a:4'];
const TWO = ['--launcher', 'local', '--host', 'a:2,b:2'];

for (const library of PMIX_LIBRARIES) {
  suite(library.title, (test) => {
    const real = (name: string, body: () => Promise<void>, why = library.why): void =>
      test.skipIf(why !== undefined, why ?? '', name, body, LONG);

    /** What ranks say, by rank. */
    async function told(where: readonly string[], ranks: number, mode: string): Promise<string[][]> {
      const all = [...where, ...library.options, '-n', String(ranks), library.program(), mode];
      const { exitCode, out, err } = await run(all, { limitMs: 60_000 });
      assert.is(exitCode, 0, `${out}${err}`);
      return Array.from({ length: ranks }, (_, rank) => out.split('\n').flatMap((line) =>
        (line.startsWith(`rank ${rank} `) ? [line.slice(`rank ${rank} `.length)] : [])));
    }

    real('queries of what is known, in part known, and not', async () => {
      const [lines = []] = await told(ONE, 2, 'query');
      const name = basename(library.program());
      assert.equal(lines, [
        'status 0', 'pmix.qry.ns = own', 'pmix.qry.jst = 0', `pmix.qry.lptable: 0 itself /${name} 5`,
        `pmix.qry.lptable: 1 /${name} 5`, 'pmix.qry.psetnum = 0', 'pmix.qry.psets = ',
        'pmix.qry.spawn = pmix.host,pmix.wdir',
        'status 0', 'pmix.qry.attrs: PMIx_Query_info pmix.qry.keys', 'pmix.qry.attrs: PMIx_Spawn pmix.host',
        // A client before 5 reads no part of an answer.
        'status -52', ...(library.major < 5 ? [] : ['pmix.qry.jst = 0']),
        'status 0', 'pmix.job.size = 2', 'pmix.univ.size = 4', 'status 0', 'pmix.univ.size = 4',
        'status -46', 'status -46',
      ]);
    });

    real('ranks are not controlled by others', async () => {
      assert.equal(await told(ONE, 2, 'control'), [['signal -47'], []]);
    });

    const whyNoGroup = library.why ?? (library.major < 5 ? 'groups of PMIx 4 have other replies' : undefined);
    for (const [where, title] of [[ONE, 'one host'], [TWO, 'two hosts']] as const) {
      real(`members of a group tell each other of themselves: ${title}`, async () => {
        const said = await told(where, 4, 'group');
        const [context = ''] = said[0] ?? [];
        assert.match(context, /^context \d+$/u);
        const numbers = library.major < 6 ? [] : [0, 1, 2, 3].map((rank) => `number of ${rank}: ${40 + rank}`);
        assert.equal(said, [0, 1, 2, 3].map(() => [context, ...numbers]));
      }, whyNoGroup);
    }
  });
}
