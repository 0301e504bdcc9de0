/** Jobs on a real Slurm that ends their allocation, or loses a host of it; what programs find of it. */
// @timeoutMs 300000
// @sameFor node: Slurm and hosts; for Node signals to agents are those of e2e-batch-signals.test.ts.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { assert, eventually, suite } from '@stci/testkit';
import { up, whyNoSlurm, type Hosts, type RunResult } from '@stci/testkit/hosts';

const PROGRAMS = ['stcirun', 'stci'].map((name) => fileURLToPath(new URL(`../bin/${name}.cjs`, import.meta.url)));
const [STCIRUN, STCI] = PROGRAMS.map((path) => `"${process.execPath}" "${path}"`) as [string, string];
const why = whyNoSlurm();
const LONG = { timeoutMs: 90_000 };

/** Says that it is up, and which signals it gets; ends by TERM. */
const POLITE = `'for s in USR2 TERM; do trap "echo got $s; [ $s = USR2 ] || exit 0" $s; done; echo up; `
  + `while :; do sleep 0.05; done'`;
const STUBBORN = `'trap "" TERM; echo up; while :; do sleep 0.05; done'`;

let hosts: Hosts;
let directory = '';

interface Ended extends RunResult {
  /** From the command by which Slurm ends it. */
  readonly tookMs: number;
}

const count = (text: string, word: string): number => text.split(word).length - 1;
const env = (): Record<string, string> =>
  ({ HOME: hosts.home, STCI_MCA_session_directory: join(directory, 'sessions') });
const run = (argv: readonly [string, ...string[]]): Promise<RunResult> =>
  hosts.run(argv, { deadlineMs: 80_000, env: env() });
const salloc = (script: string, ...options: string[]): Promise<RunResult> =>
  run(['salloc', '--quiet', '-N2', '-n2', ...options, 'sh', '-c', script]);

/** Runs a job in an allocation, and `end` when both of its ranks are up. */
async function endedBy(end: string, job: string, options = ''): Promise<Ended> {
  const out = join(directory, 'out');
  writeFileSync(out, '');
  const wait = `until [ $(grep -c up "${out}") = 2 ]; do sleep 0.05; done; date +%s.%N >"${out}.begin"`;
  const line = `${STCIRUN} ${options} -n 2 --ppn 1 sh -c ${job} >"${out}"`;
  const result = await salloc(`(${wait}; ${end}) & ${line}; code=$?; date +%s.%N >"${out}.end"; exit $code`);
  const [begin, over] = ['begin', 'end'].map((name) => Number(readFileSync(`${out}.${name}`, 'utf8')) * 1000);
  return { ...result, stdout: readFileSync(out, 'utf8'), tookMs: (over ?? 0) - (begin ?? 0) };
}

async function nothingIsLeft(): Promise<void> {
  const steps = async (): Promise<string> => (await run(['squeue', '--noheader', '--steps'])).stdout.trim();
  await eventually(async () => (await steps()) === '', { what: 'the end of all steps', deadlineMs: 20_000 });
  await eventually(() => hosts.allLeftovers().size === 0, { what: 'all processes to end', deadlineMs: 20_000 });
}

