/** Pipes of tools: real ones, each open only in the processes that use it, none leaked, and the fallback without. */

import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { ErrorRecord, Process, ProcessEnd, SpawnSpec } from '@stci/interface';
import { assert, eventually, patient, suite } from '@stci/testkit';
import { processesCompliance } from '@stci/testkit/compliance';
import type { TestProgram } from '@stci/testkit/compliance';
import { reuse } from '../dist/channels/read-buffers.js';
import { Guardian } from '../dist/processes/guardian.js';
import { closeEnds, type PipeEnds } from '../dist/processes/pipe-maker.js';
import { PipePool } from '../dist/processes/pipe-pool.js';
import { createProcesses } from '../dist/processes/processes.js';
import { createClock } from '../dist/system/clock.js';
import { createLog } from '../dist/system/log.js';
import { createSecrets } from '../dist/system/secrets.js';

const env = { PATH: process.env['PATH'] ?? '/usr/bin:/bin' };
const logged: string[] = [];
const log = createLog('debug', (line) => logged.push(line));
const make = (pipes: PipePool) =>
  createProcesses({
    clock: createClock(),
    agentCommand: () => [],
    agentMain: () => undefined,
    agentBundle: () => assert.unreachable('no bundle is sent') as never,
    agentPlace: () => assert.unreachable('no agent is started') as never,
    keeper: new Guardian(createSecrets(), log),
    pipes,
  });
const pool = new PipePool(log);
const processes = make(pool);
const poor = new PipePool(log, '/bin/true');

class Told {
  readonly tool: Process;
  readonly text = { stdout: '', stderr: '' };
  readonly ends: ProcessEnd[] = [];
  readonly errors: ErrorRecord[] = [];
  readonly wallMs: number[] = [];
  /** As they came, to be looked at later. */
  readonly chunks: Uint8Array[] = [];
  streams = 0;

  constructor(options: Partial<SpawnSpec>, from = processes) {
    const base: SpawnSpec = {
      program: 'sh', args: [], env, stdin: 'pipe', stdout: 'pipe', stderr: 'pipe', lifetime: 'guarded',
    };
    this.tool = from.spawn({ ...base, ...options }, {
      onError: (error) => this.errors.push(error),
      onOutput: (stream, chunk, wallMs) => {
        this.text[stream] += Buffer.from(chunk).toString();
        this.wallMs.push(wallMs);
        this.chunks.push(chunk);
      },
      onOutputEnd: () => this.streams++,
      onStdinDrain: () => {},
      onStdinClosed: () => {},
      onExit: (end) => this.ends.push(end),
    });
    this.tool.readable(true);
  }

  get isDone(): boolean {
    return this.errors.length > 0 || (this.ends.length > 0 && this.streams === 2);
  }

  async end(): Promise<this> {
    await eventually(() => this.isDone, { what: 'the end of the tool' });
    return this;
  }
}

const sh = (script: string): Told => new Told({ args: ['-c', script] });
/** At least two chunks are long, however late they are read: a write that fits into a pipe is read as a whole. */
const longWrites = 'yes | dd bs=40000 iflag=fullblock count=3 2>/dev/null';
const openFds = (): string[] => readdirSync('/proc/self/fd');

