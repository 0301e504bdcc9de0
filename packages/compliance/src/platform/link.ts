/**
 * Requirements on a link over every kind of channel: it comes up, frames pass whole and in order, an intended end is
 * distinguished from a loss, and a peer without the secret is refused. A platform's test calls `linkCompliance` with a
 * function that makes both ends of a channel; the suite makes links of them.
 */

import { ImpairedChannel, LAYER, Link, encodeHeader, frameBody, type Frame } from '@stci/core/bootcom';
import { CONTROLLER, rootAddress, type Channel, type Impairment, type Platform } from '@stci/interface';
import * as assert from '../kit/assert.js';
import { patient } from '../kit/patience.js';
import { suite, type TestApi } from '../kit/suite.js';
import { pairUser, settled } from './channel.js';
import type { ChannelPair } from './channel.js';

/** Both ends of a channel, and the parts of a platform that links need. */
export interface LinkPair extends ChannelPair {
  readonly platform: Pick<Platform, 'clock' | 'secrets'>;
}

const CHILD = rootAddress(1);
const SECRET = new Uint8Array(32).fill(1);
const LIMITS = { frameBytesMax: 1024 * 1024, queueBytesMax: 64 * 1024 * 1024, handshakeMs: patient(3000) };

interface End {
  readonly link: Link;
  readonly reported: string[];
  readonly bodies: Uint8Array[];
}

function linkOf({ platform }: LinkPair, channel: Channel, role: 'connect' | 'accept', secret = SECRET): End {
  const [reported, bodies] = [[] as string[], [] as Uint8Array[]];
  const { clock, secrets } = platform;
  const self = role === 'connect' ? CHILD : CONTROLLER;
  const handshake = { role, self, session: new Uint8Array(8), secret, secrets, admit: () => undefined };
  const link = new Link({ role: role === 'connect' ? 'parent' : 'child', channel, clock, handshake, limits: LIMITS }, {
    onUp: ({ peer }) => void reported.push(`up ${peer}`),
    onFrame: (_link, frame: Frame) => void bodies.push(frameBody(frame).slice()),
    onDrain: () => undefined,
    onClosed: (_link, reason) => void reported.push(reason),
  });
  return { link, reported, bodies };
}

function message(body: Uint8Array): Uint8Array[] {
  const header = {
    layer: LAYER.message, type: 4, flags: 0, ttl: 9, stream: 0, source: 1, destination: 2, job: 0, sequence: 0,
  };
  return [encodeHeader(header, body.length), body];
}

/** Defines the suite `NAME: link`. */
export function linkCompliance(name: string, makeChannelPair: () => LinkPair | Promise<LinkPair>): void {
  const withPair = pairUser(makeChannelPair);
  suite(`${name}: link`, (test) => {
    test('comes up, and frames of every size pass both ways, in order', withPair(async (pair) => {
      const [child, parent] = [linkOf(pair, pair.near, 'connect'), linkOf(pair, pair.far, 'accept')];
      const sizes = [0, 1, 27, 28, 29, 511, 512, 513, 65_535, 65_536, 300_000, 1024 * 1024];
      const bodies = sizes.map((size, i) => new Uint8Array(size).fill(i + 1));
      for (const body of bodies) child.link.send(message(body));
      await pair.until(() => child.reported.length > 0 && parent.reported.length > 0, 'both ends up');
      assert.equal([child.reported, parent.reported], [[`up ${CONTROLLER}`], [`up ${CHILD}`]]);
      for (const body of bodies) parent.link.send(message(body));
      await pair.until(() => child.bodies.length === sizes.length && parent.bodies.length === sizes.length,
        'all frames');
      const seen = ({ bodies: got }: End): unknown[] => got.map((body) => [body.length, body[0], body.at(-1)]);
      const sent = bodies.map((body) => [body.length, body[0], body.at(-1)]);
      assert.equal([seen(parent), seen(child)], [sent, sent]);
    }));

    test('close: what was sent arrives before the goodbye', withPair(async (pair) => {
      const [child, parent] = [linkOf(pair, pair.near, 'connect'), linkOf(pair, pair.far, 'accept')];
      await pair.until(() => child.link.state === 'up' && parent.link.state === 'up', 'both ends up');
      for (let i = 0; i < 100; i++) parent.link.send(message(new Uint8Array(20_000).fill(i)));
      parent.link.close();
      await pair.until(() => child.link.state === 'closed' && parent.link.state === 'closed', 'both ends closed');
      assert.equal([child.reported.slice(1), parent.reported.slice(1)], [['goodbye'], ['local']]);
      assert.is(child.bodies.length, 100);
    }));

    test('an end without a goodbye is a loss', withPair(async (pair) => {
      const [child, parent] = [linkOf(pair, pair.near, 'connect'), linkOf(pair, pair.far, 'accept')];
      await pair.until(() => child.link.state === 'up' && parent.link.state === 'up', 'both ends up');
      child.link.destroy('broken');
      await pair.until(() => parent.link.state === 'closed' && child.link.state === 'closed', 'both ends closed');
      assert.equal([child.reported.slice(1), parent.reported.slice(1)], [['local'], ['lost']]);
    }));

    faultTests(test, withPair);

    test('a peer without the secret is refused', withPair(async (pair) => {
      const wrong = new Uint8Array(32);
      const [child, parent] = [linkOf(pair, pair.near, 'connect', wrong), linkOf(pair, pair.far, 'accept')];
      parent.link.send(message(Uint8Array.of(1)));
      await pair.until(() => child.link.state === 'closed' && parent.link.state === 'closed', 'both ends closed');
      assert.equal([child.reported, parent.bodies.length, child.bodies.length], [['refused'], 0, 0]);
      assert.is(parent.reported.length, 1);
      assert.is(parent.reported.includes(`up ${CHILD}`), false);
    }));
  });
}

