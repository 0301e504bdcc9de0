/** The table of message types: what each accepts and refuses, by its form; who may send it, how long it may be. */

import '../../dist/injection/messages.js';
import '../../dist/programs/messages.js';
import '../../dist/scrape/messages.js';
import '../../dist/service/messages.js';
import { CONTROLLER, FRONT_END, StciError, rootAddress, sessionAddress, toErrorRecord } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { decode, encode } from '../../dist/codec/cbor.js';
import type { Form } from '../../dist/codec/shape.js';
import { HELD_DEPTH_MAX } from '../../dist/event/scope.js';
import { bootDetails } from '../../dist/launcher/boot-details.js';
import {
  bodyBytesMax, checkBody, checkHost, checkLength, checkReply, checkSender, messageId, messageName, messageTypes,
  type MessageName,
} from '../../dist/messages/messages.js';
import { programRequest } from '../../dist/programs/program-connection.js';
import { deviations, formsIn } from '../codec/forms.js';

/** Places that the table says nothing of: the receiver looks into what is there. Each is bounded by its bytes. */
const UNCHECKED = [
  'agent.echo', 'a reply to agent.echo', 'detector.message.body', 'notifier.message.body', 'fault.inject.part.body',
  'service.message.body', 'service.told.body', 'a reply to client.status', 'a reply to client.ranks',
  // Parameters, which their catalogue checks, and arguments of faults, which their components do.
  'job.launch.params', 'client.submit.spec.params', 'client.inject.orders[].args', 'fault.inject.order.args',
];

const MIB = 1024 * 1024;

/** The most that any text, list or bytes of a message may have. */
const LENGTHS_MAX = { text: 2 * MIB, bytes: 8 * MIB, list: MIB, record: MIB };

const RANK_END = { rank: 0, pid: 5, outcome: 'exited', endWallMs: 2.5, leftovers: 0 };
const REPORT = { job: 1, exitCode: 1, failures: [], ranks: [], daemons: [], submitWallMs: 1, endWallMs: 2.5 };