suite('pipes of tools', (test) => {
  test.after(() => pool.drain());

  test('are pipes, which a tool opens by their names', async () => {
    const { text, ends } = await sh('echo x > /dev/stdout; echo y | tee /dev/stderr >/dev/null; echo z >&2').end();
    assert.equal([text, ends], [{ stdout: 'x\n', stderr: 'y\nz\n' }, [{ status: 0 }]]);
    assert.is((await sh('[ -p /dev/stdin ] && [ -p /dev/stdout ] && [ -p /dev/stderr ]').end()).ends[0]?.status, 0);
  });

  test('also for input', async () => {
    const told = sh('cat /dev/stdin');
    told.tool.writeStdin(Buffer.from('by name'));
    told.tool.closeStdin();
    assert.equal((await told.end()).text, { stdout: 'by name', stderr: '' });
  });

  test('can be opened by name when nobody is at the other end any more', async () => {
    const told = sh('read go; cat /dev/stdin; echo x > /dev/stdout; exec yes > /dev/stdout');
    told.tool.writeStdin(Buffer.from('go\nrest'));
    told.tool.closeStdin();
    await eventually(() => told.text.stdout.startsWith('restx\ny'), { what: 'output' });
    told.tool.closeOutput();
    assert.equal((await told.end()).ends, [{ signal: 'SIGPIPE' }]);
  });

  test('block, as those of a shell do', async () => {
    const { text } = await sh('for i in 0 1 2; do grep flags: /proc/$$/fdinfo/$i; done').end();
    const flags = text.stdout.match(/\d+/g)?.map((octal) => parseInt(octal, 8) & 0o4003);
    assert.equal(flags, [0, 1, 1]);
  });

  test('are private', async () => {
    const { text } = await sh('stat -L -c %a /dev/stdin /dev/stdout; umask').end();
    assert.match(text.stdout, /^600\n600\n/);
  });

  test('belong to one tool: an end of file comes while a later tool runs', async () => {
    const first = new Told({ program: 'cat' });
    const later = sh('exec sleep 60');
    first.tool.closeStdin();
    assert.equal((await first.end()).ends, [{ status: 0 }]);
    assert.equal(later.ends, []);
    later.tool.signal('SIGKILL', 'group');
    await later.end();
  });

  test('chunks of any length stay what they were while later ones are read', async () => {
    const told = await sh(`for i in 1 2 3; do echo $i; sleep 0.01; ${longWrites}; sleep 0.01; done`).end();
    assert.ok(told.chunks.some(({ length }) => length < 10) && told.chunks.some(({ length }) => length > 16_384));
    assert.ok(Buffer.concat(told.chunks).equals(Buffer.from(told.text.stdout)), 'the bytes of kept chunks changed');
    assert.is(told.text.stdout.split('\n').length, 3 * (1 + 3 * 40_000 / 2) + 1);
  });

  test('the memory of a long chunk is read into again once the chunk has been written, and not before', async () => {
    const long = async () => (await sh(longWrites).end()).chunks.filter(({ length }) => length > 16_384);
    const [first, second] = await long() as [Uint8Array, Uint8Array];
    assert.is.not(first.buffer, second.buffer);
    reuse([first, first, new Uint8Array(3)]);
    const later = [...await long(), ...await long()];
    assert.equal(later.filter(({ buffer }) => buffer === first.buffer).length, 1);
    assert.not.ok(later.some(({ buffer }) => buffer === second.buffer));
  });

  test('a tool whose output is closed dies of writing, whichever stream', async () => {
    const told = sh('exec yes');
    await eventually(() => told.wallMs.length > 0, { what: 'output' });
    told.tool.closeOutput();
    assert.equal((await told.end()).ends, [{ signal: 'SIGPIPE' }]);
  });

  test('500 tools, and those that cannot start, leave no descriptor open', async () => {
    await sh('exit').end();
    pool.drain();
    const before = openFds();
    const wrong: Partial<SpawnSpec>[] = [{ args: ['x'.repeat(200_000)] }, { args: ['a\0'] }, { program: '/no' }];
    for (let i = 0; i < 500; i += 10) {
      const options = { program: 'true', args: [] };
      const started = [...Array.from({ length: 10 }, () => new Told(options)), ...wrong.map((spec) => new Told(spec))];
      if (i % 50 === 0) for (const { tool } of started) tool.closeOutput();
      for (const told of started) await told.end();
    }
    pool.drain();
    await eventually(() => openFds().length <= before.length, { what: `descriptors are as before: ${before}` });
  }, { timeoutMs: 60_000 });

  test('the shell that makes them begins before they are needed, once, and stays neither unused nor used', async () => {
    const children = (): string[] => readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').split(' ');
    const warmed = new PipePool(log);
    for (const use of ['drain', 'take'] as const) {
      const before = children();
      warmed.warm();
      warmed.warm();
      const makers = children().filter((pid) => !before.includes(pid));
      assert.is(makers.length, 1, use);
      const pipe = warmed[use]();
      if (pipe !== undefined) closeEnds(pipe);
      assert.equal(children().filter((pid) => !before.includes(pid) && !makers.includes(pid)), [], use);
      await eventually(() => !existsSync(`/proc/${makers[0]}`), { what: 'the end of the shell' });
    }
    for (let taken = 0; taken < 20; taken++) {
      const pipe = warmed.take() as PipeEnds;
      assert.match(readlinkSync(`/proc/self/fd/${pipe.readFd}`), /^pipe:/, `${taken} taken`);
      closeEnds(pipe);
    }
    warmed.drain();
  });

  test('a shell that was begun ahead does not hold up the end of the process', () => {
    const pools = new URL('../dist/processes/pipe-pool.js', import.meta.url).href;
    const program = `import { PipePool } from '${pools}'; new PipePool().warm();`;
    const args = ['--input-type=module', '-e', program];
    const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', timeout: patient(5000) });
    assert.equal([status, stderr], [0, '']);
  });

  test('a process with few descriptors gets typed errors, and goes on', () => {
    const fixture = fileURLToPath(new URL('fixtures/few-descriptors.js', import.meta.url));
    const { stdout, stderr } = spawnSync(process.execPath, [fixture], { encoding: 'utf8', timeout: patient(15_000) });
    assert.is(stderr, '');
    const { running, errors, open, last, text } = JSON.parse(stdout) as {
      running: number; errors: string[]; open: number; last: boolean; text: string;
    };
    assert.ok(running > 0 && running < 40, `${running} ran`);
    for (const error of errors) assert.match(error, /^STCI_PROGRAM_SPAWN .*EMFILE\): raise it \(ulimit -n\)/);
    assert.equal([last, text], [true, 'again\n']);
    assert.ok(open < 40, `${open} descriptors are open in the end`);
  }, { timeoutMs: 20_000 });
});

