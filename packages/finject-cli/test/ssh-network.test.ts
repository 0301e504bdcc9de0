/** Fault `network` over real ssh: what a program's own sockets see of it, and its end when everything was killed. */
// @timeoutMs 300000
// @sameFor user: nft needs root on the hosts, and is skipped without

import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readHistory, type History } from '@stci/finject/experiment';
import { assert, eventually, patient, suite } from '@stci/testkit';
import { up, whyNoHosts, type Hosts } from '@stci/testkit/hosts';
import { recordsOf, states } from './e2e-finject.js';

const FINJECT = fileURLToPath(new URL('../bin/finject.cjs', import.meta.url));
const LONG = { timeoutMs: 120_000 };
const PATH = `${process.env['PATH']}:/usr/sbin:/sbin`;

/** In a namespace of its own, so that nothing of this machine is looked at. */
function whyNoNft(): string | undefined {
  if (process.geteuid?.() !== 0) return 'nft on test hosts needs root: there, agents have the rights of their user';
  const { status, stderr, error } = spawnSync('unshare', ['--net', 'nft', 'list', 'tables'],
    { encoding: 'utf8', env: { PATH } });
  return status === 0 ? undefined : `nft: ${error?.message ?? stderr}`;
}

const why = whyNoHosts() ?? whyNoNft();

/** Rank 0 answers datagrams; rank 1 asks, and tells when nobody answers, and when somebody does again; then all end. */
const TALK = `
const socket = require('node:dgram').createSocket('udp4');
if (process.env.STCI_RANK === '0') {
  socket.bind(7000);
  socket.on('message', (text, { port, address }) => {
    socket.send(text, port, address);
    if (String(text) === 'end') setTimeout(() => process.exit(0), 200);
  });
} else {
  let heardMs = 0, isSilent = true, silences = 0;
  socket.on('message', () => {
    heardMs = Date.now();
    if (!isSilent) return;
    isSilent = false;
    console.log(silences === 0 ? 'talking' : 'again');
    if (silences > 0) setInterval(() => socket.send('end', 7000, process.argv[1], () => process.exit(0)), 100);
  });
  setInterval(() => {
    socket.send('x', 7000, process.argv[1], () => {});
    if (isSilent || Date.now() - heardMs < 700) return;
    isSilent = true;
    silences++;
    console.log('silent');
  }, 20);
}`;

/**
 * Rank 0 sends 500 numbered datagrams of 1000 bytes a second; rank 1 tells the share of those of two seconds that came,
 * from 1.5 s after the first on. Both end.
 */
const COUNT = `
const socket = require('node:dgram').createSocket('udp4');
if (process.env.STCI_RANK === '0') {
  const bytes = Buffer.alloc(1000);
  const sinceMs = Date.now();
  let count = 0;
  setInterval(() => {
    for (; count < (Date.now() - sinceMs) / 2; count++) {
      bytes.writeUInt32BE(count);
      socket.send(Buffer.from(bytes), 7001, process.argv[1], () => {});
    }
  }, 2);
  setTimeout(() => process.exit(0), 8200);
} else {
  let firstMs, numbers = [];
  socket.bind(7001);
  socket.on('message', (bytes) => {
    if (firstMs === undefined) console.log('talking');
    firstMs ??= Date.now();
    const ms = Date.now() - firstMs;
    if (ms >= 1500 && ms < 3500) numbers.push(bytes.readUInt32BE());
  });
  setInterval(() => {
    if (firstMs === undefined || Date.now() - firstMs < 6000) return;
    console.log('share ' + numbers.length / (numbers.at(-1) - numbers[0] + 1));
    console.log('again');
    process.exit(0);
  }, 100);
}`;

