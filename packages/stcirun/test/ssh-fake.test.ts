/**
 * Launcherproc `ssh` on this machine, without sshd: a client of a few lines stands for ssh, so that what it says and
 * how it ends can be chosen. Behind it are the real shell, the real node and the real agent.
 */

import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { AgentProcess, ErrorRecord, ProcessEnd } from '@stci/interface';
import { createSsh, launcherSsh } from '@stci/launcher-ssh';
import { createNodePlatform } from '@stci/platform-node';
import { assert, eventually, suite } from '@stci/testkit';
import { run } from './e2e.js';

const BUNDLE = fileURLToPath(new URL('../dist/bundle/agent.bundle.cjs', import.meta.url));
const root = mkdtempSync(join(tmpdir(), 'stci-fake-ssh-'));
const text = (value: string): Uint8Array => Uint8Array.from(Buffer.from(value));

/** A client that runs `script` where ssh would log in; $COMMAND is what the login shell is given. */
function client(name: string, script: string): string {
  const path = join(root, name);
  writeFileSync(path, `#!/bin/sh\nfor COMMAND; do :; done\nexport HOME='${root}' COMMAND\n${script}\n`);
  chmodSync(path, 0o755);
  return path;
}

const LOGIN = 'echo "Authenticated to h1 ([::1]:22) using \\"publickey\\"." >&2; exec sh -c "$COMMAND"';
const good = client('good', LOGIN);

class Started {
  readonly agent: AgentProcess;
  readonly errors: ErrorRecord[] = [];
  readonly ends: ProcessEnd[] = [];
  readonly lines: string[] = [];
  readonly closes: string[] = [];
  bytes = 0;

  constructor(path: string, host = 'h1') {
    const platform = createNodePlatform({ agentBundle: BUNDLE });
    const params = { client: path, options: [], node: process.execPath, connectMs: 2000 };
    const ssh = createSsh({ platform, inline: () => assert.unreachable('not inline') as never }, params);
    const spec = { name: host, slots: 1, slotsBound: false, origin: 'test' };
    this.agent = ssh.start({ address: 1, host: spec, method: 'process' }, {
      onError: (error) => void this.errors.push(error),
      onDiagnostic: (line) => void this.lines.push(line),
      onExit: (end) => void this.ends.push(end),
    });
    this.agent.channel.send([text('no boot record')]);
    this.agent.channel.bind({
      onData: (chunk) => void (this.bytes += chunk.length),
      onDrain: () => undefined,
      onClose: (reason) => void this.closes.push(reason),
    });
  }

  async over(): Promise<void> {
    const isOver = (): boolean => this.errors.length + this.ends.length > 0 && this.closes.length > 0;
    await eventually(isOver, { what: 'its end', deadlineMs: 10_000 });
    assert.equal([this.errors.length + this.ends.length, this.closes.length], [1, 1]);
  }

  async fails(phase: string): Promise<string> {
    await this.over();
    const [error] = this.errors;
    assert.equal([error?.code, error?.data?.['phase']], ['STCI_LAUNCH_FAILED', phase], error?.message);
    return error?.message ?? '';
  }
}