suite('message types', (test) => {
  const types = messageTypes();
  const names = [...types.keys()] as MessageName[];
  const shapes = [...types].flatMap(([name, { body, reply, part }]) => [
    { label: name, shape: body },
    ...(reply === undefined ? [] : [{ label: `a reply to ${name}`, shape: reply }]),
    ...(part === undefined ? [] : [{ label: `a part of the reply to ${name}`, shape: part }]),
  ]);

  test('an optional null is absent; times and numbers are finite', () => {
    const end = { ...RANK_END, end: null, error: null, startWallMs: null };
    const body = checkBody('job.exited', { host: 0, ranks: [end] });
    assert.equal(Object.keys(body.ranks[0] ?? {}).sort(), ['endWallMs', 'leftovers', 'outcome', 'pid', 'rank']);
    for (const bad of [NaN, Infinity, -1, 1e300, null, '1']) {
      assert.throwsCode('STCI_MESSAGE_INVALID', () => checkBody('job.started', { host: 0, ranks: [[0, 1, bad]] }));
      const records = [{ type: 'ended', report: { ...REPORT, endWallMs: bad } }];
      assert.throwsCode('STCI_MESSAGE_INVALID', () =>
        checkReply('client.follow', { records, missed: [], unread: false }, 'part'));
    }
  });

  test('who may send what: kinds of agents, the parent, a host for itself', () => {
    const [root, session] = [rootAddress(3), sessionAddress(3)];
    const may = (name: MessageName, source: number, body: unknown = {}, parent?: number): boolean => {
      try {
        checkSender(name, source, parent);
        checkHost(name, body, source);
        return true;
      } catch (fault) {
        assert.ok(fault instanceof StciError && fault.code === 'STCI_MESSAGE_INVALID');
        return false;
      }
    };
    assert.equal([may('job.exited', session, { host: 3 }), may('job.exited', session, { host: 4 }),
      may('job.exited', root, { host: 3 }), may('job.exited', FRONT_END, { host: 3 })], [true, false, false, false]);
    assert.equal([may('agent.up', root, { host: 3 }), may('agent.up', root, { host: 0 })], [true, false]);
    assert.equal([may('agent.stop', root, {}, root), may('agent.stop', CONTROLLER), may('agent.stop', root, {}, 7)],
      [true, false, false]);
    assert.equal([may('job.end', CONTROLLER, {}, root), may('job.end', root, {}, root), may('job.signal', root, {}, 7),
      may('job.signal', CONTROLLER), may('job.signal', session)], [true, true, false, false, false]);
    assert.equal([may('client.submit', FRONT_END), may('client.control', root), may('job.restart', session)],
      [true, false, false]);
    assert.equal([may('job.restart', CONTROLLER), may('job.end', session), may('job.end', 0xf000_0000)],
      [true, false, false]);
  });

  test('what is merged with what is known here has no fields that the table does not name', () => {
    const more = { failure: 'host 3#1', achievedMs: 1, other: {} };
    const ended = checkBody('job.exited', { host: 0, ranks: [{ ...RANK_END, ...more }] });
    assert.equal(ended.ranks, [RANK_END]);
    const rest = { cause: 'exited', evidence: 'e', detector: 'd', suspectedWallMs: 1, confirmedWallMs: 2 };
    const found = { ...rest, rank: 0, attempt: 1 };
    assert.equal(checkBody('failure.report', { ranks: [{ ...found, ...more }] }).ranks, [found]);
    const subject = { kind: 'host', host: 3, incarnation: 1 };
    const told = { ...rest, subject, reporter: { position: 1, incarnation: 1 } };
    assert.equal(checkBody('failure.notice', { notice: { ...told, ...more } }).notice, told);
  });

  test('each has a number of its own, and is found by it', () => {
    for (const name of names) assert.is(messageName(messageId(name)), name);
    assert.is(new Set(names.map(messageId)).size, names.length);
    for (const none of [0, 0xffff]) assert.is(messageName(none), undefined);
  });

  test('each call of a front-end that is answered late is answered by something', () => {
    const silent = [...types].filter(([, { late, reply, part }]) => late === true && !(reply ?? part));
    assert.equal(silent.map(([name]) => name), ['client.input'], 'it is answered by nothing but that it is');
  });

  test('the record of any error fits: its texts, facts and causes are cut', () => {
    let error: unknown = new Error('x'.repeat(MIB));
    for (let i = 0; i < 100; i++) {
      const data = Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`fact${at}`, 'x'.repeat(10_000)]));
      error = new StciError('STCI_INTERNAL', 'x'.repeat(MIB), { data, cause: error });
    }
    const record = toErrorRecord(error);
    const check = (error: unknown): void => checkReply('client.add', [{ name: 'h', error }]);
    check(decode(encode(record)));
    assert.is(record.message.length, 16 * 1024);
    assert.throwsCode('STCI_MESSAGE_INVALID', () => check({ ...record, cause: record }));
  });

  test('a newer peer may add 64 KiB of fields to each, and no more', () => {
    const bytes = encode({ added: new Uint8Array(65_000) }).length;
    assert.ok(bytes < 64 * 1024);
    checkLength('agent.leave', bytes);
    assert.throwsCode('STCI_MESSAGE_INVALID', () => checkLength('agent.leave', bytes + 4096));
  });

  test('what is longer than any of its type is not decoded; what is repeated to others is short', () => {
    const bytesMax = bodyBytesMax('overlay.opened');
    checkLength('overlay.opened', bytesMax);
    assert.throwsCode('STCI_MESSAGE_INVALID', () => checkLength('overlay.opened', bytesMax + 1));
    assert.throwsCode('STCI_MESSAGE_INVALID', () => checkLength('client.stop', MIB, 'reply'));
    // By root agents that were taken over; the controller repeats it to the neighbours.
    assert.ok(bytesMax < MIB / 2, `${bytesMax} bytes of overlay.opened`);
    for (const name of names) {
      for (const kind of ['body', 'reply', 'part'] as const) assert.ok(bodyBytesMax(name, kind) <= 512 * MIB, name);
    }
  });

  test('what an agent tells that it holds is as deep as scopes are told, and no deeper', () => {
    const check = (depth: number): void => checkReply('agent.held', [[1, 0, [[depth, 'a link', 1]]]]);
    for (const depth of [0, HELD_DEPTH_MAX]) check(depth);
    for (const depth of [HELD_DEPTH_MAX + 1, -1]) assert.throwsCode('STCI_MESSAGE_INVALID', () => check(depth));
  });

  test('no other place is unchecked', () => {
    const found = shapes.flatMap(({ label, shape }) => formsIn(shape, label))
      .filter(([, { kind }]) => kind === 'any' || kind === 'plain').map(([place]) => place);
    assert.equal(found.sort(), [...UNCHECKED].sort());
  });

  test('no text, list or bytes is longer than any that there is to say', () => {
    const lengthOf = (form: Form): number =>
      ('lengthMax' in form ? form.lengthMax : 'keysMax' in form ? form.keysMax : 0);
    const long = shapes.flatMap(({ label, shape }) => formsIn(shape, label)).filter(([, form]) =>
      lengthOf(form) > (LENGTHS_MAX as Readonly<Record<string, number>>)[form.kind]!);
    assert.equal(long.map(([place]) => place), []);
  });

  const others = [
    { label: 'boot details', shape: bootDetails }, { label: 'the request of a program', shape: programRequest },
  ];
  for (const { label, shape } of [...shapes, ...others]) {
    test(`${label}: accepts examples of its form, refuses mutants of them with their place`, () => {
      assert.equal(deviations(shape, label), []);
    });
  }
});
