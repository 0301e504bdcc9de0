/** The published suite for launch policies, over cabinets, and who starts whom: `node test.js`. */

import { assert, launcherCompliance, suite } from '@stci/compliance';
import { cabinetsOf, parentsOf } from './cabinets.js';
import { launcherCabinets } from './index.js';

launcherCompliance(launcherCabinets, [
  { label: 'by name' },
  { label: 'counted', params: { of: 'cabinets:1*3,0*5,1*2', between: '2', within: '1' } },
]);

suite('cabinets', (test) => {
  test('by name, and counted', () => {
    assert.equal(cabinetsOf('name', ['a1n1', 'b1n1', 'a1n2', 'b1n2']), [[0, 2], [1, 3]]);
    assert.equal(cabinetsOf('cabinets:7*2,3,7*1', ['a', 'b', 'c', 'd', 'e']), [[0, 1, 3], [2], [4]]);
  });

  test('as many cabinets and hosts below an agent as is said', () => {
    assert.equal(parentsOf([[0], [1], [2], [3], [4]], 2, 9), [undefined, undefined, 0, 0, 1]);
    assert.equal(parentsOf([[5, 0, 1, 2, 3, 4]], 9, 2), [5, 5, 0, 0, 1, undefined]);
  });
});
