/** Replies to requests: whose are taken, and how long they may be. */

import { StciError, rootAddress, toErrorRecord, type Address } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { PendingRequests } from '../../dist/am/requests.js';
import { encode } from '../../dist/codec/cbor.js';
import { FLAG, LAYER, type FrameHeader } from '../../dist/codec/frame.js';
import { testPlace } from '../world.js';

const [ASKED, OTHER] = [rootAddress(1), rootAddress(2)];

suite('replies to requests', (test) => {
  function play() {
    const { platform } = testPlace();
    const [told, malformed] = [[] as string[], [] as string[]];
    const requests = new PendingRequests(platform.clock, { begin: () => undefined, end: () => undefined } as never);
    requests.add(7, {
      name: 'job.submit', destination: ASKED, job: 0,
      done: (error?: StciError) => void told.push(error?.code ?? 'answered'),
    } as never, 1000);
    const reply = (source: Address, body: unknown, flags = 0): void => {
      const header: FrameHeader = {
        layer: LAYER.message, type: 0, flags, ttl: 9, stream: 0, source, destination: rootAddress(0), job: 0,
        sequence: 7,
      };
      requests.onReply(header, encode(body), ({ message }) => void malformed.push(message));
    };
    return { told, malformed, reply };
  }

  test('another agent answers in its own name only that there is no way', () => {
    const { told, reply } = play();
    const failed = (code: 'STCI_LINK_CLOSED' | 'STCI_MESSAGE_UNROUTABLE'): void =>
      reply(OTHER, toErrorRecord(new StciError(code, 'told by another')), FLAG.error);
    reply(OTHER, { job: 1 });
    failed('STCI_LINK_CLOSED');
    assert.equal(told, []);
    failed('STCI_MESSAGE_UNROUTABLE');
    assert.equal(told, ['STCI_MESSAGE_UNROUTABLE']);
    reply(ASKED, { job: 1 });
    assert.equal(told.length, 1, 'it is settled once');
  });

  test('one that is longer than any of its type is not decoded', () => {
    const { told, malformed, reply } = play();
    reply(ASKED, new Uint8Array(1024 * 1024));
    assert.equal(told, ['STCI_MESSAGE_INVALID']);
    assert.match(malformed.join(), /^Expected at most \d+ bytes of a reply to job.submit/);
  });
});
