/** For whom programs wait by other means than the client library: what is told of it, and what costs the connection. */

import { assert, suite } from '@stci/testkit';
import { PLACES, SIZE, VOTE, play, state, type Peer } from './port-help.js';

const refusal = (peer: Peer): string => {
  const last = peer.told.at(-1);
  assert.ok(peer.isClosed, 'the connection is closed');
  return last?.type === 'refused' ? last.reason : '';
};

suite('waits that programs tell their agent', (test) => {
  test('hosts of ranks that programs wait for elsewhere are told, of 20 ms together, until they do no more', () => {
    const { port, sent, connect, hello, deliver, run } = play();
    const [two, beside, three] = [connect(), connect(), connect()];
    two.send(hello(2));
    beside.send({ ...hello(2), only: 'waits' });
    three.send({ ...hello(3), only: 'waits' });
    const told = (): unknown[] => sent.splice(0).filter(([name]) => name === 'failure.awaited').map(([, body]) => body);
    deliver('program.state', { ...state(0, [[6, 6, 'gone', 'c']]), places: [...PLACES, [4, 'c', []]] });
    assert.equal([two, beside, three].map((peer) => peer.told.map(({ type }) => type)),
      [['welcome', 'failed'], ['welcome'], ['welcome']]);
    const waiting = (ranks?: readonly number[]): object => ({ type: 'waiting', ranks });
    beside.send(...Array.from({ length: 100 }, (_, i) => waiting([i % 2 === 0 ? 7 : 0])));
    assert.equal(told(), [{ hosts: [0], all: false }]);
    three.send(waiting([7]));
    assert.equal(told(), [], 'for a rank of this host');
    three.send(waiting());
    assert.equal(told(), [{ hosts: [0], all: true }]);
    beside.channel.close();
    run();
    assert.equal(told(), [{ hosts: [], all: true }]);
    port.remove(3);
    run();
    assert.equal([told(), three.isClosed, two.isClosed], [[{ hosts: [], all: false }], true, false]);
    const again = connect();
    again.send({ ...hello(2), only: 'waits' }, waiting());
    assert.equal(told(), [{ hosts: [], all: true }]);
  });

  test('of two hosts who waits for all waits for the other; nothing is told where no detector wants to know', () => {
    for (const hearsWaits of [true, false]) {
      const { sent, connect, hello } = play({ isKnown: true, hearsWaits });
      connect().send({ ...hello(2), only: 'waits' }, { type: 'waiting' });
      assert.equal(sent.filter(([name]) => name === 'failure.awaited'),
        hearsWaits ? [['failure.awaited', { hosts: [0], all: false }]] : []);
    }
  });

  test('a wait for a rank that is none, for too many, or over the wrong connection costs the connection', () => {
    const { connect, hello } = play({ isKnown: true });
    const waits = { ...hello(2), only: 'waits' };
    for (const [first, record, text] of [
      [waits, { type: 'waiting', ranks: [SIZE] }, /no rank 8/], [waits, { type: 'mark', name: 'x' }, /mark comes over/],
      [waits, { type: 'waiting', ranks: Array.from({ length: 65 }, () => 1) }, /64/],
      [hello(2), { type: 'waiting' }, /of its own/], [{ ...hello(2), only: 'x' }, VOTE, /only/],
    ] as const) {
      const peer = connect();
      peer.send(first, record);
      assert.match(refusal(peer), text);
    }
    const one = connect();
    one.send(waits);
    const second = connect();
    second.send(waits);
    assert.match(refusal(second), /connected already/);
    assert.not.ok(one.isClosed);
  });
});
