/** The programs that docs/client.md shows: each runs by itself, on four ranks, and writes what its comments say. */
// @sameFor user: messages between processes of one user.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { assert, suite } from '@stci/testkit';
import { run } from './e2e.js';

const CLIENT = fileURLToPath(new URL('../../client/', import.meta.url));
const DOCUMENT = fileURLToPath(new URL('../../../docs/client.md', import.meta.url));
const PROGRAMS_MIN = 6;

const programs = [...readFileSync(DOCUMENT, 'utf8').matchAll(/^```js\n(.*?)^```$/gmsu)].map(([, text]) => text ?? '');

suite('programs in docs/client.md', (test) => {
  test('are found', () => assert.ok(programs.length >= PROGRAMS_MIN, `${programs.length} programs`));

  for (const [index, text] of programs.entries()) {
    test(`program ${index + 1}: ${text.split('\n')[3]}`, async () => {
      const says = [...text.matchAll(/\/\/ → (.*)$/gmu)].map(([, line]) => line ?? '');
      const job = ['--client', '--launcher', 'local', '--host', 'a:2,b:2', '-n', '4'];
      const node = [process.execPath, '--input-type=module', '-e', text];
      const { exitCode, out, err } = await run([...job, ...node], { cwd: CLIENT });
      assert.equal([exitCode, err], [0, '']);
      const lines = Buffer.from(out, 'latin1').toString('utf8').split('\n');
      for (const line of says) assert.ok(lines.includes(line), `'${line}' is not in\n${lines.join('\n')}`);
      assert.ok(says.length > 0, 'it says what it writes');
    });
  }
});
