/** Paths that are judged: what others could have put there, or exchange, is not used. */

import {
  chmodSync, chownSync, constants, lchownSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, realpathSync,
  renameSync, rmSync, symlinkSync, writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { assert, suite } from '@stci/testkit';
import {
  makeTemporary, openOwn, privateDirectory, publicity, readOwn, resolveDirectory, UntrustedPath, writeOwn,
} from '@stci/platform-node';

const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;

async function inPlace(body: (place: string) => void): Promise<void> {
  const place = realpathSync(mkdtempSync(join(tmpdir(), 'stci-path-')));
  try {
    body(place);
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

/** Runs `body` where `path` is another user's: it is given away, or, without that right, the test is the other one. */
function asAnothers(path: string, body: () => void): void {
  const { geteuid } = process;
  if (isRoot) lchownSync(path, NOBODY, NOBODY);
  else process.geteuid = () => NOBODY - 1;
  try {
    body();
  } finally {
    if (geteuid !== undefined) process.geteuid = geteuid;
    if (isRoot) lchownSync(path, 0, 0);
  }
}

function refused(call: () => unknown): UntrustedPath {
  try {
    call();
  } catch (thrown) {
    assert.ok(thrown instanceof UntrustedPath, String(thrown));
    return thrown as UntrustedPath;
  }
  throw new Error('it was accepted');
}

suite('directories that are judged', (test) => {
  test('what is missing is made for this user alone; own links on the way are resolved once', () => inPlace((place) => {
    mkdirSync(join(place, 'real'), { mode: 0o755 });
    symlinkSync('real', join(place, 'link'));
    const made = privateDirectory(join(place, 'link/a/../b'));
    assert.is(made, join(place, 'real/b'));
    assert.is(lstatSync(made).mode & 0o777, 0o700);
    symlinkSync('..', join(place, 'real/up'));
    assert.is(resolveDirectory(join(place, 'link/up/real/./b/')), made);
  }));

  test('a temporary directory is made where nobody else can exchange it, through an own link too', () => {
    return inPlace((place) => {
      for (const name of ['own', 'open', 'others']) mkdirSync(join(place, name));
      symlinkSync('own', join(place, 'link'));
      const made = makeTemporary(join(place, 'link'), 'x-');
      assert.ok(made.startsWith(join(place, 'own/x-')), made);
      assert.is(lstatSync(made).mode & 0o777, 0o700);
      chmodSync(join(place, 'open'), 0o777);
      refused(() => makeTemporary(join(place, 'open'), 'x-'));
      chmodSync(join(place, 'open'), 0o1777);
      makeTemporary(join(place, 'open'), 'x-');
      asAnothers(join(place, 'others'), () => refused(() => makeTemporary(join(place, 'others'), 'x-')));
    });
  });

  test('the last part is no link, a chain of links ends, a file is no directory', () => inPlace((place) => {
    mkdirSync(join(place, 'real'), { mode: 0o700 });
    symlinkSync('real', join(place, 'link'));
    assert.match(refused(() => privateDirectory(join(place, 'link'))).message, 'is a symbolic link');
    assert.is(resolveDirectory(join(place, 'link'), { isShared: true }), join(place, 'real'));
    symlinkSync('loop/x', join(place, 'loop'));
    assert.match(refused(() => privateDirectory(join(place, 'loop/x'))).message, 'more than 40 symbolic links');
    writeFileSync(join(place, 'file'), '');
    assert.match(refused(() => privateDirectory(join(place, 'file/x'))).message, 'is not a directory');
  }));

  test('in a directory for all, only what is this user\'s or root\'s is followed: directories and links', () =>
    inPlace((place) => {
      chmodSync(place, 0o1777);
      mkdirSync(join(place, 'own'), { mode: 0o700 });
      symlinkSync('own', join(place, 'link'));
      mkdirSync(join(place, 'own/in'), { mode: 0o700 });
      assert.is(privateDirectory(join(place, 'link/in')), join(place, 'own/in'));
      for (const path of ['own', 'link']) {
        asAnothers(join(place, path), () => {
          for (const isShared of [false, true]) {
            const error = refused(() => resolveDirectory(join(place, path, 'in'), { isShared }));
            assert.match(error.message, 'belongs to user');
            assert.is(error.isForeign, true);
          }
        });
      }
    }));

  test('a directory far above that others may change makes all below it untrusted', () => inPlace((place) => {
    const deep = join(place, 'a/b/c');
    assert.is(privateDirectory(deep), deep);
    for (const mode of [0o777, 0o770, 0o775, 0o2775]) {
      chmodSync(join(place, 'a'), mode);
      assert.match(refused(() => privateDirectory(deep)).message, `others may rename what is in ${place}/a`);
      const isOpen = (mode & 0o002) !== 0;
      if (isOpen) refused(() => resolveDirectory(deep, { isShared: true }));
      else assert.is(resolveDirectory(deep, { isShared: true }), deep, 'a group that works together');
    }
    chmodSync(join(place, 'a'), 0o755);
    if (!isRoot) return;
    chownSync(join(place, 'a'), NOBODY, 0);
    assert.match(refused(() => privateDirectory(deep)).message, 'others may rename what is in');
    chownSync(join(place, 'a'), 0, 0);
  }));

  test('one that others may enter is not private; the remedy is told', () => inPlace((place) => {
    mkdirSync(join(place, 'open'), { mode: 0o750 });
    chmodSync(join(place, 'open'), 0o750);
    const error = refused(() => privateDirectory(join(place, 'open')));
    assert.match(error.message, `is open to others: chmod 700 ${place}/open`);
    assert.is(error.isForeign, false);
    assert.match(publicity(join(place, 'open')) ?? '', 'is open to others');
    asAnothers(join(place, 'open'), () => assert.match(publicity(join(place, 'open')) ?? '', 'belongs to user'));
  }));

  test('what was judged is used, wherever the path leads later', () => inPlace((place) => {
    mkdirSync(join(place, 'first'), { mode: 0o700 });
    mkdirSync(join(place, 'second'), { mode: 0o700 });
    symlinkSync('first', join(place, 'link'));
    const resolved = privateDirectory(join(place, 'link/in'));
    symlinkSync('second', join(place, 'next'));
    renameSync(join(place, 'next'), join(place, 'link'));
    writeOwn(join(resolved, 'file'), 'here');
    assert.is(readFileSync(join(place, 'first/in/file'), 'utf8'), 'here');
  }));
});

suite('files that are this user\'s', (test) => {
  test('no link is opened, nothing is written over, a pipe and a directory are no files', () => inPlace((place) => {
    writeOwn(join(place, 'file'), 'precious');
    assert.is(lstatSync(join(place, 'file')).mode & 0o777, 0o600);
    symlinkSync('file', join(place, 'link'));
    for (const call of [
      () => openOwn(join(place, 'link'), constants.O_RDWR), () => writeOwn(join(place, 'link'), 'x'),
      () => writeOwn(join(place, 'file'), 'x'), () => readOwn(join(place, 'link'), 10),
    ]) assert.throws(call);
    assert.match(refused(() => openOwn(place, constants.O_RDONLY)).message, 'is no regular file');
    assert.match(refused(() => readOwn(join(place, 'file'), 7)).message, 'is larger than 7 bytes');
    assert.is(readOwn(join(place, 'file'), 8).toString(), 'precious');
  }));

  test('one that others have, or may write, is not opened', () => inPlace((place) => {
    const path = join(place, 'file');
    writeOwn(path, 'text');
    chmodSync(path, 0o664);
    assert.match(refused(() => readOwn(path, 10)).message, 'is writable by its group');
    chmodSync(path, 0o644);
    asAnothers(path, () => assert.match(refused(() => readOwn(path, 10)).message, 'belongs to user'));
  }));
});
