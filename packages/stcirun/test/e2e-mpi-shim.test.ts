/**
 * The shim that tells for whom a rank waits in MPI calls, with the libraries of this machine: what it says, to a socket
 * of the test; and what detector `sporadic` makes of it.
 */
// @timeoutMs 600000
// @sameFor user, node: a library in programs of their own; detectors are core's.

import { chmodSync, chownSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
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
const HOST = ['--launcher', 'local', '--host', 'a:8', '--oversubscribe'];

interface Built {
  readonly shim: string;
  readonly program: string;
}

/** Every so often the shim looks, and tells at most once. */
const LOOK_MS = 50;

type Told = readonly number[] | undefined;

/** Told when the call begins, and when the others come. `undefined`: all ranks. */
const once = (on: Told): Told[][] => [[on], [[]]];

/** What the agent's socket does. */
type How = 'reads' | 'is not there' | 'ends at once' | 'ends while a rank waits' | 'reads nothing';
type Agent = Awaited<ReturnType<typeof listen>>;

/** Each kind of call with what rank 0 says at each step. */
const CALLS: readonly (readonly [kind: string, steps: readonly (readonly Told[])[]])[] = [
  ['recv', once([2])], ['any', once(undefined)], ['probe', once([1])], ['ssend', once([2])], ['send', once([1])],
  ['sendrecv', once([1, 2])], ['wait', once([2])], ['waitall', once([1, 2])],
  ['waitany', [[[1, 2]], [[], [1]], [[]]]], ['barrier', once(undefined)], ['ibarrier', once(undefined)],
  ['allreduce', once(undefined)], ['sub', once([2])],
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

    /** Ranks that speak to the test's agent, from when all are up to their good end. */
    const speak = async (
      kind: string, how: How, body: (agent: Agent) => Promise<void>, before: readonly string[] = [],
    ): Promise<void> => {
      const agent = await listen(join(directory, `${kind} ${how}`), how);
      if (how === 'is not there') agent.close();
      const job = start([
        ...HOST, ...LOOPBACK, ...library.options, '-x', `LD_PRELOAD=${built.shim}`, '-n', '3',
        ...before, built.program, kind, agent.path, agent.path,
      ], { limitMs: 60_000 });
      try {
        await up(job, 3);
        await body(agent);
        step(agent.path, 'end');
        const { exitCode, out, err } = await job.result;
        assert.equal([exitCode, out.split('done').length, err], [0, 4, '']);
      } finally {
        job.child.kill('SIGTERM');
        await job.result;
        agent.close();
      }
    };

    for (const [kind, steps] of CALLS) {
      real(`it tells for whom a rank waits, and when it waits no more: ${kind}`, () =>
        speak(kind, 'reads', async (agent) => {
          await eventually(() => agent.hellos.length === 3, { what: 'all shims', deadlineMs: 30_000 });
          assert.equal(agent.hellos, [0, 1, 2].map((rank) =>
            ({ type: 'hello', version: 2, token: `0${rank}`, only: 'waits' })));
          const expected: Told[] = [];
          for (const [i, told] of steps.entries()) {
            step(agent.path, i + 1);
            expected.push(...told);
            await eventually(() => agent.told(0).length >= expected.length,
              { what: `what is told at step ${i + 1}: ${JSON.stringify(expected)}`, deadlineMs: 30_000 });
            assert.equal(agent.told(0), expected);
          }
        }));
    }

    real('calls that return soon are not told', async () => {
      let [startMs, told] = [0, (): number => 0];
      await speak('quick', 'reads', async (agent) => {
        told = () => agent.told(0).length;
        startMs = performance.now();
        step(agent.path, 1);
      });
      // One that the system interrupts for long is told, and MPI_Finalize.
      const looks = Math.ceil((performance.now() - startMs) / LOOK_MS);
      assert.ok(told() <= looks, `${told()} of 100000 calls were told in ${looks} looks`);
    });

    // The environment of a root has its libraries, with which no `env` of this machine runs.
    for (const other of library.isOfRoot ? [] : ['STCI_SIZE=2', 'STCI_RANK=7']) {
      real(`nothing is told of a world that another launcher has made in a rank: ${other}`, async () => {
        let hellos = (): unknown[] => [0];
        await speak('recv', 'reads', async (agent) => {
          hellos = () => agent.hellos;
          step(agent.path, 1);
          step(agent.path, 2);
        }, ['env', other]);
        assert.equal(hellos(), []);
      });
    }

    for (const how of ['is not there', 'ends at once', 'ends while a rank waits', 'reads nothing'] as const) {
      real(`the program goes on where the agent's socket ${how}`, () =>
        speak('recv', how, async (agent) => {
          step(agent.path, 1);
          if (how === 'ends while a rank waits') {
            await eventually(() => agent.told(0).length > 0, { what: 'that it waits', deadlineMs: 30_000 });
          }
          step(agent.path, 2);
        }));
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
            built.program, kind, events, 'freeze',
          ], { limitMs: 60_000 });
          try {
            await up(job, 3);
            step(events, 1);
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

    const other = MPI_LIBRARIES.find(({ protocol, isOfRoot, why }) =>
      protocol !== library.protocol && isOfRoot === library.isOfRoot && why === undefined);
    test.skipIf(library.why !== undefined || other === undefined, library.why ?? 'no other library is here',
      'a program of another library is told so, and runs no further', async () => {
        const program = other?.build(SOURCE, join(directory, 'other')) ?? '';
        const { exitCode, out, err } = await run([
          ...HOST, ...LOOPBACK, ...library.options, '-x', `LD_PRELOAD=${built.shim}`, '-n', '2', program, 'recv', '',
        ]);
        assert.equal([exitCode, out], [1, '']);
        assert.match(err, /^libstci-mpi\.so was built with (MPICH|Open MPI)[ a-z]*, and this program has (?!\1)[MO]/u);
      }, LONG);

    for (const policy of ['notify', 'continue'] as const) {
      real(`the death of a rank that is waited for is found: ${policy}`, async () => {
        const events = join(directory, policy);
        const job = start([
          ...HOST, '--client', '-n', '3', '--on-failure', policy, '--events', events, ...LOOPBACK, ...library.options,
          '--mca', 'detector=sporadic', '-x', `LD_PRELOAD=${built.shim}`, built.program, 'recv', events,
        ], { limitMs: 60_000 });
        try {
          await up(job, 3);
          step(events, 1);
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

  test('not where all may write: who exchanges it runs in each rank', async () => {
    const directory = realpathSync(mkdtempSync(join(tmpdir(), 'stci-shim-')));
    try {
      chmodSync(directory, 0o777);
      const { exitCode, err } = await build('--mpicc', 'true', '-o', join(directory, 'x.so'));
      assert.is(exitCode, 196);
      assert.match(err, /x\.so: others may rename what is in .*\. Name another place by -o\.\n$/u);
      chmodSync(directory, 0o1777);
      assert.is((await build('--mpicc', 'true', '-o', join(directory, 'x.so'))).exitCode, 0);
      const nowhere = await build('--mpicc', 'true', '-o', join(directory, 'none/x.so'));
      assert.match(nowhere.err, /none\/x\.so: there is no directory .*\/none\. Name another place by -o\.\n$/u);
      if (process.getuid?.() !== 0) return;
      writeFileSync(join(directory, 'x.so'), '');
      chownSync(join(directory, 'x.so'), 12_345, 12_345);
      const foreign = await build('--mpicc', 'true', '-o', join(directory, 'x.so'));
      assert.match(foreign.err, /x\.so belongs to user 12345, not to you/u);
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

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
async function listen(path: string, how: How) {
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

/** Says to the ranks that they may go on. */
function step(path: string, name: number | 'end'): void {
  writeFileSync(`${path}.${name}`, '');
}

async function up(job: Run, ranks: number): Promise<void> {
  const count = (): number => job.out().match(/^up \d+ \d+\n/gmu)?.length ?? 0;
  await eventually(() => count() === ranks, { what: 'all ranks', deadlineMs: 60_000 });
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