type WithPair = (body: (pair: LinkPair) => Promise<void>) => () => Promise<void>;

/** Frames of an injected fault: large ones, which are read in parts, and small ones, which are gathered. */
const FAULT_SIZES = [10, 300_000, 1, 70_000, 511, 200_000, 3, 65_536];

function faultTests(test: TestApi, withPair: WithPair): void {
  const faults: readonly (readonly [string, Impairment])[] = [
    ['silence', { direction: 'both', isSilent: true }],
    ['delay', { direction: 'both', delayMs: 20, jitterMs: 5 }],
    ['rate', { direction: 'both', bytesPerSecond: 5_000_000 }],
  ];
  const upPair = async (pair: LinkPair): Promise<[End, End]> => {
    const ends: [End, End] = [linkOf(pair, pair.near, 'connect'), linkOf(pair, pair.far, 'accept')];
    await pair.until(() => ends.every(({ link }) => link.state === 'up'), 'both ends up');
    return ends;
  };
  const depsOf = ({ platform: { clock } }: LinkPair) => ({ clock, random: { uniform: () => 0.5 } });

  for (const [name, how] of faults) {
    test(`a ${name} at one end loses and reorders nothing, before, meanwhile and after`, withPair(async (pair) => {
      const [child, parent] = await upPair(pair);
      const deps = depsOf(pair);
      let count = 0;
      const sendAll = (): void => {
        for (const size of FAULT_SIZES) {
          count += 1;
          for (const { link } of [child, parent]) link.send(message(new Uint8Array(size).fill(count)));
        }
      };
      sendAll();
      child.link.impair(how, deps);
      sendAll();
      await settled(pair);
      if (how.isSilent === true) {
        sendAll();
        child.link.impair(undefined, deps);
      }
      await pair.until(() => child.bodies.length === count && parent.bodies.length === count, 'all frames');
      child.link.impair(undefined, deps);
      sendAll();
      await pair.until(() => child.bodies.length === count && parent.bodies.length === count, 'the last frames');
      const expected = Array.from({ length: count }, (_, i) => [FAULT_SIZES[i % FAULT_SIZES.length], i + 1, i + 1]);
      for (const { bodies } of [child, parent]) {
        assert.equal(bodies.map((body) => [body.length, body[0], body.at(-1)]), expected);
      }
    }));
  }

  test('an end that is given up in a silence is no news for the other until it is over', withPair(async (pair) => {
    const [child, parent] = await upPair(pair);
    const impaired = child.link.impair({ direction: 'both', isSilent: true }, depsOf(pair));
    child.link.destroy('given up');
    await pair.until(() => child.link.state === 'closed', 'this end closed');
    await settled(pair);
    assert.equal([child.reported.slice(1), parent.link.state], [['local'], 'up']);
    impaired?.impair(undefined);
    await pair.until(() => parent.link.state === 'closed' && impaired?.isClosed === true, 'the other end closed');
    assert.equal(parent.reported.slice(1), ['lost']);
  }));
}

/** Both ends with a fault in force: chunks are late, and share buffers that are used again. */
export function impairedPair(pair: LinkPair): LinkPair {
  const late = (channel: Channel): Channel => {
    const impaired = new ImpairedChannel(channel, { clock: pair.platform.clock, random: { uniform: () => 0.5 } });
    impaired.impair({ direction: 'both', delayMs: 2, jitterMs: 2 });
    return impaired;
  };
  return { ...pair, near: late(pair.near), far: late(pair.far) };
}
