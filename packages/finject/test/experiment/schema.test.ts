/** The schema of experiment files, as it is published for editors. */

import { readFileSync } from 'node:fs';
import { assert, suite } from '@stci/testkit';
import { EXPERIMENT_SCHEMA } from '@stci/finject/experiment';
import type { Schema } from '../../dist/experiment/schema.js';

const FILE = new URL('../../../../docs/experiment.schema.json', import.meta.url);

/** Each key that an experiment may have, with its schema. */
function keys(schema: Schema): [string, Schema][] {
  const own = Object.entries(schema.properties ?? {});
  const below = [...Object.values(schema.properties ?? {}), ...Object.values(schema.definitions ?? {})];
  const more = typeof schema.additionalProperties === 'object' ? [schema.additionalProperties] : [];
  return [...own, ...[...below, ...more].flatMap(keys)];
}

suite('experiment schema', (test) => {
  test('docs/experiment.schema.json is up to date: node scripts/write-schema.mjs', () => {
    assert.is(readFileSync(FILE, 'utf8'), `${JSON.stringify(EXPERIMENT_SCHEMA, null, 2)}\n`);
  });

  test('each key of the file and of a fault says what it means', () => {
    const bare = [...keys(EXPERIMENT_SCHEMA)].filter(([, schema]) =>
      schema.description === undefined && schema.title === undefined && schema.$ref === undefined);
    assert.equal(bare, []);
    for (const part of [EXPERIMENT_SCHEMA, EXPERIMENT_SCHEMA.definitions?.['fault'] ?? {}]) {
      const silent = Object.entries(part.properties ?? {}).filter(([name, { description }]) =>
        description === undefined && name !== 'who');
      assert.equal(silent.map(([name]) => name), []);
    }
  });
});
