/** Programs that use the client library, in real jobs: they survive losses at any moment, and agree on what is lost. */
// @timeoutMs 180000
// @sameFor user, node: core decides who is lost; how the library reads messages is in e2e-client-messages.

import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { assert, eventually, patient, suite } from '@stci/testkit';
import { run, start, type Result, type Run } from './e2e.js';

const CLIENT = fileURLToPath(new URL('../../client/', import.meta.url));
const NODE = process.execPath;
const LONG = { timeoutMs: 120_000 };

const JOB = ['--client', '--launcher', 'local', '--host', 'a:2,b:2,c:2', '-n', '6'];
const CONTINUE = ['--on-failure', 'continue'];
const CHAIN = ['--mca', 'launcher.tree.arity=1'];

/** Environment and parent of a rank's process. */
function rankOf(pid: number): { rank: number; host: string; agent: number } | undefined {
  try {
    const environment = readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0');
    const value = (name: string): string => environment.find((entry) => entry.startsWith(`${name}=`)) ?? '=';
    const isProgram = readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes('.mjs');
    if (value('STCI_RANK') === '=' || !isProgram) return undefined;
    const agent = Number(/\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'latin1'))?.[1]);
    return { rank: Number(value('STCI_RANK').split('=')[1]), host: value('STCI_HOST').split('=')[1] ?? '', agent };
  } catch {
    return undefined;
  }
}

type Victim = { readonly rank: number } | { readonly agentOf: string };

function signal(job: Run, to: Victim, name: NodeJS.Signals): void {
  for (const pid of job.leftovers()) {
    const found = rankOf(pid);
    if ('rank' in to && found?.rank === to.rank) return void process.kill(pid, name);
    if ('agentOf' in to && found?.host === to.agentOf) return void process.kill(found.agent, name);
  }
  assert.unreachable(`no process of ${JSON.stringify(to)}`);
}

/** How often ranks have said that others are lost. */
const told = (out: string): number => out.split(': lost ').length;

/**
 * Runs the example with 48 blocks; kills the first victim when so many blocks are done, and each further one when
 * the one before is known. One rank is stopped after the first block until all that is done, so that the
 * job cannot be over before.
 */
