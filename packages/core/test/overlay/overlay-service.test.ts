/** The overlay as a service, where the session has none. */

import { assert, suite } from '@stci/testkit';
import { code } from '../../dist/overlay/overlay-service.js';
import type { ControllerPlace, RootPlace } from '../../dist/service/contracts.js';

suite('overlay service of a session without an overlay', (test) => {
  test('an agent that asks for it all the same gets one that does nothing', () => {
    const place = { node: { params: { string: () => '' } } };
    const opened = [code.root?.(place as unknown as RootPlace), code.controller?.(place as unknown as ControllerPlace)];
    for (const one of opened) {
      assert.equal(Object.keys(one ?? {}), ['stop']);
      one?.stop('the session ends');
    }
  });
});
