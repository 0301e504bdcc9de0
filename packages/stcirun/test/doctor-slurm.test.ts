/** `stci doctor` in jobs of a real Slurm. */
// @timeoutMs 300000
// @sameFor node: Slurm and hosts; for Node the doctor's processes are those of its other tests.

import { fileURLToPath } from 'node:url';
import { assert, suite } from '@stci/testkit';
import { up, whyNoSlurm, type Hosts } from '@stci/testkit/hosts';

const STCI = fileURLToPath(new URL('../bin/stci.cjs', import.meta.url));
const DOCTOR = `"${process.execPath}" "${STCI}" doctor`;
const LONG = { timeoutMs: 90_000 };
const why = whyNoSlurm();

type Words = Readonly<Record<string, string>>;

/** What --json tells. */
interface Found {
  readonly total: number;
  readonly usable: number;
  readonly allocation: Words & { readonly steps: readonly Words[]; readonly problems: readonly string[] };
  readonly hosts: readonly { readonly host: string; readonly checks: Readonly<Record<string, Words | undefined>> }[];
}

interface Said {
  readonly code: number | null;
  readonly out: string;
}

suite('stci doctor in a Slurm job', (test) => {
  const check = (name: string, body: () => Promise<void>): void =>
    test.skipIf(why !== undefined, why ?? '', name, body, LONG);
  let hosts: Hosts;
  test.before(async () => {
    if (why === undefined) hosts = await up(3, { slurm: true, traits: { h3: ['no-node'] } });
  }, LONG);
  test.after(() => hosts?.down(), LONG);

  const shell = async (command: string, env: Record<string, string> = {}): Promise<Said> => {
    const { code, stdout, stderr } = await hosts.run(['bash', '-c', command], { env, deadlineMs: 60_000 });
    return { code, out: stdout + stderr };
  };
  /** In a job of these nodes. */
  const inJob = (options: string, command: string): Promise<Said> =>
    shell(`salloc --quiet ${options} bash -c '${command}'`);
  const jsonOf = ({ out }: Said): Found => JSON.parse(out.slice(out.indexOf('{'), out.lastIndexOf('\n}') + 2)) as Found;

  check('each host by one step, beside steps that run, and Slurm\'s word of it', async () => {
    const busy = 'srun --quiet --exact -n2 --job-name=busy sleep 30 & '
      + 'until squeue -hs -j $SLURM_JOB_ID -o %j | grep -q busy; do sleep 0.1; done; '
      + `${DOCTOR} --json; code=$?; kill %1; exit $code`;
    const said = await inJob('-w h1,h2 -N2 -n2 -t 10 --no-kill', busy);
    assert.is(said.code, 0, said.out);
    const { total, usable, allocation, hosts: found } = jsonOf(said);
    assert.equal([total, usable], [2, 2]);
    const { state, partition, nodes, noKill, steps, problems, version = '', left = '' } = allocation;
    assert.equal([state, partition, nodes, problems], ['RUNNING', 'debug', 'h[1-2]', []]);
    assert.equal([noKill, steps.map(({ name }) => name)], ['in the command line of salloc', ['busy']]);
    assert.match(version, /^\d+\.\d+/u);
    assert.match(left, /^(9|10):\d\d$/u);
    for (const { host, checks } of found) {
      const texts = ['slurm', 'cpus', 'node'].map((name) => checks[name]?.['text']);
      assert.equal(texts, ['mixed', '1 of 8 busy', process.version], host);
      // On a busy machine the clock may be known too roughly.
      const states = ['login', 'cache', 'clock'].map((name) => checks[name]?.['state']);
      assert.match(states.join(' '), /^none good (?:good|warn)$/u, host);
      assert.match(checks['name']?.['text'] ?? '', /^10\.77\./u);
    }
  });

  check('one without a node, one that is drained: told with Slurm\'s reason; the list of those that do', async () => {
    const drain = 'scontrol update nodename=h2 state=drain reason="disk: see | ticket 7"';
    const { code, out } = await inJob('-N3', `${drain}; ${DOCTOR}`);
    await shell('scontrol update nodename=h2 state=resume');
    assert.is(code, 197, out);
    assert.match(out, /^h2 +draining +1 of 8 busy +10\.77\.\S+ +v\d/mu);
    assert.match(out, '\nh2: slurm: Slurm drains it (disk: see | ticket 7');
    assert.match(out, /^h3: node: phase node: the host has no node.*\n {2}what to do: Install Node/mu);
    assert.match(out, '2 of 3 hosts are usable: --host h[1-2]\n');
  });

  check('a node that the job has lost, and one that hangs: the others are checked', async () => {
    const lose = 'scontrol update nodename=h3 state=down reason=broken';
    const lost = await inJob('-N3 --no-kill', `${lose}; ${DOCTOR}`);
    await shell('scontrol update nodename=h3 state=resume');
    assert.is(lost.code, 197, lost.out);
    assert.match(lost.out, /^h3: slurm: job \d+ does not have this node any more \(broken\)/mu);
    assert.match(lost.out, '2 of 3 hosts are usable: --host h[1-2]\n');
    const untilGo = 'touch ~/up; until [ -e ~/go ]; do sleep 0.1; done';
    const held = shell(`salloc --quiet -w h1,h2 -N2 bash -c '${untilGo}; ${DOCTOR} --timeout 4s; `
      + 'code=$?; squeue -hs -o "left %j"; exit $code\'');
    await shell('until [ -e ~/up ]; do sleep 0.1; done');
    await hosts.freeze('h2');
    await shell('touch ~/go');
    const hung = await held;
    await hosts.thaw('h2');
    assert.is(hung.code, 197, hung.out);
    assert.match(hung.out, /^h2: slurm: no answer of a step of this job within 4000 ms/mu);
    assert.match(hung.out, '1 of 2 hosts are usable: --host h1\n');
  });

  check('many leftovers, in a line that srun breaks, are listed, and ended', async () => {
    // Few, as the machine's own processes include those of test hosts; long, so that the line is.
    const long = `sleep 6$i ${'0'.repeat(70)}`;
    const leave = `for i in $(seq 12); do STCI_TOOL_MARK=old-1-0. setsid ${long} >/dev/null 2>&1 & done; sleep 0`;
    await hosts.runOn('h1', ['bash', '-c', leave]);
    const listed = await inJob('-w h1 -N1', DOCTOR);
    assert.match(listed.out, /^h1: leftovers: 12 left of earlier runs.*(\n {2}\d+ {2}sleep 6\d+ 0+){12}/mu);
    const ended = await inJob('-w h1 -N1', `${DOCTOR} --clean --json`);
    assert.is(jsonOf(ended).hosts[0]?.checks['leftovers']?.['text'], 'ended 12');
  });

  check('variables of a job that has ended; by logins all the same', async () => {
    const env = { SLURM_JOB_ID: '1', SLURM_JOB_NODELIST: 'h1' };
    const { code, out } = await shell(DOCTOR, env);
    assert.is(code, 197, out);
    assert.match(out, /^allocation: SLURM_JOB_ID is 1, but .*\n {2}what to do: run 'unset/mu);
    assert.match(out, '0 of 1 host is usable');
    const login = await shell(`${DOCTOR} --launcher ssh`, env);
    assert.is(login.code, 197, 'the job is a problem');
    assert.match(login.out, '1 of 1 host is usable');
  });

  check('munge is down, slurmctld does not answer, no Slurm here: within the deadline, with a remedy', async () => {
    const env = { SLURM_JOB_ID: '1', SLURM_JOB_NODELIST: 'h1' };
    await hosts.slurm.stopMunge();
    const munge = await shell(DOCTOR, env);
    await hosts.slurm.startMunge();
    assert.is(munge.code, 197);
    assert.match(munge.out, /^allocation: Slurm has no credentials, as munge .*\n {2}squeue printed: /mu);
    hosts.slurm.freezeSlurmctld();
    const frozen = await shell(`${DOCTOR} --timeout 2s`, env);
    hosts.slurm.thawSlurmctld();
    assert.is(frozen.code, 197);
    assert.match(frozen.out, /^allocation: Slurm's controller does not answer/mu);
    const absent = await shell(`PATH=/no/such ${DOCTOR}`, env);
    assert.is(absent.code, 197);
    assert.match(absent.out, 'allocation: srun is not found here.');
    const outside = await shell(`${DOCTOR} --launcher slurm`);
    assert.is(outside.code, 193);
  });

  check('--launcher local is this machine alone, in a job too', async () => {
    const { code, out } = await inJob('-N2', `${DOCTOR} --launcher local`);
    assert.is(code, 0, out);
    assert.match(out, '1 of 1 host is usable');
    assert.not.match(out, 'Slurm');
  });
});
