/** A deferred channel: queued and held data, and its end. */

import { DeferredChannel, type Channel, type ChannelEvents } from '@stci/interface';
import { assert, eventually, suite } from '@stci/testkit';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (chunk: Uint8Array): string => new TextDecoder().decode(chunk);

/** An inner channel that notes what is done with it. */
function fakeInner(): { channel: Channel; done: string[]; events: () => ChannelEvents } {
  const done: string[] = [];
  let bound: ChannelEvents | undefined;
  const channel: Channel = {
    kind: 'fake',
    label: 'fake',
    queuedBytes: 7,
    bind: (events) => void (bound = events),
    send: (chunks) => (chunks.forEach((chunk) => done.push(text(chunk))), true),
    readable: (on) => void done.push(on ? 'read' : 'pause'),
    close: () => void done.push('close'),
    destroy: (reason) => void done.push(`destroy: ${reason}`),
  };
  return { channel, done, events: () => bound as ChannelEvents };
}

function user(): { told: string[]; events: ChannelEvents } {
  const told: string[] = [];
  return {
    told,
    events: {
      onData: (chunk) => told.push(text(chunk)),
      onDrain: () => told.push('drain'),
      onClose: (reason) => told.push(`closed: ${reason}`),
    },
  };
}

const init = { kind: 'ws', label: 'x', soon: (fire: () => void) => void setImmediate(fire) };

suite('deferred channel', (test) => {
  test('sends what waited, then is the inner channel', () => {
    const [{ channel: inner, done, events }, { told, events: mine }] = [fakeInner(), user()];
    const channel = new DeferredChannel(init);
    channel.bind(mine);
    assert.is(channel.send([bytes('a'), bytes('b')]), true);
    assert.is(channel.queuedBytes, 2);
    channel.become(inner);
    channel.send([bytes('c')]);
    assert.equal(done, ['a', 'b', 'read', 'c']);
    assert.is(channel.queuedBytes, 7);
    events().onData(bytes('d'));
    events().onDrain();
    events().onClose('end of file');
    assert.equal(told, ['d', 'drain', 'closed: end of file']);
  });

  test('tells a sender to wait above 1 MiB, and when it may go on', () => {
    const { told, events } = user();
    const channel = new DeferredChannel(init);
    channel.bind(events);
    assert.is(channel.send([new Uint8Array(1024 * 1024 + 1)]), false);
    channel.become(fakeInner().channel);
    assert.equal(told, ['drain']);
  });

  test('holds data until there is a receiver that wants it, then the end', async () => {
    const { told, events } = user();
    const channel = new DeferredChannel({ ...init, inner: fakeInner().channel });
    channel.open(bytes('1'));
    channel.onData(bytes('2'));
    channel.end('gone');
    channel.readable(false);
    channel.bind(events);
    channel.readable(true);
    assert.equal(told, []);
    await eventually(() => told.length === 3, { what: 'all of it' });
    assert.equal(told, ['1', '2', 'closed: gone']);
  });

  test('closed before it became, it sends first; destroyed, it destroys', async () => {
    const [closed, destroyed] = [fakeInner(), fakeInner()];
    const channel = new DeferredChannel(init);
    channel.send([bytes('last')]);
    channel.close();
    assert.is(channel.send([bytes('late')]), false);
    channel.become(closed.channel);
    assert.equal(closed.done, ['last', 'read', 'close']);
    const other = new DeferredChannel(init);
    const { told, events } = user();
    other.bind(events);
    other.destroy('enough');
    await eventually(() => told.length > 0, { what: 'the end' });
    other.become(destroyed.channel);
    assert.equal([told, destroyed.done], [['closed: enough'], ['destroy: enough']]);
  });

  test('destroyed, it ends at once, though what makes the inner channel may report its end late or never', async () => {
    for (const isOpen of [false, true]) {
      const { channel: inner, done } = fakeInner();
      const channel = new DeferredChannel({ ...init, inner });
      const { told, events } = user();
      channel.bind(events);
      if (isOpen) channel.open(new Uint8Array());
      channel.destroy('no handshake');
      assert.equal(told, [], 'in a later turn');
      await eventually(() => told.length > 0, { what: 'the end' });
      channel.end('ssh has ended');
      assert.equal([told, done.at(-1)], [['closed: no handshake'], 'destroy: no handshake']);
    }
  });

  test('one whose inner channel is known but not open is given up by close', () => {
    const { channel: inner, done } = fakeInner();
    new DeferredChannel({ ...init, inner }).close();
    assert.equal(done, ['destroy: closed']);
  });
});
