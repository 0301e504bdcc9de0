/** What every launch policy promises, and what this one does besides. */

import { assert, launcherCompliance, suite } from '@stci/compliance';
import { component } from './index.js';

launcherCompliance(component, [
  { label: 'default' },
  { label: 'small groups', params: { group: '3' } },
]);

suite('sample', (test) => {
  test('the first host of a group starts the others', () => {
    const launcher = component.create({}, { group: 3 }, undefined);
    const hosts = ['a', 'b', 'c', 'd', 'e'].map((name) => ({ name, slots: 1, slotsBound: false, origin: 'test' }));
    assert.equal(launcher.tree(hosts), { parents: [undefined, 0, 0, undefined, 3] });
  });
});