suite('fault network over ssh', (test) => {
  let hosts: Hosts;
  let directory: string;
  const check = (name: string, body: () => Promise<void>): void =>
    test.skipIf(why !== undefined, why ?? '', name, body, LONG);
  test.before(async () => {
    if (why !== undefined) return;
    directory = mkdtempSync(join(tmpdir(), 'finject-network-'));
    hosts = await up(2);
  }, LONG);
  test.after(async () => {
    await hosts?.down();
    if (directory !== undefined) rmSync(directory, { recursive: true });
  }, LONG);

  function historyOf(run: string): History {
    const path = join(directory, run, 'history.jsonl');
    return readHistory(run, existsSync(path) ? readFileSync(path, 'utf8') : '');
  }

  /** finject with one fault of h2; its links last longer than that. */
  function start(name: string, fault: string, program: readonly string[]) {
    const options = ['-n', '2', '--launcher', 'ssh', '--host', 'h1,h2', '--mca', 'bootcom.ws.interface=eth0',
      '--mca', `bootcom.lease=${Math.ceil(patient(20_000))}ms`];
    writeFileSync(join(directory, `${name}.yaml`), [
      `name: ${name}`, `target: ${JSON.stringify({ options, program })}`, 'faults:', `  - ${fault}`,
      'checks: [no-false-detection, { output: "^again", rank: 1 }]', '',
    ].join('\n'));
    const env = { STCI_MCA_session_directory: join(directory, 'sessions') };
    const argv = [process.execPath, FINJECT, 'run', `${name}.yaml`, '--output', name] as const;
    const [file, ...rest] = hosts.loginArgv([...argv], { cwd: directory, env });
    const child = spawn(file, rest, { stdio: ['ignore', 'pipe', 'pipe'] });
    let text = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (text += String(chunk)));
    return new Promise<readonly [number | null, string]>((done) => child.on('close', (code) => done([code, text])));
  }

  const rules = async (): Promise<string> => hosts.runOn('h2', ['nft', 'list', 'ruleset'], { env: { PATH } });
  const canLogIn = async (): Promise<boolean> =>
    (await hosts.run(['ssh', '-o', 'ConnectTimeout=1', 'h2', 'true'])).code === 0;

  check('a program\'s own datagrams are not answered while a host is cut off, and are afterwards', async () => {
    const [code, text] = await start('cut',
      '{ name: cut, kind: network, who: { hosts: h2 }, when: { after: { output: ^talking, rank: 1 } }, duration: 2s }',
      [process.execPath, '-e', TALK, hosts.address('h1')]);
    assert.is(code, 0, text);
    const history = historyOf('cut');
    assert.equal(states(history).map((state) => state.split(' ')[1]), ['due', 'ordered', 'injected', 'undone'], text);
    const said = recordsOf(history, 'injection').map((record) => record.text).join();
    assert.match(said, 'nothing passes between host 1 and anywhere else, of programs neither');
    const output = recordsOf(history, 'output').map((record) => record.text).join('');
    assert.equal(output.trim().split('\n'), ['talking', 'silent', 'again']);
    assert.match(readFileSync(join(directory, 'cut', 'report.html'), 'utf8'), 'Fault network is of whole hosts');
    assert.is(await rules(), '');
  });

  for (const [name, args, least, most] of [
    ['loss', '{ mode: loss, loss: 40, spare: [22] }', 0.5, 0.7],
    ['rate', '{ mode: rate, rate: 100000, spare: [22] }', 0.15, 0.26],
  ] as const) {
    check(`${name}: as much of what is sent to a host arrives as was said`, async () => {
      const [code, text] = await start(name, `{ name: f, kind: network, who: { hosts: h2 }, duration: 5s, `
        + `when: { after: { output: ^talking, rank: 1 } }, args: ${args} }`,
      [process.execPath, '-e', COUNT, hosts.address('h2')]);
      assert.is(code, 0, text);
      const output = recordsOf(historyOf(name), 'output').map((record) => record.text).join('');
      const share = Number(/share (.*)/u.exec(output)?.[1]);
      assert.ok(share > least && share < most, output);
      assert.is(await rules(), '');
    });
  }

  check('finject, controller, agents and programs are killed: the rules end by themselves, on time', async () => {
    const durationMs = Math.ceil(patient(8000));
    const done = start('killed',
      `{ name: cut, kind: network, who: { hosts: [h2] }, when: 100ms, duration: ${durationMs}ms }`, ['sleep', '1000']);
    let over: unknown;
    void done.then((end) => (over = end));
    const isMade = (): boolean =>
      states(historyOf('killed')).some((state) => /(?:injected|failed|skipped|never)$/u.test(state));
    await eventually(() => isMade() || over !== undefined, { deadlineMs: 30_000, what: 'the fault' })
      .catch((late: unknown) => assert.unreachable(`${String(late)}: ${JSON.stringify(historyOf('killed').records)}`));
    const made = recordsOf(historyOf('killed'), 'injection').map(({ state, text }) => `${state} ${text}`);
    assert.match(made.join('; '), /injected/u, String(over));
    await eventually(async () => /ipv4 timeout/u.test(await rules()), { deadlineMs: 5000, what: 'the rules' });
    const left = (): number[] => [...hosts.allLeftovers().values()].flat().map(({ pid }) => pid);
    await eventually(() => {
      for (const pid of left()) {
        try {
          process.kill(pid, 'SIGKILL');
        } catch {
          // It has ended.
        }
      }
      return left().length === 0;
    }, { deadlineMs: 5000, what: 'the end of everything' });
    await done;
    assert.is(await canLogIn(), false, 'it lasts, with nobody there');
    await eventually(canLogIn, { deadlineMs: durationMs + 10_000, what: 'a login when its time is over' });
    assert.match(await rules(), /set lasts \{\s*type nf_proto\s*flags timeout\s*\}/u);
  });

  check('the next fault takes over what was left, and it is gone with that', async () => {
    const [code, text] = await start('next',
      '{ name: cut, kind: network, who: { hosts: h2 }, when: { after: { output: ^talking, rank: 1 } }, duration: 1s }',
      [process.execPath, '-e', TALK, hosts.address('h1')]);
    assert.is(code, 0, text);
    assert.is(await rules(), '');
  });
});
