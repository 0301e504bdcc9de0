import { readFileSync } from 'node:fs';
import { assert, suite } from '@stci/testkit';
import { builtins, parametersDocument } from '@stci/core';
import { createRegistry } from './fixtures.js';

const registry = createRegistry(builtins());
const made = parametersDocument(registry);

suite('docs/parameters.md', (test) => {
  test('is what the declarations make (node scripts/write-parameters.mjs)', () => {
    const committed = readFileSync(new URL('../../../../docs/parameters.md', import.meta.url), 'utf8');
    assert.fixture(committed, made);
  });

  test('has a row for every parameter', () => {
    for (const name of registry.catalog.keys()) assert.match(made, `| \`${name}\` | `);
  });

  test('rows have five cells', () => {
    const rows = made.split('\n').filter((line) => line.startsWith('| `'));
    for (const row of rows) assert.is(row.replaceAll('\\|', '').split('|').length, 7, row);
  });
});
