import { assert, suite } from '@stci/testkit';
import { faultComponents } from '@stci/finject';

suite('faults', (test) => {
  test('have different names', () => {
    const names = faultComponents.map(({ name }) => name);
    assert.equal(names.length, new Set(names).size);
  });
});
