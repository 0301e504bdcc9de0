/** Queues of links stay below the bound at which one is cut, however slow the agents above are; credit of streams. */

import { CONTROLLER } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { CHUNK_COST_BYTES } from '../../dist/am/credit.js';
import { SendWindow } from '../../dist/event/window.js';
import { open } from '../streams/stream-help.js';
import { addressOf, line, makeNet } from './net.js';

const MIB = 1024 * 1024;

suite('bounded queues', (test) => {
  test('links from below are not read while too much waits for the link to the parent', () => {
    const net = makeNet([0, 0, 1, 1, 1, 1, 1], { 'bootcom.queue.max': '16MiB', 'message.bytes.max': '64KiB' });
    let heard = 0;
    net.nodes[0]?.messages.on('agent.echo', () => void (heard += 1));
    net.channels[1]?.[1].readable(false);
    for (let i = 0; i < 220; i++) {
      for (let node = 2; node <= 6; node++) {
        net.nodes[node]?.messages.send(CONTROLLER, 'agent.echo', new Uint8Array(60_000));
      }
    }
    net.run(1000);
    const queued = net.nodes[1]?.router.link(CONTROLLER)?.queuedBytes ?? 0;
    assert.ok(queued > 8 * MIB && queued < 9 * MIB, `${queued} bytes wait`);
    net.channels[1]?.[1].readable(true);
    net.until(() => heard === 5 * 220, 'all messages');
    assert.equal([net.closed, net.faults], [[], []]);
    for (let node = 1; node <= 6; node++) assert.ok(net.nodes[node]?.router.link(addressOf(node < 2 ? 0 : 1)));
  });

  test('credit that comes back as a whole is told, once; what nobody waited for is not', () => {
    const { net, heard, root } = open(makeNet(line(2)), { creditBytes: 256 * 1024 });
    for (const to of [undefined, addressOf(1)]) {
      const before = heard[0]?.credits ?? 0;
      assert.is(root.down(new Uint8Array(300_000), to), false);
      net.run();
      assert.is(heard[0]?.credits, before + 1);
      assert.is(root.down(new Uint8Array(200_000), to), true);
      net.run();
      assert.is(heard[0]?.credits, before + 1);
    }
  });

  test('less credit than the least that a chunk costs is none', () => {
    const credit = new SendWindow(2 * CHUNK_COST_BYTES, CHUNK_COST_BYTES);
    assert.equal([credit.available, credit.spend(CHUNK_COST_BYTES - 1), credit.spend(1)], [true, true, false]);
    assert.equal([credit.grant(0), credit.grant(1), credit.grant(1)], [false, true, false]);
  });
});
