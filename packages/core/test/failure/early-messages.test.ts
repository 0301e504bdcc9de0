/** Messages before their senders join: bounded, and of each agent by itself. */

import { assert, suite } from '@stci/testkit';
import { EarlyMessages } from '../../dist/failure/early-messages.js';
import { idOf, network } from './watch-help.js';
import { testPlace } from '../world.js';

const messageOf = (n: number, body: unknown = n) => ({ detector: 'scripted', incarnation: 2, body });

suite('early messages', (test) => {
  test('all of an agent come in order, the latest of too many; large ones are dropped', () => {
    const early = new EarlyMessages();
    for (let n = 0; n < 100; n++) early.keep(3, messageOf(n));
    early.keep(4, messageOf(0, new Uint8Array(1 << 20)));
    assert.equal(early.take(), Array.from({ length: 64 }, (_, i) => [3, messageOf(i + 36)]));
    assert.equal(early.take(), []);
  });

  test('one agent, and any number of them, take a bounded room, and none the room of one heard since', () => {
    const early = new EarlyMessages();
    for (let from = 0; from < 200; from++) {
      for (let n = 0; n < 5; n++) early.keep(from, messageOf(n, new Uint8Array(30_000)));
    }
    for (let n = 0; n < 200; n++) early.keep(199, messageOf(n));
    early.keep(7, messageOf(7));
    assert.ok(early.bytes <= 64 * 64 * 1024, `${early.bytes} bytes`);
    assert.equal(early.take().filter(([from]) => from === 7), [[7, messageOf(7)]]);
  });

  test('of too many agents those go that were not heard for longest', () => {
    const early = new EarlyMessages();
    for (let from = 0; from < 64; from++) early.keep(from, messageOf(from));
    early.keep(0, messageOf(0));
    for (const from of [64, 65]) early.keep(from, messageOf(from));
    const heard = new Set(early.take().map(([from]) => from));
    assert.equal([0, 1, 2, 3, 64, 65].filter((from) => heard.has(from)), [0, 3, 64, 65]);
  });

  test('an agent that claims to be of the future does not silence one that joins', () => {
    const place = testPlace();
    const [agent] = network(place, 4);
    agent?.watch.onMessage(2, messageOf(1, 'of one that joins'));
    for (let n = 0; n < 100; n++) agent?.watch.onMessage(3, { ...messageOf(n), incarnation: 2 ** 32 - 1 });
    agent?.watch.joined(idOf(2, 2));
    assert.equal(agent?.detector.seen.slice(-2), ['joined 2', 'message']);
  });
});
