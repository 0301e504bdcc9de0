/**
 * PendingLinks at the real thing: seeded noise at an agent's standard input and at the listeners of a running job. An
 * agent ends with one clear line, or drops the peer; the job goes on unharmed.
 */

import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { LINK_FRAME, encodeBootRecord, linkFrame } from '@stci/core/bootcom';
import { EXIT, rootAddress, CONTROLLER } from '@stci/interface';
import { createNodePlatform } from '@stci/platform-node';
import { assert, eventually, seededIntegers, suite } from '@stci/testkit';
import { Recorder } from '@stci/testkit/compliance';
import { start } from './e2e.js';

const AGENT = fileURLToPath(new URL('../dist/bundle/agent.cjs', import.meta.url));
const { network } = createNodePlatform();

interface Ended {
  readonly status: number | null;
  readonly err: string;
  readonly out: number;
}

/** Starts an agent by hand, gives it `bytes`, and waits for its end. */
function agentWith(bytes: Uint8Array, keepOpen = false): Promise<Ended> {
  const child = spawn(process.execPath, [AGENT], { stdio: ['pipe', 'pipe', 'pipe'] });
  let [err, out] = ['', 0];
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.length));
  child.stdin.on('error', () => undefined);
  child.stdin.write(bytes);
  if (!keepOpen) child.stdin.end();
  return new Promise((resolve) => child.on('close', (status) => resolve({ status, err, out })));
}

function noise(seed: number): Uint8Array {
  const next = seededIntegers(seed);
  const bytes = Uint8Array.from({ length: 1 + next(400) }, () => next(256));
  if (seed % 3 > 0) bytes[0] = 1;
  if (seed % 3 > 1) bytes.set([0, 0, 0], 1);
  return bytes;
}

const boot = (details: Uint8Array): Uint8Array => encodeBootRecord({
  session: new Uint8Array(8), secret: new Uint8Array(32), self: rootAddress(0), job: 0, parent: CONTROLLER, start: 1,
  nativeLink: true, frameBytesMax: 65_536, handshakeMs: 300, leaseMs: 10_000, details,
});

suite('strangers at an agent\'s standard input', (test) => {
  test('noise, cut records, a parent that proves nothing: one clear line and an exit code', async () => {
    const record = boot(new Uint8Array(40));
    const behind = Buffer.concat([record, noise(1)]);
    const cases: [Promise<Ended>, RegExp][] = [
      ...Array.from({ length: 6 }, (_, seed): [Promise<Ended>, RegExp] => [agentWith(noise(seed)), /./]),
      [agentWith(Uint8Array.from('hello\n', (c) => c.charCodeAt(0)), true), /no STCI agent, or one of another release/],
      [agentWith(new Uint8Array(0)), /before the boot record: the parent is gone/],
      [agentWith(record.slice(0, 70)), /before the boot record/],
      [agentWith(record, true), /no handshake within 300 ms/],
      [agentWith(behind, true), /version|layer|handshake/],
      [agentWith(linkFrame(LINK_FRAME.hello, 1, new Uint8Array(28)), true), /started by its parent, not by hand/],
    ];
    for (const [ended, expected] of cases) {
      const { status, err } = await ended;
      assert.is(status, EXIT.agentLost, err);
      assert.match(err, expected);
      assert.match(err, /^stci warn: agent ended: [^\n]+\n$/);
    }
  }, { timeoutMs: 20_000 });
});

/** A loopback address of this run's own: nobody else's listener is hit. */
const LOCAL = `127.87.${process.pid & 0xff}.${1 + ((process.pid >> 8) & 0x7f)}`;
const [LOW, HIGH] = [47_000, 47_008];
const PENDING_MAX = 8;

/** Connects, says `bytes`, and resolves once they have left. */
async function stranger(port: number, bytes: Uint8Array): Promise<Recorder> {
  const channel = network.connect(`ws://${LOCAL}:${port}`, 3000);
  const recorder = new Recorder(channel);
  channel.send([bytes]);
  await eventually(() => channel.queuedBytes === 0 || recorder.closed, { what: 'the stranger has spoken', everyMs: 1 });
  return recorder;
}

async function listens(port: number): Promise<boolean> {
  const recorder = await stranger(port, Uint8Array.of(0));
  await eventually(() => recorder.closed, { what: 'an answer' });
  return recorder.reasons[0] !== 'connection refused';
}

suite('strangers at the listeners of a running job', (test) => {
  test('are dropped, each and all, and the job ends as if nobody had come', async () => {
    const settings = {
      'launcher.tree.arity': '1', 'bootcom.boot': 'ws', 'bootcom.ws.interface': LOCAL,
      'bootcom.ws.ports': `${LOW}-${HIGH}`, 'bootcom.pending.max': `${PENDING_MAX}`, 'bootcom.handshake': '30s',
    };
    const mca = Object.entries(settings).flatMap(([name, value]) => ['--mca', `${name}=${value}`]);
    const tool = ['-n', '3', '--', 'sh', '-c', 'echo ready; read x; echo got $x'];
    const run = start(['--launcher', 'local', '--host', 'a,b,c', ...mca, ...tool], { input: 'open', limitMs: 20_000 });
    await eventually(() => run.out().match(/ready/g)?.length === 3, { what: 'the job', deadlineMs: 10_000 });
    const ports: number[] = [];
    for (let port = LOW; port <= HIGH; port++) if (await listens(port)) ports.push(port);
    assert.ok(ports.length >= 3, `${ports.length} listeners: the controller's and the root agents'`);
    const crowd: Recorder[] = [];
    for (const port of ports) {
      const hello = linkFrame(LINK_FRAME.hello, rootAddress(1), new Uint8Array(28));
      for (const [i, bytes] of [noise(1), noise(2), hello, new Uint8Array(50_000).fill(9)].entries()) {
        crowd.push(await stranger(port, bytes.length > 0 ? bytes : Uint8Array.of(i)));
      }
      // The beginning of a frame, and then nothing, which may last for 30 s.
      for (let i = 0; i < 3 * PENDING_MAX; i++) crowd.push(await stranger(port, Uint8Array.of(1)));
    }
    const left = (): number => crowd.filter(({ closed }) => !closed).length;
    await eventually(() => left() <= PENDING_MAX * ports.length, { what: 'strangers above the limit are dropped' });
    assert.is(crowd.reduce((sum, { bytes }) => sum + bytes, 0), 0, 'strangers learn nothing');
    run.child.stdin?.end('it\n');
    const { exitCode, out, err } = await run.result;
    const lines = out.trim().split('\n').sort();
    assert.equal([exitCode, lines], [0, ['got', 'got', 'got it', 'ready', 'ready', 'ready']], err);
    await eventually(() => left() === 0, { what: 'the rest goes with the listeners' });
    await eventually(() => run.leftovers().length === 0, { what: 'nothing is left' });
  }, { timeoutMs: 30_000 });
});
