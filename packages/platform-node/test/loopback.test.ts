/** Ports of 127.0.0.1 for this user's programs, and files that programs leave. */
// @sameFor node: sockets and files of the system.

import { execFile, execFileSync } from 'node:child_process';
import {
  chmodSync, closeSync, existsSync, lstatSync, mkdirSync, openSync, readFileSync, readlinkSync, rmSync, symlinkSync,
  writeFileSync,
} from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createNodePlatform } from '@stci/platform-node';
import { assert, eventually, suite } from '@stci/testkit';
import { whyNoHosts } from '@stci/testkit/hosts';
import type { Channel, LoopbackListener } from '@stci/interface';
import { usersOfConnections } from '../dist/sockets/loopback-sockets.js';

const { network, files } = createNodePlatform();
const notRoot = process.getuid?.() !== 0;
const hasMachineMemory = readlinkSync('/proc/self/ns/ipc') === `ipc:[${0xef_ff_ff_ff}]`;
const whyNotUnseen = hasMachineMemory ? whyNoHosts() : 'this container has its own /dev/shm';

async function listening(accept: (channel: Channel) => void): Promise<LoopbackListener> {
  let found: LoopbackListener | undefined;
  const options = { pendingMax: 8, selectEviction: () => undefined };
  network.listenLoopback(options, accept, (_error, listener) => (found = listener));
  await eventually(() => found !== undefined, { what: 'the listener' });
  return found as LoopbackListener;
}

suite('a port of 127.0.0.1', (test) => {
  test('takes this user\'s connections, and passes bytes both ways', async () => {
    const got: string[] = [];
    const listener = await listening((channel) => channel.bind({
      onData: (chunk) => {
        got.push(Buffer.from(chunk).toString());
        channel.send([Buffer.from('pong')]);
      },
      onDrain: () => undefined,
      onClose: () => got.push('closed'),
    }));
    const socket = connect(listener.port, '127.0.0.1');
    socket.on('data', (chunk) => {
      got.push(String(chunk));
      socket.end();
    });
    socket.write('ping');
    await eventually(() => got.length === 3, { what: 'ping, pong, the end' });
    assert.equal(got, ['ping', 'pong', 'closed']);
    listener.close();
  });

  /** The exit code of another user's process that connects: 7 if it is closed. */
  function byOther(port: number, from: object = {}): Promise<unknown> {
    const script = 'const [to, from] = process.argv.slice(1);'
      + 's=require("net").connect({port:+to,host:"127.0.0.1",...JSON.parse(from)});s.on("close",()=>process.exit(7));'
      + 's.on("error",(e)=>process.exit(e.code==="ECONNRESET"?7:8));s.write("hello");s.resume();';
    const options = { uid: 65_534, gid: 65_534, cwd: '/', env: {} };
    const args = ['-e', script, String(port), JSON.stringify(from)];
    return new Promise((resolve) => {
      execFile(process.execPath, args, options, (error) => resolve(error?.code));
    });
  }

  test.skipIf(notRoot, 'only root can become another user', 'closes those of others before it reads', async () => {
    let accepted = 0;
    const listener = await listening(() => (accepted += 1));
    assert.equal([await byOther(listener.port), accepted], [7, 0]);
    listener.close();
  });

  test.skipIf(notRoot, 'only root can become another user', 'is not deceived by a port of this user\'s', async () => {
    let accepted = 0;
    const listener = await listening((channel) => {
      accepted += 1;
      channel.bind({ onData: () => channel.destroy('got it'), onDrain: () => undefined, onClose: () => undefined });
    });
    const own = connect(listener.port, '127.0.0.1');
    await eventually(() => accepted === 1, { what: 'the connection of this user' });
    const from = { localAddress: '127.0.0.2', localPort: own.localPort };
    assert.equal([await byOther(listener.port, from), accepted], [7, 1]);
    own.destroy();
    listener.close();
  });

  test('knows the users of connections from the system\'s table', () => {
    const table = readFileSync(new URL('../test/fixtures/proc-net-tcp.txt', import.meta.url), 'latin1');
    assert.equal([...usersOfConnections(table, 0x1f90)], [[0xc350, '1000']]);
    assert.equal([...usersOfConnections(table, 0xc350)], [[0x1f90, '0']]);
    assert.equal([...usersOfConnections('', 2)], []);
    const orphan = table.replaceAll(/ 1000( +0) \d+ /gu, ' 1000$1 0 ');
    assert.equal([...usersOfConnections(orphan, 0x1f90)], []);
  });
});

