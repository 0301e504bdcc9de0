/**
 * Requirements on every `Processes` for tools: each event exactly once and in order, nothing lost, no reading while
 * paused, signals to process and group, distinct failures to start. The programs are the platform's own: real commands,
 * or simulated programs.
 */

import type { ErrorRecord, Process, Processes, ProcessEnd, SpawnSpec } from '@stci/interface';
import * as assert from '../kit/assert.js';
import { suite } from '../kit/suite.js';
import type { TestApi } from '../kit/suite.js';
import type { Until } from './channel.js';

/** A program and its arguments. */
export interface TestProgram {
  readonly program: string;
  readonly args: readonly string[];
}

export interface ProcessesSetup {
  readonly processes: Processes;
  readonly until: Until;
  /** The environment of all programs. */
  readonly env: Readonly<Record<string, string>>;
  readonly programs: {
    /** Writes `out` to stdout and `err` to stderr, without newlines, and ends with status 3. */
    readonly speaks: TestProgram;
    /** Copies stdin to stdout, ends with 0 at its end. */
    readonly copies: TestProgram;
    /** Says `ready` on stdout, then runs until it gets a signal. */
    readonly waits: TestProgram;
    /** Says `ready` and ignores SIGTERM. */
    readonly ignoresTerm: TestProgram;
    /** Says `ready`, ends with 0 at once, and leaves a child in its process group that holds no output open. */
    readonly leaves: TestProgram;
    /** Closes its standard input, says `ready` and runs until it gets a signal. */
    readonly deaf: TestProgram;
    /** Writes 1 000 000 bytes to stdout and ends with 0. */
    readonly floods: TestProgram;
    /** The name of no program. */
    readonly missing: TestProgram;
  };
  /** A path that is not a directory. */
  readonly missingWdir: string;
  /** False: whether a tool has read of its input is not known. */
  readonly tellsReading?: boolean;
  end?(): void | Promise<void>;
}

type Name = keyof ProcessesSetup['programs'];

/** Records every event of a tool. */
class Tool {
  readonly process: Process;
  readonly reported: string[] = [];
  readonly text = { stdout: '', stderr: '' };
  readonly ends: ProcessEnd[] = [];
  readonly errors: ErrorRecord[] = [];
  readonly wallMs: number[] = [];
  bytes = 0;
  drains = 0;
  /** Pauses reading inside the first output event. */
  isShy = false;

  constructor(setup: ProcessesSetup, name: Name, options: Partial<SpawnSpec> = {}) {
    const base = { env: setup.env, stdin: 'null', stdout: 'pipe', stderr: 'pipe', lifetime: 'guarded' } as const;
    this.process = setup.processes.spawn({ ...base, ...setup.programs[name], ...options }, {
      onError: (error) => (this.reported.push('error'), this.errors.push(error)),
      onOutput: (stream, chunk, wallMs) => {
        this.reported.push(stream);
        this.bytes += chunk.byteLength;
        this.wallMs.push(wallMs);
        if (this.isShy) this.process.readable(false);
        if (this.bytes < 100_000) this.text[stream] += String.fromCharCode(...chunk);
      },
      onOutputEnd: (stream) => this.reported.push(`end of ${stream}`),
      onStdinDrain: () => this.drains++,
      onStdinClosed: () => this.reported.push('stdin closed'),
      onExit: (end) => (this.reported.push('exit'), this.ends.push(end)),
    });
    assert.equal(this.reported, [], 'no event during spawn itself');
  }

  count(what: string): number {
    return this.reported.filter((each) => each === what).length;
  }

  get done(): boolean {
    return this.ends.length > 0 && this.count('end of stdout') > 0 && this.count('end of stderr') > 0;
  }
}

type Body = (setup: ProcessesSetup, start: (name: Name, options?: Partial<SpawnSpec>) => Tool) => Promise<void>;

/** Defines the suite `NAME: processes`. */
export function processesCompliance(name: string, make: () => ProcessesSetup | Promise<ProcessesSetup>): void {
  const withSetup = (body: Body) => async () => {
    const setup = await make();
    const tools: Tool[] = [];
    try {
      await body(setup, (program, options) => {
        const tool = new Tool(setup, program, options);
        tools.push(tool);
        return tool;
      });
    } finally {
      for (const tool of tools) tool.process.signal('SIGKILL', 'group');
      await setup.end?.();
    }
  };
  suite(`${name}: processes`, (test) => {
    outputTests(test, withSetup);
    inputTests(test, withSetup);
    signalTests(test, withSetup);
    failureTests(test, withSetup);
  });
}

