/** Overlays between test hosts: encrypted links, jobs that go on when inner hosts die or are cut off. */
// @timeoutMs 300000
// @sameFor user, node: core decides; hosts are as in ssh-hosts, encryption as in platform-node.

import { spawn, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { assert, eventually, suite } from '@stci/testkit';
import { up, whyNoHosts, type Hosts } from '@stci/testkit/hosts';

const STCIRUN = fileURLToPath(new URL('../bin/stcirun.cjs', import.meta.url));
const LONG = { timeoutMs: 120_000 };
const COUNT = 6;
const why = whyNoHosts();
const names = Array.from({ length: COUNT }, (_, i) => `h${i + 1}`);

/** What listeners say to a client that does not encrypt. */
const IN_CLEAR = `const places = process.argv.slice(1);
for (const place of places) {
  const [host, port] = place.split(':');
  const socket = require('node:net').connect(Number(port), host, () => socket.write('GET / HTTP/1.1\\r\\n'
    + 'Host: x\\r\\nUpgrade: websocket\\r\\nConnection: Upgrade\\r\\nSec-WebSocket-Version: 13\\r\\n'
    + 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\\r\\n\\r\\n'));
  socket.setEncoding('latin1').on('data', (data) => console.log('said', data)).on('error', () => 0);
  socket.on('connect', () => socket.on('close', () => console.log('closed', place)));
}`;

suite('overlays over ssh', (test) => {
  let hosts: Hosts;
  const check = (name: string, body: () => Promise<void>): void =>
    test.skipIf(why !== undefined, why ?? '', name, body, LONG);
  test.before(async () => {
    if (why === undefined) hosts = await up(COUNT);
  }, LONG);
  let running: ChildProcess | undefined;
  test.after(async () => {
    running?.kill('SIGKILL');
    await hosts?.down();
  }, LONG);

  const options = ['--launcher', 'ssh', '--host', names.join(), '-n', String(COUNT), '--overlay', 'bmg',
    '--mpi', 'none'];
  const onEth0 = ['--mca', 'bootcom.ws.interface=eth0'];

  /** Where the agent of a host listens besides sshd. */
  async function listeners(host: string): Promise<string[]> {
    const rows = await hosts.runOn(host, ['ss', '-Hltn']);
    return rows.split('\n').map((line) => line.trim().split(/\s+/)[3] ?? '').filter((at) => /^\d+.*:\d+$/.test(at))
      .filter((at) => !at.endsWith(':22'));
  }

  async function nothingLeft(): Promise<void> {
    await eventually(() => hosts.allLeftovers().size === 0, { deadlineMs: 20_000, what: 'nothing left on any host' });
    for (const host of names) if (hosts.isUp(host)) assert.equal(await listeners(host), []);
  }

  check('links are encrypted; inner hosts are killed and cut off, and the ranks of the others go on', async () => {
    const flags = ['--mca', 'launcher.tree.arity=1', '--mca', 'bootcom.lease=8s', '--on-failure', 'continue'];
    const line = ['sh', '-c', 'echo up $STCI_HOST; read x; echo went on $STCI_HOST'];
    const [file, ...rest] = hosts.loginArgv([process.execPath, STCIRUN, ...options, ...onEth0, ...flags,
      '--stdin', 'all', ...line]);
    const child = spawn(file, rest, { stdio: ['pipe', 'pipe', 'pipe'] });
    running = child;
    let [out, err] = ['', ''];
    let code: number | null | undefined;
    child.stdout.on('data', (chunk) => (out += String(chunk)));
    child.stderr.on('data', (chunk) => (err += String(chunk)));
    child.on('close', (status) => (code = status));
    const count = (text: string): number => out.split(text).length - 1;
    await eventually(() => count('up ') === COUNT || code !== undefined, { deadlineMs: 40_000, what: 'all ranks' });
    assert.is(code, undefined, err);
    const places = (await Promise.all(names.map(listeners))).flat();
    assert.is(places.length, COUNT, places.join());
    const clear = await hosts.run([process.execPath, '-e', IN_CLEAR, ...places]);
    assert.equal(clear.stdout.trim().split('\n').sort(), places.map((each) => `closed ${each}`).sort());

    await hosts.kill('h2');
    await hosts.cut('h4');
    child.stdin.end('go\n');
    await eventually(() => code !== undefined, { deadlineMs: 60_000, what: 'the end' });
    const wentOn = out.split('\n').filter((each) => each.startsWith('went on')).sort();
    assert.equal(wentOn, ['h1', 'h3', 'h5', 'h6'].map((host) => `went on ${host}`), err);
    assert.match(err, /h2/);
    assert.match(err, /h4/);
    await hosts.mend('h4');
    await hosts.start('h2');
    await nothingLeft();
  });

  check('hosts that cannot listen: one warning with their names and the reason; the job runs', async () => {
    const shown = await hosts.runOn('h1', ['sh', '-c', 'ip -4 -o addr show eth0']);
    const address = /inet ([\d.]+)\//.exec(shown)?.[1] as string;
    const argv = [...options, '--mca', `bootcom.ws.interface=${address}`, 'hostname'];
    const others = 'the controller\'s host, h2, h3, h4, h5, h6';
    const run = await hosts.run([process.execPath, STCIRUN, ...argv]);
    assert.equal([run.code, run.stdout.trim().split('\n').sort()], [0, names]);
    assert.match(run.stderr, new RegExp(`^stcirun: The overlay lacks links, .*: no listener on ${others}\\. `));
    assert.match(run.stderr, /On the controller's host: Cannot listen on wss:\S+: .* address not available/);
    assert.is(run.stderr.split('\n').length, 2, run.stderr);
    await nothingLeft();
  });
});
