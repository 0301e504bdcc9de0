import { RUN_FILES } from '@stci/finject-cli';
import { assert, suite } from '@stci/testkit';

suite('files of a run', (test) => {
  test('have different names', () => {
    const names = Object.values(RUN_FILES);
    assert.equal(names.length, new Set(names).size);
  });
});
