/** `--alloc` with a salloc of our own: the queue, refusals, ends; each allocation is given back. */
// @sameFor user, node: shells, pipes and signals among processes of one user, as in e2e-output and e2e-signals.

import { spawn } from 'node:child_process';
import {
  chmodSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { launch } from '@stci/stcirun';
import { assert, eventually, suite } from '@stci/testkit';
import { sh, start, type Result, type Run } from './e2e.js';

const FAKE = fileURLToPath(new URL('../test/fake-salloc.sh', import.meta.url));
const STCI = fileURLToPath(new URL('../bin/stci.cjs', import.meta.url));
const LONG = { timeoutMs: 40_000 };
/** Ranks run here. */
const HERE = ['--mca', 'allocation=machine'];

/** The first one is not answered where salloc was not. */
const SCANCEL = `#!/bin/sh
if [ "$FAKE_SALLOC" = unanswered ] && mkdir "$FAKE_SALLOC_DIR/tried" 2>/dev/null; then
  echo 'scancel: error: Kill job error on job id 12: Unable to contact slurm controller (connect failure)' >&2
  exit 8
fi
echo "cancelled $*" >>"$FAKE_SALLOC_DIR/notes"
`;

/** A directory with programs of Slurm, which note there what they do. */
class FakeSlurm {
  readonly directory = mkdtempSync(join(tmpdir(), 'stci-alloc-'));
  readonly variables: Record<string, string>;
  readonly started: Run[] = [];

  constructor(mode: string) {
    const bin = join(this.directory, 'bin');
    mkdirSync(bin);
    copyFileSync(FAKE, join(bin, 'salloc'));
    writeFileSync(join(bin, 'scancel'), SCANCEL);
    writeFileSync(join(bin, 'squeue'), '#!/bin/sh\necho "squeue $*" >>"$FAKE_SALLOC_DIR/notes"; echo BeginTime\n');
    for (const name of ['salloc', 'scancel', 'squeue']) chmodSync(join(bin, name), 0o755);
    this.variables = {
      PATH: `${bin}:${process.env['PATH']}`,
      FAKE_SALLOC: mode,
      FAKE_SALLOC_DIR: this.directory,
      STCI_MCA_session_directory: join(this.directory, 'sessions'),
    };
  }

  get notes(): readonly string[] {
    const path = join(this.directory, 'notes');
    return existsSync(path) ? readFileSync(path, 'utf8').trimEnd().split('\n') : [];
  }

  get pid(): number {
    return Number(readFileSync(join(this.directory, 'pid'), 'utf8'));
  }

  stcirun(...args: readonly string[]): Run {
    const run = start([...HERE, ...args], { env: this.variables });
    this.started.push(run);
    return run;
  }

  stci(...args: readonly string[]): Promise<Result> {
    const run = start(args, { env: this.variables, program: STCI });
    this.started.push(run);
    return run.result;
  }

  async until(note: string): Promise<void> {
    await eventually(() => this.notes.includes(note), { deadlineMs: 10_000, what: note })
      .catch((error: unknown) => assert.unreachable(`${String(error)}: ${this.notes.join('; ')}`));
  }

  touch(name: string): void {
    writeFileSync(join(this.directory, name), '');
  }
}

suite('--alloc with another salloc', (test) => {
  let slurm: FakeSlurm;
  const check = (name: string, mode: string, body: () => Promise<void>): void => test(name, async () => {
    slurm = new FakeSlurm(mode);
    try {
      await body();
      const isLeft = (): boolean => slurm.started.some((run) => run.leftovers().length > 0);
      await eventually(() => !isLeft(), { deadlineMs: 20_000, what: 'no process left' });
    } finally {
      for (const { child } of slurm.started) child.kill('SIGKILL');
      rmSync(slurm.directory, { recursive: true, force: true });
    }
  }, LONG);
  const stcirun = (...args: readonly string[]): Run => slurm.stcirun(...args);
  const hasOutput = (run: Run): Promise<unknown> =>
    eventually(() => run.out() !== '', { deadlineMs: 20_000, what: 'output' })
      .catch((error: unknown) => assert.unreachable(`${String(error)}: ${run.err()}`));

  check('a job runs with its variables, silently, and gives it back', 'granted', async () => {
    const { exitCode, out, err } = await stcirun('--alloc=-p "a b"', '-n', '1', ...sh('echo $SLURM_JOB_ID')).result;
    assert.equal([exitCode, out, err], [0, '12\n', '']);
    assert.equal(slurm.notes, ['asked [--job-name=sh] [--ntasks=1] [-p] [a b]', 'given back']);
  });

  check('the session of STCI_SESSION is not meant', 'granted', async () => {
    slurm.variables['STCI_SESSION'] = 'none-of-these';
    const { exitCode, out, err } = await stcirun('--alloc', '-n', '1', ...sh('echo $SLURM_JOB_ID')).result;
    assert.equal([exitCode, out, err], [0, '12\n', '']);
  });

  check('a refusal has Slurm\'s words', 'refused', async () => {
    const { exitCode, out, err } = await stcirun('--alloc', ...sh('true')).result;
    assert.equal([exitCode, out], [195, '']);
    assert.match(err, /^stcirun: Slurm gave no allocation: invalid partition.*\n.*Invalid partition name/);
    const started = await slurm.stci('start', '--alloc=-p nope');
    assert.equal([started.exitCode, started.out], [195, '']);
    assert.match(started.err, /^stci: Slurm gave no allocation: invalid partition/);
  });

  check('the wait is told; Ctrl-C ends it, and the request', 'queued', async () => {
    const run = stcirun('--alloc', ...sh('true'));
    await eventually(() => run.err() !== '', { deadlineMs: 10_000, what: 'what it waits for' });
    assert.is(run.err(), 'stcirun: waiting: Slurm job 12 is queued\n');
    process.kill(-(run.child.pid as number), 'SIGINT');
    const { err } = await run.result;
    assert.is(run.child.signalCode, 'SIGINT');
    assert.match(err, /\nstcirun: SIGINT: the request for an allocation is taken back\n$/);
    assert.ok(slurm.notes.includes('withdrawn'));
  });

  check('killed in the queue, it leaves nothing there', 'queued', async () => {
    const run = stcirun('--alloc', ...sh('true'));
    await eventually(() => run.err() !== '', { deadlineMs: 10_000, what: 'what it waits for' });
    run.child.kill('SIGKILL');
    await slurm.until('withdrawn');
  });

  check('Slurm\'s controller does not answer: salloc goes on, and stcirun says so', 'stuck', async () => {
    const run = stcirun('--alloc', ...sh('true'));
    await eventually(() => run.err() !== '', { deadlineMs: 10_000, what: 'what it waits for' });
    run.child.kill('SIGTERM');
    const { err } = await run.result;
    assert.is(run.child.signalCode, 'SIGTERM');
    assert.match(err, /Slurm: no answer yet that job 12 is withdrawn; salloc \(process \d+\) goes on asking/);
    assert.ok(slurm.notes.includes('asked to end'));
    slurm.touch('answer');
    await slurm.until('withdrawn');
  });

  check('giving back is not answered: stcirun says so, and it is asked again', 'unanswered', async () => {
    const { exitCode, out, err } = await stcirun('--alloc', '-n', '1', ...sh('echo ran')).result;
    assert.equal([exitCode, out, err], [0, 'ran\n',
      "stcirun: Slurm has not confirmed that job 12 has ended: 'scancel 12' when it answers again\n"]);
    assert.not.ok(slurm.notes.includes('cancelled 12'));
    await slurm.until('cancelled 12');
  });

  check('--immediate that is over is no silence of slurmctld', 'impatient', async () => {
    const { exitCode, err } = await stcirun('--alloc=--immediate=2', ...sh('true')).result;
    assert.is(exitCode, 195);
    assert.match(err, /^stcirun: Slurm gave no allocation: not granted within 2 s \(--immediate=2\)\n/);
    assert.not.match(err, /scontrol ping/);
  });

  check('why a request is queued is told once', 'queued', async () => {
    const run = stcirun('--alloc', ...sh('true'));
    const said = 'stcirun: Slurm: job 12 is queued for this reason: BeginTime\n';
    await eventually(() => run.err().includes(said), { deadlineMs: 15_000, what: 'the reason' });
    run.child.kill('SIGTERM');
    await run.result;
    assert.equal(slurm.notes.filter((note) => note.startsWith('squeue')), ['squeue -h --all -j 12 -o %r']);
  });

  check('a job that is left to its session: given back at its end, the result is kept', 'granted', async () => {
    const { exitCode, out, err } = await stcirun('--alloc', '--detach', '-n', '1', ...sh('echo ran')).result;
    assert.equal([exitCode, out], [0, 's1.1\n'], err);
    await slurm.until('given back');
    const shown = await slurm.stci('attach', 's1.1');
    assert.equal([shown.exitCode, shown.out], [0, 'ran\n'], shown.err);
    assert.not.ok(slurm.notes.includes('cancelled 12'));
  });

  check('the name of a session is looked up before Slurm is asked', 'granted', async () => {
    const begin = (): Promise<Result> => slurm.stci('start', '--alloc', ...HERE, '--name', 'one');
    assert.is((await begin()).exitCode, 0);
    const second = await begin();
    assert.equal([second.exitCode, second.out], [193, '']);
    assert.match(second.err, /^stci: There is a session one already\. [^\n]*\n$/);
    assert.is(slurm.notes.length, 1);
    assert.is((await slurm.stci('stop', 'one')).exitCode, 0);
  });

  check('a session that does not come up: it is given back without a remark', 'later', async () => {
    const start = (...args: readonly string[]): Promise<Result> => slurm.stci('start', ...args, '--name', 'one');
    const first = start('--alloc', ...HERE);
    await eventually(() => slurm.notes.length > 0, { deadlineMs: 10_000, what: 'the request' });
    assert.is((await start(...HERE)).exitCode, 0);
    slurm.touch('grant');
    const { exitCode, err } = await first;
    assert.is(exitCode, 193, err);
    assert.not.match(err, /has not confirmed/);
    assert.is(slurm.notes.at(-1), 'given back');
    assert.is((await slurm.stci('stop', 'one')).exitCode, 0);
  });

  check('a process that has the number of the queue\'s shell by now is not ended', 'granted', async () => {
    const other = spawn('sleep', ['100'], { stdio: 'ignore' });
    try {
      slurm.variables['FAKE_SALLOC_QUEUE'] = String(other.pid);
      const { exitCode, err } = await stcirun('--alloc', ...sh('true')).result;
      assert.equal([exitCode, err, other.signalCode], [0, '', null]);
    } finally {
      other.kill();
    }
  });

  check('a request that was granted after a wait', 'later', async () => {
    const run = stcirun('-v', '--alloc', ...sh('echo ran'));
    await eventually(() => run.err() !== '', { deadlineMs: 10_000, what: 'what it waits for' });
    slurm.touch('grant');
    const { exitCode, out, err } = await run.result;
    assert.equal([exitCode, out], [0, 'ran\n'], err);
    assert.match(err, /stcirun: Slurm job 12 has n\[1-2\]\n/);
  });

  check('salloc that is killed in the queue: the request is cancelled', 'queued', async () => {
    const run = stcirun('--alloc', ...sh('true'));
    await eventually(() => run.err() !== '', { deadlineMs: 10_000, what: 'what it waits for' });
    process.kill(slurm.pid, 'SIGKILL');
    const { exitCode, err } = await run.result;
    assert.is(exitCode, 195);
    assert.match(err, /salloc said nothing|queued/);
    await slurm.until('cancelled 12');
  });

  check('salloc that is killed while it is used: the allocation is cancelled, the job ends', 'granted', async () => {
    const run = stcirun('--alloc', ...sh('echo up; sleep 100'));
    await hasOutput(run);
    process.kill(slurm.pid, 'SIGKILL');
    const { exitCode, err } = await run.result;
    assert.is(exitCode, 143, err);
    assert.match(err, /Slurm job 12 is given back: salloc, which held it, has ended \(signal SIGKILL\)/);
    await slurm.until('cancelled 12');
  });

  check('stcirun that is killed gives it back', 'granted', async () => {
    const run = stcirun('--alloc', ...sh('echo $PPID; sleep 100'));
    await hasOutput(run);
    assert.is.not(run.out(), `${run.child.pid}\n`); // The guardian of its own agent would end what holds it.
    run.child.kill('SIGKILL');
    await slurm.until('given back');
  });

  check('an allocation that is revoked ends the job, with Slurm\'s words', 'revoked', async () => {
    const run = stcirun('--alloc', ...sh('echo up; sleep 100'));
    await hasOutput(run);
    slurm.touch('revoke');
    const { exitCode, err } = await run.result;
    assert.is(exitCode, 143, err);
    assert.match(err, /Slurm job 12 has ended: Job 12 has exceeded its time limit/);
  });

  for (const mode of ['silent', 'garbage']) {
    check(`a salloc that is none: ${mode}`, mode, async () => {
      const { exitCode, err } = await stcirun('--alloc', ...sh('true')).result;
      assert.is(exitCode, 195);
      assert.match(err, /^stcirun: Slurm gave no allocation: salloc said nothing\n/m);
    });
  }

  check('no salloc; inside of a job; a dry run asks nothing', 'granted', async () => {
    const none = await start(['--alloc', 'true'], { env: { PATH: join(slurm.directory, 'none') } }).result;
    assert.is(none.exitCode, 195);
    assert.match(none.err, /^stcirun: --alloc: salloc is not on PATH here\./);
    const inside = await start(['--alloc', 'true'], { env: { ...slurm.variables, SLURM_JOB_ID: '7' } }).result;
    assert.is(inside.exitCode, 193);
    assert.match(inside.err, /this is in Slurm job 7 already \(SLURM_JOB_ID is set\)/);
    const dry = await stcirun('--alloc=-p "a b"', '--dry-run', '-n', '2', 'true').result;
    assert.equal([dry.exitCode, dry.out, dry.err], [0, "asks salloc --job-name=true --ntasks=2 -p 'a b'\n", '']);
    assert.equal(slurm.notes, []);
  });

  check('a session keeps it, and gives it back: stop, its death, the death of salloc', 'granted', async () => {
    const started = async (name: string): Promise<void> => {
      const result = await slurm.stci('start', '--alloc', ...HERE, '--name', name);
      assert.equal([result.exitCode, result.out], [0, `${name}\n`], result.err);
    };
    await started('one');
    const job = await stcirun('--session', 'one', ...sh('echo ok')).result;
    assert.is(job.out, 'ok\n', job.err);
    assert.not.ok(slurm.notes.includes('given back'));
    assert.is((await slurm.stci('stop', 'one')).exitCode, 0);
    assert.is(slurm.notes.at(-1), 'given back');
    await started('two');
    const place = join(slurm.directory, 'sessions/two/session.json');
    const { process: { pid } } = JSON.parse(readFileSync(place, 'utf8')) as { process: { pid: number } };
    process.kill(pid, 'SIGKILL');
    const ends = (): number => slurm.notes.filter((note) => note === 'given back').length;
    await eventually(() => ends() === 2, { deadlineMs: 10_000, what: 'its end' });
    await started('three');
    const lost = stcirun('--session', 'three', ...sh('echo up; sleep 100'));
    await hasOutput(lost);
    process.kill(slurm.pid, 'SIGKILL');
    const { exitCode, err } = await lost.result;
    assert.is(exitCode, 143);
    assert.match(err, /Ended by its session: Slurm job 12 is given back/);
    await slurm.until('cancelled 12');
  });

  check('the library: a job, its abort in the queue', 'granted', async () => {
    const env = { ...process.env, ...slurm.variables };
    const params = { allocation: 'machine' };
    const ran = launch({ program: 'sh', args: ['-c', 'echo $SLURM_JOB_ID'], np: 1, alloc: '-p x', env, params });
    const lines: string[] = [];
    for await (const { line } of ran.lines()) lines.push(String(line));
    assert.equal([(await ran.result).exitCode, lines, slurm.notes.at(-1)], [0, ['12'], 'given back']);
    const aborting = new AbortController();
    const queued = launch({
      program: 'true', alloc: true, np: 1, env: { ...env, FAKE_SALLOC: 'queued' }, params, output: 'discard',
      signal: aborting.signal,
    });
    await eventually(() => slurm.notes.length === 3, { deadlineMs: 10_000, what: 'the request' });
    aborting.abort(new Error('enough'));
    const thrown: unknown = await queued.result.then(() => undefined, (error: unknown) => error);
    assert.is((thrown as { readonly code?: string }).code, 'STCI_JOB_INTERRUPTED');
    await slurm.until('withdrawn');
  });
});
