/** Forwarded frames: unchanged, by their header alone; errors if there is no route. */

import { rootAddress, type StciError } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { MessageLayer } from '../../dist/am/message-layer.js';
import { Router } from '../../dist/am/router.js';
import type { Link } from '../../dist/bootcom/link.js';
import { HEADER_BYTES, LAYER, encodeHeader, type Frame } from '../../dist/codec/frame.js';
import { EventDispatcher } from '../../dist/event/dispatcher.js';
import { Scope } from '../../dist/event/scope.js';
import { testPlace } from '../world.js';

const SELF = rootAddress(0);
const NEXT = rootAddress(1);
const TTL_AT = 5;
/** Not CBOR: a forwarder that decoded it would fail. */
const BODY = new Uint8Array(40).fill(0x1c);

function frameTo(destination: number, layer: number = LAYER.message, ttl = 9): Frame {
  const header = { layer, type: 3, flags: 0, ttl, stream: 1, source: 0, destination, job: 1, sequence: 7 };
  const frame = new Uint8Array(HEADER_BYTES + BODY.length);
  frame.set(encodeHeader(header, BODY.length));
  frame.set(BODY, HEADER_BYTES);
  return frame;
}

function agentBetween() {
  const { clock } = testPlace().platform;
  const sent: Frame[] = [];
  const faults: string[] = [];
  const router = new Router(SELF);
  const link = (peer: number, send: (pieces: readonly Frame[]) => boolean): Link => ({ peer, send }) as never;
  const parent = link(0, () => {
    throw new Error('nothing goes back');
  });
  router.addLink(parent);
  router.addLink(link(NEXT, (pieces) => sent.push(...pieces) > 0));
  const onFault = (fault: unknown): void => void faults.push(String(fault));
  const dispatcher = new EventDispatcher({ clock, progressModel: 'implicit', turnMax: 1, queueMax: 16, onFault });
  const layer = new MessageLayer({
    router,
    clock,
    holds: new Scope('agent'),
    limits: { ttl: 9, messageBytesMax: 1000, requestTimeoutMs: 1000, windowBytes: 100_000 },
    onGone: () => undefined,
    domain: dispatcher.domain('message'),
    hasRoom: () => true,
    onStreamFrame: () => assert.unreachable('no stream of ours'),
    onFault: (error) => void faults.push((error as StciError).code),
  });
  return { receive: (frame: Frame) => layer.onFrame(parent, frame), sent, faults };
}

suite('forwarding', (test) => {
  test('the same bytes go on, one hop less', () => {
    const { receive, sent, faults } = agentBetween();
    const frame = frameTo(NEXT);
    const expected = frame.slice();
    expected[TTL_AT] = 8;
    receive(frame);
    assert.is(sent.length, 1);
    assert.is(sent[0], frame);
    assert.equal(frame, expected);
    assert.equal(faults, []);
  });

  test('a message that may be lost leads nowhere in silence; one that has no hop left is told', () => {
    const { receive, sent, faults } = agentBetween();
    receive(frameTo(rootAddress(5)));
    receive(frameTo(NEXT, LAYER.message, 1));
    assert.equal(sent, []);
    assert.equal(faults, ['STCI_MESSAGE_TTL']);
  });

  test('stream frames for an agent that has left are dropped in silence', () => {
    const { receive, sent, faults } = agentBetween();
    receive(frameTo(rootAddress(5), LAYER.stream));
    assert.equal(sent, []);
    assert.equal(faults, []);
  });
});