suite('launcherproc ssh with a client of our own', (test) => {
  test('the agent comes up behind it, and is told once when it ends', async () => {
    const started = new Started(good);
    const message = await started.fails('handshake');
    assert.match(message, /ssh printed: stci warn: agent ended: .*/);
  });

  test('a client that ends before anything is one error with its words', async () => {
    const path = client('refused', 'echo "ssh: connect to host h1 port 22: Connection refused" >&2; exit 255');
    const message = await new Started(path).fails('connect');
    assert.match(message, /Connection refused\n {2}ssh ended with status 255/);
  });

  test('words that come as it ends are not lost, however many', async () => {
    const loop = 'i=0; while [ $i -lt 500 ]; do echo "line $i" >&2; i=$((i+1)); done';
    const path = client('many', `${loop}; printf "the last" >&2; exit 255`);
    const message = await new Started(path).fails('connect');
    assert.match(message, /ssh printed: line 499\n {2}ssh printed: the last\n/);
  });

  test('a client that is killed, a login that floods, a shell that exits', async () => {
    assert.match(await new Started(client('killed', 'kill -9 $$')).fails('connect'), /ssh was killed by SIGKILL/);
    const flood = await new Started(client('flood', 'exec yes welcome')).fails('login shell');
    assert.match(flood, /printed too much\.\n {2}the login printed: welcome \| welcome/);
    const exits = client('exits', 'echo "Authenticated to h1" >&2; echo no way; exit 1');
    const message = await new Started(exits).fails('login shell');
    assert.match(message, /the login printed: no way\n {2}ssh ended with status 1/);
  });

  test('kill before and after the agent is there is one exit, and the phase is known', async () => {
    const waiting = new Started(client('waits', 'echo "Authenticated to h1" >&2; exec sleep 60'));
    await eventually(() => waiting.agent.phase?.startsWith('login shell') === true, { what: 'the phase' });
    waiting.agent.kill();
    await waiting.over();
    assert.equal(waiting.ends, [{ signal: 'SIGKILL', evidence: 'connection' }]);
  });

  test('no client, no bundle, a name that is an option: one error each', async () => {
    const missing = new Started(join(root, 'no-such-client'));
    await missing.over();
    assert.match(missing.errors[0]?.message ?? '', /phase connect: .*no-such-client.*\n.*launcher\.ssh\.client=PATH/);
    const option = new Started(good, '-oProxyCommand=touch /tmp/x');
    await option.over();
    assert.is(option.errors[0]?.code, 'STCI_HOSTLIST_INVALID');
  });

  test('stcirun takes it for hosts that are not this machine, and either name of a parameter', async () => {
    for (const key of ['launcher.ssh.client', 'launcherproc.ssh.client']) {
      const options = ['--mca', `${key}=${good}`, '--host', 'h1,h2', '-n', '2', '--tag'];
      const result = await run([...options, '--', 'sh', '-c', 'echo $STCI_HOST']);
      assert.equal([result.exitCode, result.out.split('\n').sort().join('')], [0, '[0] h1[1] h2'], result.err);
    }
  });

  test('agents that were shipped start others as processes and threads, kept or not', async () => {
    const homeless = client('homeless', `export HOME=/dev/null XDG_CACHE_HOME=; ${LOGIN}`);
    for (const path of [good, homeless]) {
      for (const method of ['process', 'thread']) {
        const mca = ['--mca', `launcher.ssh.client=${path}`, '--mca', `launcher.session.method=${method}`];
        const result = await run([...mca, '--host', 'h1', '-n', '1', '--', 'echo', 'here']);
        assert.equal([result.exitCode, result.out], [0, 'here\n'], `${method} ${path} ${result.err}`);
      }
    }
  }, { timeoutMs: 30_000 });

  test('the connection to the only host of a job ends: its agent is linked again, and goes on', async () => {
    // The agent is not of the client's group, as if it were on another machine.
    const script = `echo $$ > '${root}/client'\n${LOGIN.split(';')[0]}\ncat | setsid sh -c "$COMMAND" | cat`;
    const mca = ['--mca', `launcher.ssh.client=${client('cuttable', script)}`];
    const cut = `read -r client < '${root}/client'; set -- $(cat /proc/$client/task/$client/children)
      kill -9 $client $1 $3; sleep 0.5; echo here`;
    const result = await run([...mca, '--host', 'h1', '-n', '1', '--', 'sh', '-c', cut]);
    assert.equal([result.exitCode, result.out], [0, 'here\n'], result.err);
  }, { timeoutMs: 30_000 });

  test('localhost among other hosts is refused with the way out', () => {
    const host = (name: string) => ({ name, slots: 1, slotsBound: false, origin: '--host' });
    const ask = (...names: string[]) =>
      launcherSsh.query({ params: {}, request: { hosts: names.map(host) }, named: false, facts: {} });
    assert.ok(!ask('a', 'localhost').accept);
    assert.match(ask('::1', 'a').reason ?? '', /^--host: ::1 cannot be combined/);
    assert.ok(ask('a', 'b').accept && ask('localhost').accept);
  });

  test.after(() => rmSync(root, { recursive: true, force: true }));
});
