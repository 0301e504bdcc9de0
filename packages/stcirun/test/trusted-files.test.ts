/** Which configuration files count: only those that nobody but the caller and root could have written. */

import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { assert, suite } from '@stci/testkit';
import { readTrustedFile } from '../dist/files/trusted-file.js';
import { run } from './e2e.js';

const STCI = fileURLToPath(new URL('../bin/stci.cjs', import.meta.url));
const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;

interface Place {
  readonly directory: string;
  /** Made with mode 0755 and a `stci.conf` of mode 0644, both the caller's. */
  make(name: string, conf?: string): string;
}

async function inPlace(body: (place: Place) => Promise<void> | void): Promise<void> {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'stci-trust-')));
  const make = (name: string, conf = 'tool.grace = 7s\n'): string => {
    const path = join(directory, name);
    mkdirSync(path, { recursive: true, mode: 0o755 });
    writeFileSync(join(path, 'stci.conf'), conf, { mode: 0o644 });
    return path;
  };
  try {
    await body({ directory, make });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

const stateOf = (directory: string): string => {
  const found = readTrustedFile(join(directory, 'stci.conf'), 1000);
  return 'reason' in found ? `${found.state}: ${found.reason}` : found.state;
};

suite('configuration files that count', (test) => {
  test('a file and a directory that others may write are ignored', () => inPlace(({ make }) => {
    assert.is(stateOf(make('good')), 'read');
    for (const [mode, whom] of [[0o664, 'writable by its group'], [0o646, 'world-writable']] as const) {
      const place = make(`file-${mode}`);
      chmodSync(join(place, 'stci.conf'), mode);
      assert.is(stateOf(place), `ignored: it is ${whom}`);
    }
    for (const mode of [0o775, 0o777, 0o1777]) {
      const place = make(`directory-${mode}`);
      chmodSync(place, mode);
      assert.match(stateOf(place), `ignored: its directory ${place} is `);
    }
  }));

  test('a link counts by where it stands and where it leads', () => inPlace(({ directory, make }) => {
    const open = make('open');
    const target = make('target');
    mkdirSync(join(directory, 'link'));
    symlinkSync(join(target, 'stci.conf'), join(directory, 'link', 'stci.conf'));
    assert.is(stateOf(join(directory, 'link')), 'read');
    chmodSync(join(directory, 'link'), 0o777);
    assert.match(stateOf(join(directory, 'link')), 'ignored: its directory');
    chmodSync(join(directory, 'link'), 0o755);
    chmodSync(target, 0o777);
    assert.match(stateOf(join(directory, 'link')), `ignored: its directory ${target}`);
    rmSync(join(open, 'stci.conf'));
    symlinkSync('nowhere', join(open, 'stci.conf'));
    assert.is(stateOf(open), 'absent');
  }));

  test('what is no regular file, or too long, is not read', () => inPlace(({ directory, make }) => {
    mkdirSync(join(directory, 'stci.conf'));
    assert.is(stateOf(directory), 'unreadable: it is not a regular file');
    const pipe = make('pipe');
    rmSync(join(pipe, 'stci.conf'));
    execFileSync('mkfifo', ['-m', '644', join(pipe, 'stci.conf')]);
    assert.is(stateOf(pipe), 'unreadable: it is not a regular file');
    assert.is(stateOf(make('long', '#'.repeat(1001))), 'unreadable: it is larger than 1000 bytes');
  }));

  test('a file names no program or file relative to the working directory', () => inPlace(async ({ make }) => {
    for (const line of [
      'launcher.ssh.client = ./ssh', 'launcher.ssh.options = -p 22 -F cluster.conf', 'launcher.slurm.client = bin/srun',
      'launcher.slurm.options = --qos=debug --task-prolog=./prolog',
    ]) {
      const cwd = make('relative', `${line}\n`);
      const { exitCode, err } = await run(['--dry-run', 'true'], { cwd });
      assert.equal([exitCode, /In a file, write an absolute path/.test(err)], [194, true], err);
      const [name = '', value = ''] = line.split(' = ');
      const own = await run(['--mca', name, value, '--dry-run', 'true'], { cwd: make('own', '') });
      assert.is(own.exitCode, 0, own.err);
    }
  }));

  test('the nearest file that counts is used, and info tells of all', () => inPlace(async ({ make }) => {
    make('outer');
    const middle = make('outer/middle', 'launcher.ssh.client = /bin/false\n');
    chmodSync(middle, 0o777);
    const inner = join(middle, 'inner');
    mkdirSync(inner);
    const info = (...args: string[]): string => {
      return execFileSync(process.execPath, [STCI, 'info', ...args], { cwd: inner, encoding: 'utf8', stdio: 'pipe' });
    };
    assert.match(info('tool'), 'tool.grace = 7s');
    const all = info();
    assert.match(all, /project file: .*middle\/stci\.conf\s+\(ignored: its directory/u);
    assert.match(all, /project file: .*outer\/stci\.conf\s+\(read\)/u);
    const { err, exitCode } = await run(['-n', '1', 'true'], { cwd: inner });
    assert.is(exitCode, 0);
    const reason = `its directory ${middle} is world-writable.`;
    assert.match(err, `stcirun: ${middle}/stci.conf is ignored: ${reason}`);
    assert.match(err, `chmod go-w ${middle}`);
  }));

  if (isRoot) {
    test("another user's file runs no program, wherever its name leads", () => inPlace(async ({ directory, make }) => {
      const spy = join(directory, 'spy');
      const mark = join(directory, 'mark');
      writeFileSync(spy, `#!/bin/sh\n: > '${mark}'\nexit 1\n`, { mode: 0o755 });
      const conf = `launcher.ssh.client = ${spy}\n`;
      const shared = make('shared', conf);
      chmodSync(shared, 0o1777);
      chownSync(join(shared, 'stci.conf'), NOBODY, NOBODY);
      const below = join(shared, 'below');
      mkdirSync(below);
      const linked = make('linked');
      rmSync(join(linked, 'stci.conf'));
      symlinkSync(join(shared, 'stci.conf'), join(linked, 'stci.conf'));
      const theirs = make('theirs', conf);
      chownSync(theirs, NOBODY, NOBODY);
      const home = make('home/.config/stci', conf);
      chownSync(join(home, 'stci.conf'), NOBODY, NOBODY);
      for (const cwd of [shared, below, linked, theirs, directory]) {
        const env = { HOME: join(directory, 'home'), PATH: '/nonexistent' };
        const { err } = await run(['--host', 'h.invalid', '/bin/true'], { cwd, env });
        assert.match(err, 'ignored');
        assert.throws(() => realpathSync(mark), /ENOENT/u);
      }
      const { err } = await run(['--am', join(shared, 'stci.conf'), '--host', 'h.invalid', 'true'], { cwd: directory });
      assert.is(err.includes('ignored'), false);
      assert.is(realpathSync(mark), mark);
    }), { timeoutMs: 30_000 });
  }

  test('a home that cannot be read is gone without, told with --verbose', () => inPlace(async ({ directory, make }) => {
    make('home/.config/stci');
    const env = { HOME: join(directory, 'home'), XDG_CONFIG_HOME: '' };
    // Root may read everything: a file where a directory should be takes the same way.
    if (isRoot) chmodSync(join(directory, 'home'), 0o755);
    else chmodSync(join(directory, 'home'), 0);
    const { err, exitCode } = await run(['--verbose', 'true'], { env, cwd: '/' });
    chmodSync(join(directory, 'home'), 0o755);
    assert.is(exitCode, 0);
    assert.match(err, isRoot ? 'user file' : /user file \S+ cannot be read: permission denied/u);
  }));
});
