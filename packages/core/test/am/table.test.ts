/** The table of message types: an example of each passes, also after CBOR; a damaged one does not. */

import { CONTROLLER, FRONT_END, StciError, rootAddress, sessionAddress, toErrorRecord } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { decode, encode } from '../../dist/codec/cbor.js';
import {
  bodyBytesMax, checkBody, checkLength, checkReply, checkSender, isLate, messageId, messageName, type BodyKind,
  type MessageName,
} from '../../dist/messages/messages.js';
import { ANSWERS, EXAMPLES, RANK_END, REPORT, VARIANTS, type Example } from './message-examples.js';

/** Fields that may be absent. */
const OPTIONAL = ['end', 'error', 'startWallMs', 'options', 'status', 'cause', 'host', 'rank', 'data', 'spare',
  'signal', 'socket', 'network', 'parent', 'timeoutMs', 'failedWallMs', 'heardWallMs', 'promised', 'notifiedWallMs',
  'achievedMs', 'achievedMaxMs', 'notice', 'session',
  'attempt', 'earlier', 'problem', 'tls', 'start', 'restarts', 'roundTripMs', 'durationMs', 'report', 'partsTo',
  'partsAt'];

/** Fields of such names that must be there. */
const NEEDED = ['agent.failed.error', 'client.control.cause.error',
  'client.submit.spec.stdin.rank', 'job.exited.ranks[0].rank', 'job.exited.host', 'job.drained.restarts',
  'job.restarting.ranks[0].rank', 'job.restarting.host', 'agent.up.host', 'job.started.host',
  'job.drained.host', 'job.unread.host', 'tree.adopt.host',
  'program.open.host', 'program.votes.host', 'program.messages.host', 'program.taken.host', 'overlay.opened.host',
  'links.report.host', 'client.inject.order.victim.rank', 'fault.inject.order.victim.rank',
  'fault.inject.part.at.host', 'fault.report.host', 'fault.report.report.host', 'program.marked.host',
  'service.message.host', 'a part of the reply to client.reports.host', 'a reply to client.clocks[0].host',
  'tree.adopt.socket', 'failure.notice.notice', 'failure.notice.notice.subject.host',
  'failure.notice.notice.subject.rank', 'failure.report.ranks[0].rank', 'failure.verdict.notice.subject.host',
  'failure.verdict.notice.subject.rank',
  ...['error', 'rank', 'host', 'parent', 'report.rank', 'report.host', 'report.ranks[0].rank', 'report.ranks[0].host',
    'record.subject.host', 'record.subject.rank', 'record.newParents[0].host', 'record.newParents[0].parent',
  ].map((field) => `a part of the reply to client.follow.records[0].${field}`),
  ...['host', 'rank'].map((field) => `a reply to client.wait.ranks[0].${field}`)];

/** Parts that are passed on as they are: the receiver looks into them. */
const OPAQUE = ['agent.echo', 'detector.message.body', 'notifier.message.body', 'fault.inject.part.body',
  'service.message.body', 'service.told.body'];

type Path = readonly (string | number)[];

function paths(value: unknown, at: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [at];
  const below = Object.keys(value).flatMap((key) => {
    const step = Array.isArray(value) ? Number(key) : key;
    return paths((value as Record<string, unknown>)[key], [...at, step]);
  });
  return [at, ...below];
}

function withChange(value: unknown, path: Path, change: (parent: Record<string | number, unknown>,
  key: string | number) => void): unknown {
  const copy = structuredClone({ root: value }) as Record<string | number, unknown>;
  const keys = ['root', ...path];
  let parent = copy;
  for (const key of keys.slice(0, -1)) parent = parent[key] as Record<string | number, unknown>;
  change(parent, keys.at(-1) as string | number);
  return copy['root'];
}

/** Bounded by the bytes of their message alone. */
const UNBOUND = [...OPAQUE, 'client.inject.orders[0].args', 'fault.inject.order.args'];

const MIB = 1024 * 1024;
const LONG_TEXT = 'x'.repeat(2 * MIB + 1);
const LONG_BYTES = new Uint8Array(8 * MIB + 1);
const ENTRIES = MIB + 1;

/** More of the same than there may be; undefined: it is neither text, list nor bytes. */
function oversized(value: unknown): unknown {
  if (typeof value === 'string') return LONG_TEXT;
  if (value instanceof Uint8Array) return LONG_BYTES;
  return Array.isArray(value) ? new Array<unknown>(ENTRIES).fill(value[0]) : undefined;
}

function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((at, key) => (at as Record<string | number, unknown>)[key], value);
}

/** The value with another at that place. */
function withValue(value: unknown, [key, ...rest]: Path, put: unknown): unknown {
  if (key === undefined) return put;
  const copy = (Array.isArray(value) ? [...value] : { ...(value as object) }) as Record<string | number, unknown>;
  copy[key] = withValue(copy[key], rest, put);
  return copy;
}

