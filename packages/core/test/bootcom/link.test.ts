/** Links over memory channels on a virtual clock: states, order, ends, bounds. */

import { CONTROLLER, rootAddress, type Channel } from '@stci/interface';
import { assert, eventually, suite } from '@stci/testkit';
import { channelCompliance, linkCompliance, type LinkPair } from '@stci/testkit/compliance';
import { LINK_FRAME, linkFrame, type HandshakeInit } from '../../dist/bootcom/handshake.js';
import { Link, type LinkEvents, type LinkLimits } from '../../dist/bootcom/link.js';
import { memoryChannel } from '../../dist/bootcom/memory-channel.js';
import { HEADER_BYTES, LAYER, encodeHeader, frameBody, type Frame } from '../../dist/codec/frame.js';
import { testPlace, type TestPlace } from '../world.js';

const SECRET = new Uint8Array(32).fill(5);
const CHILD = rootAddress(0);
const LIMITS: LinkLimits = { frameBytesMax: 100_000, queueBytesMax: 200_000, handshakeMs: 500 };

class Heard implements LinkEvents {
  readonly log: string[] = [];
  readonly bodies: Uint8Array[] = [];
  drains = 0;

  onUp(link: Link): void {
    this.log.push(`up ${link.peer}`);
  }

  onFrame(_link: Link, frame: Frame): void {
    this.bodies.push(frameBody(frame).slice());
  }

  onDrain(): void {
    this.drains += 1;
  }

  onClosed(_link: Link, reason: string, text: string): void {
    this.log.push(`${reason}: ${text}`);
  }
}

interface End {
  readonly link: Link;
  readonly heard: Heard;
}

function end(place: TestPlace, channel: Channel, role: 'connect' | 'accept',
  init: Partial<HandshakeInit & LinkLimits> = {}): End {
  const { clock, secrets } = place.platform;
  const heard = new Heard();
  const self = role === 'connect' ? CHILD : CONTROLLER;
  const base = { role, self, session: new Uint8Array(8), secret: SECRET, secrets, admit: () => undefined };
  const link = new Link({ role: role === 'connect' ? 'parent' : 'child', channel, clock,
    handshake: { ...base, ...init }, limits: { ...LIMITS, ...init } }, heard);
  return { link, heard };
}

function pair(init: { child?: Partial<HandshakeInit & LinkLimits>; parent?: Partial<HandshakeInit & LinkLimits> } =
  {}) {
  const place = testPlace();
  const [near, far] = memoryChannel(place.platform.clock, 'near', 'far');
  const child = end(place, near, 'connect', init.child);
  const parent = end(place, far, 'accept', init.parent);
  return { place, near, far, child, parent };
}

function message(body: Uint8Array): Uint8Array[] {
  const header = { layer: LAYER.message, type: 4, flags: 0, ttl: 9, stream: 0, source: 1, destination: 2, job: 0,
    sequence: 0 };
  return [encodeHeader(header, body.length), body];
}

const up = 'up ';