type WithSetup = (body: Body) => () => Promise<void>;

function outputTests(test: TestApi, withSetup: WithSetup): void {
  test('output, both ends and the exit are reported, once each', withSetup(async ({ until }, start) => {
    const tool = start('speaks');
    assert.ok(tool.process.pid > 0);
    tool.process.readable(true);
    await until(() => tool.done, 'all events');
    assert.equal([tool.text, tool.ends], [{ stdout: 'out', stderr: 'err' }, [{ status: 3 }]]);
    assert.equal(['end of stdout', 'end of stderr', 'exit', 'error'].map((what) => tool.count(what)), [1, 1, 1, 0]);
    assert.ok(tool.reported.indexOf('stdout') < tool.reported.indexOf('end of stdout'), 'data, then its end');
    assert.ok(tool.wallMs.every((ms) => Number.isFinite(ms)));
  }));

  test('output is not reported while paused; the exit is', withSetup(async ({ until }, start) => {
    const tool = start('speaks');
    await until(() => tool.ends.length === 1, 'the exit');
    const probe = start('speaks');
    probe.process.readable(true);
    await until(() => probe.done, 'the end of another, later one');
    assert.equal(tool.reported, ['exit']);
    tool.process.readable(true);
    await until(() => tool.done, 'the output');
    assert.equal(tool.text, { stdout: 'out', stderr: 'err' });
  }));

  test('a flood arrives whole, in steps as its owner reads', withSetup(async ({ until }, start) => {
    const tool = start('floods');
    for (let seen = -1; seen < 1_000_000; ) {
      tool.process.readable(true);
      await until(() => tool.bytes > seen, 'more bytes');
      tool.process.readable(false);
      seen = tool.bytes;
    }
    tool.process.readable(true);
    await until(() => tool.done, 'the end');
    assert.equal([tool.bytes, tool.ends], [1_000_000, [{ status: 0 }]]);
  }));

  test('output stops as soon as it is paused', withSetup(async ({ until }, start) => {
    const tool = start('floods');
    tool.isShy = true;
    tool.process.readable(true);
    await until(() => tool.bytes > 0, 'the first bytes');
    const probe = start('speaks');
    probe.process.readable(true);
    await until(() => probe.done, 'the end of another, later one');
    assert.is(tool.count('stdout'), 1);
  }));

  test('closeOutput ends both streams for their owner', withSetup(async ({ until }, start) => {
    const tool = start('waits');
    tool.process.closeOutput();
    await until(() => tool.count('end of stdout') === 1 && tool.count('end of stderr') === 1, 'both ends');
    // The tool may have been ended by SIGPIPE already.
    tool.process.signal('SIGKILL', 'group');
    await until(() => tool.ends.length === 1, 'the exit');
    assert.equal([tool.count('end of stdout'), tool.count('end of stderr'), tool.count('stdout')], [1, 1, 0]);
  }));
}