suite('tools without pipes', (test) => {
  test('run over sockets, which is told once, for debugging', async () => {
    logged.length = 0;
    for (const status of [3, 4]) {
      const told = new Told({ args: ['-c', `cat; echo e >&2; exit ${status}`] }, make(poor));
      told.tool.writeStdin(Buffer.from('in'));
      told.tool.closeStdin();
      assert.equal([(await told.end()).text, told.ends], [{ stdout: 'in', stderr: 'e\n' }, [{ status }]]);
    }
    assert.is(logged.length, 1);
    assert.match(logged[0] ?? '', /^stci debug: Tools get sockets instead of pipes/);
    assert.match(logged[0] ?? '', /0 of 3 here-documents of a shell were pipes/);
  });

  test('so do those whose shell cannot be begun ahead', () => {
    const none = new PipePool(log, 'no\0shell');
    none.warm();
    assert.is(none.take(), undefined);
  });
});

const script = (text: string): TestProgram => ({ program: 'sh', args: ['-c', text] });

processesCompliance('platform-node without pipes', () => ({
  tellsReading: false,
  processes: make(poor),
  until: async (condition, what) => void (await eventually(condition, { what })),
  env,
  programs: {
    speaks: script('printf out; printf err >&2; exit 3'),
    copies: { program: 'cat', args: [] },
    waits: script('printf ready; exec sleep 60'),
    ignoresTerm: script('trap "" TERM; printf ready; exec sleep 60'),
    leaves: script('sleep 60 >/dev/null 2>&1 & printf ready'),
    deaf: script('exec <&-; printf ready; exec sleep 60'),
    floods: { program: 'head', args: ['-c', '1000000', '/dev/zero'] },
    missing: { program: 'no-such-program-here', args: [] },
  },
  missingWdir: '/no/such/directory',
}));
