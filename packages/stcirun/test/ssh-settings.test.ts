/** stcirun over real ssh: what the user's configuration does to our logins, and what hosts say to our terminal. */
// @timeoutMs 120000
// @sameFor node: ssh's configuration and words; for Node ssh is a process, as in ssh-reach and ssh-fake.

import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { assert, suite } from '@stci/testkit';
import { up, whyNoHosts, type Hosts, type RunResult } from '@stci/testkit/hosts';

const STCIRUN = fileURLToPath(new URL('../bin/stcirun.cjs', import.meta.url));
const why = whyNoHosts();
const LONG = { timeoutMs: 60_000 };

let hosts: Hosts;

function stcirun(args: readonly string[]): Promise<RunResult> {
  return hosts.run([process.execPath, STCIRUN, ...args]);
}

/** A client's configuration with `lines` before the set's own; the path of the file. */
function configuration(name: string, lines: readonly string[]): string {
  const path = join(hosts.loginHome, name);
  writeFileSync(path, `${lines.join('\n')}\nInclude ~/.ssh/config\n`);
  return path;
}

/** A client that starts 3 s after it reported the start of its key exchange, which thus takes most of any login. */
function slowClient(): string {
  const path = join(hosts.loginHome, 'slow-ssh');
  const steps = ["echo 'debug1: SSH2_MSG_KEXINIT sent' >&2", 'sleep 3', 'exec ssh "$@"'];
  writeFileSync(path, `#!/bin/sh\n${steps.join('\n')}\n`, { mode: 0o755 });
  return path;
}

const logins = (host: string): number => hosts.log(host).split('Accepted publickey').length - 1;

suite('stcirun and the ssh configuration', (test) => {
  const check = (name: string, body: () => Promise<void>): void =>
    test.skipIf(why !== undefined, why ?? '', name, body, LONG);
  test.before(async () => {
    if (why === undefined) hosts = await up(2);
  }, LONG);
  test.after(() => hosts?.down(), LONG);

  check('with ControlMaster auto our client becomes no master; a master that is there is used', async () => {
    const socket = join(hosts.loginHome, 'master');
    const file = configuration('mastered', ['ControlMaster auto', 'ControlPersist 60', `ControlPath ${socket}`]);
    const job = ['--mca', `launcher.ssh.options=-F ${file}`, '--host', 'h1', '-n', '1', '--', 'hostname'];
    const alone = await stcirun(job);
    assert.equal([alone.code, alone.stdout, existsSync(socket)], [0, 'h1\n', false], alone.stderr);
    const master = await hosts.run(['ssh', '-F', file, '-o', 'ControlMaster=yes', '-fN', 'h1']);
    assert.equal([master.code, existsSync(socket)], [0, true], master.stderr);
    const before = logins('h1');
    const shared = await stcirun(job);
    assert.equal([shared.code, shared.stdout, logins('h1') - before], [0, 'h1\n', 0], shared.stderr);
    const end = await hosts.run(['ssh', '-F', file, '-O', 'exit', 'h1']);
    assert.is(end.code, 0, 'the master outlives our use of it');
  });

  check('a key exchange may be chosen; doctor and --verbose tell of one that takes most of a login', async () => {
    const STCI = fileURLToPath(new URL('../bin/stci.cjs', import.meta.url));
    const slow = configuration('slow-kex', ['KexAlgorithms sntrup761x25519-sha512@openssh.com']);
    const job = ['--mca', `launcher.ssh.options=-F ${slow}`, '--mca', `launcher.ssh.client=${slowClient()}`];
    const seen = await hosts.run([process.execPath, STCI, 'doctor', '--host', 'h1', ...job]);
    assert.match(seen.stdout, /^h1: login: the key exchange \(sntrup761\S+\) takes most .*launcher\.ssh\.kex=/mu);
    assert.match(seen.stdout, /^h1 .* ok, kex \d+\/\d+ ms /mu);
    const verbose = await stcirun(['--verbose', ...job, '--host', 'h1,h2', '-n', '2', 'true']);
    assert.is(verbose.stderr.split('takes most of the login').length, 2, `once: ${verbose.stderr}`);
    assert.not(/debug1/.test(verbose.stderr), 'the steps themselves are not shown');
    const quick = ['--verbose', '--mca', 'launcher.ssh.kex=curve25519-sha256', '--host', 'h1', '-n', '1', 'true'];
    const chosen = await stcirun([...quick]);
    assert.equal([chosen.code, chosen.stderr.includes('key exchange')], [0, false], chosen.stderr);
    const none = await stcirun(['--mca', 'launcher.ssh.kex=no-such-method', '--host', 'h1', '-n', '1', 'true']);
    assert.equal([none.code, /no-such-method/.test(none.stderr)], [197, true], none.stderr);
  });

  check('escape sequences that a host sends reach standard error written out', async () => {
    const shell = join(hosts.loginHome, 'rude');
    const words = 'printf "\\033]0;owned\\007\\033[2J" >&2; printf "\\033[31mbanner\\n"; exit 3';
    writeFileSync(shell, `#!/bin/sh\n${words}\n`, { mode: 0o755 });
    const job = ['--mca', `launcher.ssh.client=${shell}`, '--host', 'h1', '-n', '1', 'true'];
    const run = await stcirun(['--verbose', ...job]);
    assert.equal([run.code, /[\x00-\x08\x0b-\x1f]/.test(run.stderr)], [197, false]);
    assert.ok(run.stderr.includes('ssh printed: \\u001b]0;owned\\u0007\\u001b[2J'), run.stderr);
    const json = await stcirun(['--json', ...job]);
    assert.not(/[\x00-\x08\x0b-\x1f]/.test(json.stdout + json.stderr), 'in JSON neither');
  });
});
