/** Clients of PMIx without MPI, of real libraries: what they ask of their launcher. */
// @timeoutMs 600000
// @sameFor user, node: libraries in programs of their own; the service is core's.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { assert, eventually, suite } from '@stci/testkit';
import { run, start, type Run } from './e2e.js';
import { PMIX_LIBRARIES } from './mpi-libraries.js';

const LONG = { timeoutMs: 60_000 };
const ONE = ['--launcher', 'local', '--host', 'a:4'];
/** The controller asks a host that is reported once more: 10 times detector.latency. */
const PROBE_MS = 200;
/** For machines that are busy. */
const SLACK_MS = 300;
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
        'pmix.qry.spawn = pmix.host,pmix.hostfile,pmix.wdir,pmix.mapby,pmix.ppr',
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

    /** A rank on each host; each says which process its agent is. */
    function listening(
      hosts: string, options: readonly string[], ...words: string[]
    ): Run & { agent(host: string): number } {
      const all = ['--launcher', 'local', '--host', hosts, '--verbose', '--on-failure', 'continue', ...options];
      const count = String(hosts.split(',').length);
      const program = [...library.options, '-n', count, library.program(), ...words];
      const started = start([...all, ...program], { limitMs: 30_000 });
      const agent = (host: string): number =>
        Number(new RegExp(`^agent of ${host}: (\\d+)$`, 'mu').exec(started.out())?.[1]);
      return { ...started, agent };
    }

    const soon = (what: string, of: () => boolean): Promise<unknown> => eventually(of, { deadlineMs: 20_000, what });

    for (const when of ['while the loss is not known', 'later']) {
      real(`a get from a rank that has ended well, and whose agent is lost: ${when}`, async () => {
        const directory = mkdtempSync(join(tmpdir(), 'stci-pmix-'));
        try {
          const file = join(directory, 'go');
          const job = listening('a,b', ['--mca', 'detector.link.timeout=500ms'], 'late', file);
          await soon('the end of rank 1', () => /rank 1 on b: exited, status 0/u.test(job.err()));
          await soon('rank 0', () => /^rank 0 waits$/mu.test(job.out()));
          process.kill(job.agent('b'), 'SIGKILL');
          if (when === 'later') await soon('the loss', () => /host b is lost|agent of host b|failure/u.test(job.err()));
          writeFileSync(file, '');
          const { out, err } = await job.result;
          assert.match(out, /^rank 0 got nothing$/mu, err);
        } finally {
          rmSync(directory, { recursive: true });
        }
      });
    }

    real('the ring finds a host that stands still, and ranks elsewhere are told, as is printed', async () => {
      const ring = [['', 'ring'], ['.ring.period', '100ms'], ['.ring.grace', '0'], ['.ring.lag.max', '0']];
      const options = ring.flatMap(([name, value]) => ['--mca', `detector${name}=${value}`]);
      const job = listening('a,b,c', options, 'listen', '1');
      await soon('all ranks', () => [0, 1, 2].every((rank) => job.out().includes(`rank ${rank} listens`)));
      const sinceMs = Date.now();
      process.kill(job.agent('c'), 'SIGSTOP');
      try {
        const told = (): number[] =>
          [...job.out().matchAll(/^rank [01] lost 2 status -7 at ([\d.]+)$/gmu)].map(([, at]) => Number(at) - sinceMs);
        await soon('news of both ranks', () => told().length === 2);
        const [, leastMs, mostMs] = /reported after (\d+) to (\d+) ms/u.exec(job.err()) ?? [];
        for (const tookMs of told()) {
          assert.ok(tookMs >= Number(leastMs) && tookMs <= Number(mostMs) + PROBE_MS + SLACK_MS, `${tookMs} ms`);
        }
      } finally {
        job.child.kill('SIGKILL');
      }
      await job.result;
      await soon('the end of all', () => job.leftovers().length === 0);
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
