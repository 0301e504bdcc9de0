/**
 * The shim that tells for whom a rank waits in MPI calls, with the libraries of this machine: what it says, to a socket
 * of the test; and what detector `sporadic` makes of it.
 */
// @timeoutMs 600000
// @sameFor user, node: a library in programs of their own; detectors are core's.

import { chmodSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { assert, eventually, killThose, suite } from '@stci/testkit';
import { run, start, type Run } from './e2e.js';
import { LOOPBACK, MPI_LIBRARIES, type MpiLibrary } from './mpi-libraries.js';

const LONG = { timeoutMs: 120_000 };
const STCI = fileURLToPath(new URL('../bin/stci.cjs', import.meta.url));
const SOURCE = fileURLToPath(new URL('../test/mpi/waits.c', import.meta.url));
const LATE_MS = 1500;
const HOST = ['--launcher', 'local', '--host', 'a:8', '--oversubscribe'];

interface Built {
  readonly shim: string;
  readonly program: string;
}

/** Each kind of call with what rank 0 says of it; `undefined`: all ranks. */
const CALLS: readonly (readonly [kind: string, ...told: (readonly number[] | undefined)[]])[] = [
  ['recv', [2], []], ['any', undefined, []], ['probe', [1], []], ['ssend', [2], []], ['send', [1], []],
  ['sendrecv', [1, 2], []], ['wait', [2], []], ['waitall', [1, 2], []], ['waitany', [1, 2], [], [1], []],
  ['barrier', undefined, []], ['ibarrier', undefined, []], ['allreduce', undefined, []], ['sub', [2], []],
];

for (const library of MPI_LIBRARIES) {
  suite(`the shim of ${library.title}`, (test) => {
    let directory = '';
    let built: Built = { shim: '', program: '' };
    test.before(async () => {
      directory = realpathSync(mkdtempSync(join(tmpdir(), 'stci-shim-')));
      if (library.why === undefined) built = await build(library, directory);
    }, LONG);
    test.after(() => rmSync(directory, { recursive: true, force: true }));
    const real = (name: string, body: () => Promise<void>): void =>
      test.skipIf(library.why !== undefined, library.why ?? '', name, body, LONG);

    /** Options and program of ranks that speak to the test's agent. */
    const toAgent = (path: string, kind: string, late = '0'): string[] => [
      ...HOST, ...LOOPBACK, ...library.options, '-x', `LD_PRELOAD=${built.shim}`, '-n', '3',
      built.program, kind, late, path,
    ];

    for (const [kind, ...told] of CALLS) {
      real(`it tells for whom a rank waits, and when it waits no more: ${kind}`, async () => {
        const agent = await listen(join(directory, kind));
        try {
          const { exitCode, out, err } = await run(toAgent(agent.path, kind, String(LATE_MS)), { limitMs: 60_000 });
          assert.equal([exitCode, out.split('done').length], [0, 4], err);
          assert.equal(agent.hellos, [0, 1, 2].map((rank) =>
            ({ type: 'hello', version: 2, token: `0${rank}`, only: 'waits' })));
          // MPI_Finalize may take long, too: it is a wait for all.
          assert.equal(agent.told(0).slice(0, told.length), told);
        } finally {
          agent.close();
        }
      });
    }

    real('calls that return soon are not told', async () => {
      const agent = await listen(join(directory, 'quick'));
      try {
        const { exitCode, err } = await run(toAgent(agent.path, 'quick'), { limitMs: 60_000 });
        assert.is(exitCode, 0, err);
        const lines = agent.told(0);
        assert.ok(lines.length < 100, `${lines.length} of 100000 calls were told`);
      } finally {
        agent.close();
      }
    });

    for (const how of ['is not there', 'ends at once', 'ends while a rank waits', 'reads nothing'] as const) {
      real(`the program goes on where the agent's socket ${how}`, async () => {
        const agent = await listen(join(directory, how.replaceAll(' ', '-')), how);
        if (how === 'is not there') agent.close();
        try {
          const { exitCode, out, err } = await run(toAgent(agent.path, 'recv', '500'), { limitMs: 60_000 });
          assert.equal([exitCode, out.split('done').length], [0, 4], err);
          assert.ok(!/libstci/u.test(err), err);
        } finally {
          agent.close();
        }
      });
    }

    for (const kind of ['recv', 'barrier'] as const) {
      for (const withShim of library.protocol === 'pmi1' || library.isFive ? [true, false] : []) {
        const expected = withShim ? 'found' : 'nobody\'s concern without the shim';
        real(`a host that stands still while a rank waits in ${kind} is ${expected}`, async () => {
          const events = join(directory, `${kind}-${withShim}`);
          const job = start([
            '--client', '--launcher', 'local', '--host', 'a:2,b:1', '-n', '3', '--on-failure', 'continue',
            '--events', events, ...LOOPBACK, ...library.options,
            '--mca', 'detector=sporadic', '--mca', 'detector.sporadic.timeout=400ms',
            '--mca', 'detector.sporadic.period=100ms', ...(withShim ? ['-x', `LD_PRELOAD=${built.shim}`] : []),
            built.program, kind, 'freeze',
          ], { limitMs: 60_000 });
          try {
            await up(job, 3);
            await eventually(() => (withShim ? recordsOf(events).length > 0 : job.out().includes('late')),
              { what: 'the loss of b, or the end of the time for it', deadlineMs: 30_000 });
            assert.equal(recordsOf(events).map(({ hostName, detector, reporter }) => [hostName, detector, reporter]),
              withShim ? [['b', 'sporadic', 'root:0']] : []);
          } finally {
            await end(job);
          }
        });
      }
    }

    for (const policy of ['notify', 'continue'] as const) {
      real(`the death of a rank that is waited for is found: ${policy}`, async () => {
        const events = join(directory, policy);
        const job = start([
          ...HOST, '--client', '-n', '3', '--on-failure', policy, '--events', events, ...LOOPBACK, ...library.options,
          '--mca', 'detector=sporadic', '-x', `LD_PRELOAD=${built.shim}`, built.program, 'recv', 'never',
        ], { limitMs: 60_000 });
        try {
          await up(job, 3);
          process.kill(pidOf(job, 2), 'SIGKILL');
          await eventually(() => recordsOf(events).length > 0, { what: 'the record', deadlineMs: 20_000 });
          const [{ subject, cause } = {}] = recordsOf(events);
          assert.equal([(subject as { rank?: number }).rank, cause], [2, 'signalled']);
        } finally {
          await end(job);
        }
      });
    }
  });
}

suite('stci mpi-shim build', (test) => {
  const build = (...args: string[]): ReturnType<typeof run> => run(['mpi-shim', 'build', ...args], { program: STCI });

  test('no compiler, one that cannot be run, and what a compiler says', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'stci-shim-'));
    try {
      const absent = await build('--mpicc', 'no-such-mpicc');
      assert.equal([absent.exitCode, absent.err.split('.')[0]], [196, 'stci: There is no no-such-mpicc']);
      const wrong = await build('--mpicc', directory);
      assert.is(wrong.exitCode, 196);
      assert.match(wrong.err, / cannot be run: .*EACCES/u);
      const compiler = join(directory, 'mpicc');
      writeFileSync(compiler, '#!/bin/sh\necho "mpi.h: no such file" >&2\nexit 3\n');
      chmodSync(compiler, 0o755);
      const failed = await build('--mpicc', compiler, '-o', join(directory, 'x.so'));
      assert.is(failed.exitCode, 196);
      assert.match(failed.err, /ended with status 3: the library was not built\.\nmpi\.h: no such file\n$/u);
    } finally {
      rmSync(directory, { recursive: true });
    }
  });
});

