/** docs/parameters.md is current: it is what the declarations of everything that stcirun assembles make. */

import { readFileSync } from 'node:fs';
import { parametersDocument } from '@stci/core';
import { assert, suite } from '@stci/testkit';
import { frontEndRegistry } from '../dist/cli/front-end-registry.js';

suite('docs/parameters.md', (test) => {
  test('is what the declarations make (else: node scripts/write-parameters.mjs)', () => {
    const committed = readFileSync(new URL('../../../docs/parameters.md', import.meta.url), 'utf8');
    assert.fixture(committed, parametersDocument(frontEndRegistry()));
  });
});
