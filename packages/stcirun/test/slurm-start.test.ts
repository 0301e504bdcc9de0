/** Agents that a step of a real Slurm starts: all hosts, hosts that do not work, and what is left afterwards. */
// @timeoutMs 300000
// @sameFor node: Slurm and hosts; for Node their words are those of the launcher's own tests.

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { assert, eventually, suite } from '@stci/testkit';
import { up, whyNoSlurm, type Hosts, type RunResult } from '@stci/testkit/hosts';

const STCIRUN = fileURLToPath(new URL('../bin/stcirun.cjs', import.meta.url));
const why = whyNoSlurm();
const LONG = { timeoutMs: 90_000 };

const ALL_RUN = '[ $(ls $ranks | wc -l) = 3 ]';
const LOSE_H3 = "srun --overlap --nodelist=h3 -N1 -n1 sh -c 'kill -9 $(pgrep -ox stci-agent)' && touch $lost";
/** For a shell that knows stcirun as p, its newest srun as s, and the process that this has beside it as t. */
const KILLS = {
  'as srun begins': { holds: 'true', victims: ['$p', '$s'] },
  'as the step begins': { holds: 'squeue --noheader --steps | grep -q stci', victims: ['$p', '$s'] },
  'as an agent waits': { holds: '[ -e $agents ]', victims: ['$p', '$s'] },
  'while ranks run': { holds: ALL_RUN, victims: ['$p', '$s'] },
  'as an agent is started again': {
    holds: `${ALL_RUN} && { [ -e $lost ] || { ${LOSE_H3}; }; } && squeue --noheader --steps | grep -q '[.]2 .*stci'`,
    victims: ['$p'],
  },
} as const;
const GO_ON = ['--on-failure', 'host=continue', '--mca', 'errmgr.loss=start-again'];

let hosts: Hosts;
let directory = '';

const stcirun = (...args: string[]): [string, ...string[]] => [process.execPath, STCIRUN, ...args];
/** The home of the hosts, which two of them have for themselves. */
const env = (): Record<string, string> => ({ HOME: hosts.home, STCI_MCA_session_directory: directory });
/** As a line of a shell. */
const quoted = (argv: readonly string[]): string => argv.map((word) => `'${word}'`).join(' ');
const lines = ({ stdout }: RunResult): string => stdout.trim().split('\n').sort().join(' ');

async function salloc(options: string, argv: readonly string[]): Promise<RunResult> {
  return hosts.run(['salloc', '--quiet', ...options.split(' '), ...argv], { deadlineMs: 80_000, env: env() });
}

async function steps(): Promise<string> {
  return (await hosts.run(['squeue', '--noheader', '--steps', '--format=%i %j %N'])).stdout.trim();
}

