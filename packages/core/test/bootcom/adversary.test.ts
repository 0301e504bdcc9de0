/**
 * The handshake against an adversary who reads, changes, delays and repeats all messages, and may talk to both ends at
 * once, but does not have the secret.
 */

import { CONTROLLER, StciError, rootAddress, type Address } from '@stci/interface';
import { hmacSha256 } from '@stci/interface';
import { assert, seededIntegers, suite } from '@stci/testkit';
import { linkKey } from '../../dist/bootcom/encryption.js';
import {
  HANDSHAKE_BODY_BYTES_MAX, Handshake, LINK_FRAME, linkFrame, type HandshakeInit, type HandshakeStep,
} from '../../dist/bootcom/handshake.js';
import { frameBody } from '../../dist/codec/frame.js';

const SESSION = new Uint8Array(8).fill(7);
const SECRET = new Uint8Array(32).fill(9);
const CHILD = rootAddress(3);
const OTHER_PARENT = rootAddress(1);

let nonces = 1000;

function make(role: 'connect' | 'accept', init: Partial<HandshakeInit> = {}): Handshake {
  const next = seededIntegers(++nonces);
  const admit = (peer: Address): string | undefined =>
    peer === (role === 'connect' ? CONTROLLER : CHILD) ? undefined : 'it is somebody else';
  const secrets = { bytes: (length: number) => Uint8Array.from({ length }, () => next(256)), mac: hmacSha256 };
  const self = role === 'connect' ? CHILD : CONTROLLER;
  return new Handshake({ role, self, session: SESSION, secret: SECRET, secrets, admit, ...init });
}

/** Frames that a step sends; none if it is refused. */
function hear(end: Handshake, frame: Uint8Array | undefined): HandshakeStep {
  try {
    return end.receive(frame as Uint8Array);
  } catch (fault) {
    assert.ok(fault instanceof StciError && fault.code === 'STCI_AUTH_FAILED');
    return { send: [] };
  }
}

const hello = (end: Handshake): Uint8Array => end.begin()[0] as Uint8Array;

suite('handshake against an adversary', (test) => {
  test('any bit of a hello that is changed, either way, ends it for both', () => {
    const length = hello(make('connect')).length;
    for (let bit = 0; bit < 8 * length; bit++) {
      const turn = (frame: Uint8Array): Uint8Array => {
        const changed = frame.slice();
        changed[bit >> 3] = (changed[bit >> 3] as number) ^ (1 << (bit & 7));
        return changed;
      };
      for (const direction of ['up', 'down']) {
        const [child, parent] = [make('connect'), make('accept')];
        const first = hello(child);
        const [theirs, proof] = hear(parent, direction === 'up' ? turn(first) : first).send;
        if (theirs === undefined) continue;
        hear(child, direction === 'down' ? turn(theirs) : theirs);
        const step = hear(child, proof);
        assert.is(step.peer, undefined, `${direction}, bit ${bit}`);
        assert.equal(step.send, [], 'the child proves nothing to somebody who has proved nothing');
      }
    }
  });

  test('two handshakes at once: nothing of one is worth anything in the other', () => {
    const [a, b] = [make('connect'), make('connect')];
    const [pa, pb] = [make('accept'), make('accept')];
    const [helloOfA, helloOfB] = [hello(a), hello(b)];
    const [fromPa, proofOfPa] = hear(pa, helloOfA).send;
    const [fromPb, proofOfPb] = hear(pb, helloOfB).send;
    // Each hears the right hello and the other's proof.
    hear(a, fromPa);
    hear(b, fromPb);
    assert.equal([hear(a, proofOfPb).peer, hear(b, proofOfPa).peer], [undefined, undefined]);
    // And once more, with a proof of the right one after the wrong hello.
    const c = make('connect');
    const pc = make('accept');
    const [, proofOfPc] = hear(pc, hello(c)).send;
    hear(c, fromPa);
    assert.is(hear(c, proofOfPc).peer, undefined);
  });

  test('a child that is led to another agent of its session does not take it for its parent', () => {
    const child = make('connect');
    const other = make('accept', { self: OTHER_PARENT, admit: () => undefined });
    const [theirs, proof] = hear(other, hello(child)).send;
    hear(child, theirs);
    const step = hear(child, proof);
    assert.equal([step.peer, step.send], [undefined, []]);
    // Nor with the address that it expects written over the true one.
    const again = make('connect');
    const [second, secondProof] = hear(make('accept', { self: OTHER_PARENT }), hello(again)).send;
    const forged = (second as Uint8Array).slice();
    forged.fill(0, 8, 12);
    hear(again, forged);
    assert.is(hear(again, secondProof).peer, undefined);
  });

  test('an accepting end can\'t be made to prove what a connecting end must', () => {
    // The adversary shows the parent's own hello to another accepting end, to get a proof over the same two hellos.
    const [parent, oracle] = [make('accept'), make('accept')];
    const [fromParent] = hear(parent, hello(make('connect'))).send;
    for (const frame of hear(oracle, fromParent).send) assert.is(hear(parent, frame).peer, undefined);
  });

  test('nothing that the handshake signs is the key of encryption', () => {
    const seen: string[] = [];
    const mac = (key: Uint8Array, data: Uint8Array): Uint8Array => {
      seen.push(String(data));
      return hmacSha256(key, data);
    };
    const bytes = (length: number): Uint8Array => new Uint8Array(length).fill(0x73);
    const secrets = { bytes, mac };
    linkKey(secrets, SECRET);
    const purpose = seen.pop() as string;
    for (const [role, other] of [['connect', 'accept'], ['accept', 'connect']] as const) {
      const ours = make(role, { secrets });
      const first = role === 'connect' ? hear(make(other), hello(ours)).send[0] : hello(make(other));
      hear(ours, first);
      hear(ours, linkFrame(LINK_FRAME.proof, CHILD, new Uint8Array(32)));
    }
    assert.ok(seen.length >= 2);
    assert.ok(seen.every((data) => data.split(',')[0] !== purpose.split(',')[0]), 'they differ from the first byte on');
  });

  test('whoever does not name the session gets no byte, and nobody gets one that tells of the secret', () => {
    assert.equal(hear(make('accept'), hello(make('connect', { session: new Uint8Array(8) }))).send, []);
    for (const frame of hear(make('accept'), hello(make('connect'))).send) {
      assert.ok(!String(frame).includes(String(SECRET.subarray(0, 8))));
    }
  });

  test('a refusal that is as long as a frame may be is cut', () => {
    const long = linkFrame(LINK_FRAME.refuse, CONTROLLER, new Uint8Array(1_000_000).fill(0x41));
    const fault = assert.throwsCode('STCI_AUTH_FAILED', () => make('connect').receive(long));
    assert.ok(fault.message.length < HANDSHAKE_BODY_BYTES_MAX + 100);
    assert.is(frameBody(long).length, 1_000_000);
  });
});
