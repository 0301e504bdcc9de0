/** docs/parameters.md is current: it is what the declarations of everything that stcirun assembles make. */

import { readFileSync } from 'node:fs';
import { bootcomComponents, builtins, createRegistry, parametersDocument } from '@stci/core';
import { launcherLocal } from '@stci/launcher-local';
import { assert, suite } from '@stci/testkit';
import { topologyBmg } from '@stci/topology-bmg';
import { topologyMesh } from '@stci/topology-mesh';
import { topologyTree } from '@stci/topology-tree';

const components = [...bootcomComponents, launcherLocal, topologyBmg, topologyMesh, topologyTree];

suite('docs/parameters.md', (test) => {
  test('is what the declarations make (else: node scripts/write-parameters.mjs)', () => {
    const committed = readFileSync(new URL('../../../docs/parameters.md', import.meta.url), 'utf8');
    assert.fixture(committed, parametersDocument(createRegistry(builtins(components))));
  });
});