function inputTests(test: TestApi, withSetup: WithSetup): void {
  test('standard input arrives, under back-pressure, and ends', withSetup(async ({ until }, start) => {
    const tool = start('copies', { stdin: 'pipe' });
    const block = new Uint8Array(65_536).fill(97);
    let written = 0;
    // The tool's output is not read yet: the pipes fill up and writing must stop.
    for (let hasRoom = true; hasRoom && written < 64_000_000; written += block.length) {
      hasRoom = tool.process.writeStdin(block);
    }
    assert.ok(written < 64_000_000, 'writeStdin never returned false');
    tool.process.readable(true);
    await until(() => tool.drains > 0, 'a drain');
    tool.process.writeStdin(Uint8Array.of(98));
    tool.process.closeStdin();
    await until(() => tool.done, 'the end');
    assert.equal([tool.bytes, tool.ends], [written + 1, [{ status: 0 }]]);
    assert.ok(tool.process.hasReadInput());
  }));

  test('a tool that has read nothing is told from one that has', withSetup(async (setup, start) => {
    for (const isClosed of [true, false]) {
      const tool = start('waits', { stdin: 'pipe' });
      tool.process.readable(true);
      await setup.until(() => tool.text.stdout === 'ready', 'its output');
      tool.process.writeStdin(Uint8Array.of(1, 2));
      if (isClosed) tool.process.closeStdin();
      tool.process.signal('SIGKILL', 'group');
      await setup.until(() => tool.done, 'the end');
      assert.is(tool.process.hasReadInput(), setup.tellsReading === false);
    }
    const reader = start('copies', { stdin: 'pipe' });
    reader.process.readable(true);
    reader.process.writeStdin(Uint8Array.of(97));
    await setup.until(() => reader.text.stdout === 'a', 'its copy');
    reader.process.signal('SIGKILL', 'group');
    await setup.until(() => reader.done, 'the end');
    assert.ok(reader.process.hasReadInput());
  }));

  test('a tool that closes its input is reported once', withSetup(async ({ until }, start) => {
    const tool = start('deaf', { stdin: 'pipe' });
    tool.process.readable(true);
    await until(() => tool.text.stdout === 'ready', 'its output');
    tool.process.writeStdin(Uint8Array.of(1));
    await until(() => tool.count('stdin closed') === 1, 'the event');
    tool.process.writeStdin(Uint8Array.of(2));
    tool.process.closeStdin();
    tool.process.signal('SIGKILL', 'group');
    await until(() => tool.done, 'the end');
    assert.is(tool.count('stdin closed'), 1);
  }));
}

function signalTests(test: TestApi, withSetup: WithSetup): void {
  test('a signal ends a tool, and is reported', withSetup(async ({ until }, start) => {
    const tool = start('waits');
    tool.process.readable(true);
    await until(() => tool.text.stdout === 'ready', 'its output');
    assert.is(tool.process.groupSize(), 1);
    assert.ok(tool.process.signal('SIGTERM', 'process'));
    await until(() => tool.done, 'the end');
    assert.equal(tool.ends, [{ signal: 'SIGTERM' }]);
    await until(() => tool.process.groupSize() === 0, 'the end of the group');
    assert.equal([tool.process.signal('SIGKILL', 'process'), tool.process.signal('SIGKILL', 'group')], [false, false]);
  }));

  test('a tool that ignores SIGTERM ends by SIGKILL', withSetup(async ({ until }, start) => {
    const tool = start('ignoresTerm');
    tool.process.readable(true);
    await until(() => tool.text.stdout.includes('ready'), 'its output');
    tool.process.signal('SIGTERM', 'process');
    const probe = start('speaks');
    probe.process.readable(true);
    await until(() => probe.done, 'the end of another, later one');
    assert.equal(tool.ends, []);
    tool.process.signal('SIGKILL', 'group');
    await until(() => tool.done, 'the end');
    assert.equal(tool.ends, [{ signal: 'SIGKILL' }]);
  }));

  test('a child left behind keeps the group alive until the group is killed', withSetup(async (setup, start) => {
    const { until } = setup;
    const tool = start('leaves');
    tool.process.readable(true);
    await until(() => tool.done, 'the end of the tool itself');
    assert.equal([tool.ends, tool.process.groupSize()], [[{ status: 0 }], 1]);
    assert.is(tool.process.signal('SIGTERM', 'process'), false);
    assert.is(tool.process.signal('SIGKILL', 'group'), true);
    await until(() => tool.process.groupSize() === 0, 'the end of the group');
    assert.is(tool.process.signal('SIGKILL', 'group'), false);
  }));
}

function failureTests(test: TestApi, withSetup: WithSetup): void {
  test('a missing program is one error', withSetup(async ({ until }, start) => {
    const tool = start('missing');
    assert.equal([tool.process.pid, tool.process.groupSize()], [0, 0]);
    tool.process.readable(true);
    tool.process.closeOutput();
    await until(() => tool.errors.length > 0, 'the error');
    assert.equal([tool.reported, tool.errors[0]?.code], [['error'], 'STCI_PROGRAM_NOT_FOUND']);
  }));

  test('a missing working directory is a different error', withSetup(async ({ until, missingWdir }, start) => {
    const tool = start('speaks', { wdir: missingWdir });
    await until(() => tool.errors.length > 0, 'the error');
    assert.equal([tool.reported, tool.errors[0]?.code], [['error'], 'STCI_PROGRAM_WDIR']);
    assert.match(tool.errors[0]?.message ?? '', missingWdir);
  }));
}
