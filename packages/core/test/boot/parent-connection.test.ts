/**
 * A child's way to its parent's listener, on a virtual clock: what it tries again and until when, and the odds that it
 * gets in while a crowd of strangers connects faster than it can speak.
 */

import { CONTROLLER, rootAddress, type Channel } from '@stci/interface';
import { assert, seededIntegers, suite } from '@stci/testkit';
import { ParentConnection } from '../../dist/boot/parent-connection.js';
import type { BootRecord } from '../../dist/bootcom/boot-record.js';
import { Link } from '../../dist/bootcom/link.js';
import { memoryChannel } from '../../dist/bootcom/memory-channel.js';
import { PendingLinks } from '../../dist/bootcom/pending-links.js';
import { testPlace } from '../world.js';

const CHILD = rootAddress(0);
const HANDSHAKE_MS = 5000;
const SESSION = new Uint8Array(8).fill(3);
const SECRET = new Uint8Array(32).fill(4);
const LIMITS = { frameBytesMax: 100_000, queueBytesMax: 200_000, leaseMs: 10_000 };

/** What the parent does with a connection: takes it, drops it at once, or after the child's proof; or refuses it. */
type Way = 'takes' | 'drops' | 'drops-proved' | 'refuses' | 'unconfirmed';

function connecting(wayOf: (attempt: number, nowMs: number) => Way) {
  const place = testPlace();
  const { platform, world } = place;
  const told: string[] = [];
  const parents: Link[] = [];
  let attempts = 0;
  const accept = (channel: Channel, way: Way): void => {
    const admit = (): string | undefined => (way === 'refuses' ? 'it is lost' : undefined);
    const handshake = { role: 'accept', self: CONTROLLER, session: SESSION, secret: SECRET, secrets: platform.secrets,
      admit } as const;
    const link = new Link({ role: 'child', channel, clock: platform.clock, handshake,
      limits: { ...LIMITS, handshakeMs: HANDSHAKE_MS, leaseMs: 10 * HANDSHAKE_MS } }, {
      onUp: () => {
        if (way === 'drops-proved') link.destroy('evicted');
        else if (way === 'takes') link.confirm();
      },
      onFrame: () => told.push('the parent got a frame'), onDrain: () => undefined, onClosed: () => undefined,
    });
    parents.push(link);
    if (way === 'drops') link.destroy('evicted');
  };
  const connect = (address: string): Channel => {
    const [near, far] = memoryChannel(platform.clock, address, 'child');
    accept(far, wayOf(attempts++, world.nowMs));
    return near;
  };
  const boot = { self: CHILD, job: 0, session: SESSION, secret: SECRET, start: 1, parent: CONTROLLER,
    frameBytesMax: 100_000, handshakeMs: HANDSHAKE_MS } as unknown as BootRecord;
  const connection = new ParentConnection(
    { platform, boot, addresses: ['ws://p:1'], key: undefined, connect,
      limits: (handshakeMs) => ({ ...LIMITS, handshakeMs }) },
    {
      link: { onUp: () => told.push('up'), onFrame: () => undefined, onDrain: () => undefined,
        onClosed: (_link, reason) => told.push(`closed: ${reason}`) },
      onFailed: (text) => told.push(`failed: ${text}`),
    },
  );
  return { place, told, parents, connection, attempts: () => attempts };
}

