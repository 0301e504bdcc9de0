/** Impaired channels: as channels between faults and during delays; silences at either end. */

import type { Channel, Impairment } from '@stci/interface';
import { assert, eventually, suite } from '@stci/testkit';
import { Recorder, channelCompliance, type LinkPair } from '@stci/testkit/compliance';
import { ImpairedChannel } from '../../dist/bootcom/impairment.js';
import { memoryChannel } from '../../dist/bootcom/memory-channel.js';
import { testPlace, type TestPlace } from '../world.js';

const SILENT: Impairment = { direction: 'both', isSilent: true };

let seed = 0;

function wrappedPair(how?: Impairment): LinkPair {
  const place = testPlace(seed++);
  const { platform } = place;
  const [near, far] = memoryChannel(platform.clock, 'near', 'far').map((end) => impaired(place, end)) as
    [ImpairedChannel, ImpairedChannel];
  near.impair(how);
  far.impair(how);
  const interval = setInterval(() => place.run(50), 1);
  const until = async (condition: () => boolean, what: string): Promise<void> =>
    void (await eventually(condition, { what, everyMs: 1 }));
  return { near, far, platform, until, end: () => clearInterval(interval) };
}

function impaired({ platform }: TestPlace, channel: Channel): ImpairedChannel {
  return new ImpairedChannel(channel, { clock: platform.clock, random: platform.random });
}

channelCompliance('core impaired, no fault', () => wrappedPair(), { bulkBytes: 20_000_000 });
channelCompliance('core impaired, delay', () => wrappedPair({ direction: 'both', delayMs: 3, jitterMs: 2 }),
  { bulkBytes: 20_000_000 });
channelCompliance('core impaired, rate', () => wrappedPair({ direction: 'both', bytesPerSecond: 200_000_000 }),
  { bulkBytes: 20_000_000 });

function silentNear(how = SILENT) {
  const place = testPlace();
  const [below, far] = memoryChannel(place.platform.clock, 'near', 'far');
  const near = impaired(place, below);
  const [a, b] = [new Recorder(near), new Recorder(far)];
  near.impair(how);
  return { place, near, far, a, b, below };
}

const text = (words: string): Uint8Array[] => [Uint8Array.from(words, (letter) => letter.charCodeAt(0))];

suite('silence of a channel', (test) => {
  test('nothing passes, and then all does, both ways', () => {
    const { place, near, far, a, b } = silentNear();
    near.send(text('one '));
    far.send(text('eins '));
    place.run();
    near.send(text('two'));
    far.send(text('zwei'));
    place.run(60_000);
    assert.equal([a.text, b.text, near.queuedBytes], ['', '', 7]);
    near.impair(undefined);
    place.run();
    assert.equal([a.text, b.text, near.queuedBytes], ['eins zwei', 'one two', 0]);
  });

  for (const direction of ['in', 'out'] as const) {
    test(`only ${direction}: the other direction is as ever`, () => {
      const { place, near, far, a, b } = silentNear({ direction, isSilent: true });
      near.send(text('up'));
      far.send(text('down'));
      place.run();
      assert.equal([a.text, b.text], direction === 'in' ? ['', 'up'] : ['down', '']);
      near.impair(undefined);
      place.run();
      assert.equal([a.text, b.text], ['down', 'up']);
    });
  }

  for (const how of ['close', 'destroy'] as const) {
    test(`the other end's ${how} is heard when it is over, after what it had sent`, () => {
      const { place, near, far, a } = silentNear();
      far.send(text('last'));
      place.run(1);
      if (how === 'close') far.close();
      else far.destroy('reset');
      place.run(60_000);
      assert.equal([a.text, a.closed], ['', false]);
      near.impair(undefined);
      place.run();
      assert.equal([a.text, a.reasons.length, a.afterClose], ['last', 1, '']);
    });
  }

  test('an end that is given up closes here at once, there when it is over', () => {
    const { place, near, a, b } = silentNear();
    near.send(text('lost'));
    near.destroy('gave up');
    assert.ok(!a.closed, 'no event during destroy itself');
    place.run(60_000);
    assert.equal([a.reasons, b.reasons, near.isGivenUp, near.queuedBytes, near.send(text('x'))],
      [['gave up'], [], true, 0, false]);
    near.impair(undefined);
    place.run();
    assert.equal([a.reasons.length, b.reasons.length, b.text, near.isClosed], [1, 1, '', true]);
  });

  test('given up before it is bound, and closed by the other end meanwhile: nothing is left', () => {
    const place = testPlace();
    const [below, far] = memoryChannel(place.platform.clock, 'near', 'far');
    const near = impaired(place, below);
    near.impair(SILENT);
    near.destroy('never wanted');
    place.run();
    const [a, b] = [new Recorder(near), new Recorder(far)];
    far.destroy('gone');
    place.run();
    assert.equal([a.reasons, b.reasons, near.isClosed], [['never wanted'], ['gone'], true]);
    near.impair(undefined);
    place.run();
    assert.equal([a.reasons.length, b.reasons.length], [1, 1]);
  });

  test('a close waits with what was sent before it; a destroy ends the wait', () => {
    const { place, near, a, b } = silentNear();
    near.send(text('bye'));
    near.close();
    place.run(1000);
    assert.equal([a.closed, b.text], [false, '']);
    near.impair(undefined);
    place.run();
    assert.equal([a.closed, b.text, b.closed], [true, 'bye', true]);
    const again = silentNear();
    again.near.close();
    again.near.destroy('enough');
    again.place.run();
    assert.equal([again.a.reasons, again.b.closed], [['enough'], false]);
  });

  test('only in: giving up tells the other end; only out: its close is heard', () => {
    const deaf = silentNear({ direction: 'in', isSilent: true });
    deaf.near.destroy('enough');
    deaf.place.run();
    assert.equal([deaf.a.reasons, deaf.b.closed], [['enough'], true]);
    const mute = silentNear({ direction: 'out', isSilent: true });
    mute.near.send(text('unheard'));
    mute.far.destroy('gone');
    mute.place.run();
    assert.equal([mute.a.closed, mute.b.text], [true, '']);
  });

  test('what is held is bounded: the sender is not read beyond the mark, and asked to wait', () => {
    const { place, near, far, a, b } = silentNear();
    const chunk = new Uint8Array(100_000);
    let sent = 0;
    while (far.send([chunk]) && sent < 200) {
      place.run(1);
      sent += 1;
    }
    assert.ok(sent < 40, `${sent} chunks were taken`);
    let held = 0;
    while (near.send([chunk]) && held < 200) held += 1;
    assert.ok(held < 20 && near.queuedBytes >= 1_000_000, `${held} chunks were held`);
    near.impair(undefined);
    place.run();
    assert.equal([a.bytes, b.bytes], [(sent + 1) * 100_000, (held + 1) * 100_000]);
    assert.ok(a.drains > 0 && b.drains > 0, 'both may send again');
  });

  test('a receiver that does not read gets nothing, before and after', () => {
    const { place, near, far, a } = silentNear();
    near.readable(false);
    far.send(text('held'));
    place.run();
    near.impair(undefined);
    far.close();
    place.run();
    assert.equal([a.text, a.closed], ['', false]);
    near.readable(true);
    place.run();
    assert.equal([a.text, a.closed], ['held', true]);
  });
});
