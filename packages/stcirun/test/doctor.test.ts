/** `stci doctor` here, by a client in place of ssh, and on test hosts with one thing wrong each. */

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runInNewContext } from 'node:vm';
import { assert, suite } from '@stci/testkit';
import { up, whyNoHosts } from '@stci/testkit/hosts';
import { parseConfiguration } from '@stci/stcirun/internal';
import { PROGRAM_OF } from '../dist/doctor/probe.js';

const PROGRAM = fileURLToPath(new URL('../bin/stci.cjs', import.meta.url));
const CLIENT = fileURLToPath(new URL('../test/fake-ssh.sh', import.meta.url));
const LONG = { timeoutMs: 60_000 };

interface Said {
  readonly exitCode: number | null;
  readonly out: string;
  readonly err: string;
}

function doctor(...args: string[]): Promise<Said> {
  const { NODE_EXTRA_CA_CERTS: _slow, ...env } = process.env;
  const child = spawn(process.execPath, [PROGRAM, 'doctor', ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const said = { out: '', err: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said.out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said.err += text));
  return new Promise((resolve) => child.on('close', (exitCode) => resolve({ exitCode, ...said })));
}

suite('stci doctor', (test) => {
  test('a cache that cannot be made below a directory that is there', async () => {
    const { XDG_CACHE_HOME: before } = process.env;
    process.env['XDG_CACHE_HOME'] = '/proc/nope';
    try {
      const { out, err } = await doctor('--launcher', 'local', '--json');
      const { cache, login } = JSON.parse(out).hosts[0].checks;
      assert.equal([login.state, cache.state], ['none', 'warn'], err);
      assert.match(cache.problem, 'cannot be kept in /proc/nope/stci (ENOENT: no such file or directory');
    } finally {
      if (before === undefined) delete process.env['XDG_CACHE_HOME'];
      else process.env['XDG_CACHE_HOME'] = before;
    }
  }, LONG);

  test('this machine: node, ports, cache, and what earlier runs left', async () => {
    const env = { PATH: process.env['PATH'], STCI_TOOL_MARK: 'old-1-0.' };
    const options = { env, detached: true, stdio: 'ignore' } as const;
    const left = spawn('sleep', ['60'], options);
    // A word among its arguments makes it no run of ours.
    const named = spawn('sh', ['-c', 'sleep 60; :', 'sh', '/x/stcirun'], options);
    try {
      const { exitCode, out, err } = await doctor('--launcher', 'local', '--json');
      assert.is(exitCode, 0, err);
      const { total, usable, hosts } = JSON.parse(out);
      assert.equal([total, usable], [1, 1]);
      const { checks } = hosts[0];
      assert.is(checks.node.text, process.version);
      assert.is(checks.login.state, 'none');
      assert.equal([checks.ports.state, checks.cache.state], ['good', 'good']);
      assert.is(checks.leftovers.state, 'warn');
      assert.match(checks.leftovers.problem, `${left.pid}  sleep 60`);
      assert.match(checks.leftovers.problem, `${named.pid}  sh -c sleep 60`);
      assert.match(checks.leftovers.problem, /kill -9 /u);
    } finally {
      for (const { pid } of [left, named]) process.kill(-(pid as number), 'SIGKILL');
    }
  }, LONG);

  test('the program that Node runs is found behind its options and their values', () => {
    const programOf = (words: string): unknown => runInNewContext(`${PROGRAM_OF}programOf(words)`, {
      words: words.split(' '),
    });
    const [run, option] = ['/x/stcirun.cjs', '--max-old-space-size=9'];
    for (const words of ['', '--require /x/y.cjs', '-r y -C dev --import=z', `${option} --import z --title stci`]) {
      assert.is(programOf(`node ${words} ${run} -n 2 cat`.replace('  ', ' ')), run);
    }
    assert.equal([programOf(`tail -f ${run}`), programOf('node -r x')], [run, undefined]);
  });

  test('this machine, where nothing is said', async () => {
    const { exitCode, out, err } = await doctor();
    assert.equal([exitCode, err], [0, '']);
    assert.match(out, process.version);
  }, LONG);

  test('hosts by a login: those that are usable are named, the others with their cause', async () => {
    const client = ['--mca', `launcher.ssh.client=${CLIENT}`];
    const { exitCode, out, err } = await doctor('--host', 'a,dead,b', ...client);
    assert.is(exitCode, 197, err);
    assert.match(out, /^a +- +- +ok +v\d+\.\d+\.\d+ +[+-]?[\d.]+±[\d.]+ ms +any +ok/mu);
    assert.match(out, /^dead: login: phase connect: .*\n.*Connection refused/mu);
    assert.match(out, '2 of 3 hosts are usable: --host a,b\n');
    const late = await doctor('--host', 'slow', '--timeout', '1s', ...client);
    assert.is(late.exitCode, 197);
    assert.match(late.out, 'no answer within 1000 ms');
    const noNode = await doctor('--host', 'a', '--mca', 'launcher.ssh.node=/no/such/node', ...client);
    assert.match(noNode.out, 'the host has no program /no/such/node');
  }, LONG);

  test('an answer that cannot be used is a problem of that host; words of a host stay in one line', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'stci-doctor-'));
    const facts = {
      node: '\u001b[31mv99\nforged: x', nodePath: '', hostname: '', cache: { path: '' }, ports: { tried: 0, free: 1 },
      left: [{ pid: 7, command: 'a\nb' }], leftCount: 1, agents: 0, ended: [], endedCount: 0, sockets: 0,
    };
    const answers = {
      odd1: '{}', odd2: '{nojson', odd3: 'null', odd4: JSON.stringify(facts),
      odd5: JSON.stringify({ ...facts, left: [{ pid: '1; rm -rf ~', command: '' }] }),
    };
    for (const [host, text] of Object.entries(answers)) writeFileSync(join(directory, `${host}.facts`), `${text}\n`);
    process.env['FAKE_SSH_DIR'] = directory;
    try {
      const { exitCode, out, err } = await doctor('--host', 'odd[1-5]', '--mca', `launcher.ssh.client=${CLIENT}`);
      assert.equal([exitCode, err], [197, '']);
      const unusable = (host: string, why: string): RegExp => new RegExp(`^${host}: node: .* be used: .*${why}`, 'mu');
      assert.match(out, unusable('odd1', 'a string at facts.node, got undefined'));
      assert.match(out, unusable('odd2', 'JSON'));
      assert.match(out, unusable('odd3', 'an object at facts, got null'));
      assert.match(out, unusable('odd5', 'facts.left.0..pid, got string'));
      assert.match(out, /^odd4 .* \\u001b\[31mv99 forged: x /mu);
      assert.match(out, '\n  7  a b\n');
      assert.match(out, '1 of 5 hosts are usable: --host odd4\n');
    } finally {
      delete process.env['FAKE_SSH_DIR'];
      rmSync(directory, { recursive: true });
    }
  }, LONG);

  test('ports of a range', async () => {
    const { exitCode, out } = await doctor('--mca', 'bootcom.ws.ports=40100-40109');
    assert.is(exitCode, 0);
    assert.match(out, /\d+\/10 from 401\d\d/u);
  }, LONG);

  test('refused: hosts that cannot be, options that contradict', async () => {
    for (const [args, exitCode, words] of [
      ['--host n[1-', 195, '--host'],
      ['--hostfile /no/such/file', 195, '/no/such/file'],
      ['--launcher local --host a', 193, 'this machine alone'],
      ['--launcher rsh', 193, 'rsh'],
      ['--timeout 3x', 193, '--timeout'],
      ['--timeout 0', 193, "stci: --timeout: expected a time of more than 0, got '0'.\n"],
    ] as const) {
      const said = await doctor(...args.split(' '));
      assert.is(said.exitCode, exitCode, said.err);
      assert.match(said.err, words);
    }
  }, LONG);

  test("ssh's configuration: other names and ports, jump hosts", () => {
    const text = 'user me\nhostname a.example\nport 2222\nproxycommand none\n';
    assert.equal(parseConfiguration(text), { hostname: 'a.example', port: 2222, isIndirect: false });
    assert.is(parseConfiguration(`${text}proxyjump gate\n`)?.isIndirect, true);
    assert.is(parseConfiguration('usage: ssh'), undefined);
  });
});