suite('life with Slurm', (test) => {
  const check = (name: string, body: () => Promise<void>): void =>
    test.skipIf(why !== undefined, why ?? '', name, body, LONG);
  test.before(async () => {
    if (why !== undefined) return;
    directory = mkdtempSync(join(tmpdir(), 'stci-slurm-life-'));
    hosts = await up(3, { slurm: { cpus: 8, conf: ['KillWait=4'] } });
  }, LONG);
  test.after(async () => {
    await hosts?.down();
    if (directory !== '') rmSync(directory, { recursive: true, force: true });
  }, LONG);

  check('a job that is cancelled ends in order, with its output and Slurm\'s words, before Slurm kills', async () => {
    const { code, stdout, stderr, tookMs } = await endedBy('scancel $SLURM_JOB_ID', POLITE);
    assert.equal([code, count(stdout, 'up\n'), count(stdout, 'got TERM') >= 2], [143, 2, true], stdout + stderr);
    assert.match(stderr, /^stcirun: Slurm job \d+, or its step of the agents, was cancelled\.\n/mu);
    assert.is(count(stderr, 'stcirun:'), 1, stderr);
    assert.ok(tookMs < 4000, `${tookMs} ms`);
    await nothingIsLeft();
  });

  check('so does one whose programs ignore TERM', async () => {
    const { code, stderr } = await endedBy('scancel $SLURM_JOB_ID', STUBBORN, '--mca tool.grace=1h');
    assert.equal([code, count(stderr, 'step of the agents, was')], [143, 1], stderr);
    await nothingIsLeft();
  });

  // Slurm kills on each host by itself: until the last is reached, the runtime ends what still runs there, by TERM.
  check('a step that is cancelled is killed host by host: what it printed is there', async () => {
    const { code, stdout, stderr } = await endedBy('scancel $SLURM_JOB_ID.0', POLITE);
    const told = count(stdout, 'got TERM\n');
    assert.equal([code, stdout.replaceAll('got TERM\n', '')], [143, 'up\nup\n'], stdout + stderr);
    assert.match(stderr, /^stcirun: Slurm job \d+, or its step of the agents, was cancelled\.$/mu);
    const lost = { '0': 1, '1': 1, '0-1': 2 }[/^stcirun: lost: ranks? (\S+) on h/mu.exec(stderr)?.[1] ?? ''] ?? 0;
    assert.ok(lost + told >= 2, stdout + stderr);
    await nothingIsLeft();
  });

  check('a signal of the user reaches programs, and ends no agent', async () => {
    const end = `scancel --signal=USR2 $SLURM_JOB_ID.0; until [ $(grep -c USR2 "${join(directory, 'out')}") = 2 ]; do `
      + 'sleep 0.05; done; scancel $SLURM_JOB_ID';
    const { code, stdout, stderr } = await endedBy(end, POLITE);
    assert.equal([code, count(stdout, 'got USR2')], [143, 2], stderr);
    await nothingIsLeft();
  });

  check('a batch job that is preempted: its script, its step and stcirun are told at once', async () => {
    const [out, report] = [join(directory, 'batch'), join(directory, 'report.json')];
    const line = `${STCIRUN} --exit-report=json:"${report}" -n 2 --ppn 1 sh -c ${POLITE}`;
    const job = await run(['sbatch', '--parsable', '-N2', '-n2', '--exclusive', `--output=${out}`, '--wrap', line]);
    const printed = (): string => readFileSync(out, 'utf8');
    const isUp = (): boolean => count(printed(), 'up\n') === 2;
    const runs = async (): Promise<boolean> =>
      (await run(['squeue', '-h', '-t', 'R', '-j', job.stdout.trim()])).stdout !== '' && isUp();
    await eventually(runs, { what: 'the batch job', deadlineMs: 20_000 });
    assert.is((await run(['srun', '--quiet', '-p', 'high', '-N3', '--exclusive', 'true'])).code, 0);
    const ended = JSON.parse(readFileSync(report, 'utf8')) as { exitCode: number; cause: { code: string } };
    assert.equal([ended.exitCode, ended.cause.code], [143, 'STCI_ALLOCATION_ENDED'], printed());
    const words = count(printed(), 'step of the agents, was');
    assert.equal([count(printed(), 'got TERM') >= 2, words], [true, 1], printed());
    await nothingIsLeft();
  });

  check('a session ends with its allocation, and stci ps tells why', async () => {
    const out = join(directory, 'session');
    const { stdout, stderr } = await salloc(`${STCI} start --name night; `
      + `(until [ $(grep -c up "${out}") = 2 ]; do sleep 0.1; done; scancel $SLURM_JOB_ID) 2>/dev/null & `
      + `${STCIRUN} --session night -n 2 sh -c ${POLITE} >"${out}"; echo code $?; `
      + `until said=$(${STCI} ps); [ "$said" != "\${said#*gone}" ]; do sleep 0.1; done; echo "$said"`);
    assert.ok(count(readFileSync(out, 'utf8'), 'got TERM') >= 2, stderr);
    assert.match(stdout, /code 143\nnight: gone: .*Slurm job \d+, or its step of the agents, was cancelled\./u, stderr);
    await nothingIsLeft();
  });

  check('the others go on when a host is lost, if that is wanted', async () => {
    const out = join(directory, 'lost');
    const job = `'echo up $(hostname); until [ -e "${out}.go" ]; do sleep 0.1; done; echo end'`;
    const line = `${STCIRUN} --on-failure host=continue -n 3 --ppn 1 sh -c ${job} >"${out}"`;
    const running = salloc(line, '-N3', '-n3', '--no-kill');
    const printed = (): string => {
      try {
        return readFileSync(out, 'utf8');
      } catch {
        return ''; // It has not been started.
      }
    };
    await eventually(() => count(printed(), 'up') === 3, { what: 'three ranks', deadlineMs: 20_000 });
    await hosts.kill('h3');
    writeFileSync(`${out}.go`, '');
    const { code, stderr } = await running;
    assert.equal([code, count(printed(), 'end')], [200, 2], stderr);
    assert.match(stderr, /root:2 on host h3 is lost/u);
    await hosts.start('h3');
    await hosts.slurm.untilNodes(hosts.names, 'idle', 40_000);
  });

  check('programs find the job, their host and its processors, and can start steps', async () => {
    const show = `'echo $SLURM_JOB_NAME $SLURM_JOB_NUM_NODES $SLURMD_NODENAME $SLURM_CPUS_ON_NODE $(hostname)'`;
    const unset = `'env | grep -c "SLURM_STEP\\|SLURM_PROCID\\|SLURM_NTASKS\\|SLURM_TASKS_PER_NODE"'`;
    const { stdout, stderr } = await salloc(`${STCIRUN} --ppn 1 -n 2 sh -c ${show} | sort; `
      + `${STCIRUN} -n 1 sh -c ${unset}; ${STCIRUN} -n 1 srun --overlap -N2 hostname | sort`,
    '--job-name=night', '--nodelist=h[1-2]', '--exclusive');
    assert.is(stdout, 'night 2 h1 8 h1\nnight 2 h2 8 h2\n0\nh1\nh2\n', stderr);
  });
});