async function build(library: MpiLibrary, directory: string): Promise<Built> {
  const [shim, mpicc] = [join(directory, 'libstci-mpi.so'), join(directory, 'mpicc')];
  writeFileSync(mpicc, library.mpicc);
  chmodSync(mpicc, 0o755);
  const { exitCode, out, err } =
    await run(['mpi-shim', 'build', '--mpicc', mpicc, '-o', shim], { program: STCI, limitMs: 60_000 });
  assert.equal([exitCode, out, err], [0, `${shim}\n`, '']);
  return { shim, program: library.build(SOURCE, join(directory, 'waits')) };
}

/** A socket as agents have; `how` it behaves. */
async function listen(path: string, how = 'reads') {
  const sockets = new Set<Socket>();
  const lines: [rank: number, line: { readonly type: string; readonly ranks?: readonly number[] }][] = [];
  const server = createServer((socket) => {
    let [rest, rank] = ['', -1];
    sockets.add(socket.on('error', () => undefined).setEncoding('utf8'));
    if (how === 'ends at once') return void socket.destroy();
    if (how === 'reads nothing') return void socket.pause();
    socket.on('data', (text: string) => {
      rest += text;
      for (let at = rest.indexOf('\n'); at >= 0; at = rest.indexOf('\n')) {
        const line = JSON.parse(rest.slice(0, at)) as { type: string; token: string };
        rest = rest.slice(at + 1);
        if (line.type === 'hello') {
          rank = Number(line.token);
          socket.write('{"type":"welcome"}\n');
        }
        lines.push([rank, line]);
        if (line.type === 'waiting' && how === 'ends while a rank waits') socket.destroy();
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  return {
    path,
    get hellos() {
      return lines.map(([, line]) => line).filter(({ type }) => type === 'hello')
        .sort((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)));
    },
    told: (rank: number) =>
      lines.filter(([from, { type }]) => from === rank && type === 'waiting').map(([, { ranks }]) => ranks),
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

function recordsOf(events: string): Record<string, unknown>[] {
  return readFileSync(events, 'utf8').split('\n').filter((line) => line.includes('"failure-record"'))
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

async function up(job: Run, ranks: number): Promise<void> {
  await eventually(() => job.out().split('up ').length > ranks, { what: 'all ranks', deadlineMs: 60_000 });
}

function pidOf(job: Run, rank: number): number {
  return Number(new RegExp(`^up ${rank} (\\d+)$`, 'mu').exec(job.out())?.[1]);
}

/** However it stands; MPI's own end is not waited for, nor agents that stand still. */
async function end(job: Run): Promise<void> {
  killThose(job.leftovers(), 'SIGCONT');
  job.child.kill('SIGTERM');
  await job.result;
  await eventually(() => job.leftovers().length === 0, { what: 'the end of all', deadlineMs: 30_000 });
}