/** Trait → the check that is not good, its state, and a text of its problem. */
const SICK: readonly (readonly [string, string, string, string])[] = [
  ['no-node', 'node', 'bad', 'has no node'],
  ['old-node', 'node', 'bad', 'v18.20.4'],
  ['key-refused', 'login', 'bad', 'Permission denied'],
  ['no-sshd', 'port', 'bad', ''],
  ['silent', 'login', 'bad', 'does not answer'],
  ['full-disk', 'cache', 'warn', 'no space'],
  ['slow-login:30000', 'login', 'bad', 'phase login shell'],
  ['banner', 'login', 'warn', 'prints text'],
  ['changed-host-key', 'login', 'bad', 'another key'],
];

suite('stci doctor on test hosts', (test) => {
  const why = whyNoHosts() ?? '';
  test.skipIf(why !== '', why, 'each with one thing wrong, and one with nothing', async () => {
    const traits = Object.fromEntries(SICK.map(([trait], i) => [`h${i + 2}`, [trait]]));
    const hosts = await up(SICK.length + 1, { traits });
    try {
      const argv = ['doctor', '--json', '--timeout', '8s', '--host', `h[1-${SICK.length + 1}]`];
      const said = await hosts.run([process.execPath, PROGRAM, ...argv]);
      assert.is(said.code, 197, said.stderr);
      const [well, ...sick] = JSON.parse(said.stdout).hosts;
      assert.is(well.usable, true);
      for (const check of ['name', 'port', 'login', 'node', 'clock', 'ports', 'cache', 'leftovers']) {
        assert.is(well.checks[check].state, 'good', check);
      }
      for (const [i, [trait, check, state, words]] of SICK.entries()) {
        const { checks, usable } = sick[i];
        assert.is(checks[check].state, state, trait);
        assert.match(checks[check].problem ?? '', words);
        assert.is(usable, state !== 'bad', trait);
      }
    } finally {
      await hosts.down();
    }
  }, LONG);
});
