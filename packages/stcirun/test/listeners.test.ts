/**
 * All places at which processes of a job listen: private sockets only where links are native; with ws the listeners of
 * agents that start others, where they were asked for, and no more. A signal does not open a debugger's.
 */

import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { assert, eventually, suite } from '@stci/testkit';
import { start, type Run } from './e2e.js';

/** How long a debugger would need, with much to spare. */
const DEBUGGER_MS = 300;

/** Where an agent waits if it loses its parent; see docs/security.md. */
const PRIVATE = /^unix \S+\/stci(-\d+)?\/agent-[0-9a-f]{16}\.sock$/;

/** Where a process listens, but for private sockets: addresses as in /proc (`0100007F:240D`), names of Unix sockets. */
function listening(pid: number): string[] {
  const sockets = new Set<string>();
  try {
    for (const fd of readdirSync(`/proc/${pid}/fd`)) {
      const inode = /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1];
      if (inode !== undefined) sockets.add(inode);
    }
  } catch {
    return [];
  }
  const found: string[] = [];
  const rows = (table: string): string[][] =>
    readFileSync(`/proc/net/${table}`, 'latin1').split('\n').slice(1).map((line) => line.trim().split(/\s+/));
  for (const table of ['tcp', 'tcp6']) {
    for (const row of rows(table)) if (row[3] === '0A' && sockets.has(row[9] ?? '')) found.push(row[1] as string);
  }
  for (const row of rows('unix')) {
    if (row[3] === '00010000' && sockets.has(row[6] ?? '')) found.push(`unix ${row[7] ?? ''}`);
  }
  return found.filter((place) => !PRIVATE.test(place));
}

const isNode = (pid: number): boolean => {
  try {
    return /agent\.cjs|stcirun\.cjs/.test(readFileSync(`/proc/${pid}/cmdline`, 'latin1'));
  } catch {
    return false;
  }
};

async function running(args: readonly string[]): Promise<{ run: Run; all: () => number[] }> {
  const flags = ['--launcher', 'local', '--host', 'a,b', '-n', '2', '--stdin', 'all', '--forward-signals', 'none'];
  const run = start([...flags, ...args, '--', 'sh', '-c', 'echo ready; read x'], { input: 'open' });
  await eventually(() => run.out().match(/ready/g)?.length === 2, { what: 'the job', deadlineMs: 10_000 });
  return { run, all: () => [run.child.pid as number, ...run.leftovers()] };
}

async function end(run: Run): Promise<void> {
  run.child.stdin?.end('\n');
  const { exitCode, err } = await run.result;
  assert.is(exitCode, 0, err);
}

suite('listeners of a job', (test) => {
  test('native links: no process of it listens anywhere else than at its private socket', async () => {
    const { run, all } = await running(['--mpi', 'none']);
    const pids = all();
    assert.ok(pids.filter(isNode).length >= 3, 'stcirun and two agents are looked at');
    assert.equal(pids.flatMap(listening), []);
    await end(run);
  });

  test('session agents listen for MPI libraries, on loopback alone', async () => {
    const { run, all } = await running([]);
    const places = all().map(listening).filter((each) => each.length > 0);
    assert.equal(places.map((each) => each.length), [1, 1]);
    for (const [address] of places) assert.match(address ?? '', /^0100007F:/);
    await end(run);
  });

  test('ws links: the starter listens, on loopback alone', async () => {
    const { run, all } = await running(['--mpi', 'none', '--mca', 'bootcom.boot=ws', '--mca', 'launcher=flat']);
    const places = new Map(all().map((pid) => [pid, listening(pid)]));
    const own = places.get(run.child.pid as number) ?? [];
    assert.ok(own.length === 1 && own[0]?.startsWith('0100007F:'), own.join());
    for (const address of [...places.values()].flat()) assert.match(address, /^0100007F:/);
    await end(run);
  });

  test('SIGUSR1 opens no debugger', async () => {
    const { run, all } = await running(['--mpi', 'none']);
    const pids = all().filter(isNode);
    for (const pid of pids) process.kill(pid, 'SIGUSR1');
    const sinceMs = performance.now();
    await eventually(() => {
      assert.equal(pids.flatMap(listening), []);
      return performance.now() - sinceMs > DEBUGGER_MS;
    }, { what: 'time for a debugger' });
    await end(run);
  });
});
