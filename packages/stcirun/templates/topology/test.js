/** What every topology promises, and what this one does besides. */

import { assert, suite, topologyCompliance } from '@stci/compliance';
import { component } from './index.js';

topologyCompliance(component, [{ label: 'ring', degreeMax: () => 2, avoidsDead: true }]);

suite('sample', (test) => {
  test('goes the shorter way around, and the other one where that is blocked', () => {
    const params = Object.fromEntries(Object.entries(component.params).map(([name, spec]) => [name, spec.default]));
    const ring = component.create({}, params, { kind: 'sample', size: 8 });
    assert.is(ring.nextHop(0, 3), 1);
    assert.is(ring.nextHop(0, 3, new Set([2])), 7);
    assert.is(ring.nextHop(0, 3, new Set([2, 6])), undefined);
  });
});