suite('agents by a step of Slurm', (test) => {
  const check = (name: string, body: () => Promise<void>): void =>
    test.skipIf(why !== undefined, why ?? '', name, body, LONG);
  test.before(async () => {
    if (why !== undefined) return;
    directory = mkdtempSync(join(tmpdir(), 'stci-slurm-'));
    hosts = await up(4, { slurm: { cpus: 8 }, traits: { h2: ['private-home'], h3: ['private-home'] } });
  }, LONG);
  test.after(async () => {
    await hosts?.down();
    if (directory !== '') rmSync(directory, { recursive: true, force: true });
  }, LONG);

  check('all hosts of the job run, at first and from their caches, and nothing is left', async () => {
    for (const round of ['first', 'second']) {
      const run = await salloc('-N4', stcirun('hostname'));
      assert.equal([run.code, lines(run)], [0, 'h1 h2 h3 h4'], `${round}: ${run.stderr}`);
    }
    assert.is(await steps(), '');
    for (const host of ['h2', 'h3']) {
      const names = await hosts.runOn(host, ['sh', '-c', 'ls ~/.cache/stci']);
      assert.match(names, /^agent-[0-9a-f]{64}\.cjs/, 'the bundle came with the step');
    }
    await eventually(() => hosts.allLeftovers().size === 0, { what: 'all processes to end', deadlineMs: 10_000 });
  });

  check('the step has all processors, and a name; variables of the shell do not change it', async () => {
    const show = 'scontrol show step $SLURM_JOB_ID.0 | grep -o "CPUs=[0-9]* Tasks=[0-9]* Name=[^ ]*"';
    const variables = { SLURM_EXACT: '1', SLURM_LABELIO: '0', SLURM_WAIT: '1', SLURM_STDINMODE: 'none' };
    const run = await hosts.run(['salloc', '--quiet', '-N2', '--exclusive', ...stcirun('-n', '1', 'sh', '-c', show)], {
      deadlineMs: 80_000, env: { ...env(), ...variables },
    });
    assert.equal([run.code, lines(run)], [0, 'CPUs=16 Tasks=2 Name=stci:sh'], run.stderr);
  });

  check('a batch script and its controller on a host of the job', async () => {
    const out = join(directory, 'out');
    const batch = await hosts.run(['sbatch', '--wait', '--quiet', '-N3', `--output=${out}`,
      '--wrap', quoted(stcirun('hostname'))], { env: env(), deadlineMs: 80_000 });
    const run = await hosts.run(['cat', out]);
    assert.equal([batch.code, lines(run)], [0, 'h1 h2 h3'], run.stdout);
  });

  check('a host that is down fails in Slurm\'s words; the others run if that is wanted, or a spare', async () => {
    const down = 'scontrol update nodename=h2 state=down reason="bad disk"';
    const run = await salloc('--no-kill -N4', ['sh', '-c', [
      down, quoted(stcirun('hostname')), quoted(stcirun('--on-launch-failure', 'shrink', 'hostname')),
      quoted(stcirun('-N3', '--spares', '1', '--on-launch-failure', 'spare', 'hostname')),
    ].join('; ')]);
    await hosts.run(['scontrol', 'update', 'nodename=h2', 'state=resume']);
    assert.match(run.stderr, /root:1 on host h2 did not come up: phase step: .*it as down, reason: bad disk/);
    assert.is(lines(run), 'h1 h1 h3 h3 h4 h4', run.stderr);
    await hosts.slurm.untilNodes(hosts.names, 'idle');
  });

  check('a host that is killed when the step begins is left out, and the others run', async () => {
    const line = quoted(stcirun('--on-launch-failure', 'shrink', 'hostname'));
    const child = ['sh', '-c', `echo ready; read go; exec ${line}`];
    const [program, ...args] = hosts.loginArgv(['salloc', '--quiet', '--no-kill', '-N4', ...child], { env: env() });
    const shell = spawn(program as string, args, { stdio: 'pipe' });
    let [out, err, code] = ['', '', undefined as number | null | undefined];
    shell.stdout.on('data', (chunk) => (out += String(chunk)));
    shell.stderr.on('data', (chunk) => (err += String(chunk)));
    shell.on('close', (status) => (code = status));
    await eventually(() => out.includes('ready'), { what: 'the allocation', deadlineMs: 20_000 });
    await hosts.kill('h3');
    shell.stdin.end('go\n');
    await eventually(() => code !== undefined, { what: 'the end of the run', deadlineMs: 60_000 });
    await hosts.start('h3');
    assert.equal([code, out.trim().split('\n').sort().join(' ')], [0, 'h1 h2 h4 ready'], err);
    assert.match(err, /host h3 is left out: .*srun says: /);
    await hosts.slurm.untilNodes(hosts.names, 'idle', 40_000);
  });

  check('variables of a job that has ended are told, and what to do', async () => {
    const job = (await salloc('-N2', ['sh', '-c', 'echo $SLURM_JOB_ID'])).stdout.trim();
    const run = await hosts.run(stcirun('hostname'), { deadlineMs: 60_000, env: {
      ...env(), SLURM_JOB_ID: job, SLURM_JOB_NODELIST: 'h[1-2]', SLURM_NNODES: '2', SLURM_TASKS_PER_NODE: '1(x2)',
      SLURM_JOB_CPUS_PER_NODE: '1(x2)',
    } });
    assert.match(run.stderr, /the allocation has ended, .*\n(.|\n)*unset SLURM_JOB_ID/);
    assert.is(run.code, 197, run.stderr);
    const outside = await hosts.run(stcirun('--launcher', 'slurm', '--host', 'h1', 'true'), { env: env() });
    assert.match(outside.stderr, /SLURM_JOB_ID is not set/);
  });

  for (const [moment, { holds, victims }] of Object.entries(KILLS)) {
    check(`nothing stays of what is killed ${moment}`, async () => {
      for (const victim of victims) {
        const agents = join(directory, 'agents');
        const ranks = mkdtempSync(join(directory, 'ranks-'));
        const program = ['sh', '-c', `touch "${ranks}"/$(hostname); sleep 100`];
        // By their names: of any three h3 is none while Slurm has it as down.
        const running = salloc('-N3 -w h[1-3]', ['sh', '-c', [
          `agents=${agents} ranks=${ranks} lost=${ranks}-lost`, `${quoted(stcirun(...GO_ON, ...program))} & p=$!`,
          `until s=$(pgrep -nxP $p srun) && t=$(pgrep -xP $s srun) && ${holds}; do sleep 0.02; done`,
          `kill -9 ${victim}; wait $p; echo ended $?`,
          'for i in $(seq 100); do left=$(squeue --noheader --steps) || exit 8',
          'grep -q srun /proc/$s/cmdline /proc/$t/cmdline && left=stci',
          'case $left in *stci*) sleep 0.1 ;; *) exit 0 ;; esac; done 2>/dev/null; exit 9',
        ].join('\n')]);
        const hasAgent = (): boolean => hosts.leftovers('h3').some(({ command }) => command.includes('stci-agent'));
        try {
          await Promise.race([running, eventually(hasAgent, { deadlineMs: 40_000, what: 'an agent' })]);
        } finally {
          writeFileSync(agents, '');
        }
        const { code, stdout, stderr } = await running;
        rmSync(agents);
        assert.equal([code, stdout.includes('ended 0')], [0, false], `${victim}: ${stdout}${stderr}`);
        await eventually(() => hosts.allLeftovers().size === 0, { what: 'all processes to end', deadlineMs: 20_000 });
      }
    });
  }
});
