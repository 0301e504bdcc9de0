/** Completion of finject: every value and argument has its kind; the built program answers. */

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ARGUMENT_KINDS, OPTION_KINDS, programFacts } from '@stci/stcirun/internal';
import { assert, suite } from '@stci/testkit';
import { FINJECT } from '../dist/commands.js';

const PROGRAM = join(fileURLToPath(new URL('..', import.meta.url)), 'bin/finject.cjs');

suite('completion of finject', (test) => {
  test('every value and every argument has its kind', () => {
    for (const [command, { args, options }] of programFacts('finject', FINJECT.commands).commands) {
      for (const { name, value } of options) {
        assert.ok(value === undefined || OPTION_KINDS[name] !== undefined, `${command} --${name}`);
      }
      for (const name of args) assert.ok(ARGUMENT_KINDS[name] !== undefined, `${command} ${name}`);
    }
  });

  test('kinds of faults and their arguments, experiments', () => {
    const complete = (...words: string[]): string[] => {
      const argv = [PROGRAM, 'complete', '--', 'finject', ...words];
      const { stdout } = spawnSync(process.execPath, argv, { encoding: 'utf8' });
      return stdout.split('\n').slice(0, -1).map((line) => line.replace(/\t.*/u, ''));
    };
    assert.equal(complete('kill', '--kind', 'pa'), ['partition', 'pause']);
    assert.ok(complete('kill', '--kind', 'link', '--arg', 'mo').includes('mode='));
    assert.equal(complete('run', ''), [':experiments']);
    assert.equal(complete('replay', 'x'), [':directories']);
  }, { timeoutMs: 20_000 });
});
