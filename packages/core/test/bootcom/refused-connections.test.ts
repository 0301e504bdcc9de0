/** Refused connections are reported once, then counted. */

import { assert, suite } from '@stci/testkit';
import { RefusedConnections } from '../../dist/bootcom/refused-connections.js';
import { testPlace } from '../world.js';

suite('refused connections', (test) => {
  test('the first is told, the others once a minute and at the end', () => {
    const place = testPlace();
    const told: string[] = [];
    const refused = new RefusedConnections(place.platform.clock, (text) => told.push(text));
    refused.flush();
    for (let i = 0; i < 500; i++) refused.add(`cause ${i}`);
    assert.equal(told.splice(0), ['an unauthenticated connection was refused: cause 0']);
    place.run(60_001);
    refused.add('late');
    assert.equal(told.splice(0), ['500 more unauthenticated connections were refused, the last: late']);
    refused.add('again');
    assert.equal(told, []);
    refused.flush();
    refused.flush();
    assert.equal(told, ['1 more unauthenticated connection was refused, the last: again']);
  });
});
