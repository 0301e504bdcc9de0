/** The host's side of reaching an agent, with real shells and nodes: checks, answers, and both ends' ends. */

import { chmodSync, chownSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { assert, eventually, suite } from '@stci/testkit';
import { Login, NONCE, Place, SHELLS, type LoginOptions } from './places.js';

const places: Place[] = [];

/** A listener in a private directory, which sends back what it gets. */
class Listening {
  readonly directory: string;
  readonly path: string;
  readonly server: Server;
  readonly sockets: Socket[] = [];

  constructor(name = 'a.sock') {
    const place = new Place();
    places.push(place);
    this.directory = join(place.root, 'own');
    mkdirSync(this.directory, { mode: 0o700 });
    this.path = join(this.directory, name);
    this.server = createServer((socket) => {
      this.sockets.push(socket);
      socket.on('error', () => undefined);
      socket.on('data', (chunk) => void socket.write(chunk));
    }).listen(this.path);
  }

  async login(options: Omit<LoginOptions, 'path'> & { readonly path?: string } = {}): Promise<Login> {
    if (!this.server.listening) await eventually(() => this.server.listening, { what: 'the listener' });
    const place = new Place();
    places.push(place);
    return new Login(place, { path: this.path, ...options });
  }

  /** Logs in and waits for the failure. */
  async fails(what: string, options: Parameters<Listening['login']>[0] = {}): Promise<string> {
    const login = await this.login(options);
    await eventually(() => login.ended !== undefined, { what: 'its end' });
    assert.equal([login.ended, login.out.includes(`STCI ${NONCE} fail ${what} `)], [1, true], login.out + login.err);
    return login.out;
  }

  close(): void {
    this.server.close();
    for (const socket of this.sockets) socket.destroy();
  }
}

const listeners: Listening[] = [];
const listen = (name?: string): Listening => {
  const listening = new Listening(name);
  listeners.push(listening);
  return listening;
};

async function echoed(login: Login): Promise<void> {
  await eventually(() => login.said('join\n'), { what: 'the answer' });
  login.send('to and fro');
  await eventually(() => login.out.endsWith('to and fro'), { what: 'the echo' });
}

suite('ssh: the program that reaches an agent', (test) => {
  test.after(() => {
    for (const listening of listeners) listening.close();
    for (const place of places) place.remove();
  });

  for (const shell of SHELLS) {
    test(`${shell}: joins, and ends with its standard input`, async () => {
      const listening = listen(`a b'"$(x)äß!\\.sock`);
      const login = await listening.login({ shell });
      await echoed(login);
      login.end();
      await eventually(() => login.ended !== undefined && listening.sockets[0]?.closed, { what: 'the end of both' });
      assert.equal([login.ended, login.err], [0, '']);
    });
  }

  test('ends with the socket, after what that sent', async () => {
    const listening = listen();
    const login = await listening.login();
    await echoed(login);
    listening.sockets[0]?.end('last words'.repeat(100_000));
    await eventually(() => login.ended !== undefined, { what: 'its end' });
    assert.equal([login.ended, login.out.length], [0, `STCI ${NONCE} shell\nSTCI ${NONCE} join\n`.length + 1_000_010]);
  });

  test('does not wait longer than it is told for the first data', async () => {
    const login = await listen().login({ waitMs: 200 });
    await eventually(() => login.ended !== undefined, { what: 'its end' });
    assert.equal([login.ended, login.said('join\n')], [1, true]);
  });

  test('nobody listens, or there is no such socket, or no directory: dead', async () => {
    const listening = listen();
    await eventually(() => listening.server.listening, { what: 'the listener' });
    await listening.fails('dead', { path: `${listening.path}x` });
    await listening.fails('dead', { path: join(listening.directory, 'none', 'a.sock') });
  });

  test('what others could have access to is refused', async () => {
    const listening = listen();
    const { directory, path } = listening;
    const link = join(directory, '..', 'link');
    symlinkSync(directory, link);
    assert.match(await listening.fails('refused', { path: join(link, 'a.sock') }), /is not a directory/);
    writeFileSync(join(directory, 'file'), '');
    assert.match(await listening.fails('refused', { path: join(directory, 'file') }), /is not a socket of user/);
    chmodSync(directory, 0o710);
    assert.match(await listening.fails('refused'), /is open to others: chmod 700/);
    chmodSync(directory, 0o700);
    chmodSync(join(directory, '..'), 0o777);
    assert.match(await listening.fails('refused'), /others may rename what is in/);
    if (process.getuid?.() === 0) {
      chmodSync(join(directory, '..'), 0o1777);
      chownSync(join(directory, '..'), 12345, 0);
      assert.match(await listening.fails('refused'), /others may rename what is in/, 'the owner of a sticky directory');
      chownSync(join(directory, '..'), 0, 0);
    }
    assert.match(await listening.fails('refused', { path: `${path}${'x'.repeat(107)}` }), /longer than 107 bytes/);
    assert.match(await listening.fails('refused', { path: 'a.sock' }), /a\.sock is no absolute path/);
  });

  test('a node that is too old is passed by', async () => {
    const place = new Place();
    places.push(place);
    const listening = listen();
    await listening.fails('node', { node: place.node('old', 'v18.1.0') });
  });
});
