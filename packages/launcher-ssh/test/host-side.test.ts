/**
 * The host's side of a start, with real shells and nodes: finds a node, receives, caches, verifies and runs the bundle.
 */

import { spawnSync } from 'node:child_process';
import {
  chmodSync, existsSync, mkdirSync, readFileSync, readdirSync, statSync, symlinkSync, utimesSync, writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { escapedWord } from '@stci/launcher-ssh';
import { assert, eventually, suite } from '@stci/testkit';
import { Login, NONCE, Place, SHELLS, bundle, hash, type LoginOptions } from './places.js';

const places: Place[] = [];
const newPlace = (): Place => {
  const place = new Place();
  places.push(place);
  return place;
};

/** Logs in, sends the bundle if it is wanted, waits for the agent. */
async function start(place: Place, options: LoginOptions = {}): Promise<Login> {
  const login = new Login(place, options);
  await eventually(() => login.said('need') || login.said('have') || login.ended !== undefined, { what: 'an answer' });
  if (login.said('need')) login.send(bundle);
  await eventually(() => login.out.includes('\nagent ') || login.ended !== undefined, { what: 'the agent' });
  return login;
}

async function finish(login: Login): Promise<void> {
  login.send('q');
  await eventually(() => login.ended !== undefined, { what: 'its end' });
  assert.is(login.ended, 7, login.err);
}

/** Any characters, those that shells read most of all. */
function randomText(seed: number): string {
  const alphabet = ' \'"`$\\!#&*(){}[]<>?|;~^%=,\t\näß€😀aZ09/.-';
  let state = seed * 2_654_435_761 + 1;
  const next = (): number => (state = (Math.imul(state ^ (state >>> 15), 2_246_822_519) + 0x9e3779b9) >>> 0);
  const characters = [...alphabet];
  return Array.from({ length: next() % 24 }, () => characters[next() % characters.length]).join('');
}

suite('ssh: a cache that hosts share', (test) => {
  test('each host of one start writes a file of its own', async () => {
    const place = newPlace();
    mkdirSync(place.cache, { recursive: true, mode: 0o700 });
    writeFileSync(`${place.cached}.${NONCE}.tmp`, 'another host writes');
    const login = await start(place);
    assert.ok(login.out.includes('agent string '), login.err);
    await finish(login);
    assert.equal([login.err, readFileSync(place.cached)], ['', bundle]);
  });

  test('a host that cannot write uses what another has stored meanwhile', async () => {
    const place = newPlace();
    mkdirSync(place.cache, { recursive: true, mode: 0o700 });
    const login = new Login(place);
    await eventually(() => login.said('need'), { what: 'its answer' });
    writeFileSync(place.cached, bundle, { mode: 0o600 });
    chmodSync(place.cache, 0o500);
    login.send(bundle);
    await eventually(() => login.out.includes('\nagent '), { what: 'the agent' });
    assert.ok(login.out.includes('\nagent string '), login.err);
    await finish(login);
    chmodSync(place.cache, 0o700);
    assert.is(login.err, '');
  });
});

suite('ssh: words through login shells', (test) => {
  for (const shell of SHELLS) {
    test(`${shell} gives back any text`, () => {
      const texts = Array.from({ length: 60 }, (_, seed) => randomText(seed));
      const script = `'for w in "$@"; do printf %b "$w"; printf "|."; done'`;
      const line = `exec /bin/sh -c ${script} sh ${texts.map(escapedWord).join(' ')}`;
      // A shell tells of a locale that this machine lacks.
      const run = spawnSync(shell, ['-c', line], { encoding: 'utf8', env: { ...process.env, LC_ALL: 'C' } });
      assert.equal([run.stderr, run.stdout], ['', texts.map((text) => `${text}|.`).join('')]);
    });

    test(`${shell} starts the agent`, async () => {
      const login = await start(newPlace(), { shell });
      const said = ['shell', 'need', 'run'].map((word) => `STCI ${NONCE} ${word}\n`).join('');
      assert.ok(login.out.startsWith(`${said}agent string /`), login.out);
      await finish(login);
    });
  }
  test.after(() => places.splice(0).forEach((place) => place.remove()));
});

suite('ssh: cache on the host', (test) => {
  test('keeps the bundle privately; the second start needs none', async () => {
    const place = newPlace();
    await finish(await start(place));
    assert.equal([statSync(place.cache).mode & 0o777, statSync(place.cached).mode & 0o777], [0o700, 0o600]);
    assert.equal(readdirSync(place.cache), [`agent-${hash}.cjs`]);
    const second = await start(place);
    assert.ok(second.said('have') && !second.said('need'));
    await finish(second);
  });

  test('XDG_CACHE_HOME is obeyed where it is absolute', async () => {
    const place = newPlace();
    await finish(await start(place, { env: { XDG_CACHE_HOME: join(place.root, 'xdg') } }));
    assert.ok(existsSync(join(place.root, `xdg/stci/agent-${hash}.cjs`)));
    await finish(await start(place, { env: { XDG_CACHE_HOME: 'relative' } }));
    assert.ok(existsSync(place.cached));
  });

  test('a file that was changed is told, not run, and replaced', async () => {
    const place = newPlace();
    await finish(await start(place));
    const changed = Buffer.from(bundle);
    changed[0] = (changed[0] as number) ^ 1;
    writeFileSync(place.cached, changed);
    const login = await start(place);
    assert.ok(login.said('need'));
    assert.match(login.err, /is not what was stored there.*not run/);
    await finish(login);
    assert.equal(readFileSync(place.cached), bundle);
  });

  test('a file that others may write to, a link, a short one and a directory are not run', async () => {
    const place = newPlace();
    await finish(await start(place));
    const spoil: readonly (() => void)[] = [
      () => chmodSync(place.cached, 0o622),
      () => writeFileSync(place.cached, bundle.subarray(1)),
      () => chmodSync(place.cache, 0o777),
    ];
    for (const make of spoil) {
      make();
      const login = await start(place);
      assert.ok(login.said('need'), make.toString());
      await finish(login);
      assert.is(statSync(place.cache).mode & 0o777, 0o700);
    }
    const linked = newPlace();
    mkdirSync(linked.cache, { recursive: true, mode: 0o700 });
    symlinkSync(place.cached, linked.cached);
    const login = await start(linked);
    assert.ok(login.said('need'));
    await finish(login);
  });

  test('where nothing can be kept it runs from memory and says why', async () => {
    const place = newPlace();
    place.home = '/dev/null';
    const login = await start(place);
    assert.match(login.out, /\nagent undefined /);
    assert.match(login.err, /^stci: the agent runs from memory, .*cannot be kept on this host: /);
    await finish(login);
  });

  test('where no directory can be made below one that is there it runs from memory, too', async () => {
    const place = newPlace();
    for (const cache of ['/proc/nope', '/proc/nope/deeper']) {
      const login = await start(place, { env: { XDG_CACHE_HOME: cache } });
      assert.match(login.err, /^stci: the agent runs from memory, .*: ENOENT: no such file .*, mkdir '.proc/u);
      await finish(login);
    }
  });

  test('bundles of other versions go when nobody has used them for 30 days', async () => {
    const place = newPlace();
    mkdirSync(place.cache, { recursive: true, mode: 0o700 });
    const old = (name: string, days: number): string => {
      const path = join(place.cache, name);
      writeFileSync(path, 'x');
      utimesSync(path, Date.now() / 1000 - days * 86_400, Date.now() / 1000 - days * 86_400);
      return path;
    };
    const gone = [old(`agent-${'a'.repeat(64)}.cjs`, 31), old(`agent-${'b'.repeat(64)}.cjs.00ff.tmp`, 2)];
    const kept = [old(`agent-${'c'.repeat(64)}.cjs`, 29), old('something-else', 400)];
    const login = await start(place);
    await eventually(() => !gone.some((path) => existsSync(path)), { what: 'the old bundles to go' });
    assert.ok(kept.every((path) => existsSync(path)));
    await finish(login);
  });

  test('a file whose hash was right is not hashed again until it changes, whatever its times say', async () => {
    const place = newPlace();
    await finish(await start(place));
    const seen = join(place.cache, `agent-${hash}.ok`);
    await eventually(async () => {
      await finish(await start(place));
      return existsSync(seen);
    }, { what: 'the file to be old enough', everyMs: 300 });
    assert.is(statSync(seen).mode & 0o777, 0o600);
    const { atime, mtime } = statSync(place.cached);
    const changed = Buffer.from(bundle);
    changed[0] = (changed[0] as number) ^ 1;
    writeFileSync(place.cached, changed);
    utimesSync(place.cached, atime, mtime);
    const login = await start(place);
    assert.ok(login.said('need'));
    assert.match(login.err, /is not what was stored there.*not run/);
    await finish(login);
  }, { timeoutMs: 15_000 });

  test('a host that is sent nothing waits as long as its starter says, then ends', async () => {
    const login = new Login(newPlace(), { waitMs: 300 });
    await eventually(() => login.said('need'), { what: 'the request' });
    login.send(bundle.subarray(0, 100));
    await eventually(() => login.ended !== undefined, { what: 'its end' });
    assert.is(login.ended, 'SIGKILL');
    assert.match(login.err, /the agent did not come within 300 ms/);
  });

  test('a stream that ends early or comes changed starts nothing and keeps nothing', async () => {
    const place = newPlace();
    const cut = new Login(place);
    await eventually(() => cut.said('need'), { what: 'the request' });
    cut.send(bundle.subarray(0, 100));
    cut.end();
    await eventually(() => cut.ended !== undefined, { what: 'its end' });
    const changed = new Login(place);
    await eventually(() => changed.said('need'), { what: 'the request' });
    changed.send(Buffer.alloc(bundle.length, 'x'));
    await eventually(() => changed.ended !== undefined, { what: 'its end' });
    assert.equal([cut.ended, changed.ended], [1, 1]);
    assert.match(changed.out, /STCI \w+ fail bundle it was changed/);
    assert.not.ok(existsSync(place.cached));
  });
  test.after(() => places.splice(0).forEach((place) => place.remove()));
});

suite('ssh: node on the host', (test) => {
  test('one that is too old is passed over for a later one in PATH', async () => {
    const place = newPlace();
    for (const name of ['old', 'new']) mkdirSync(join(place.root, name));
    place.node('old/node', 'v18.19.0');
    symlinkSync(process.execPath, join(place.root, 'new/node'));
    const PATH = `${place.root}/old:${place.root}/new:/usr/bin:/bin`;
    const login = await start(place, { node: '', env: { PATH } });
    await finish(login);
  });

  test('the one that the user named is the only one', async () => {
    const place = newPlace();
    const old = place.node('node', 'v18.19.0');
    const login = new Login(place, { node: old });
    await eventually(() => login.ended !== undefined, { what: 'its end' });
    assert.match(login.out, new RegExp(`fail node old ${old} v18.19.0\n$`));
    const missing = new Login(place, { node: `/no such/no'de` });
    await eventually(() => missing.ended !== undefined, { what: 'its end' });
    assert.match(missing.out, /fail node none\n$/);
  });

  test('it may be named by any path, from HOME, or by a name in PATH', async () => {
    const place = newPlace();
    mkdirSync(join(place.root, `it's my\nnode`));
    const path = join(place.root, `it's my\nnode/no de`);
    symlinkSync(process.execPath, path);
    for (const node of [path, `~/it's my\nnode/no de`]) await finish(await start(place, { node }));
    symlinkSync(process.execPath, join(place.root, 'node-next'));
    await finish(await start(place, { node: 'node-next', env: { PATH: `${place.root}:/usr/bin:/bin` } }));
  });
  test.after(() => places.splice(0).forEach((place) => place.remove()));
});
