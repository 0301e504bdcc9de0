/** Where sessions are found: names, private directories, sessions that are gone. */

import { spawn } from 'node:child_process';
import {
  chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, utimesSync,
  writeFileSync,
} from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  checkSessionName, defaultSession, identityOf, matchSession, parseJobName, removeSession, SessionPlace,
  spoolDirectory, trimLog, type SessionFacts,
} from '@stci/stcirun/internal';
import { assert, suite } from '@stci/testkit';

const KEY = new Uint8Array(32).fill(7);

function facts(name: string, pid = process.pid): SessionFacts {
  const identity = identityOf(pid) as SessionFacts['process'];
  return {
    name, version: '1', hostname: hostname(), process: identity, socket: '/x', startWallMs: 1,
  };
}

function withPlace(body: (place: SessionPlace) => void | Promise<void>) {
  return async (): Promise<void> => {
    const base = mkdtempSync(join(tmpdir(), 'stci-place-'));
    try {
      await body(new SessionPlace(join(base, 'own', 'sessions')));
    } finally {
      rmSync(base, { recursive: true });
    }
  };
}

const names = (place: SessionPlace): readonly string[] =>
  place.list().map(({ name, state }) => `${name} ${state}`);

suite('names of sessions and jobs', (test) => {
  test('a name is a letter and up to 31 others; a job is a number, or has its session in front', () => {
    for (const good of ['a', 'Night-1_x', 'a'.repeat(32)]) assert.is(checkSessionName(good, '--name'), good);
    for (const bad of ['', '1', '.x', 'a.b', 'a/b', '../a', 'a'.repeat(33), 'ä', '-a', 'none']) {
      assert.throwsCode('STCI_USAGE', () => checkSessionName(bad, '--name'));
    }
    assert.equal(parseJobName('7'), { session: undefined, job: 7 });
    assert.equal(parseJobName('night.7'), { session: 'night', job: 7 });
    for (const bad of ['', '0', 'night', 'night.', 'night.0', '.7', '7.night', 'a.b.7', '1e3', '12345678']) {
      assert.throwsCode('STCI_USAGE', () => parseJobName(bad));
    }
  });

  test('the beginning of a name is enough where it fits one session', () => {
    const all = ['night', 'nightly', 'week'];
    assert.is(matchSession('w', all, '--session'), 'week');
    assert.is(matchSession('night', all, '--session'), 'night');
    const message = (call: () => unknown): string => assert.throwsCode('STCI_SESSION_UNKNOWN', call).message;
    assert.match(message(() => matchSession('ni', all, '--session')), "'ni' may be any of night, nightly. Write more");
    assert.match(message(() => matchSession('weak', all, 'STCI_SESSION')), "STCI_SESSION: there is no session 'weak'");
    assert.match(message(() => matchSession('x', ['night'])), /^There is no session 'x'\. There are night\.$/u);
    assert.match(message(() => matchSession('x', [], '--session')), "'stci start' starts one");
    assert.match(message(() => defaultSession(undefined, all)), 'There are 3 sessions: night, nightly, week. Name one');
    assert.is(defaultSession('', ['only']), 'only');
    assert.is(defaultSession('we', all), 'week');
  });
});

