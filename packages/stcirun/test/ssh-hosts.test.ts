/** stcirun over real ssh on test hosts: jobs, the kept agent, every bad host, nothing left when something dies. */
// @timeoutMs 180000
// @sameFor node: ssh and hosts; for Node ssh is a process, as in ssh-reach and ssh-fake.

import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { assert, eventually, killThose, suite } from '@stci/testkit';
import { up, whyNoHosts, type Hosts, type RunResult } from '@stci/testkit/hosts';

const STCIRUN = fileURLToPath(new URL('../bin/stcirun.cjs', import.meta.url));
const why = whyNoHosts();
const LONG = { timeoutMs: 60_000 };

/** What each bad host is, and what is said of it: phase, then a part of the text. */
const BAD: Readonly<Record<string, readonly [trait: string, phase: string, part: RegExp]>> = {
  h2: ['no-node', 'node', /the host has no node/],
  h3: ['old-node', 'node', /found (\S+\/node v18\.20\.4(, )?)+; Node 20 or later is needed/],
  h4: ['shell-exits', 'login shell', /the login printed: This account is currently not available/],
  h5: ['key-refused', 'authenticate', /\S@h5: Permission denied \(publickey\)/],
  h6: ['password', 'authenticate', /\S@h6: Permission denied \(password\)/],
  h7: ['unknown-host-key', 'authenticate', /No ED25519 host key is known for h7/],
  h8: ['changed-host-key', 'authenticate', /Host key for h8 has changed/],
  h9: ['no-sshd', 'connect', /connect to host h9 port 22: Connection refused/],
  h10: ['silent', 'connect', /connect to host h10 port 22: Connection timed out/],
  h11: ['absent', 'connect', /connect to host h11 port 22: No route to host/],
};
const GOOD_TRAITS = {
  h12: ['banner'], h13: ['readonly-home'], h14: ['full-disk'], h15: ['slow-login:5000'], h16: ['private-home'],
};

let hosts: Hosts;

function stcirun(args: readonly string[]): Promise<RunResult> {
  return hosts.run([process.execPath, STCIRUN, ...args]);
}

/** A running job, as a process of the login side. */
class Job {
  readonly child: ChildProcess;
  out = '';
  err = '';
  code: number | null | undefined;