suite('files of programs', (test) => {
  test('a directory for this user alone, which is removed with all in it', () => {
    const directory = files.makeDirectory('stci-test');
    assert.equal([lstatSync(directory).mode & 0o777, lstatSync(directory).uid], [0o700, process.getuid?.()]);
    writeFileSync(join(directory, 'a'), '');
    files.removeDirectory(directory);
    assert.is(existsSync(directory), false);
    files.removeDirectory('/usr/bin');
    assert.is(existsSync('/usr/bin'), true);
  });

  test('that nobody uses are removed by the beginning of their names, where they are new', () => {
    const path = (name: string): string => `/dev/shm/stci-test-${process.pid}.${name}`;
    for (const name of ['unused', 'open']) writeFileSync(path(name), '');
    const fd = openSync(path('open'), 'r');
    const sinceMs = lstatSync(path('unused')).ctimeMs;
    files.removeUnused([`stci-test-${process.pid}.`], sinceMs + 60_000);
    assert.equal([existsSync(path('unused'))], [true]);
    files.removeUnused(['stci-other', `stci-test-${process.pid}.`], sinceMs - 1);
    assert.equal([existsSync(path('unused')), existsSync(path('open'))], [false, true]);
    closeSync(fd);
    files.removeUnused([`stci-test-${process.pid}.`], sinceMs - 60_000);
    assert.is(existsSync(path('open')), false);
  });

  test.skipIf(whyNotUnseen !== undefined, whyNotUnseen ?? '',
    'that nobody uses stay where others may use them who cannot be seen: own processes, the machine\'s memory', () => {
      const path = `/dev/shm/stci-unseen-${process.pid}.a`;
      const platform = import.meta.resolve('@stci/platform-node');
      const code = `import { createNodePlatform } from '${platform}';
        createNodePlatform().files.removeUnused(['stci-unseen-${process.pid}.'], 0);`;
      const remove = (...own: string[]): void => {
        const user = notRoot ? ['--user', '--map-current-user'] : [];
        const node = [process.execPath, '--input-type=module', '-e', code];
        execFileSync('unshare', [...user, ...own, '--pid', '--fork', '--mount-proc', ...node]);
      };
      writeFileSync(path, '');
      try {
        remove();
        assert.is(existsSync(path), true);
        remove('--ipc');
        assert.is(existsSync(path), false);
      } finally {
        rmSync(path, { force: true });
      }
    });

  test('that they name are read where nobody else could have written them, wherever links lead', () => {
    const directory = files.makeDirectory('stci-test');
    const path = (name: string): string => join(directory, name);
    const [file, link, long] = [path('file'), path('link'), path('long')];
    writeFileSync(file, 'text\n', { mode: 0o644 });
    writeFileSync(long, 'x'.repeat(65));
    symlinkSync(file, link);
    assert.equal([file, link].map((each) => files.readNamed(each, 64)), [{ text: 'text\n' }, { text: 'text\n' }]);
    for (const [mode, is] of [[0o664, 'writable by its group'], [0o646, 'world-writable']] as const) {
      chmodSync(file, mode);
      assert.equal(files.readNamed(link, 64), { problem: `it is ${is}` });
    }
    assert.equal([long, directory, '/dev/zero', path('no')].map((each) => files.readNamed(each, 64)), [
      { problem: 'it is larger than 64 bytes' }, { problem: 'it is not a regular file' },
      { problem: 'it is not a regular file' }, { problem: 'there is no such file' },
    ]);
    files.removeDirectory(directory);
  });

  test('that they name are removed where they are their own, and lie where they may', () => {
    const directory = files.makeDirectory('stci-test');
    const other = files.makeDirectory('stci-other');
    const outside = join(tmpdir(), `stci-outside-${process.pid}`);
    const shared = `/dev/shm/stci-test-${process.pid}`;
    mkdirSync(join(directory, 'inner'));
    symlinkSync('/etc', join(directory, 'way'));
    for (const path of [join(directory, 'a'), join(directory, 'inner/b'), shared, outside]) writeFileSync(path, '');
    const named = [
      join(directory, 'a'), join(directory, 'inner/b'), shared,
      outside, `${directory}/../${outside.slice(1)}`, join(directory, 'way/hostname'), join(directory, 'inner'),
      'relative', '/dev/shm/../../etc/hostname', join(directory, 'none'),
    ];
    assert.equal(files.removeNamed(named), named.slice(3));
    assert.equal([existsSync(outside), existsSync('/etc/hostname'), existsSync(join(directory, 'inner'))],
      [true, true, true]);
    files.removeDirectory(directory);
    files.removeDirectory(other);
    rmSync(outside);
  });
});