suite('place of sessions', (test) => {
  test('a session appears whole and is private; a second one of its name is refused', withPlace((place) => {
    const night = place.publish(place.stage(), facts('night'), KEY);
    assert.equal(names(place), ['night running']);
    assert.equal([...place.readKey(night)], [...KEY]);
    const staged = place.stage();
    const error = assert.throwsCode('STCI_USAGE', () => place.publish(staged, facts('night'), KEY));
    assert.match(error.message, 'There is a session night already');
    assert.match(error.message, 'stci stop night');
    removeSession(night);
    assert.is(existsSync(night.directory), false);
  }));

  test('one whose process has ended is told of once, and kept; another may have its name', withPlace(async (place) => {
    const child = spawn('sleep', ['100']);
    const night = place.publish(place.stage(), facts('night', child.pid), KEY);
    const late = place.publish(place.stage(), facts('late', child.pid), KEY);
    assert.equal(names(place), ['late running', 'night running']);
    writeFileSync(join(night.directory, 'log'), 'stci: no space is left\n');
    child.kill('SIGKILL');
    await new Promise((resolve) => child.on('exit', resolve));
    place.publish(place.stage(), facts('night'), KEY);
    const all = ['night running', 'late gone', 'night gone'];
    assert.equal(names(place), all, 'it has its name no more, and was not told of');
    removeSession(night); // The name is another session's now.
    assert.equal(names(place), all);
    const gone = place.list().filter((entry) => entry.state === 'gone');
    assert.is(gone[1]?.fault, 'no space is left');
    const [kept] = gone.map((entry) => place.tell(entry));
    assert.equal([names(place), existsSync(join(kept ?? '', 'key'))], [['night running'], true]);
    assert.is(existsSync(late.directory), false);
  }));

  test('sessions that were told of are kept a day, and 64 of them', withPlace((place) => {
    const end = (name: string): string => {
      const own = facts(name);
      place.publish(place.stage(), { ...own, process: { ...own.process, since: '1' } }, KEY);
      const [entry] = place.list().filter(({ state }) => state === 'gone');
      return entry?.state === 'gone' ? place.tell(entry) ?? '' : '';
    };
    const aged = (path: string, hours: number): void => {
      const at = new Date(Date.now() - hours * 3_600_000);
      utimesSync(path, at, at);
    };
    const [old, young] = [end('old'), end('young')];
    aged(old, 25);
    aged(young, 23);
    place.stage();
    assert.equal([existsSync(old), existsSync(young)], [false, true]);
    for (let number = 0; number < 64; number += 1) end(`n${number}`);
    place.stage();
    const kept = readdirSync(place.directory).filter((name) => name.startsWith('.gone-'));
    assert.equal([kept.length, existsSync(young)], [64, false]);
  }));

  test('the process id of another process, or of before a reboot, is not taken for the session', withPlace((place) => {
    const own = facts('night');
    for (const other of [{ since: '1' }, { boot: 'x' }]) {
      place.publish(place.stage(), { ...own, process: { ...own.process, ...other } }, KEY);
      assert.equal(names(place), ['night gone']);
      for (const entry of place.list()) if (entry.state === 'gone') place.tell(entry);
    }
    place.publish(place.stage(), { ...own, hostname: 'elsewhere' }, KEY);
    assert.equal(names(place), ['night invalid']);
  }));

  test('a directory that others may use, or a link, holds no sessions', withPlace((place) => {
    place.publish(place.stage(), facts('night'), KEY);
    chmodSync(join(place.directory, 'night'), 0o755);
    assert.equal(names(place), ['night invalid']);
    symlinkSync(place.directory, join(place.directory, 'link'));
    assert.equal(names(place), ['link invalid', 'night invalid']);
    chmodSync(place.directory, 0o770);
    const error = assert.throwsCode('STCI_SESSION_REFUSED', () => place.stage());
    assert.match(error.message, `${place.directory} is open to others: chmod 700`);
    assert.match(error.message, 'session.directory=PATH');
  }));

  test('a name that was given is not given again', withPlace((place) => {
    assert.equal([place.freeName(), place.freeName()], ['s1', 's2']);
    const third = place.publish(place.stage(), facts('s3'), KEY);
    assert.is(place.freeName(), 's4');
    removeSession(third);
    assert.is(place.freeName(), 's5');
    assert.equal(readdirSync(place.directory), ['.s5']);
  }));

  test('a copy, damaged facts and a process of another container are no session, and stay', withPlace((place) => {
    const own = facts('night');
    const { directory } = place.publish(place.stage(), own, KEY);
    cpSync(directory, join(place.directory, 'copy'), { recursive: true, preserveTimestamps: true });
    chmodSync(join(place.directory, 'copy'), 0o700);
    assert.equal(names(place), ['copy invalid', 'night running']);
    place.publish(place.stage(), { ...facts('other'), process: { ...own.process, since: '1', space: 'pid:[1]' } }, KEY);
    for (const text of ['', '{}', 'null', '{"process":{"pid":"x"}}']) {
      writeFileSync(join(directory, 'session.json'), text);
      assert.equal(names(place), ['copy invalid', 'night invalid', 'other invalid']);
      const [copy, night, other] = place.list().map((entry) => ('reason' in entry ? entry.reason : ''));
      assert.match(copy ?? '', 'it is a copy of session night: rm -r ');
      assert.match(night ?? '', /session\.json is damaged \(.*\)\. End its process, if there is one, then: rm -r /u);
      assert.match(other ?? '', 'in another container. If it has ended: rm -r ');
    }
  }));

  test('a directory that cannot have sessions is an error, one that does not exist yet has none', withPlace((place) => {
    assert.equal(names(place), []);
    place.stage();
    chmodSync(place.directory, 0o750);
    assert.match(assert.throwsCode('STCI_SESSION_REFUSED', () => place.list()).message, 'is open to others');
    chmodSync(place.directory, 0o700);
    const file = join(place.directory, 'file');
    writeFileSync(file, '');
    const other = new SessionPlace(file);
    for (const call of [() => other.list(), () => other.stage(), () => other.freeName()]) {
      assert.match(assert.throwsCode('STCI_SESSION_REFUSED', call).message, `${file} is not a directory. Mend`);
    }
    const { message } = assert.throwsCode('STCI_PARAM_INVALID', () => new SessionPlace('own/sessions'));
    assert.is(message, "session.directory: expected an absolute path, got 'own/sessions'.");
    // A disk that is full, or read-only, refuses in the same way as a directory that is not there.
    const { message: full } = assert.throwsCode('STCI_SESSION_REFUSED', () => {
      place.publish(join(place.directory, '.new-none'), facts('night'), KEY);
    });
    assert.match(full, /Sessions cannot be kept in .*: no such file or directory\. Mend that, or choose another /u);
  }));

  test('a log beyond its bound keeps its latest lines', withPlace((place) => {
    const path = join(place.stage(), 'log');
    writeFileSync(path, Array.from({ length: 100 }, (_, i) => `line ${i}\n`).join(''));
    trimLog(path, 900);
    assert.is(readFileSync(path, 'utf8').split('\n').length, 101);
    trimLog(path, 200);
    assert.is(readFileSync(path, 'utf8'), Array.from({ length: 12 }, (_, i) => `line ${i + 88}\n`).join(''));
    trimLog(`${path}-none`);
  }));

  test('spool and log go through no link that is in their way', withPlace((place) => {
    const staged = place.stage();
    const precious = join(staged, 'precious');
    writeFileSync(precious, 'as it was', { mode: 0o600 });
    for (const name of ['spools', 'spools/1']) mkdirSync(join(staged, name), { mode: 0o700 });
    symlinkSync(precious, join(staged, 'spools/1/1'));
    symlinkSync(precious, join(staged, 'log'));
    const files = spoolDirectory(join(staged, 'spools/1'));
    const first = files.next();
    assert.throws(() => first.open());
    assert.throwsCode('STCI_SESSION_REFUSED', () => place.openLog(staged));
    trimLog(join(staged, 'log'), 1);
    assert.is(readFileSync(precious, 'utf8'), 'as it was');
    const second = files.next();
    second.open();
    second.close();
    assert.equal(readdirSync(join(staged, 'spools/1')), ['1', '2']);
    symlinkSync('spools', join(staged, 'other'));
    assert.throws(() => spoolDirectory(join(staged, 'other')).next());
  }));

  test('what killed commands left is removed by a later one, not what is being made', withPlace((place) => {
    const fresh = place.stage();
    mkdirSync(join(place.directory, '.new-old'), { mode: 0o700 });
    const old = new Date(Date.now() - 7_200_000);
    utimesSync(join(place.directory, '.new-old'), old, old);
    place.stage();
    assert.is(existsSync(fresh), true);
    assert.is(existsSync(join(place.directory, '.new-old')), false);
  }));
});
