// @timeoutMs 180000
// @sameFor user, node: how the tree mends is decided by core; processes and signals are e2e-run's and e2e-signals'.
/** The tree mends, on real processes: agents are killed under output, and only their own ranks are lost. */

import { readFileSync, readdirSync, readlinkSync } from 'node:fs';
import { assert, eventually, suite } from '@stci/testkit';
import { processOf, sh, start, type Run } from './e2e.js';

const HOSTS = 12;
const LINES = 60;

/** Root agents of a run that have started others. */
function innerAgents(run: Run): number[] {
  const agents = run.leftovers().filter((pid) => processOf(pid)?.command.includes('agent.cjs') === true);
  const parents = new Set(agents.map((pid) => processOf(pid)?.parent));
  return agents.filter((pid) => parents.has(pid));
}

/** Twelve agents on this machine, each with a rank that writes numbered lines. */
async function writing(...args: readonly string[]): Promise<Run> {
  const hosts = Array.from({ length: HOSTS }, (_, i) => `h${i}`).join(',');
  const script = `i=0; while [ $i -lt ${LINES} ]; do i=$((i+1)); echo "r$STCI_RANK $i"; sleep 0.1; done`;
  const run = start(['--launcher', 'local', '--host', hosts, '-n', String(HOSTS), ...args, ...sh(script)],
    { limitMs: 60_000 });
  const all = Array.from({ length: HOSTS }, (_, rank) => `r${rank} 5\n`);
  await eventually(() => all.every((line) => run.out().includes(line)), { what: 'lines of all', deadlineMs: 20_000 });
  return run;
}

/** Of each rank: how many lines came, and whether they are the first ones in order, each once. */
function linesOf(out: string): { readonly count: number; readonly isInOrder: boolean }[] {
  return Array.from({ length: HOSTS }, (_, rank) => {
    const numbers = [...out.matchAll(new RegExp(`^r${rank} (\\d+)$`, 'gm'))].map(([, number]) => Number(number));
    return { count: numbers.length, isInOrder: numbers.every((number, i) => number === i + 1) };
  });
}

suite('the tree mends', (test) => {
  for (const args of [[], ['--mca', 'bootcom.boot=ws']]) {
    test(`kill -9 of an inner agent under output${args.join(' ')}: all ranks but its own go on`, async () => {
      const run = await writing('--mca', 'errmgr=continue', ...args);
      const [victim] = innerAgents(run);
      assert.ok(victim !== undefined, 'an inner agent');
      process.kill(victim as number, 'SIGKILL');
      const { exitCode, out, err } = await run.result;
      assert.is(exitCode, 200, err);
      const ranks = linesOf(out);
      assert.ok(ranks.every(({ isInOrder }) => isInOrder), 'each line once and in order');
      const [cut, ...more] = ranks.flatMap(({ count }, rank) => (count < LINES ? [rank] : []));
      assert.equal(more, [], err);
      assert.match(err, new RegExp(`Agent root:${cut} on host h${cut} is lost`));
      await eventually(() => run.leftovers().length === 0, { what: 'nothing left', deadlineMs: 10_000 });
    }, { timeoutMs: 60_000 });
  }

  test('no socket is left behind', async () => {
    const run = await writing();
    const directory = socketDirectory(run);
    assert.is((await run.result).exitCode, 0);
    await eventually(() => run.leftovers().length === 0, { what: 'nothing left', deadlineMs: 10_000 });
    for (const name of directory.names) assert.ok(!readdirSync(directory.path).includes(name), name);
  }, { timeoutMs: 60_000 });
});

/** The private sockets of a run's agents. */
function socketDirectory(run: Run): { readonly path: string; readonly names: readonly string[] } {
  const inodes = new Set(run.leftovers().flatMap((pid) => socketInodes(pid)));
  const rows = readFileSync('/proc/net/unix', 'latin1').split('\n').map((line) => line.trim().split(/\s+/));
  const paths = rows.flatMap((row) => (inodes.has(row[6] ?? '') && row[7]?.endsWith('.sock') === true ? [row[7]] : []));
  assert.ok(paths.length >= HOSTS, `${paths.length} sockets`);
  return { path: (paths[0] as string).replace(/\/[^/]*$/, ''), names: paths.map((path) => path.replace(/^.*\//, '')) };
}

function socketInodes(pid: number): string[] {
  try {
    const links = readdirSync(`/proc/${pid}/fd`).map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`));
    return links.flatMap((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1] ?? []);
  } catch {
    return [];
  }
}