async function survive(options: readonly string[], blocks: number, victims: readonly Victim[]): Promise<Result> {
  const directory = mkdtempSync(join(tmpdir(), 'stci-survive-'));
  try {
    const example = join(CLIENT, 'examples/survive.mjs');
    const job = start([...JOB, ...options, NODE, example, directory, '48', '400000'], { limitMs: 60_000 });
    const until = (condition: () => boolean, what: string): Promise<unknown> =>
      eventually(condition, { what, deadlineMs: 60_000 });
    const done = (count: number): Promise<unknown> => until(
      () => readdirSync(directory).filter((name) => /^block-\d+$/.test(name)).length >= count, `${count} blocks`);
    await done(1);
    const held = { rank: victims.some((victim) => 'agentOf' in victim && victim.agentOf === 'a') ? 5 : 1 };
    if (victims.length > 0) signal(job, held, 'SIGSTOP');
    await done(blocks);
    for (const victim of victims) {
      const before = told(job.out());
      signal(job, victim, 'SIGKILL');
      await until(() => told(job.out()) > before, `news of ${JSON.stringify(victim)}`);
    }
    if (victims.length > 0) signal(job, held, 'SIGCONT');
    const result = await job.result;
    // A guardian whose agent was killed outlives the job for a moment.
    await eventually(() => job.leftovers().length === 0, { what: 'the end of all processes' });
    return result;
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** Runs a module of the client package's directory in each rank. */
const module = (text: string): readonly string[] =>
  [NODE, '--input-type=module', '-e', `import { connect } from '@stci/client'; const stci = await connect(); ${text}`];

const CLIENT_DIRECTORY = { cwd: CLIENT };

suite('client library', (test) => {
  test('the example computes what one process computes', async () => {
    const { exitCode, out, err } = await survive(CONTINUE, 0, []);
    assert.equal([exitCode, err], [0, '']);
    assert.match(out, /ranks left: 6 of 6, as computed by one process/);
  }, LONG);

  for (const blocks of [1, 20, 40]) {
    for (const policy of blocks === 20 ? ['continue', 'notify'] : ['continue']) {
      test(`… also if two ranks are killed after ${blocks} blocks, with ${policy}`, async () => {
        const { exitCode, out } = await survive(['--on-failure', policy], blocks, [{ rank: 0 }, { rank: 3 }]);
        assert.is(exitCode, 137);
        assert.match(out, /ranks left: 4 of 6, as computed by one process/);
        const lost = 'lost 0: it was ended by SIGKILL';
        for (const rank of [1, 2, 4, 5]) assert.ok(out.includes(`rank ${rank}: ${lost}`), out);
      }, LONG);
    }
  }

  for (const [host, policy] of [['a', 'continue'], ['b', 'continue'], ['c', 'notify']] as const) {
    test(`… also if a rank and the host ${host} are lost, in a chain of hosts, with ${policy}`, async () => {
      const options = ['--on-failure', policy, ...CHAIN];
      const { out } = await survive(options, 6, [{ rank: host === 'b' ? 0 : 2 }, { agentOf: host }]);
      assert.match(out, /ranks left: 3 of 6, as computed by one process/);
    }, LONG);
  }

  test('… also with ranks that are started again, and take part again', async () => {
    const { exitCode, out } = await survive(['--on-failure', 'restart'], 6, [{ rank: 0 }, { rank: 3 }]);
    assert.is(exitCode, 0, out);
    assert.match(out, /ranks left: [456] of 6, as computed by one process/);
    assert.match(out, /rank 1: lost 0: it was ended by SIGKILL/);
  }, LONG);

  test('… also with ranks of a lost host that are started again on another', async () => {
    const hosts = ['--host', 'a:2,b:2,c:4', '--on-failure', 'restart'];
    const { exitCode, out } = await survive(hosts, 6, [{ agentOf: 'b' }]);
    assert.is(exitCode, 0, out);
    assert.match(out, /ranks left: [456] of 6, as computed by one process/);
    assert.match(out, /rank 0: lost [\d, ]+: .*host b/);
  }, LONG);

  test('a barrier keeps ranks together; agreement gives all the same', async () => {
    const text = 'const before = Date.now(); await stci.barrier(); const after = Date.now();'
      + 'console.log(JSON.stringify([before, after, await stci.agree(stci.rank !== 2), await stci.agree(true)]));';
    const { exitCode, out, err } = await run([...JOB, ...module(text)], CLIENT_DIRECTORY);
    assert.equal([exitCode, err], [0, '']);
    const told = out.trim().split('\n').map((line) => JSON.parse(line) as [number, number, ...unknown[]]);
    assert.is(told.length, 6);
    assert.ok(Math.max(...told.map(([before]) => before)) <= Math.min(...told.map(([, after]) => after)), out);
    for (const [, , ...agreed] of told) assert.equal(agreed, [{ flag: false, failed: [] }, { flag: true, failed: [] }]);
  }, LONG);

  test('a rank that hangs and promised a sign of life is ended and lost; one that took it back is not', async () => {
    const text = 'const dog = stci.watchdog(1500); if (stci.rank === 1) for (;;) {}'
      + 'if (stci.rank === 0) { dog.stop(); const endMs = Date.now() + 2000; while (Date.now() < endMs); }'
      + 'const timer = setInterval(() => dog.alive(), 100); if (stci.rank === 0) dog.stop();'
      + 'stci.onFailure(({ ranks, host, reason }) =>'
      + 'console.log(stci.rank, "lost", ranks.join(), host, reason.includes("no sign of life for")));'
      + 'await stci.barrier().catch(({ message }) => console.error("told", message));'
      + 'console.log(JSON.stringify(await stci.agree(true))); clearInterval(timer); dog.stop();';
    const { exitCode, out, err } = await run([...JOB, ...CONTINUE, ...module(text)], CLIENT_DIRECTORY);
    assert.is(exitCode, 137, err);
    const lines = out.trim().split('\n').sort();
    const agreed = '{"flag":true,"failed":[1]}';
    assert.equal(lines, [...[0, 2, 3, 4, 5].map((rank) => `${rank} lost 1 a true`), ...Array(5).fill(agreed)].sort());
    const why = 'was ended by SIGKILL: no sign of life for \\d+ ms, promised within \\d+ ms';
    assert.match(err, new RegExp(`^stcirun: .*Rank 1 on a ${why}`, 'mu'));
    assert.match(err, /^told .*rank 1 on host a.* no sign of life for \d+ ms/mu);
  }, LONG);

  test('sporadic: a host that stands still is nobody\'s concern until ranks wait for it in a barrier', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'stci-barrier-'));
    const events = join(directory, 'events');
    const sporadic = ['detector=sporadic', 'detector.sporadic.timeout=500ms', 'detector.sporadic.period=100ms'];
    const text = 'console.log("up"); if (stci.rank === 1) setTimeout(() => undefined, 60000); else {'
      + 'process.stdin.once("data", async () => { console.log("since", Date.now());'
      + 'await stci.barrier().catch(({ code }) => console.log(code));'
      + 'console.log("past"); process.exit(); }); }';
    const options = ['--client', '--launcher', 'local', '--host', 'a,b', '-n', '2', ...CONTINUE, '--events', events,
      '--stdin', '0', ...sporadic.flatMap((setting) => ['--mca', setting])];
    const records = (): string[] =>
      readFileSync(events, 'utf8').split('\n').filter((line) => line.includes('"failure-record"'));
    try {
      const job = start([...options, NODE, '--input-type=module', '-e', ...module(text).slice(3), 'barrier.mjs'],
        { cwd: CLIENT, input: 'open', limitMs: 60_000 });
      await eventually(() => job.out().split('up').length === 3, { what: 'both ranks', deadlineMs: 20_000 });
      signal(job, { agentOf: 'b' }, 'SIGSTOP');
      job.child.stdin?.end('go\n');
      await eventually(() => job.out().includes('past'), { what: 'the end of the barrier', deadlineMs: 20_000 });
      const { exitCode, err } = await job.result;
      assert.is(exitCode, 200, err);
      const [record, ...more] = records().map((line) => JSON.parse(line) as Record<string, unknown>);
      assert.equal([record?.['hostName'], record?.['detector'], more], ['b', 'sporadic', []]);
      const sinceMs = Number(/since (\d+)/u.exec(job.out())?.[1]);
      const tookMs = Date.parse(String(record?.['confirmed'])) - sinceMs;
      // The wait may have begun with a message that was not acknowledged yet when the agent stopped.
      assert.ok(tookMs >= 900 && tookMs < patient(5000), `${tookMs} ms`);
    } finally {
      rmSync(directory, { recursive: true });
    }
  }, LONG);

  test('what ranks call at the same place must be the same; a second connection is refused', async () => {
    const text = 'await (stci.rank === 2 ? stci.barrier() : stci.agree(true)).catch(({ code }) => console.log(code));'
      + 'await connect().catch(({ message }) => console.log(message.replace(/.*: rank ./, "rank N")));';
    const { exitCode, out } = await run([...JOB, ...module(text)], CLIENT_DIRECTORY);
    const refused = 'rank N is connected already, from this process or another.';
    assert.equal([exitCode, out.trim().split('\n').sort()],
      [0, [...Array(6).fill('STCI_CLIENT_MISMATCH'), ...Array(6).fill(refused)]]);
  }, LONG);

  test('without --client the error says what to write; nobody listens, and nothing is in the environment', async () => {
    const text = 'import { connect } from "@stci/client"; await connect().catch((e) => console.log(e.message));'
      + 'console.log(Object.keys(process.env).some((name) => name.startsWith("STCI_CLIENT")))';
    const { out } = await run(['-n', '1', NODE, '--input-type=module', '-e', text], CLIENT_DIRECTORY);
    assert.match(out, /started without --client.*stcirun --client program\nfalse\n$/s);
  }, LONG);
});
