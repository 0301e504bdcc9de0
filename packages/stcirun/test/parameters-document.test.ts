/** docs/parameters.md: that it is current is a test of the generated reference. */

import { readFileSync } from 'node:fs';
import { assert, suite } from '@stci/testkit';
import { frontEndRegistry } from '../dist/assembly/front-end-registry.js';

const text = readFileSync(new URL('../../../docs/parameters.md', import.meta.url), 'utf8');

suite('parameter document', (test) => {
  test('has a row for every parameter', () => {
    for (const name of frontEndRegistry().catalog.keys()) assert.match(text, `| \`${name}\` | `);
  });

  test('rows have six cells', () => {
    const rows = text.split('\n').filter((line) => line.startsWith('| `') && !line.startsWith('| `--'));
    for (const row of rows) assert.is(row.replaceAll('\\|', '').split('|').length, 8, row);
  });
});
