/**
 * A siege: strangers in hundreds at the listener of a job from before its start on, of every kind that proves nothing,
 * and again as soon as they are dropped. The job's children get in all the same, and the crowd costs little memory.
 */

import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { LINK_FRAME, linkFrame } from '@stci/core/bootcom';
import { rootAddress } from '@stci/interface';
import { assert, eventually, suite } from '@stci/testkit';
import { start } from './e2e.js';

/** A loopback address of this run's own: nobody else's listener is hit. */
const LOCAL = `127.88.${process.pid & 0xff}.${1 + ((process.pid >> 8) & 0x7f)}`;
const PORT = 47_020;
const CROWD = 200;
const PENDING_MAX = 16;
/** Of a process that has listened to this crowd: Node itself takes some 50 MiB. */
const RESIDENT_MIB_MAX = 120;

const UPGRADE = 'GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n'
  + 'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n';

/** One message of a WebSocket, masked by zeros. */
function message(bytes: Uint8Array): Uint8Array {
  return Uint8Array.from([0x82, 0x80 | bytes.length, 0, 0, 0, 0, ...bytes]);
}

const KINDS: readonly ((socket: Socket) => void)[] = [
  () => undefined, // Says nothing.
  (socket) => drip(socket, (i) => UPGRADE[i] ?? 'y'), // A byte now and then.
  (socket) => drip(socket, (i) => (i === 0 ? UPGRADE : `X-${i}: ${'y'.repeat(300)}\r\n`)), // Headers without an end.
  (socket) => socket.write(`${UPGRADE}\r\n`), // Upgrades and is silent.
  (socket) => {
    socket.write(`${UPGRADE}\r\n`);
    socket.write(message(linkFrame(LINK_FRAME.hello, rootAddress(0), new Uint8Array(28))));
  },
  (socket) => {
    socket.write(`${UPGRADE}\r\n`);
    socket.write(Uint8Array.of(0x82, 0xff, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 1)); // 192 KiB are to come.
    drip(socket, () => 'z'.repeat(8192));
  },
  (socket) => socket.write(Uint8Array.of(0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3)), // The beginning of TLS.
];

function drip(socket: Socket, next: (i: number) => string): void {
  let i = 0;
  const timer = setInterval(() => socket.write(next(i++)), 50);
  socket.on('close', () => clearInterval(timer));
}

interface Siege {
  /** How many have got a connection so far. */
  connections(): number;
  stop(): void;
}

function besiege(): Siege {
  const sockets = new Set<Socket>();
  let [connections, goesOn] = [0, true];
  const again = (kind: number): void => {
    if (!goesOn) return;
    const socket = connect(PORT, LOCAL);
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('connect', () => {
      connections += 1;
      KINDS[kind % KINDS.length]?.(socket);
    });
    socket.on('close', () => {
      sockets.delete(socket);
      setTimeout(() => again(kind + 1), 50);
    });
    socket.resume();
  };
  for (let i = 0; i < CROWD; i++) again(i);
  const stop = (): void => {
    goesOn = false;
    for (const socket of sockets) socket.destroy();
  };
  return { connections: () => connections, stop };
}

function residentMib(pid: number): number {
  return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1]) / 1024;
}

suite('a siege of the listener', (test) => {
  let siege: Siege | undefined;
  test.afterEach(() => siege?.stop());

  for (const encrypt of ['false', 'true']) {
    test(`keeps no child out and takes no memory; encryption ${encrypt}`, async () => {
      const crowd = (siege = besiege());
      const settings = {
        'launcher.tree.arity': '8', 'bootcom.boot': 'ws', 'bootcom.ws.interface': LOCAL, 'bootcom.ws.encrypt': encrypt,
        'bootcom.ws.ports': `${PORT}-${PORT + 8}`, 'bootcom.pending.max': `${PENDING_MAX}`,
      };
      const mca = Object.entries(settings).flatMap(([name, value]) => ['--mca', `${name}=${value}`]);
      const hosts = 'a,b,c,d,e,f';
      const tool = ['-n', '6', '--', 'sh', '-c', 'echo ready; read x'];
      const flags = ['--stdin', 'all', '--launcher', 'local', '--host', hosts];
      const run = start([...flags, ...mca, ...tool], { input: 'open' });
      const ready = () => run.out().match(/ready/g)?.length === 6 || run.child.exitCode !== null;
      await eventually(ready, { what: 'the job', deadlineMs: 15_000 });
      if (run.child.exitCode !== null) assert.unreachable(`ended early: ${(await run.result).err}`);
      await eventually(() => crowd.connections() > CROWD, { what: 'a crowd, and who comes after it' });
      const mib = residentMib(run.child.pid as number);
      crowd.stop();
      run.child.stdin?.end('\n');
      const { exitCode, err } = await run.result;
      assert.is(exitCode, 0, err);
      const told = err.split('\n').filter((line) => line.includes('unauthenticated'));
      assert.ok(told.length <= 2 && err.split('\n').length < 20, `told of the crowd in short:\n${err}`);
      assert.ok(mib < RESIDENT_MIB_MAX, `${Math.round(mib)} MiB`);
      await eventually(() => run.leftovers().length === 0, { what: 'nothing is left' });
    }, { timeoutMs: 30_000 });
  }
});