  constructor(args: readonly string[]) {
    const [file, ...rest] = hosts.loginArgv([process.execPath, STCIRUN, ...args]);
    this.child = spawn(file, rest, { stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    this.child.stdout?.on('data', (chunk) => (this.out += String(chunk)));
    this.child.stderr?.on('data', (chunk) => (this.err += String(chunk)));
    this.child.on('close', (code) => (this.code = code));
  }

  get lines(): number {
    return this.out.split('\n').length - 1;
  }
}

async function nothingLeft(): Promise<void> {
  const left = (): string =>
    [...hosts.allLeftovers()].map(([host, all]) => `${host}: ${all.map((one) => one.command)}`).join('; ');
  await eventually(() => left() === '', { deadlineMs: 10_000, what: 'nothing left on any host' })
    .catch((error: unknown) => assert.unreachable(`${String(error)}: ${left()}`));
}

const bundles = (home: string): string[] =>
  readdirSync(join(home, '.cache/stci')).filter((name) => name.startsWith('agent-') && name.endsWith('.cjs'));

suite('stcirun over ssh', (test) => {
  const check = (name: string, body: () => Promise<void>): void =>
    test.skipIf(why !== undefined, why ?? '', name, body, LONG);
  test.before(async () => {
    if (why !== undefined) return;
    const bad = Object.fromEntries(Object.entries(BAD).map(([host, [trait]]) => [host, [trait]]));
    hosts = await up(20, { traits: { ...bad, ...GOOD_TRAITS } });
  }, LONG);
  test.after(() => hosts?.down(), LONG);

  check('one host; the agent is sent once and kept privately', async () => {
    assert.equal(await stcirun(['--host', 'h1', '-n', '2', '--', 'hostname']),
      { code: 0, signal: null, stdout: 'h1\nh1\n', stderr: '' });
    const [name] = bundles(hosts.home);
    const path = join(hosts.home, '.cache/stci', name as string);
    const { ino, mtimeMs } = statSync(path);
    assert.is((await stcirun(['--host', 'h17', '-n', '1', '--', 'hostname'])).stdout, 'h17\n');
    const after = statSync(path);
    assert.equal([bundles(hosts.home), after.ino, after.mtimeMs], [[name], ino, mtimeMs], 'h17 shares HOME with h1');
  });

  check('a kept agent that was changed is not run', async () => {
    const path = join(hosts.home, '.cache/stci', bundles(hosts.home)[0] as string);
    const whole = readFileSync(path);
    const proof = join(hosts.home, 'was-run');
    const evil = `require('fs').writeFileSync('${proof}', '');`.padEnd(whole.length);
    writeFileSync(path, evil);
    assert.is((await stcirun(['--host', 'h1', '-n', '1', '--', 'hostname'])).stdout, 'h1\n');
    assert.equal([existsSync(proof), readFileSync(path).equals(whole)], [false, true]);
  });

  check('many hosts, in a tree and flat, agents of every method', async () => {
    const names = ['h1', 'h12', 'h13', 'h14', 'h16', 'h17', 'h18', 'h19', 'h20'];
    const expected = names.flatMap((name) => [name, name]).sort();
    const ways = [['launcher=tree', 'launcher.tree.arity=2'], ['launcher=flat', 'launcher.session.method=process']];
    for (const how of ways) {
      const mca = how.flatMap((each) => ['--mca', each]);
      const run = await stcirun([...mca, '--host', names.join(), '-n', '18', '--map-by', 'node', '--', 'hostname']);
      assert.equal([run.code, run.stdout.trim().split('\n').sort(), run.stderr], [0, expected, ''], how.join());
    }
    await nothingLeft();
  });

  check('that an agent could not be kept is told where one asks for it', async () => {
    const options = ['--host', 'h13,h14', '-n', '2', '--', 'true'];
    const run = await hosts.run([process.execPath, STCIRUN, ...options], { env: { STCI_DEBUG: '1' } });
    assert.match(run.stderr, /root:0 on host h13: stci: the agent runs from memory, .*: EROFS: read-only file system/);
    assert.match(run.stderr, /root:1 on host h14: stci: the agent runs from memory, .*: ENOSPC: no space left/);
  });

  check('the environment is the front-end\'s, whatever the host\'s own is', async () => {
    const program = ['sh', '-c', 'echo "$OF_MINE $HOME $PATH"'];
    const env = { OF_MINE: 'x y', PATH: '/usr/bin:/bin:/odd' };
    const run = await hosts.run([process.execPath, STCIRUN, '--host', 'h1', '-n', '1', '--', ...program], { env });
    assert.is(run.stdout, `x y ${hosts.loginHome} /usr/bin:/bin:/odd\n`);
  });

  check('a program\'s status and signals are as on one machine', async () => {
    assert.is((await stcirun(['--host', 'h1,h17', '-n', '2', '--', 'sh', '-c', 'exit 7'])).code, 7);
    assert.is((await stcirun(['--host', 'h1', '-n', '1', '--', 'sh', '-c', 'kill -9 $$'])).code, 137);
    assert.is((await stcirun(['--host', 'h1', '-n', '1', '--', '/no/such'])).code, 196);
  });

  check('every bad host is told once, with phase, words and remedy', async () => {
    const names = Object.keys(BAD);
    const file = join(hosts.loginHome, 'report.json');
    const mca = ['launcher=flat', 'launcher.window=16', 'errmgr.launch.collect=6s', 'launcher.ssh.connect=4s'];
    const options = [...mca.flatMap((each) => ['--mca', each]), `--exit-report=json:${file}`, '--host', names.join()];
    const run = await stcirun([...options, '-n', String(names.length), '--', 'hostname']);
    assert.equal([run.code, run.stdout], [197, '']);
    const { failures } = JSON.parse(readFileSync(file, 'utf8')) as { failures: { host: string; message: string }[] };
    assert.equal(failures.map(({ host }) => host).sort(), [...names].sort(), run.stderr);
    for (const { host, message } of failures) {
      const [trait, phase, part] = BAD[host] as (typeof BAD)[string];
      assert.match(message, new RegExp(`on host ${host} did not come up: phase ${phase}: `), trait);
      assert.match(message, part);
      assert.match(message, /\n {2}ssh ended with status \d+\n {2}what to do: /);
    }
    await nothingLeft();
  });

  check('a host that is cut while the agent travels ends what was begun there', async () => {
    const loader = (): boolean => hosts.processes('h16').some(({ command }) => command.includes('eval(String'));
    await hosts.runOn('h16', ['sh', '-c', 'rm -rf "$HOME/.cache/stci"']);
    await hosts.slow('h16', 500);
    const job = new Job(['--mca', 'launcher.handshake=2s', '--host', 'h16', 'true']);
    await eventually(loader, { deadlineMs: 20_000, what: `the agent's loader: ${job.err}` });
    await hosts.cut('h16');
    await eventually(() => job.code !== undefined, { deadlineMs: 20_000, what: 'the end of stcirun' });
    assert.equal([job.code, /h16/.test(job.err)], [197, true], job.err);
    await eventually(() => !loader(), { deadlineMs: 20_000, what: 'the end of the loader' });
    await hosts.mend('h16');
    await hosts.slow('h16', undefined);
    assert.is((await stcirun(['--host', 'h16', 'true'])).code, 0);
  });

  check('a name that does not resolve, a login that is too slow, a client that is missing', async () => {
    const one = (host: string, ...mca: string[]): Promise<RunResult> =>
      stcirun([...mca.flatMap((each) => ['--mca', each]), '--host', host, '-n', '1', '--', 'hostname']);
    const [nobody, slow, client, named] = await Promise.all([
      one('nobody'), one('h15', 'launcher.handshake=2s'), one('h1', 'launcher.ssh.client=no-such-ssh'),
      one('h1', 'launcher.ssh.node=/opt/no node'),
    ]);
    assert.match(nobody.stderr, /nobody did not come up: phase resolve: .*\n {2}ssh printed: ssh: Could not resolve/);
    assert.match(slow.stderr, /within [\d.]+ s \(launcher\.handshake\); it got as far as phase login shell\n.*to do: /);
    assert.match(client.stderr, /no-such-ssh.*\n {2}Install the OpenSSH client here/);
    assert.match(named.stderr, /phase node: the host has no program \/opt\/no node \(launcher\.ssh\.node\)/);
    await nothingLeft();
  });

  const four = ['--host', 'h1,h17,h18,h19', '-n', '8', '--map-by', 'node', '--mca', 'launcher.tree.arity=2',
    '--', 'sh', '-c', 'echo up; sleep 300 & sleep 300'];
  const killers: Readonly<Record<string, (job: Job) => void>> = {
    'the front-end': (job) => void job.child.kill('SIGKILL'),
    'an inner agent': () => killMatching('h1', /stci-agent/),
    'an outer agent': () => killMatching('h19', /stci-agent/),
  };
  for (const [what, kill] of Object.entries(killers)) {
    check(`kill -9 of ${what} leaves nothing on any host`, async () => {
      const job = await running();
      kill(job);
      await eventually(() => job.code !== undefined, { deadlineMs: 12_000, what: 'the end of stcirun' });
      await nothingLeft();
    });
  }

  for (const [what, place, pattern] of [
    ['the ssh clients of the front-end', 'login', /^ssh /], ["sshd's process of a login", 'h17', /^sshd: /],
  ] as const) {
    check(`kill -9 of ${what}: agents are linked again, the job goes on, nothing is left after it`, async () => {
      const job = await running();
      const count = killMatching(place, pattern);
      const isLinked = (): boolean => matching(place, pattern).length === count;
      await eventually(isLinked, { deadlineMs: 12_000, what: 'new logins' });
      assert.is(job.code, undefined, job.err);
      job.child.kill('SIGINT');
      await eventually(() => job.code !== undefined, { deadlineMs: 12_000, what: 'the end of stcirun' });
      assert.equal([job.code, /is lost/.test(job.err)], [130, false], job.err);
      await nothingLeft();
    });
  }

  async function running(): Promise<Job> {
    const job = new Job(four);
    await eventually(() => job.lines === 8 || job.code !== undefined, { deadlineMs: 20_000, what: 'all ranks' });
    assert.is(job.code, undefined, job.err);
    return job;
  }

  function matching(place: string, pattern: RegExp): readonly { readonly pid: number }[] {
    const all = place === 'login' ? hosts.leftovers('login') : hosts.processes(place);
    return all.filter(({ command, hostPid }) => pattern.test(command) && (place === 'login' || hostPid !== 1));
  }

  function killMatching(place: string, pattern: RegExp): number {
    const found = matching(place, pattern);
    assert.ok(found.length > 0, `there is something to kill on ${place}`);
    killThose(found.map(({ pid }) => pid));
    return found.length;
  }
});
