/** The directory of private sockets, and what is left of processes that were killed. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, existsSync, lstatSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createNodePlatform } from '@stci/platform-node';
import { assert, eventually, suite } from '@stci/testkit';
import { Recorder, privateListener, type Until } from '@stci/testkit/compliance';
import type { Channel, ErrorRecord } from '@stci/interface';
import { privatePath, socketProblem } from '../dist/files/private-directory.js';

const until: Until = async (condition, what) => void (await eventually(condition, { what }));
const { network } = createNodePlatform();
const UID = process.getuid?.() ?? 0;

/** Runs `body` with a new directory for both variables; XDG_RUNTIME_DIR as `runtime` below it, unset if undefined. */
async function within(body: (place: string) => Promise<void> | void, runtime?: string): Promise<void> {
  const place = mkdtempSync(join(tmpdir(), 'stci-private-'));
  const before = { TMPDIR: process.env['TMPDIR'], XDG_RUNTIME_DIR: process.env['XDG_RUNTIME_DIR'] };
  const set = (name: string, value: string | undefined): void => {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  };
  set('TMPDIR', place);
  set('XDG_RUNTIME_DIR', runtime === undefined ? undefined : join(place, runtime));
  try {
    await body(place);
  } finally {
    for (const [name, value] of Object.entries(before)) set(name, value);
    rmSync(place, { recursive: true });
  }
}

const modeOf = (path: string): number => lstatSync(path).mode & 0o777;

async function failed(path: string): Promise<ErrorRecord> {
  const errors: ErrorRecord[] = [];
  network.connectPrivate(path, 2000, (error) => void (error && errors.push(error))).bind(
    { onData: () => undefined, onDrain: () => undefined, onClose: () => undefined });
  await until(() => errors.length > 0, 'the refusal');
  return errors[0] as ErrorRecord;
}

/** A socket on which nobody listens any more. */
async function abandon(path: string): Promise<void> {
  const listen = `require('net').createServer().listen(process.argv[1], () => process.stdout.write('x'))`;
  const child = spawn(process.execPath, ['-e', listen, path], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  child.kill('SIGKILL');
  await once(child, 'exit');
  assert.ok(existsSync(path));
}

const long = 'd'.repeat(100);

suite('private sockets', (test) => {
  test('directory 0700, socket 0600, in XDG_RUNTIME_DIR where that is private; removed on close', () =>
    within(async (place) => {
      mkdirSync(join(place, 'run'), { mode: 0o700 });
      const { path, close } = await privateListener(network, until);
      assert.is(dirname(path), join(place, 'run', 'stci'));
      assert.equal([modeOf(dirname(path)), modeOf(path)], [0o700, 0o600]);
      close();
      await until(() => !existsSync(path), 'its removal');
    }, 'run'));

  test('else in the directory for temporary files', () => within(async (place) => {
    mkdirSync(join(place, 'open'));
    chmodSync(join(place, 'open'), 0o755);
    assert.is(privatePath('a.sock'), join(place, `stci-${UID}`, 'a.sock'));
    assert.is(modeOf(join(place, `stci-${UID}`)), 0o700);
  }, 'open'));

  test('a TMPDIR that is not there is not made', () => within((place) => {
    process.env['TMPDIR'] = join(place, 'gone');
    assert.is(privatePath('a.sock').startsWith(place), false);
    assert.is(existsSync(join(place, 'gone')), false);
  }));

  test('a path that is too long for the system: the other directory, else it says so', () => within((place) => {
    mkdirSync(join(place, long), { mode: 0o700 });
    assert.is(privatePath('a.sock'), join(place, `stci-${UID}`, 'a.sock'));
    const error = assert.throwsCode('STCI_LISTEN_FAILED', () => privatePath(`${long}.sock`));
    assert.match(error.message, /longer than 107 bytes.*Mend one of these/);
  }, long));

  test('a directory that is open to others, or a link, is neither listened nor connected in', () =>
    within(async (place) => {
      const directory = join(place, `stci-${UID}`);
      const { path, close } = await privateListener(network, until);
      chmodSync(directory, 0o750);
      const error = await failed(path);
      assert.equal([error.code, error.data?.['reach']], ['STCI_LINK_UNREACHABLE', 'refused']);
      assert.match(error.message, /is open to others: chmod 700/);
      assert.is.not(dirname(privatePath('a.sock')), directory);
      chmodSync(directory, 0o700);
      symlinkSync(directory, join(place, 'link'));
      assert.match((await failed(path.replace(directory, join(place, 'link')))).message, /is a symbolic link/);
      chmodSync(place, 0o777);
      assert.match(socketProblem(path) ?? '', /others may rename/);
      chmodSync(place, 0o1777);
      assert.is(socketProblem(path), undefined);
      if (UID === 0) {
        chownSync(place, 12345, 0);
        assert.match(socketProblem(path) ?? '', /belongs to user 12345/, 'the owner of a sticky directory may');
        chownSync(place, 0, 0);
      }
      close();
    }));

  test('silent peers are bounded; one that has spoken stays', () => within(async () => {
    const { path, close, accepted } = await privateListener(network, until);
    const first = network.connectPrivate(path, 2000);
    first.send([Uint8Array.of(1)]);
    await until(() => accepted.length === 1, 'the first');
    const heard = new Recorder(accepted[0] as Channel);
    await until(() => heard.bytes === 1, 'its byte');
    const crowd = Array.from({ length: 60 }, () => connect(path).on('error', () => {}).resume());
    await until(() => crowd.filter((socket) => socket.closed).length >= 44, 'those above 16 were dropped');
    first.send([Uint8Array.of(2)]);
    await until(() => heard.bytes === 2, 'another byte');
    close();
    for (const socket of crowd) socket.destroy();
    first.destroy('done');
  }));

  test('a file that is no socket is refused', () => within(async (place) => {
    mkdirSync(join(place, 'own', 'sub'), { recursive: true, mode: 0o700 });
    assert.equal((await failed(join(place, 'own', 'sub'))).data?.['reach'], 'refused');
  }));

  test('sockets of killed processes are dead, and the next listener removes old ones', () => within(async () => {
    const first = await privateListener(network, until);
    const path = join(dirname(first.path), 'old.sock');
    await abandon(path);
    assert.is((await failed(path)).data?.['reach'], 'dead');
    const second = await privateListener(network, until);
    assert.ok(existsSync(path), 'one that was made just now may not be listened on yet');
    // The time of the last change cannot be set; the clock can.
    const { now } = Date;
    Date.now = () => now() + 60_000;
    const third = await privateListener(network, until);
    Date.now = now;
    await until(() => !existsSync(path), 'the removal');
    for (const { path: inUse, accepted } of [first, second, third]) {
      assert.equal([existsSync(inUse), accepted.length], [true, 0], 'one in use is left alone');
    }
    for (const { close } of [first, second, third]) close();
  }));
});
