/** Requests: whose replies are taken, how long they may be, and that each is settled once, in whatever way. */

import {
  CONTROLLER, StciError, rootAddress, sessionAddress, toErrorRecord, type Address, type JobId,
} from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { PendingRequests, bounded, decodeBody, encodeBody, needsOwner } from '../../dist/am/requests.js';
import { encode } from '../../dist/codec/cbor.js';
import { FLAG, LAYER, type FrameHeader } from '../../dist/codec/frame.js';
import { Scope } from '../../dist/event/scope.js';
import { testPlace } from '../world.js';
import { makeNet } from './net.js';

const [ASKED, OTHER] = [rootAddress(1), rootAddress(2)];

suite('replies to requests', (test) => {
  function play() {
    const { platform } = testPlace();
    const [told, malformed] = [[] as string[], [] as string[]];
    const holds = new Scope('agent');
    const waits = { begin: () => undefined, end: () => undefined };
    const requests = new PendingRequests(platform.clock, holds, waits as never);
    requests.add(7, {
      name: 'client.submit', destination: ASKED, job: 0,
      done: (error?: StciError) => void told.push(error?.code ?? 'answered'),
      onPart: (part: string) => void told.push(part),
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

  test('parts come before the reply, each as its type says, and from whom was asked', () => {
    const { told, malformed, reply } = play();
    reply(ASKED, 'it waits', FLAG.part);
    reply(OTHER, 'of another', FLAG.part);
    reply(ASKED, 'still', FLAG.part);
    assert.equal([told, malformed], [['it waits', 'still'], []]);
    reply(ASKED, 5, FLAG.part);
    assert.equal(told.splice(2), ['STCI_MESSAGE_INVALID']);
    assert.equal(malformed, ['Expected a string at a part of the reply to client.submit, got 5']);
    reply(ASKED, 'late', FLAG.part);
    assert.is(told.length, 2, 'it is settled');
  });

  test('one that is longer than any of its type is not decoded', () => {
    const { told, malformed, reply } = play();
    reply(ASKED, new Uint8Array(1024 * 1024), FLAG.part);
    assert.equal(told, ['STCI_MESSAGE_INVALID']);
    assert.match(malformed.join(), /^Expected at most \d+ bytes of a part of the reply to client.submit/);
  });
});

const REQUESTS_MAX = 65_536;

suite('requests that are pending', (test) => {
  function pending() {
    const place = testPlace();
    const told: string[] = [];
    const waits = {
      begin: (kind: string, number: number, on: Address) => told.push(`${kind} ${number} waits for ${on & 0xff}`),
      end: (kind: string, number: number) => told.push(`${kind} ${number} is over`),
    };
    const requests = new PendingRequests(place.platform.clock, new Scope('agent'), waits as never);
    const add = (sequence: number, host: number, job: JobId = 0): boolean => requests.add(sequence, {
      name: 'agent.echo', destination: job === 0 ? rootAddress(host) : sessionAddress(host), job,
      done: (error?: StciError, reply?: unknown) => told.push(`${sequence}: ${error?.message ?? String(reply)}`),
    } as never, 100 * sequence);
    const isQuiet = (): boolean => place.world.scheduler.queue.pending().length === 0;
    return { ...place, requests, add, isQuiet, next: () => told.splice(0) };
  }

  test('each is waited for until it is settled, once, by an answer or its own deadline, and leaves no timer', () => {
    const { requests, add, next, run, isQuiet } = pending();
    assert.equal([add(1, 4), add(2, 5)], [true, true]);
    assert.equal(next(), ['request 1 waits for 4', 'request 2 waits for 5']);
    requests.settle(2, undefined, 'yes');
    requests.settle(2, undefined, 'again');
    requests.settle(9, undefined, 'unknown');
    assert.equal(next(), ['request 2 is over', '2: yes']);
    run(99);
    assert.equal(next(), []);
    run(1);
    assert.equal(next(), ['request 1 is over', '1: No reply of root:4 to agent.echo in 100 ms']);
    assert.equal([isQuiet(), run(10_000), next()], [true, undefined, []]);
  });

  test('one without a deadline waits until the other agent is lost', () => {
    const { requests, next, run, isQuiet } = pending();
    const done = (error?: StciError): void => void lost.push(error?.code);
    const lost: unknown[] = [];
    requests.add(1, { name: 'client.wait', destination: ASKED, job: 0, done }, Infinity);
    assert.equal([isQuiet(), next()], [true, ['request 1 waits for 1']]);
    run(10_000_000);
    assert.equal(lost, []);
    requests.fail(() => true, new StciError('STCI_AGENT_LOST', 'lost'));
    assert.equal([lost, next()], [['STCI_AGENT_LOST'], ['request 1 is over']]);
  });

  test('those to agents that are gone fail, no others; all of them when it is closed', () => {
    const { requests, add, next, run, isQuiet } = pending();
    for (const [sequence, host, job] of [[1, 4, 0], [2, 4, 7], [3, 4, 8], [4, 5, 0]] as const) add(sequence, host, job);
    next();
    const asked: string[] = [];
    requests.fail(({ destination, job }) => (asked.push(`${destination === sessionAddress(4)} ${job}`), job === 7),
      new StciError('STCI_AGENT_LOST', 'lost'));
    assert.equal(asked, ['false 0', 'true 7', 'true 8', 'false 0']);
    assert.equal(next(), ['request 2 is over', '2: lost']);
    requests.close('it ends');
    const over = [1, 3, 4].flatMap((sequence) => [`request ${sequence} is over`, `${sequence}: it ends`]);
    assert.equal([next(), isQuiet(), run(10_000), next()], [over, true, undefined, []]);
  });

  test('one too many fails at once, and the others go on', () => {
    let timers = 0;
    const after = () => ((timers += 1), { cancel: () => (timers -= 1) });
    const waits = { begin: () => undefined, end: () => undefined };
    const requests = new PendingRequests({ after } as never, new Scope('agent'), waits as never);
    const told: string[] = [];
    const done = (error?: StciError): void => void told.push(error?.code ?? 'answered');
    const add = (sequence: number): boolean =>
      requests.add(sequence, { name: 'agent.echo', destination: ASKED, job: 0, done }, 1000);
    for (let sequence = 1; sequence < REQUESTS_MAX; sequence += 1) add(sequence);
    assert.equal([add(REQUESTS_MAX), add(70_000), timers, told], [true, false, REQUESTS_MAX, ['STCI_REQUEST_LIMIT']]);
    requests.settle(5, undefined, 'yes');
    assert.equal([add(70_000), add(70_001), timers, told.length], [true, false, REQUESTS_MAX, 3]);
  }, { timeoutMs: 20_000 });
});

suite('bodies of messages', (test) => {
  test('one may be as long as the parameter permits, to the last byte', () => {
    const body = new Uint8Array(8);
    assert.is(bounded(body, { messageBytesMax: 8 }), body);
    assert.throwsCode('STCI_MESSAGE_TOO_LARGE', () => bounded(body, { messageBytesMax: 7 }));
  });

  test('nothing takes no bytes; what is longer than any of its type, message or reply, is not sent', () => {
    assert.is(encodeBody('session.ready', undefined).length, 0);
    assert.is(decodeBody('session.ready', CONTROLLER, new Uint8Array()), undefined);
    assert.equal(decodeBody('agent.echo', rootAddress(1), encodeBody('agent.echo', { a: 1 })), { a: 1 });
    assert.is(decodeBody('agent.echo', rootAddress(1), encodeBody('agent.echo', 0)), 0, 'one byte');
    const long = { text: 'x'.repeat(1 << 20) };
    assert.throwsCode('STCI_MESSAGE_TOO_LARGE', () => encodeBody('session.ready', long));
    assert.throwsCode('STCI_MESSAGE_TOO_LARGE', () => encodeBody('session.ready', long, 'reply'));
    assert.ok(encodeBody('client.submit', long).length > 1 << 20, 'the request may be');
  });

  test('what is lost on its way needs somebody who answers for it, but where there was no way', () => {
    const codes = ['STCI_MESSAGE_UNROUTABLE', 'STCI_MESSAGE_TTL', 'STCI_LINK_CLOSED'] as const;
    const errors = [undefined, ...codes.map((code) => new StciError(code, 'x'))];
    assert.equal(errors.map((each) => needsOwner(each)), [false, false, false, true]);
  });
});

suite('requests of an agent that ends', (test) => {
  test('each fails, once', () => {
    const { nodes, run } = makeNet([0, 0]);
    const told: (string | undefined)[] = [];
    const [controller] = nodes;
    controller?.messages.request(rootAddress(0), 'agent.echo', 0, (error) => void told.push(error?.code));
    controller?.close();
    assert.equal(told, ['STCI_LINK_CLOSED']);
    run(60_000);
    assert.is(told.length, 1);
  });
});
