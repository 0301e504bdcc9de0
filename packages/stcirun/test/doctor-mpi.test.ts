/** `stci doctor PROGRAM`: the MPI library of a program here, and on hosts by a client in place of ssh. */
// @sameFor user, node: files that anybody can read; the program that reads them is plain JavaScript.

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { assert, suite } from '@stci/testkit';
import type { LinkedMpi } from '@stci/stcirun/internal';
import { elfFile } from './elf-file.js';
import { MPI_LIBRARIES } from './mpi-libraries.js';

const PROGRAM = fileURLToPath(new URL('../bin/stci.cjs', import.meta.url));
const CLIENT = ['--mca', `launcher.ssh.client=${fileURLToPath(new URL('../test/fake-ssh.sh', import.meta.url))}`];
const LONG = { timeoutMs: 60_000 };

interface Said {
  readonly exitCode: number | null;
  readonly out: string;
  readonly err: string;
}

function doctor(
  directory: string, args: readonly string[], variables: Readonly<Record<string, string>> = {},
): Promise<Said> {
  const { NODE_EXTRA_CA_CERTS: _slow, LD_LIBRARY_PATH: _own, ...env } = process.env;
  const child = spawn(process.execPath, [PROGRAM, 'doctor', ...args], {
    cwd: directory, env: { ...env, FAKE_SSH_DIR: directory, ...variables }, stdio: ['ignore', 'pipe', 'pipe'],
  });
  const said = { out: '', err: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said.out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said.err += text));
  return new Promise((resolve) => child.on('close', (exitCode) => resolve({ exitCode, ...said })));
}

function withDirectory(body: (directory: string) => Promise<void>): () => Promise<void> {
  return async () => {
    const directory = mkdtempSync(join(tmpdir(), 'stci-doctor-'));
    try {
      await body(directory);
    } finally {
      rmSync(directory, { recursive: true });
    }
  };
}

const linkedTo = (family: string, version?: string): Partial<LinkedMpi> =>
  ({ library: 'libmpi.so', libraryFile: '/x/libmpi.so', family, ...(version === undefined ? {} : { version }) });

