/** Handshake: pure frames in, frames and result out. What is accepted, and all that must be refused. */

import { CONTROLLER, StciError, rootAddress, type Address } from '@stci/interface';
import { hmacSha256 } from '@stci/interface';
import { assert, seededIntegers, suite } from '@stci/testkit';
import { agentSecret } from '../../dist/bootcom/agent-key.js';
import { Handshake, LINK_FRAME, linkFrame, type HandshakeInit } from '../../dist/bootcom/handshake.js';
import { HEADER_BYTES, frameType } from '../../dist/codec/frame.js';

const SESSION = new Uint8Array(8).fill(7);
const SECRET = new Uint8Array(32).fill(9);
const CHILD = rootAddress(3);
const SECRETS = { bytes: (length: number) => new Uint8Array(length), mac: hmacSha256 };

let nonces = 0;

function make(role: 'connect' | 'accept', init: Partial<HandshakeInit> = {}): Handshake {
  const next = seededIntegers(++nonces);
  return new Handshake({
    role,
    self: role === 'connect' ? CHILD : CONTROLLER,
    session: SESSION,
    secret: SECRET,
    secrets: { bytes: (length) => Uint8Array.from({ length }, () => next(256)), mac: hmacSha256 },
    admit: () => undefined,
    ...init,
  });
}

interface Told {
  readonly from: 'child' | 'parent';
  readonly frame: Uint8Array;
}

/** Runs a handshake to its end; returns the frames and the authenticated peer of each end, and the first error. */
function talk(child: Handshake, parent: Handshake) {
  const told: Told[] = child.begin().map((frame) => ({ from: 'child', frame }));
  const peers: { child?: Address; parent?: Address } = {};
  let error: StciError | undefined;
  for (let i = 0; i < told.length && error === undefined; i++) {
    const { from, frame } = told[i] as Told;
    const to = from === 'child' ? 'parent' : 'child';
    try {
      const step = (to === 'child' ? child : parent).receive(frame);
      if (step.peer !== undefined) peers[to] = step.peer;
      told.push(...step.send.map((sent) => ({ from: to, frame: sent }) as const));
    } catch (fault) {
      error = fault as StciError;
    }
  }
  return { told, peers, error };
}

const refused = (fn: () => unknown, why: RegExp): void =>
  assert.match(assert.throwsCode('STCI_AUTH_FAILED', fn).message, why);

