/** `stci doctor` by the launcherproc of a plugin: agents are started for real, and what fails is told in words. */

import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { assert, suite } from '@stci/testkit';
import { run, type Result } from './e2e.js';
import { makeWrapper } from './wrapper-plugin.js';

const PROGRAM = fileURLToPath(new URL('../bin/stci.cjs', import.meta.url));
const LONG = { timeoutMs: 60_000 };

interface Found {
  readonly usable: number;
  readonly hosts: readonly {
    readonly host: string;
    readonly checks: Readonly<Record<string, { readonly state: string; readonly problem?: string }>>;
  }[];
}

suite('stci doctor with a plugin', (test) => {
  const { place, plugin, env } = makeWrapper();
  test.after(() => rmSync(place, { recursive: true, force: true }));

  const doctor = (...args: string[]): Promise<Result> => run(['doctor', ...args], { env, program: PROGRAM });

  test('what keeps an agent from each host', async () => {
    const { exitCode, out, err } = await doctor('--plugin', plugin, '--launcher', 'wrap', '--json',
      '--host', 'a,banner,status,absent,silent', '--timeout', '4s');
    assert.is(exitCode, 197, err);
    const { usable, hosts } = JSON.parse(out) as Found;
    const states = hosts.map(({ host, checks }) => [host, checks['agent']?.state, checks['program']?.state]);
    assert.equal([usable, states], [1, [
      ['a', 'good', 'good'], ['banner', 'bad', 'none'], ['status', 'bad', 'none'], ['absent', 'bad', 'none'],
      ['silent', 'bad', 'none'],
    ]]);
    const [, banner = '', status = '', absent = '', silent = ''] = hosts.map(({ checks }) => checks['agent']?.problem);
    assert.match(banner, 'it says "Welcome to cluster Foo"');
    assert.match(status, 'the command ended with status 125 before the agent answered\n');
    assert.match(status, '  it printed: no such container');
    assert.match(absent, 'status 127');
    assert.match(absent, '/no/such/node');
    assert.match(silent, 'no agent answered within 4000 ms. Check the host, or allow more time: --timeout TIME.');
  }, LONG);

  test('as a table; plugin and launcherproc of a file of parameters', async () => {
    mkdirSync(join(place, 'config/stci'), { recursive: true });
    const file = join(place, 'params');
    writeFileSync(file, `plugin.paths = ${plugin}\nlauncherproc = wrap\n`);
    const { exitCode, out, err } = await doctor('--am', file, '--host', 'a,b');
    assert.equal([exitCode, err], [0, '']);
    assert.is(out, 'host  agent  program\na     ok     ok\nb     ok     ok\n\n2 of 2 hosts are usable\n');
  }, LONG);

  test('names that there are not', async () => {
    const { exitCode, err } = await doctor('--plugin', plugin, '--launcher', 'wrapp', '--host', 'a');
    assert.equal([exitCode, err], [193,
      'stci: --launcher wrapp: there are local, slurm, ssh, wrap. Did you mean wrap?\n']);
    const clean = await doctor('--plugin', plugin, '--launcher', 'wrap', '--host', 'a', '--clean');
    assert.equal([clean.exitCode, clean.err], [193, 'stci: --clean is not known of launcher wrap. Leave it out.\n']);
  }, LONG);
});
