/** The generator of docs/parameters.md; that the file is current is a test of stcirun, which has all components. */

import { assert, suite } from '@stci/testkit';
import { builtins } from '@stci/core';
import { parametersDocument } from '@stci/registry';
import { createRegistry } from './fixtures.js';

const registry = createRegistry(builtins());
const made = parametersDocument(registry);

suite('parameter document', (test) => {
  test('has a row for every parameter', () => {
    for (const name of registry.catalog.keys()) assert.match(made, `| \`${name}\` | `);
  });

  test('rows have six cells', () => {
    const rows = made.split('\n').filter((line) => line.startsWith('| `'));
    for (const row of rows) assert.is(row.replaceAll('\\|', '').split('|').length, 8, row);
  });
});