suite('handshake', (test) => {
  test('two that know the secret end up sure of each other, in four frames', () => {
    const { told, peers, error } = talk(make('connect'), make('accept'));
    assert.equal([peers, error], [{ child: CONTROLLER, parent: CHILD }, undefined]);
    assert.equal(told.map(({ from, frame }) => `${from} ${frameType(frame)}`), ['child 1', 'parent 1', 'parent 2',
      'child 2']);
  });

  test('where the accepting end confirms, the connecting one is sure of it only then', () => {
    const [child, parent] = [make('connect', { isConfirmed: true }), make('accept')];
    const alive = linkFrame(LINK_FRAME.alive, CONTROLLER, new Uint8Array(4));
    refused(() => make('connect', { isConfirmed: true }).receive(alive), /Expected a handshake/);
    const { told, peers, error } = talk(child, parent);
    assert.equal([peers, error], [{ parent: CHILD }, undefined]);
    const { peer, send } = child.receive(alive);
    assert.equal([peer, send], [CONTROLLER, []]);
    const proof = told.find(({ from, frame }) => from === 'parent' && frameType(frame) === LINK_FRAME.proof);
    refused(() => child.receive((proof as Told).frame), /one proof/);
  });

  test('nobody is sure of a peer before its proof', () => {
    const [child, parent] = [make('connect'), make('accept')];
    const [hello] = child.begin();
    const step = parent.receive(hello as Uint8Array);
    assert.is(step.peer, undefined);
    assert.is(child.receive(step.send[0] as Uint8Array).peer, undefined);
  });

  test('a child without the secret is refused, and a parent without it by the child', () => {
    const wrong = { secret: new Uint8Array(32).fill(8) };
    for (const [child, parent] of [[make('connect', wrong), make('accept')], [make('connect'),
      make('accept', wrong)]] as const) {
      const { peers, error } = talk(child, parent);
      assert.equal([peers, error?.code], [{}, 'STCI_AUTH_FAILED']);
      assert.match(error?.message ?? '', /does not know the key of/);
      assert.not.ok(error?.data['refuse'], 'a stranger is told nothing');
    }
  });

  test('the accepting end takes the key of the agent that the peer says it is; another agent cannot pose as it', () => {
    const own = (address: Address): Uint8Array => agentSecret(SECRETS, SECRET, address, 0);
    const accept = (): Handshake => make('accept', { secretOf: own });
    assert.is(talk(make('connect', { secret: own(CHILD) }), accept()).error, undefined);
    for (const secret of [SECRET, own(CHILD + 1), agentSecret(SECRETS, SECRET, CHILD, 1)]) {
      assert.match(talk(make('connect', { secret }), accept()).error?.message ?? '', /does not know the key of root/);
    }
  });

  test('one bit of the secret is enough', () => {
    for (let bit = 0; bit < 256; bit += 37) {
      const secret = SECRET.slice();
      secret[bit >> 3] = (secret[bit >> 3] as number) ^ (1 << (bit & 7));
      assert.is(talk(make('connect', { secret }), make('accept')).error?.code, 'STCI_AUTH_FAILED');
    }
  });

  test('another session is refused before any proof', () => {
    const { told, error } = talk(make('connect', { session: new Uint8Array(8) }), make('accept'));
    assert.is(told.length, 1);
    assert.match(error?.message ?? '', /another session/);
  });

  test('a proof of an earlier handshake is worth nothing', () => {
    const first = talk(make('connect'), make('accept'));
    const [hello, proof] = first.told.filter(({ from }) => from === 'child').map(({ frame }) => frame);
    const parent = make('accept');
    parent.receive(hello as Uint8Array);
    refused(() => parent.receive(proof as Uint8Array), /does not know the key/);
  });

  test('a proof that is sent back to its maker is worth nothing', () => {
    const parent = make('accept');
    const sent = parent.receive(make('connect').begin()[0] as Uint8Array).send;
    refused(() => parent.receive(sent[1] as Uint8Array), /does not know the key/);
    // A child that is shown its own hello, and asked to believe its own kind of proof.
    const [child, other] = [make('connect'), make('connect')];
    const [mine] = child.begin();
    child.receive(mine as Uint8Array);
    other.receive(mine as Uint8Array);
    refused(() => child.receive(linkFrame(LINK_FRAME.proof, CHILD, new Uint8Array(32))), /does not know the key/);
  });

  test('an address that was changed on the way spoils the proof', () => {
    const [child, parent] = [make('connect'), make('accept')];
    const hello = (child.begin()[0] as Uint8Array).slice();
    hello[11] = (hello[11] as number) ^ 1;
    const [theirHello, theirProof] = parent.receive(hello).send;
    child.receive(theirHello as Uint8Array);
    refused(() => child.receive(theirProof as Uint8Array), /does not know the key/);
  });

  test('hello twice, proof before hello, anything else', () => {
    const hello = make('connect').begin()[0] as Uint8Array;
    const parent = make('accept');
    parent.receive(hello);
    refused(() => parent.receive(hello), /one hello/);
    refused(() => make('accept').receive(linkFrame(LINK_FRAME.proof, CHILD, new Uint8Array(32))),
      /hello before the proof/);
    for (const type of [LINK_FRAME.boot, LINK_FRAME.goodbye, 99]) {
      refused(() => make('accept').receive(linkFrame(type, CHILD, new Uint8Array(0))), /Expected a handshake/);
    }
  });

  test('bodies of another size are refused', () => {
    for (const length of [0, 23, 25, 512]) {
      refused(() => make('accept').receive(linkFrame(LINK_FRAME.hello, CHILD, new Uint8Array(length))),
        /hello of 28 bytes/);
    }
    for (const length of [0, 31, 33, 512]) {
      const parent = make('accept');
      parent.receive(make('connect').begin()[0] as Uint8Array);
      refused(() => parent.receive(linkFrame(LINK_FRAME.proof, CHILD, new Uint8Array(length))), /not know the key/);
    }
  });

  test('admit is asked once, with the proof checked, and its reason goes to the peer alone', () => {
    const asked: Address[] = [];
    const admit = (peer: Address): string => {
      asked.push(peer);
      return 'too late';
    };
    const { error } = talk(make('connect'), make('accept', { admit }));
    assert.equal([asked, error?.data['refuse']], [[CHILD], true]);
    assert.match(error?.message ?? '', /Refused root:3: too late/);
    asked.length = 0;
    talk(make('connect', { secret: new Uint8Array(32) }), make('accept', { admit }));
    assert.equal(asked, [], 'a stranger is not even asked about');
  });

  test('a refusal is told with its text, whatever bytes it is made of', () => {
    const body = Uint8Array.from([0x6e, 0x6f, 0x1b, 0x00, 0xff, 0x21]);
    refused(() => make('connect').receive(linkFrame(LINK_FRAME.refuse, CONTROLLER, body)),
      /refused the link: no\?\?\?!$/);
  });

  test('seeded noise never gets in, and is always the one error', () => {
    for (let seed = 0; seed < 2000; seed++) {
      const next = seededIntegers(seed);
      const parent = make('accept');
      if (seed % 2 === 0) parent.receive(make('connect').begin()[0] as Uint8Array);
      const length = [0, 28, 32, next(100)][next(4)] as number;
      const frame = linkFrame(next(6), CHILD, Uint8Array.from({ length }, () => next(256)));
      if (frameType(frame) === LINK_FRAME.hello && length === 28) frame.set(SESSION, HEADER_BYTES);
      let peer: Address | undefined;
      try {
        peer = parent.receive(frame).peer;
      } catch (fault) {
        assert.ok(fault instanceof StciError && fault.code === 'STCI_AUTH_FAILED', `seed ${seed}`);
      }
      assert.is(peer, undefined, `seed ${seed}`);
    }
  });
});