suite('link', (test) => {
  test('comes up at both ends, and frames pass both ways in order', () => {
    const { place, child, parent } = pair();
    assert.equal([child.link.state, parent.link.state], ['connecting', 'connecting']);
    place.run();
    assert.equal([child.link.state, child.link.peer, parent.link.state, parent.link.peer], ['up', CONTROLLER, 'up',
      CHILD]);
    for (let i = 0; i < 50; i++) {
      child.link.send(message(Uint8Array.of(i)));
      parent.link.send(message(Uint8Array.of(i, i)));
    }
    place.run();
    assert.equal(parent.heard.bodies.map((body) => body[0]), Array.from({ length: 50 }, (_, i) => i));
    assert.equal(child.heard.bodies.map((body) => [...body]), Array.from({ length: 50 }, (_, i) => [i, i]));
    assert.equal([child.link.facts.framesOut, child.link.facts.framesIn, child.link.facts.kind], [50, 50, 'memory']);
    assert.is(child.link.facts.bytesOut, parent.link.facts.bytesIn);
  });

  test('what is sent before the link is up waits, in order, and comes first', () => {
    const { place, child, parent } = pair();
    for (let i = 0; i < 5; i++) {
      child.link.send(message(Uint8Array.of(i)));
      parent.link.send(message(Uint8Array.of(i)));
    }
    assert.equal([child.heard.bodies.length, parent.heard.bodies.length], [0, 0]);
    place.until(() => child.link.state === 'up' && parent.link.state === 'up', 'both up');
    child.link.send(message(Uint8Array.of(5)));
    place.run();
    assert.equal(parent.heard.bodies.map((body) => body[0]), [0, 1, 2, 3, 4, 5]);
    assert.equal(child.heard.bodies.map((body) => body[0]), [0, 1, 2, 3, 4]);
  });

  test('early frames have the same bound as late ones', () => {
    const { place, child, parent } = pair();
    for (let i = 0; i < 5; i++) child.link.send(message(new Uint8Array(50_000)));
    place.run();
    assert.match(child.heard.log.join(), /^lost: .*bytes are queued for .*bootcom\.queue\.max = 200000/);
    assert.is(parent.heard.bodies.length, 0);
  });

  test('nothing of a peer is heard before its proof', () => {
    const place = testPlace();
    const [near, far] = memoryChannel(place.platform.clock, 'near', 'far');
    const parent = end(place, far, 'accept');
    near.send([...message(Uint8Array.of(1))]);
    place.run();
    assert.equal([parent.heard.bodies.length, parent.heard.log], [0,
      ['refused: Expected a handshake before anything else']]);
  });

  test('close: what was sent arrives, then a goodbye; a loss is told as one', () => {
    const { place, child, parent } = pair();
    place.run();
    child.link.send(message(Uint8Array.of(1)));
    child.link.close();
    child.link.close();
    child.link.send(message(Uint8Array.of(2)));
    place.run();
    assert.equal(parent.heard.bodies.map((body) => body[0]), [1]);
    assert.equal(child.heard.log, [up + CONTROLLER, 'local: closed by this agent']);
    assert.equal(parent.heard.log, [up + CHILD, 'goodbye: exited']);
    const lost = pair();
    lost.place.run();
    lost.near.destroy('pulled out');
    lost.place.run();
    assert.equal(lost.child.heard.log.at(-1), 'lost: the connection to near closed without goodbye: pulled out');
    const text = 'lost: the connection to far closed without goodbye: connection reset';
    assert.equal(lost.parent.heard.log, [up + CHILD, text]);
  });

  test('destroy ends both ends at once, with the words given', () => {
    const { place, child, parent } = pair();
    place.run();
    child.link.destroy('enough');
    child.link.destroy('again');
    place.run();
    assert.equal([child.heard.log.slice(1), parent.heard.log.length], [['local: enough'], 2]);
    assert.equal([child.link.state, parent.link.state], ['closed', 'closed']);
    child.link.send(message(Uint8Array.of(1)));
    child.link.close();
    place.run();
    assert.is(child.heard.log.length, 2, 'told once');
  });

  test('a handshake that does not end in time ends the link, and no timer is left', () => {
    const place = testPlace();
    const [near, far] = memoryChannel(place.platform.clock, 'near', 'far');
    const child = end(place, near, 'connect');
    const events: string[] = [];
    far.bind({ onData: () => undefined, onDrain: () => undefined, onClose: (reason) => events.push(reason) });
    place.run(499);
    assert.is(child.link.state, 'connecting');
    place.run(10);
    assert.equal([child.heard.log, events], [['timeout: no handshake within 500 ms'], ['connection reset']]);
    const fine = pair();
    fine.place.run(5000);
    assert.equal([fine.child.link.state, fine.parent.link.state], ['up', 'up']);
    assert.is(fine.place.world.run(), 'idle');
  });

  test('a peer that was proved and is not wanted is told why; a stranger is not', () => {
    const unwanted = pair({ parent: { admit: () => 'it is gone' } });
    unwanted.place.run();
    assert.equal(unwanted.parent.heard.log, ['refused: Refused root:0: it is gone']);
    assert.match(unwanted.child.heard.log.at(-1) ?? '',
      /^refused: The peer refused the link: Refused root:0: it is gone/);
    const place = testPlace();
    const [near, far] = memoryChannel(place.platform.clock, 'near', 'far');
    const said: Uint8Array[] = [];
    near.bind({ onData: (chunk) => said.push(chunk), onDrain: () => undefined, onClose: () => undefined });
    end(place, far, 'accept');
    near.send([linkFrame(LINK_FRAME.hello, CHILD, new Uint8Array(28).fill(1))]);
    place.run();
    assert.is(said.length, 0, 'another session hears nothing at all');
  });

  test('a peer that takes nothing is dropped at the bound of the queue', () => {
    const { place, child, parent, far } = pair();
    place.run();
    far.readable(false);
    let sent = 0;
    while (child.link.state === 'up' && sent < 100) {
      child.link.send(message(new Uint8Array(10_000)));
      sent += 1;
      place.run(1);
    }
    assert.ok(sent >= 20 && sent <= 21, `${sent} frames of 10 kB until 200 kB`);
    assert.match(child.heard.log.at(-1) ?? '', /^lost: .*root|^lost: .*controller.*does not read/);
    far.readable(true);
    place.run();
    assert.is(parent.link.state, 'closed');
  });

  test('a frame that is cut, too long, or of another version ends the link with its reason', () => {
    const cases: [(child: Channel) => void, RegExp][] = [
      [(channel) => { channel.send([message(new Uint8Array(90))[0] as Uint8Array]); channel.close(); },
        /^lost: .*end of file, in the middle of a frame/],
      [(channel) => channel.send([encodeHeader({ layer: 2, type: 1, flags: 0, ttl: 1, stream: 0, source: 0,
        destination: 0, job: 0, sequence: 0 }, 100_001)]), /^protocol: .*at most 100000 bytes.*100001/],
      [(channel) => channel.send([Uint8Array.of(2, 0, 0)]), /^protocol: .*version 1, got 2/],
      [(channel) => channel.send([linkFrame(LINK_FRAME.hello, CHILD, new Uint8Array(28))]),
        /^protocol: Expected no handshake/],
      [(channel) => channel.send([new Uint8Array(HEADER_BYTES).fill(1, 0, 1).fill(9, 1)]),
        /^protocol: .*layer 0 to 3, got layer 9/],
    ];
    for (const [act, expected] of cases) {
      const { place, near, parent } = pair();
      place.run();
      act(near);
      place.run();
      assert.match(parent.heard.log.at(-1) ?? '', expected);
      assert.is(parent.heard.log.length, 2, 'up, and its end');
    }
  });

  test('before the handshake a frame of 513 bytes is too long', () => {
    const place = testPlace();
    const [near, far] = memoryChannel(place.platform.clock, 'near', 'far');
    const parent = end(place, far, 'accept');
    near.send([linkFrame(LINK_FRAME.hello, CHILD, new Uint8Array(513))]);
    place.run();
    assert.match(parent.heard.log.join(), /^protocol: .*at most 512 bytes.*513/);
  });

  test('frames behind the last handshake frame, in the same chunk, may have the full length', () => {
    const { place, child, parent } = pair();
    child.link.send(message(new Uint8Array(90_000).fill(3)));
    place.run();
    assert.equal(parent.heard.bodies.map((body) => body.length), [90_000]);
  });

  test('suspicion is a mark, not an end', () => {
    const { place, child, parent } = pair();
    child.link.suspect(true);
    assert.is(child.link.state, 'connecting');
    place.run();
    child.link.suspect(true);
    assert.is(child.link.state, 'suspect');
    child.link.send(message(Uint8Array.of(1)));
    place.run();
    assert.is(parent.heard.bodies.length, 1);
    child.link.suspect(false);
    assert.is(child.link.state, 'up');
  });
});

let seed = 0;

function memoryPair(): LinkPair {
  const place = testPlace(seed++);
  const { platform } = place;
  const [near, far] = memoryChannel(platform.clock, 'near', 'far');
  const interval = setInterval(() => place.run(50), 1);
  const until = async (condition: () => boolean, what: string): Promise<void> =>
    void (await eventually(condition, { what, everyMs: 1 }));
  return { near, far, platform, until, end: () => clearInterval(interval) };
}

channelCompliance('core memory', memoryPair, { bulkBytes: 20_000_000 });
linkCompliance('core memory', memoryPair);