suite('connection to the parent', (test) => {
  test('that is given up between two attempts makes none any more, and tells nothing', () => {
    const { place, told, connection, attempts } = connecting(() => 'drops');
    place.run(300);
    const before = attempts();
    assert.ok(before > 0);
    connection.destroy('the agent ends');
    place.run(2 * HANDSHAKE_MS);
    assert.equal([attempts(), told], [before, []]);
  });

  test('is tried until the deadline, and not once more', () => {
    const late = connecting((_attempt, nowMs) => (nowMs < HANDSHAKE_MS - 700 ? 'drops' : 'takes'));
    late.place.run(2 * HANDSHAKE_MS);
    assert.equal(late.told, ['up']);
    assert.ok(late.attempts() >= 9, `${late.attempts()} attempts`);
    const never = connecting(() => 'drops');
    never.place.run(HANDSHAKE_MS - 700);
    assert.equal(never.told, []);
    never.place.run(10 * HANDSHAKE_MS);
    assert.match(never.told.join(), /^failed: ws:\/\/p:1: .* closed before the handshake was over/);
    assert.ok(never.attempts() < 5 + HANDSHAKE_MS / 200, `${never.attempts()} attempts`);
  });

  test('that is dropped after the child has proved itself, and before the parent has taken it, is tried again', () => {
    const { place, told, parents } = connecting((attempt) => (attempt < 3 ? 'drops-proved' : 'takes'));
    place.run(3000);
    assert.equal([told, parents.map(({ state }) => state)], [['up'], ['closed', 'closed', 'closed', 'up']]);
  });

  test('that was up, or that the parent refuses, is not', () => {
    const refused = connecting(() => 'refuses');
    refused.place.run(2 * HANDSHAKE_MS);
    assert.equal([refused.attempts(), refused.told.length], [1, 1]);
    assert.match(refused.told[0] ?? '', /^failed: .*refused the link: .*it is lost/);
    const lost = connecting(() => 'takes');
    lost.place.run();
    lost.parents[0]?.destroy('gone');
    lost.place.run(2 * HANDSHAKE_MS);
    assert.equal([lost.attempts(), lost.told], [1, ['up', 'closed: lost']]);
  });

  test('that is never confirmed ends with the deadline', () => {
    const { place, told } = connecting(() => 'unconfirmed');
    place.run(HANDSHAKE_MS - 100);
    assert.equal(told, []);
    place.run(200);
    assert.match(told.join(), /^failed: .*no handshake within 5 s/);
  });
});

interface Stranger {
  isIntroduced: boolean;
  isGone: boolean;
}

/** Whether a peer that speaks `speakMs` after it came is not evicted before; `perMs` strangers come all the time. */
function survives(pending: PendingLinks, place: ReturnType<typeof testPlace>, perMs: number, speakMs: number): boolean {
  const come = (): Stranger => {
    const stranger = { isIntroduced: false, isGone: false, destroy: () => void (stranger.isGone = true) };
    pending.add(stranger as unknown as Link, 'ws://127.0.0.1:1');
    return stranger;
  };
  const honest = come();
  for (let ms = 0; ms < speakMs; ms++) {
    for (let i = 0; i < perMs; i++) come();
    place.run(1);
  }
  honest.isIntroduced = true;
  for (let i = 0; i < 40 * perMs; i++) come();
  const isIn = !honest.isGone;
  pending.delete(honest as unknown as Link);
  return isIn;
}

suite('the odds of a child in a crowd', (test) => {
  const MAX = 16;
  const TRIALS = 100;

  test('are at least (1 - 1/2m)^n for n strangers before it speaks, m places; certain once it has spoken', () => {
    for (const [perMs, speakMs] of [[1, 10], [1, 40], [4, 5], [4, 20]] as const) {
      const place = testPlace(perMs * 100 + speakMs);
      const pending = new PendingLinks(MAX, place.platform);
      let passed = 0;
      for (let i = 0; i < TRIALS; i++) if (survives(pending, place, perMs, speakMs)) passed += 1;
      const least = (1 - 1 / (2 * MAX)) ** (perMs * speakMs);
      // Three standard deviations of that many trials.
      const slack = 3 * Math.sqrt((least * (1 - least)) / TRIALS);
      assert.ok(passed / TRIALS >= least - slack, `${perMs}/ms, ${speakMs} ms: ${passed / TRIALS} of ${least}`);
    }
  });

  test('rise with its attempts: at one chance in four each, 99 of 100 get in before the deadline', () => {
    let passed = 0;
    for (let child = 0; child < 200; child++) {
      const next = seededIntegers(child + 1);
      const { place, told } = connecting(() => (next(4) === 0 ? 'takes' : 'drops'));
      place.run(2 * HANDSHAKE_MS);
      if (told[0] === 'up') passed += 1;
    }
    assert.ok(passed >= 196, `${passed} of 200`);
  });
});