suite('stci doctor PROGRAM', (test) => {
  /** What doctor says of hosts a, b, c… that answer so. */
  const judged = (...answers: Partial<LinkedMpi>[]): Promise<Said> => {
    const directory = mkdtempSync(join(tmpdir(), 'stci-doctor-'));
    const hosts = answers.map((linked, i) => {
      const facts = {
        node: 'v20', nodePath: '', hostname: '', cache: { path: '' }, ports: { tried: 0, free: 1 }, left: [],
        leftCount: 0, agents: 0, ended: [], endedCount: 0, sockets: 0,
        linked: { kind: 'elf', missing: [], ...linked },
      };
      writeFileSync(join(directory, `${'abcd'[i]}.facts`), `${JSON.stringify(facts)}\n`);
      return 'abcd'[i] as string;
    });
    return doctor(directory, ['--host', hosts.join(','), ...CLIENT, 'prog'])
      .finally(() => rmSync(directory, { recursive: true }));
  };

  test('the same library on all hosts is good, and one of which nothing is known, too', async () => {
    const own = linkedTo('MPICH', '4.2.1');
    const { exitCode, out, err } = await judged(own, own, linkedTo('MPICH'));
    assert.equal([exitCode, err], [0, '']);
    assert.match(out, /^host .* leftovers +mpi\na .* MPICH 4\.2\.1\nb .* MPICH 4\.2\.1\nc .* MPICH \?\n\n3 of 3/u);
  }, LONG);

  test('another version is warned of, another library cannot be used: against what most hosts have', async () => {
    const five = linkedTo('Open MPI', '5.0.7');
    const { exitCode, out } = await judged(linkedTo('MPICH', '4.2.1'), five, linkedTo('Open MPI', '5.0.1'), five);
    assert.is(exitCode, 197);
    assert.match(out, '\na: mpi: MPICH 4.2.1, and Open MPI 5.0.7 on b,d: ranks of different libraries do not meet.');
    assert.match(out, '\nc: mpi: Open MPI 5.0.1, and Open MPI 5.0.7 on b,d: ranks of different versions may not meet.');
    assert.match(out, '3 of 4 hosts are usable: --host b,c,d\n');
  }, LONG);

  test('what is missing is told of each host: the program, its library, others', async () => {
    const { exitCode, out } = await judged(
      { kind: 'none' }, { library: 'libmpi.so.40', family: 'Open MPI', missing: ['libmpi.so.40'], via: 'libx.so' },
      { ...linkedTo('Open MPI', '5.0.7'), missing: ['libucp.so.0', '\u001b[31m'] }, { missing: [] },
    );
    assert.is(exitCode, 197);
    assert.match(out, '\na: mpi: prog is not there, or cannot be read\n');
    assert.match(out, '\nb: mpi: libmpi.so.40, which libx.so needs, is not found.');
    assert.match(out, '\nc: mpi: libucp.so.0, \\u001b[31m, which prog or its libraries need, not found.');
    assert.match(out, '\nd: mpi: no MPI, and Open MPI 5.0.7 on c: ranks of different libraries do not meet.');
  }, LONG);

  test('pairs that are known not to work are warned of, by the number of hosts', async () => {
    const alone = await judged(linkedTo('MPICH', '4.0.2'));
    assert.is(alone.exitCode, 0);
    assert.match(alone.out, 'a: mpi: MPICH 4.0.2 gives wrong values for MPI_Put');
    assert.ok(!alone.out.includes('MPI_Finalize'));
    const two = await judged(linkedTo('MPICH', '4.0.2'), linkedTo('MPICH', '4.0.2'));
    assert.is(two.exitCode, 0);
    assert.match(two.out, 'a,b: mpi: MPICH 4.0.2 hangs in MPI_Finalize on several hosts, whoever starts it');
  }, LONG);

  test('an answer of another form is a problem of that host', async () => {
    const { exitCode, out } = await judged({ kind: 'forged' as LinkedMpi['kind'] }, { version: 7 as never });
    assert.is(exitCode, 197);
    assert.match(out, /^a: node: .*facts\.linked\.kind/mu);
    assert.match(out, /^b: node: .*facts\.linked\.version/mu);
  }, LONG);

  test('each host looks in its own files, by PATH and LD_LIBRARY_PATH of here', withDirectory(async (place) => {
    writeFileSync(join(place, 'größe "x"'), elfFile({ needed: ['libmpi.so.40'] }), { mode: 0o755 });
    writeFileSync(join(place, 'libmpi.so.40'), elfFile({ texts: { ompi_version_string: '5.0.7' } }));
    const given = { LD_LIBRARY_PATH: place, PATH: `${place}:${process.env['PATH']}` };
    for (const hosts of [[], ['--host', 'a,b', ...CLIENT]]) {
      const { exitCode, out, err } = await doctor(place, [...hosts, '--json', 'größe "x"'], given);
      assert.is(exitCode, 0, `${out}${err}`);
      for (const { checks, linked } of JSON.parse(out).hosts) {
        assert.equal(checks.mpi, { state: 'good', text: 'Open MPI 5.0.7' });
        assert.is(linked.libraryFile, join(place, 'libmpi.so.40'));
      }
    }
    writeFileSync(join(place, 'script'), '#!/bin/sh\nexec ./program\n');
    const script = await doctor(place, ['./script']);
    assert.is(script.exitCode, 0);
    assert.match(script.out, 'mpi: ./script is a script of /bin/sh: name the program that it runs\n');
  }), LONG);

  test('refused by a launcher of which nothing is known', withDirectory(async (place) => {
    const plugin = fileURLToPath(new URL('../../../examples/unshare', import.meta.url));
    const { exitCode, err } = await doctor(place, ['--plugin', plugin, '--launcher', 'unshare', '--host', 'a', 'true']);
    assert.is(exitCode, 193);
    assert.is(err, 'stci: true: launcher unshare cannot look for its MPI library. Leave it out.\n');
  }), LONG);

  for (const library of MPI_LIBRARIES.filter(({ options }) => options.length === 0)) {
    test.skipIf(library.why !== undefined, library.why ?? '', `${library.title}, on two hosts`,
      withDirectory(async (place) => {
        const { exitCode, out, err } = await doctor(place, ['--host', 'a,b', ...CLIENT, library.program()]);
        assert.is(exitCode, 0, `${out}${err}`);
        const wanted = library.protocol === 'pmi1' ? 'MPICH' : 'Open MPI';
        assert.match(out, new RegExp(`\na .* ${wanted} \\d+\\.\\d+\\.\\d+\nb .* ${wanted} \\d`, 'u'));
      }), LONG);
  }
});
