/** Credit for what a member of a stream had sent that is gone. */

import { assert, suite } from '@stci/testkit';
import type { StreamEndpoint } from '../../dist/streams/stream-endpoint.js';
import { addressOf, makeNet, star } from '../am/net.js';
import { all, open, specOf, type Heard } from '../am/stream-help.js';

suite('credit of a member that is dropped', (test) => {
  test('what a dropped member sent gives no credit to the one that has its address after it', () => {
    const net = makeNet(star(3), { 'iof.window': '256KiB' });
    const { heard, root, streams } = open(net, specOf(all(3), 'tree:arity=2', 'none'), 0, true);
    while (streams[2]?.up(new Uint8Array(50_000)) === true);
    net.run();
    const { ups } = heard[0] as Heard;
    assert.ok(ups.length > 4);
    (root as StreamEndpoint).drop(addressOf(2));
    for (const { release } of ups) release();
    net.run();
    assert.is(heard[2]?.credits, 0);
  });
});
