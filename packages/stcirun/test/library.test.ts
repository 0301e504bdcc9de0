/** The library: jobs of this process, on real agents. */
// @timeoutMs 180000

import { createHash } from 'node:crypto';
import { getMaxListeners } from 'node:events';
import {
  chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, realpathSync, writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { launch, plan, type Job, type LaunchOptions } from '@stci/stcirun';
import { assert, eventually, suite } from '@stci/testkit';
import { happens } from './session-help.js';
import { eventsOf, LibraryPlace, linesOf, rejected, shell } from './library-help.js';

const LONG = { timeoutMs: 60_000 };
const soon = (condition: () => boolean, what: string): Promise<unknown> =>
  eventually(condition, { deadlineMs: 30_000, what });

/** What a descriptor of this process refers to; undefined for one that is closed, as that of the listing itself. */
function targetOf(descriptor: string): string | undefined {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`);
  } catch {
    return undefined;
  }
}

suite('library: a job', (test) => {
  let place: LibraryPlace;
  test.before(() => { place = new LibraryPlace(); });
  test.after(() => place.close());
  const start = (options: LaunchOptions): Job => launch({ env: place.env, ...options } as LaunchOptions);

  test('its output, events and report; a failed one resolves as well', async () => {
    const job = start({ ...shell('echo out $STCI_RANK; echo err >&2; exit $STCI_RANK'), np: 2 });
    const events = eventsOf(job);
    const text = { stdout: '', stderr: '' };
    for await (const { stream, bytes } of job.output) text[stream] += Buffer.from(bytes).toString();
    assert.equal(text.stdout.split('\n').sort(), ['', 'out 0', 'out 1']);
    assert.is(text.stderr, 'err\nerr\n');
    const { exitCode, report } = await job.result;
    assert.is(exitCode, 1);
    assert.equal(report?.ranks.map(({ rank, status }) => [rank, status]), [[0, 0], [1, 1]]);
    assert.is(report?.cause?.code, 'STCI_TOOL_STATUS');
    const types = (await events).map(({ type }) => type);
    assert.is(types[0], 'mapped');
    assert.is(types.at(-1), 'ended');
    assert.is(types.filter((type) => type === 'exited').length, 2);
    assert.is(job.id, undefined);
  });

  test('programs with their own ranks, directories and variables, on named hosts', async () => {
    const job = start({
      launcher: 'local', hosts: undefined, wdir: '/',
      programs: [
        { ...shell('echo $STCI_HOST $X $(pwd)'), np: 1, hosts: 'a', variables: { X: 'one two' } },
        { ...shell('echo $STCI_HOST $X $(pwd)'), np: 1, hosts: ['b'], wdir: 'usr' },
      ],
    } as LaunchOptions);
    assert.equal(await linesOf(job), { 0: ['a one two /'], 1: ['b /usr'] });
    assert.is((await job.result).exitCode, 0);
  });

  test('jobs at once have their own environments, directories and parameters', async () => {
    const directory = realpathSync(tmpdir());
    const jobs = Array.from({ length: 10 }, (_none, index) => start({
      ...shell('echo $X $(pwd); echo $STCI_HOST'), np: 1 + (index % 2),
      env: { ...place.env, X: `x${index}`, STCI_MCA_launcher: index % 3 === 0 ? 'flat' : 'tree' },
      wdir: index % 2 === 0 ? '/' : directory,
      params: { 'launcher.root.method': index % 5 === 0 ? 'inline' : 'process' },
    }));
    const lines = await Promise.all(jobs.map(linesOf));
    lines.forEach((ranks, index) => {
      assert.is(ranks[0]?.[0], `x${index} ${index % 2 === 0 ? '/' : directory}`);
      assert.is(Object.keys(ranks).length, 1 + (index % 2));
    });
    assert.equal((await Promise.all(jobs.map((job) => job.result))).map(({ exitCode }) => exitCode), Array(10).fill(0));
  }, LONG);

  test('jobs leave nothing in this process: descriptors, children, handlers', async () => {
    const state = () => ({
      descriptors: readdirSync('/proc/self/fd').map(targetOf),
      children: readFileSync(`/proc/self/task/${process.pid}/children`, 'latin1').split(' ').length - 1,
      handlers: process.eventNames().map((name) => `${String(name)} ${process.listenerCount(name)}`),
      directory: process.cwd(),
    });
    const methods = ['inline', 'process'];
    const one = async (method = 'process'): Promise<void> => {
      const params = { 'launcher.root.method': method, 'overlay.topology': 'bmg' };
      const job = start({ program: 'true', launcher: 'local', hosts: 'a,b', params, output: 'discard' });
      assert.is((await job.result).exitCode, 0);
    };
    // A socket closes some ms after its agent is reaped at times: what jobs leave is what each round of them adds.
    let last: object | undefined;
    await eventually(async () => {
      for (const method of [...methods, ...methods]) await one(method);
      await soon(() => state().children === 0, 'the end of the agents');
      const before = last;
      last = state();
      assert.equal(last, before);
      return true;
    }, { deadlineMs: 30_000, what: 'the same as before' });
  }, LONG);

  test('a reader that is slow holds ranks back, and loses nothing', async () => {
    const done = place.file('written');
    const megabytes = 24;
    const job = start({
      ...shell(`yes 0123456789abcde | head -c ${megabytes << 20}; touch '${done}'`), params: { 'iof.window': '1MiB' },
    });
    const hash = createHash('sha256');
    let bytes = 0;
    let isHeld = false;
    for await (const chunk of job.output) {
      if (bytes === 0) {
        isHeld = !(await happens(() => existsSync(done), 3000));
      }
      bytes += chunk.bytes.length;
      hash.update(chunk.bytes);
    }
    assert.ok(isHeld, 'the rank was held back');
    assert.is(bytes, megabytes << 20);
    const wanted = createHash('sha256').update('0123456789abcde\n'.repeat(megabytes << 16)).digest('hex');
    assert.is(hash.digest('hex'), wanted);
    assert.is((await job.result).exitCode, 0);
    assert.ok(existsSync(done));
  }, LONG);

  test('output that nobody reads: what fits in the window is there after the end', async () => {
    const job = start({ ...shell('echo kept') });
    assert.is((await job.result).exitCode, 0);
    assert.equal(await linesOf(job), { 0: ['kept'] });
    assert.is((await rejected(linesOf(job))).code, 'STCI_USAGE');
  });

  test('who leaves the loop wants no more; with discard there is nothing to read', async () => {
    const job = start({ ...shell('yes | head -c 30000000') });
    for await (const { line } of job.lines()) {
      assert.is(line, 'y');
      break;
    }
    assert.is((await job.result).exitCode, 0);
    const dropped = start({ ...shell('yes | head -c 30000000'), output: 'discard' });
    assert.is((await dropped.result).exitCode, 0);
    assert.match((await rejected(linesOf(dropped))).message, /output: 'discard'/);
  }, LONG);

  test('lines: of each rank, whole, with what has no newline marked', async () => {
    const job = start({ ...shell("printf 'ä\\nrest'; printf '\\377\\n' >&2") });
    const found = [];
    for await (const { stream, line, lineBase64, partial } of job.lines()) {
      found.push({ stream, line, lineBase64, partial });
    }
    found.sort((a, b) => a.stream.localeCompare(b.stream));
    assert.equal(JSON.parse(JSON.stringify(found)), [
      { stream: 'stderr', lineBase64: '/w==' }, { stream: 'stdout', line: 'ä' },
      { stream: 'stdout', line: 'rest', partial: true },
    ]);
  });

  test('warnings are events; parameters go over variables and files', async () => {
    const wdir = mkdtempSync(place.file('conf-'));
    writeFileSync(join(wdir, 'stci.conf'), 'launcher.window = 3\n');
    chmodSync(join(wdir, 'stci.conf'), 0o666);
    const job = start({ program: 'true', wdir, env: { ...place.env, STCI_MCA_job_size_max: '1' }, np: 2,
      params: { 'job.size.max': 2 }, output: 'discard' });
    const [first] = await eventsOf(job);
    assert.match(first?.type === 'message' ? first.text : '', /stci\.conf is ignored: it is world-writable/);
    assert.is((await job.result).exitCode, 0);
    const refused = start({ program: 'true', wdir, env: { ...place.env, STCI_MCA_job_size_max: '1' }, np: 2 });
    assert.match((await rejected(refused.result)).message, /job\.size\.max/);
  });

  test('plan: map and launch plan, nothing is started', async () => {
    const { map, launch: tree, messages } = await plan({
      program: 'true', hosts: 'a:2,b:2,c', spares: 1, launcher: 'local', env: place.env,
    });
    assert.equal([map.size, map.spares], [4, ['c']]);
    assert.equal(tree?.agents.map(({ name, startedBy }) => `${name} ${startedBy}`), ['a controller', 'b controller']);
    assert.is(tree?.onLaunchFailure, 'spare');
    assert.equal(messages, []);
    const missing = await rejected(plan({ program: 'no-such-program', env: place.env }));
    assert.is(missing.code, 'STCI_PROGRAM_NOT_FOUND');
  });
});

suite('library: input', (test) => {
  let place: LibraryPlace;
  test.before(() => { place = new LibraryPlace(); });
  test.after(() => place.close());
  const cat = (options: Partial<LaunchOptions>): Job =>
    launch({ env: place.env, program: 'cat', ...options } as LaunchOptions);

  test('text, for rank 0; the others get none', async () => {
    assert.equal(await linesOf(cat({ np: 2, input: 'a\nb\n' })), { 0: ['a', 'b'] });
  });

  test('an iterable, to all ranks', async () => {
    async function* chunks(): AsyncGenerator<string | Uint8Array> {
      yield 'text ';
      yield Buffer.from('bytes\n');
    }
    const lines = await linesOf(cat({ np: 2, input: chunks(), stdin: 'all' }));
    assert.equal(lines, { 0: ['text bytes'], 1: ['text bytes'] });
  });

  test('more than fits on the way, at the pace of the rank', async () => {
    let taken = 0;
    function* blocks(): Generator<Uint8Array> {
      for (; taken < 40; taken += 1) yield Buffer.alloc(1 << 20, 'x');
    }
    const job = launch({ env: place.env, ...shell('head -c 5; cat | wc -c'), input: blocks() });
    assert.equal(await linesOf(job), { 0: [`xxxxx${(40 << 20) - 5}`] });
    taken = 0;
    const unread = launch({ env: place.env, ...shell('exec <&-; sleep 0.2'), input: blocks(), output: 'discard' });
    assert.is((await unread.result).exitCode, 0);
    assert.ok(taken < 40, `${taken} MiB were taken by a rank that reads none`);
  }, LONG);

  test('written by and by; false when no rank reads any longer', async () => {
    const job = launch({ env: place.env, ...shell('read a; echo $a; read b; echo $b'), stdin: 0 });
    assert.is(await job.writeStdin('one\n'), true);
    const lines = linesOf(job);
    await job.writeStdin(Buffer.from('two\n'));
    assert.equal(await lines, { 0: ['one', 'two'] });
    await job.result;
    assert.is(await job.writeStdin('three\n'), false);
    await job.closeStdin();
    const closed = cat({ stdin: 0 });
    await closed.closeStdin();
    assert.is((await closed.result).exitCode, 0);
    const none = cat({});
    assert.match((await rejected(none.writeStdin('x'))).message, /no rank reads.*stdin: 0/);
    assert.is((await none.result).exitCode, 0);
  });

  test('a source that fails ends the job, and its message is an event', async () => {
    async function* broken(): AsyncGenerator<string> {
      yield 'first\n';
      throw new Error('the source is dry');
    }
    const job = cat({ input: broken() });
    const events = eventsOf(job);
    assert.is((await job.result).exitCode, 130);
    assert.ok((await events).some((event) => event.type === 'message' && event.text === 'input: the source is dry'));
  });
});

suite('library: ends', (test) => {
  let place: LibraryPlace;
  test.before(() => { place = new LibraryPlace(); });
  test.after(() => place.close());

  const running = async (options: Partial<LaunchOptions>, line: string): Promise<Job> => {
    const job = launch({ env: place.env, ...shell(line), ...options } as LaunchOptions);
    for await (const event of job.events) if (event.type === 'running') return job;
    return assert.unreachable('it never ran') as never;
  };

  test('an aborted signal ends it in order: ranks get TERM; the exit code is that of Ctrl-C', async () => {
    const abort = new AbortController();
    const before = getMaxListeners(abort.signal);
    const told = "trap 'echo told; exit 3' TERM; echo up; while :; do sleep 0.05; done";
    const job = await running({ signal: abort.signal }, told);
    const seen: string[] = [];
    for await (const { line = '', stream } of job.lines()) {
      // On standard error the shell tells of its `sleep`, which gets the signal as well.
      if (stream === 'stdout') seen.push(line);
      if (line === 'up') abort.abort(new Error('enough'));
    }
    assert.equal(seen, ['up', 'told']);
    const { exitCode, report } = await job.result;
    assert.is(exitCode, 130);
    const { code, message } = report?.cause ?? {};
    assert.equal([code, message], ['STCI_JOB_INTERRUPTED', 'The job was ended by its AbortSignal: enough']);
    assert.is(getMaxListeners(abort.signal), before, 'the signal is as it was');
  });

  test('before the start it is refused, with the reason', async () => {
    const reason = new Error('too late');
    const job = launch({ program: 'true', env: place.env, signal: AbortSignal.abort(reason) });
    const error = await rejected(job.result);
    assert.is(error.code, 'STCI_JOB_INTERRUPTED');
    assert.is(error.cause, reason);
    assert.is(error.message, 'The job was ended by its AbortSignal: too late (before it began)');
    assert.is((await rejected(linesOf(job))).code, 'STCI_JOB_INTERRUPTED');
    const abort = new AbortController();
    const later = launch({ program: 'true', env: place.env, signal: abort.signal });
    abort.abort();
    assert.is((await rejected(later.result)).code, 'STCI_JOB_INTERRUPTED');
  });

  test('kill does not ask, and waits for no reader; dispose kills', async () => {
    const stubborn = "trap '' TERM; yes";
    const job = await running({ params: { 'iof.window': '256KiB' } }, stubborn);
    job.kill();
    assert.is((await job.result).exitCode, 130);
    const other = await running({ output: 'discard' }, "trap '' TERM; while :; do sleep 0.05; done");
    await other[Symbol.asyncDispose]();
    assert.equal((await other.result).report?.ranks.map(({ signal }) => signal), ['SIGKILL']);
  }, LONG);

  test('an end in order does not wait for output that nobody reads', async () => {
    const flag = place.file('stalled');
    const line = `trap "touch ${flag}" EXIT; head -c 200000000 /dev/zero`;
    const job = await running({ params: { 'iof.window': '256KiB' } }, line);
    assert.not.ok(await happens(() => existsSync(flag), 1000), 'all was written');
    job.end();
    assert.is((await job.result).exitCode, 130);
  });

  test('signals reach the ranks', async () => {
    const job = await running({ np: 2 }, "trap 'echo got; exit 0' USR1; echo up; while :; do sleep 0.05; done");
    assert.throws(() => job.signal('FOO'), /unknown signal 'FOO'/);
    let up = 0;
    const seen: string[] = [];
    for await (const { line = '', stream } of job.lines()) {
      if (stream === 'stdout') seen.push(line);
      up += Number(line === 'up');
      if (line === 'up' && up === 2) assert.is(job.signal('USR1'), true);
    }
    assert.equal(seen.sort(), ['got', 'got', 'up', 'up']);
    assert.is((await job.result).exitCode, 0);
    assert.is(job.signal('SIGUSR1'), false);
  });

  test('a time limit, and a program that is not there', async () => {
    const late = launch({ env: place.env, ...shell('sleep 60'), timeoutMs: 300, output: 'discard' });
    assert.is((await late.result).exitCode, 199);
    const absent = launch({ env: place.env, program: 'no-such-program', output: 'discard' });
    assert.is((await absent.result).exitCode, 196);
  });
});
