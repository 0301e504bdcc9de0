/** Where the agent of a run lives; the shell that stcirun is at first, and the mark that it sets. */

import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MARK_TAG, TAG_SHIFT } from '@stci/platform-node';
import { assert, suite } from '@stci/testkit';
import { PROGRAM, run, sh, start, type RunOptions } from './e2e.js';

/** Below what is drawn. */
const PID_BITS = 22n;
const LOCAL = ['--launcher', 'local', '--host'];

suite('the agent of a run', (test) => {
  /** Whether the parent of each rank is stcirun itself. */
  async function isHere(args: readonly string[], options: RunOptions = {}): Promise<boolean[]> {
    const job = start([...args, ...sh('echo $PPID')], options);
    const { out, err } = await job.result;
    assert.match(out, /^\d+\n/, err);
    return out.trimEnd().split('\n').map((pid) => Number(pid) === job.child.pid);
  }

  const client = fileURLToPath(new URL('../test/fake-ssh.sh', import.meta.url));
  const login = ['--launcher', 'ssh', '--mca', `launcher.ssh.client=${client}`, '--host', 'localhost'];
  const CASES: readonly (readonly [string, readonly string[], readonly boolean[], RunOptions?])[] = [
    ['on this machine alone', ['-n', '2'], [true, true]],
    ['by the name of this machine', ['--host', hostname().toUpperCase(), '-n', '1'], [true]],
    ['where a process is asked for', ['-n', '1', '--mca', 'launcher.root.method=process'], [false]],
    ['under another name', [...LOCAL, 'a', '-n', '1'], [false]],
    ['with a second host', [...LOCAL, 'localhost,127.0.0.1', '--map-by', 'node', '-n', '2'], [false, false]],
    ['with a spare', [...LOCAL, 'localhost,127.0.0.1', '--spares', '1', '-n', '1'], [false]],
    ['by a login to this machine', [...login, '-n', '1'], [false]],
    ['without the mark of the shell', ['-n', '1'], [false], { nodeArgs: [] }],
  ];
  for (const [what, args, expected, options] of CASES) {
    test(`${what}: ${expected[0] === true ? "in stcirun's process" : 'in one of its own'}`, async () => {
      assert.equal(await isHere(args, options), expected);
    });
  }

  test('has marked its programs as a command does, by chance: no sign that they were left behind', async () => {
    const marked = async (): Promise<bigint> => {
      const { out } = await run(['-n', '1', ...sh('grep "Max file locks" /proc/self/limits')]);
      return BigInt(/\d+/.exec(out)?.[0] ?? 0);
    };
    const [one, other] = [await marked(), await marked()];
    const tag = one >> BigInt(TAG_SHIFT);
    assert.equal([tag > 0n, tag === BigInt(MARK_TAG)], [true, false]);
    assert.is.not(one >> PID_BITS, other >> PID_BITS);
  });
});

suite('the shell that stcirun is at first', (test) => {
  const directory = mkdtempSync(join(tmpdir(), 'stci-first-'));
  writeFileSync(join(directory, 'node'), '#!/bin/sh\nexec env\n', { mode: 0o755 });
  test.after(() => rmSync(directory, { recursive: true }));

  for (const shell of ['/bin/sh', '/bin/dash', '/bin/bash'].filter((path) => existsSync(path))) {
    test(`sets no variable but its own two, which are taken away again: ${shell}`, () => {
      const env = { PATH: `${directory}:/usr/bin:/bin` };
      // -a: all that it sets is exported, so that it is seen. -e: nothing that fails ends it.
      const namesOf = (...args: string[]): string[] =>
        [...spawnSync(shell, ['-ae', ...args], { encoding: 'utf8', env }).stdout.match(/^\w+(?==)/gm) ?? []];
      const before = namesOf('-c', 'exec node');
      const names = namesOf(PROGRAM).filter((name) => !before.includes(name));
      assert.equal(names.sort(), ['STCI_CLOSED_STREAMS', 'STCI_START_STAT']);
    });
  }
});