const words = (name: string, path: Path): string =>
  path.reduce<string>((text, step) => text + (typeof step === 'number' ? `[${step}]` : `.${step}`), name);

function isOpaque(place: string): boolean {
  return OPAQUE.some((part) => place === part || place.startsWith(`${part}.`) || place.startsWith(`${part}[`));
}

suite('message types', (test) => {
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
        checkSender(name, body, source, parent);
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

  test('each has a number of its own, and is found by it', () => {
    const names = Object.keys(EXAMPLES) as MessageName[];
    for (const name of names) assert.is(messageName(messageId(name)), name);
    assert.is(new Set(names.map(messageId)).size, names.length);
    for (const none of [0, 0xffff]) assert.is(messageName(none), undefined);
  });

  const bodies = (Object.entries(EXAMPLES) as [MessageName, unknown][]).map(([name, body]) => [name, body] as const);
  const examples: Example[] = [...bodies, ...VARIANTS, ...ANSWERS];
  const check = (name: MessageName, kind: BodyKind, value: unknown): unknown => {
    if (kind === 'body') return checkBody(name, value);
    checkReply(name, value, kind);
    return value;
  };
  const PREFIX = { body: '', reply: 'a reply to ', part: 'a part of the reply to ' };

  test('each call of a front-end that is answered late has an example of what answers it', () => {
    const late = bodies.map(([name]) => name).filter((name) => isLate(name));
    const without = late.filter((name) => !ANSWERS.some(([answered]) => answered === name));
    assert.equal(without, ['client.input'], 'it is answered by nothing but that it is');
  });

  test('the record of any error fits: its texts, facts and causes are cut', () => {
    let error: unknown = new Error('x'.repeat(MIB));
    for (let i = 0; i < 100; i++) {
      const data = Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`fact${at}`, 'x'.repeat(10_000)]));
      error = new StciError('STCI_INTERNAL', 'x'.repeat(MIB), { data, cause: error });
    }
    const record = toErrorRecord(error);
    const shape = (error: unknown): unknown => check('client.add', 'reply', [{ name: 'h', error }]);
    assert.equal(shape(decode(encode(record))), [{ name: 'h', error: record }]);
    assert.is(record.message.length, 16 * 1024);
    assert.throwsCode('STCI_MESSAGE_INVALID', () => shape({ ...record, cause: record }));
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
    for (const name of Object.keys(EXAMPLES) as MessageName[]) {
      for (const kind of ['body', 'reply', 'part'] as const) assert.ok(bodyBytesMax(name, kind) <= 512 * MIB, name);
    }
  });

  for (const [index, [name, example, kind = 'body']] of examples.entries()) {
    const label = PREFIX[kind] + name;
    test(`${label} (${index}): no text, list or bytes without a bound`, () => {
      const refused = (place: string, changed: unknown): boolean => {
        try {
          check(name, kind, changed);
          return false;
        } catch (fault) {
          return fault instanceof StciError && fault.code === 'STCI_MESSAGE_INVALID' && fault.message.includes(place);
        }
      };
      const open = paths(example).filter((path) => {
        const place = words(label, path);
        if (UNBOUND.some((part) => [...'.['].some((end) => `${place}.`.startsWith(part + end)))) return false;
        const put = oversized(valueAt(example, path));
        return put !== undefined && !refused(place, withValue(example, path, put));
      });
      assert.equal(open.map((path) => words(label, path)), []);
    });

    test(`${label} (${index}): its example passes, with what a newer peer adds`, () => {
      assert.equal(check(name, kind, decode(encode(example))), example as never);
      const isObject = typeof example === 'object' && !Array.isArray(example);
      if (isObject) check(name, kind, { ...example, added: 1 });
    });

    const judged = paths(example).filter((path) => !isOpaque(words(label, path)));
    if (judged.length === 0) continue;
    test(`${label} (${index}): each part that is missing or of another type is refused with its place`, () => {
      for (const path of judged) {
        const place = words(label, path);
        const last = String(path.at(-1));
        const spoil = (put: unknown): unknown => withChange(example, path,
          (parent, key) => { parent[key] = put; });
        const optional = OPTIONAL.includes(last) && !NEEDED.includes(place);
        for (const put of [Symbol.for('x'), NaN, ...(optional ? [] : [undefined, null])]) {
          try {
            check(name, kind, spoil(put));
            assert.unreachable(`${place} = ${String(put)} passed`);
          } catch (fault) {
            assert.ok(fault instanceof StciError && fault.code === 'STCI_MESSAGE_INVALID',
              `${place}: ${String(fault)}`);
            assert.match(fault.message, place, 'the path');
          }
        }
      }
    });
  }
});
