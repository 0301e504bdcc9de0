/** What cannot be sent, or taken, as it is: lists go in parts, the rest is told, and ends no link. */

import { NEIGHBOUR } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { SUBTREE } from '../../dist/am/transport.js';
import type { Link } from '../../dist/bootcom/link.js';
import { FLAG, LAYER, encodeHeader } from '../../dist/codec/frame.js';
import type { AgentNode } from '../../dist/node/node.js';
import { LinkGuard } from '../../dist/node/peer-guard.js';
import { addressOf, line, makeNet } from './net.js';

const HEADER = { layer: LAYER.message, type: 4, flags: 0, ttl: 64, stream: 0, job: 0 };

suite('messages that are too large', (test) => {
  test('a list that is too long for one message comes in several, one that has a single item not at all', () => {
    const net = makeNet(line(2), { 'message.bytes.max': '64KiB' });
    const heard: string[] = [];
    net.nodes[1]?.messages.on('client.remove', ({ names }) => void heard.push(...names.map((each) => each.trim())));
    const send = (texts: readonly string[]) =>
      net.nodes[0]?.messages.sendList(addressOf(1), 'client.remove', texts, (part) => (
        { names: [...part], force: false }));
    const texts = Array.from({ length: 404 }, (_, i) => `${i}${' '.repeat(1000)}`);
    assert.is(send(texts), undefined);
    net.run();
    assert.equal([heard, net.faults], [texts.map((text) => text.trim()), []]);
    assert.is(send([`x${' '.repeat(70_000)}`])?.code, 'STCI_MESSAGE_TOO_LARGE');
    assert.match(net.faults.join(), /client\.remove cannot be sent/u);
  });

  test('a message has one handler', () => {
    const { messages } = makeNet(line(1)).nodes[0] as AgentNode;
    messages.on('agent.leave', () => undefined);
    assert.throws(() => messages.on('agent.leave', () => undefined), /message agent\.leave has one handler/u);
  });

  test('a message from above that is too long is dropped, and the link stays: on the next it would come again', () => {
    const net = makeNet(line(3), { 'message.bytes.max': '64KiB' });
    for (const node of net.nodes) new LinkGuard(node);
    const link = net.nodes[0]?.router.link(addressOf(1)) as Link;
    const part = new Uint8Array(60_000);
    const heard: string[] = [];
    net.nodes[1]?.messages.on('agent.stop', ({ reason }) => void heard.push(reason));
    for (const [sequence, destination] of [[1, NEIGHBOUR], [2, SUBTREE], [3, addressOf(1)]] as const) {
      const header = { ...HEADER, source: addressOf(0), destination, sequence, flags: FLAG.more };
      for (let i = 0; i < 2; i++) link.send([encodeHeader(header, part.length), part]);
    }
    net.run();
    assert.match(net.faults.join('\n'), /STCI_MESSAGE_TOO_LARGE/u);
    net.nodes[0]?.messages.sendNeighbour(link, 'agent.stop', { reason: 'still here' });
    net.run();
    assert.equal([heard, net.closed], [['still here'], []]);
  });
});
