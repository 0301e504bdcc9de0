/** The socket of programs at their session agent: who is taken, what each is told, and what breaks the protocol. */

import {
  PROGRAM_KEYS_MAX, PROGRAM_MESSAGE_BYTES_MAX, PROGRAM_PARTS_BYTES_MAX, programRecord, type Channel,
} from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { ProgramConnection, type ProgramConnectionEvents } from '../../dist/programs/program-connection.js';
import { POSITION_COST_US } from '../../dist/programs/program-turns.js';
import { PLACES, SIZE, VOTE, decision, play, state, type Peer } from './port-help.js';

const refusal = (peer: Peer): string => {
  const last = peer.told.at(-1);
  assert.ok(peer.isClosed, 'the connection is closed');
  return last?.type === 'refused' ? last.reason : '';
};

suite('programs at their session agent', (test) => {
  test('a rank is welcomed, the controller is asked once, and losses are told once, whoever says it', () => {
    const { port, sent, connect, hello, deliver, run } = play();
    const [two, three] = [connect(), connect()];
    two.send(hello(2));
    three.send(hello(3));
    assert.equal(sent, [['program.open', { host: 1 }], ['failure.interest', {}]]);
    port.onRankFailed(5, 1, 'sooner');
    run();
    assert.equal(two.told, [], 'the controller has not answered');
    deliver('program.state', { ...state(0, [[0, 0, 'r', 'a']]), ended: [[4, 4]] });
    deliver('program.failed', { lost: [[5, 5, 'later', 'c'], [6, 7, 's', 'c']] });
    assert.equal(two.told[0], { type: 'welcome', rank: 2, size: SIZE, job: 7, attempt: 1, host: 'b' });
    const lost = [[[5, 5, 'sooner', ''], [0, 0, 'r', 'a']], [[6, 7, 's', 'c']]]
      .map((list) => ({ type: 'failed', lost: list }));
    const news = [lost[0], { type: 'ended', ranks: [[4, 4]] }, lost[1]];
    assert.equal(two.told.slice(1), news);
    assert.equal(three.told.slice(1), news);
    two.channel.close();
    run();
    const again = connect();
    again.send(hello(2));
    const all = [[5, 5, 'sooner', ''], [0, 0, 'r', 'a'], [6, 6, 's', 'c'], [7, 7, 's', 'c']];
    assert.equal(again.told[1], { type: 'failed', lost: all });
  });

  test('a rank that others have spawned finds no port', () => {
    const { port } = play();
    assert.equal([port.add(SIZE, 1), Object.keys(port.add(SIZE - 1, 1)).length], [{}, 2]);
  });

  test('a message that nobody has taken fails when its receiver is lost, and a receive from it', () => {
    const { connect, hello, deliver } = play();
    const two = connect();
    two.send(hello(2));
    deliver('program.state', state(0, []));
    two.send(programRecord({ type: 'send', id: 1, to: 0, tag: 't', form: 'bytes' }, Buffer.from('x')));
    two.send({ type: 'receive', id: 2, from: 0, tag: 't' });
    assert.equal(two.told.slice(1), []);
    deliver('program.failed', { lost: [[0, 0, 'gone', 'c']] });
    const failed = two.told.filter(({ type }) => type === 'failed-call').map((one) =>
      one.type === 'failed-call' && [one.id, one.code]);
    assert.equal(failed, [[1, 'STCI_CLIENT_RANK_LOST'], [2, 'STCI_CLIENT_RANK_LOST']]);
  });

  test('a receive that a rank of a lost host was to send to gets what others send, and is not left waiting', () => {
    const { connect, hello, deliver, sent } = play();
    const two = connect();
    two.send(hello(2));
    const places = [[0, 'a', [[0, 0], [3, 7]]], [1, 'b', [[2, 2]]], [2, 'c', [[1, 1]]]];
    deliver('program.state', { ...state(0, []), places });
    two.send({ type: 'receive', id: 1 });
    const bytes = Buffer.alloc(PROGRAM_MESSAGE_BYTES_MAX);
    const bring = (host: number, more: object): void =>
      deliver('program.messages', { host, decided: 0, messages: [], asks: [], ...more });
    const granted = (): unknown => sent.splice(0).filter(([name]) => name === 'program.taken')
      .map(([, body]) => (body as { readonly grants: unknown }).grants);
    for (const [host, from] of [[0, 0], [2, 1]] as const) {
      bring(host, { asks: [[7 + from, from, 2, 1, 't', bytes.length]] });
    }
    assert.equal(granted(), [[7], []], 'one for one receive');
    deliver('program.failed', { lost: [[0, 0, 'its host is lost', 'a'], [3, 7, 'its host is lost', 'a']] });
    assert.equal(granted(), [[8]]);
    bring(2, { messages: [[8, 1, 2, 1, 't', 0, bytes]] });
    const last = two.told.at(-1);
    assert.equal(last?.type === 'message' && [last.id, last.from], [1, 1]);
    two.send({ type: 'receive', id: 2, from: 0 });
    assert.equal(two.told.at(-1)?.type, 'failed-call');
  });

  test('news of a former attempt of a rank that takes part again comes too late', () => {
    const { port, connect, hello, deliver, run } = play();
    const two = connect();
    two.send(hello(2));
    deliver('program.state', state(4, [[5, 6, 'r', 'c']]));
    const agreed = { flag: false, isMismatch: false, ranks: [], joined: [[5, 6]], failed: [] };
    deliver('program.agreed', decision(agreed, [[3, 0, 'a'], [2, 0, 'a']]));
    for (const [rank, attempt] of [[5, 1], [5, 2], [6, 1], [6, 2]] as const) port.onRankFailed(rank, attempt, 'again');
    run();
    assert.equal(two.told.slice(2), [{ type: 'failed', lost: [[6, 6, 'again', 'a']] }]);
  });

  test('keys count for what it costs to keep them, those of all ranks of a host together', () => {
    const { connect, hello, deliver } = play();
    const [two, three] = [connect(), connect()];
    two.send(hello(2));
    three.send(hello(3));
    deliver('program.state', state(0, []));
    const put = (id: number, key = `k${id}`): object => ({ type: 'put', id, key, form: 'bytes' });
    const many = Array.from({ length: 70_000 }, (_, i) => put(i + 1));
    two.send(...many);
    const answers = two.told.slice(1);
    const done = answers.filter(({ type }) => type === 'done').length;
    assert.is(answers.length, many.length);
    assert.ok(done < PROGRAM_KEYS_MAX && done > 50_000, `${done} keys were taken`);
    const failed = answers.at(-1);
    assert.is(failed?.type === 'failed-call' && failed.code, 'STCI_CLIENT_LIMIT');
    assert.match(failed?.type === 'failed-call' ? failed.reason : '', /ranks of this host .*call exchange\(\) sooner/);
    three.send(put(1, 'other'));
    assert.is(three.told.at(-1)?.type, 'failed-call', 'there is no room for those of another rank either');
    two.send(put(70_001, 'k1'));
    assert.equal(two.told.at(-1), { type: 'done', id: 70_001 }, 'one that is there may change');
    two.send({ type: 'vote', kind: 'exchange' });
    three.send(put(2, 'other'));
    assert.is(three.told.at(-1)?.type, 'failed-call', 'nor while an exchange that has them waits');
    deliver('program.refused', {
      calls: [[2, 1]], code: 'STCI_CLIENT_RANK_LOST', reason: 'r', failed: [], missing: [],
    });
    three.send(put(3, 'other'));
    assert.is(three.told.at(-1)?.type, 'failed-call', 'nor after it was refused');
    two.send({ type: 'vote', kind: 'exchange' });
    deliver('program.agreed', decision({ flag: true, isMismatch: false, ranks: [[0, 7]], joined: [], failed: [] }));
    three.send(put(4, 'other'));
    assert.equal(three.told.at(-1), { type: 'done', id: 4 });
  });

  test('the room that the keys of a rank took is free when its process has ended', () => {
    const { port, connect, hello, deliver } = play();
    const [two, three] = [connect(), connect()];
    two.send(hello(2));
    three.send(hello(3));
    deliver('program.state', state(0, []));
    const put = (id: number): Uint8Array =>
      programRecord({ type: 'put', id, key: `k${id}`, form: 'bytes' }, Buffer.alloc(1 << 15));
    two.send(...Array.from({ length: 200 }, (_, i) => put(i + 1)));
    assert.equal(two.told.at(-1)?.type, 'failed-call');
    three.send(put(1));
    assert.equal(three.told.at(-1)?.type, 'failed-call');
    port.remove(2);
    three.send(put(2));
    assert.equal(three.told.at(-1), { type: 'done', id: 2 });
  });

  test('what a program asks before it is welcome waits, and is answered in order', () => {
    const { connect, hello, deliver } = play();
    const two = connect();
    two.send(hello(2), ...Array.from({ length: 100 }, (_, i) => ({ type: 'hosts', id: i + 1 })));
    assert.equal(two.told, []);
    two.send({ type: 'get', id: 101, key: 'k' });
    assert.equal(two.told, []);
    deliver('program.state', state(0, []));
    assert.equal([two.told.length, two.told[0]?.type], [102, 'welcome']);
    const hosts = PLACES.map(([, name, ranks]) => [name, ranks]);
    assert.equal(two.told[100], { type: 'hosts', id: 100, hosts });
    assert.equal(two.told[101], { type: 'value', id: 101, found: false, form: 'bytes' });
  });

  test('signs of life are passed on; a promise ends with its connection', () => {
    const { alive, connect, hello, run } = play({ isKnown: true });
    const two = connect();
    two.send(hello(2), { type: 'alive', withinMs: 500 });
    two.channel.close();
    run();
    assert.equal(alive, [[2, 500], [2, 0]]);
  });

  test('marks go to the controller, those of a turn together; too many end the connection', () => {
    const { connect, hello, sent, run } = play({ isKnown: true });
    const two = connect();
    two.send(hello(2), { type: 'mark', name: 'phase 2' }, { type: 'mark', name: 'phase 3' });
    run();
    const marked = (): [number, string][] => sent.filter(([name]) => name === 'program.marked').flatMap(([, body]) =>
      (body as { marks: [number, string, number][] }).marks.map(([rank, name]): [number, string] => [rank, name]));
    assert.equal(marked(), [[2, 'phase 2'], [2, 'phase 3']]);
    two.send(...Array.from({ length: 250 }, (_, i) => ({ type: 'mark', name: `m${i}` })));
    run();
    assert.match(refusal(two), /more than 100 marks in a second/);
    assert.is(marked().length, 200);
  });

  test('a fault tells a program to end itself, if it is connected', () => {
    const { port, connect, hello, deliver, run } = play();
    const two = connect();
    const problem = /^rank 2 cannot be told to end: its program has not called connect\(\)/;
    assert.match(port.exit(2, 7) ?? '', problem);
    two.send(hello(2));
    assert.match(port.exit(2, 7) ?? '', problem);
    deliver('program.state', state(0, []));
    assert.is(port.exit(2, 7), undefined);
    run();
    assert.equal(two.told.at(-1), { type: 'exit', status: 7 });
  });

  const WRONG: readonly (readonly [string, readonly unknown[], RegExp])[] = [
    ['another rank number', [{ type: 'hello', version: 2, token: 'x'.repeat(32) }], /token is of no rank/],
    ['another version', [{ type: 'hello', version: 1, token: 'x' }], /version 1 .*, stcirun 2: update the library/],
    ['a vote before hello', [VOTE], /wrong time/],
    ['no JSON', [new TextEncoder().encode('{"type":\n')], /JSON/],
    ['an unknown type', [{ type: 'kill' }], /one of hello, vote, send/],
    ['bytes that are announced before hello', [{ ...VOTE, bytes: 1 }], /^vote has 0 to 0 bytes, got 1$/],
    ['bytes of hello', [{ type: 'hello', version: 2, token: 'x', bytes: 9 }], /^hello has 0 to 0 bytes, got 9$/],
    ['bytes of no text', [new TextEncoder().encode('{"type":"hello","bytes":{"toString":0,"valueOf":0}}\n')],
      /^hello has 0 to 0 bytes, got object$/],
    ['a long line', [new Uint8Array(5000).fill(65)], /longer than 4096/],
  ];
  for (const [what, lines, reason] of WRONG) {
    test(`refused: ${what}`, () => {
      const { connect, sent } = play();
      const peer = connect();
      peer.send(...lines);
      assert.match(refusal(peer), reason);
      assert.equal(sent, []);
    });
  }

  test('refused after hello: a second connection, a second vote, a flag of another kind, hello again', () => {
    const { connect, hello, sent } = play({ isKnown: true });
    const two = connect();
    two.send(hello(2));
    const other = connect();
    other.send(hello(2));
    assert.match(refusal(other), /rank 2 is connected already/);
    two.send(VOTE, VOTE);
    assert.match(refusal(two), /voted again/);
    const wrong = [
      { ...VOTE, flag: 1 }, { ...VOTE, bytes: 2 ** 21 }, { type: 'mark', name: 'm', bytes: 1 }, hello(2),
      { type: 'alive', withinMs: -1 }, { ...VOTE, kind: 'no' },
    ];
    for (const line of wrong) {
      const next = connect();
      next.send(hello(2), line);
      assert.ok(refusal(next) !== '');
    }
    assert.equal(sent.map(([name]) => name), ['program.votes'], 'the first one, and nothing else');
  });

  test('another collective while that of an earlier connection waits: an error that names it', () => {
    const { connect, hello, sent, run } = play({ isKnown: true });
    const first = connect();
    first.send(hello(2), { ...VOTE, kind: 'gather', root: 3 });
    first.channel.close();
    run();
    const next = connect();
    const call = { type: 'vote', kind: 'allgather' };
    next.send(hello(2), call);
    next.send(call, { ...VOTE, kind: 'gather', root: 1 });
    const refused = { type: 'agreed', code: 'STCI_CLIENT_MISMATCH',
      reason: 'gather() with root 3 of this rank still waits; call it again' };
    const said = next.told.slice(1) as { readonly code?: string; readonly type: string; readonly reason?: string }[];
    assert.equal(said.map(({ type, code, reason }) => ({ type, code, reason })), [refused, refused, refused]);
    next.send({ ...VOTE, kind: 'gather', root: 3 });
    assert.ok(!next.isClosed);
    assert.is(next.told.length, 4, 'the same waits');
    next.send(call);
    assert.match(refusal(next), /voted again/);
    assert.ok(sent.every(([name]) => name !== 'program.refused'));
  });

  test('a topology of more positions than are built in time is refused, and no other', () => {
    const { connect, hello } = play({ isKnown: true });
    const two = connect();
    const ask = (id: number, size: number): object => ({ type: 'topology', id, spec: 'none', size, position: 0 });
    two.send(hello(2), ask(1, 2 ** 20), ask(2, 2 ** 20 + 1));
    const code = 'STCI_CLIENT_TOPOLOGY';
    assert.equal(two.told.slice(1), [
      { type: 'failed-call', id: 1, code, reason: 'no such topology' },
      { type: 'failed-call', id: 2, code, reason: 'topology none: size 1048577 is more than 1048576' },
    ]);
  });

  test('requests that cost much, by what they name, hold up neither the agent nor other ranks', () => {
    const { connect, hello, built, run, world } = play({ isKnown: true });
    const [two, three] = [connect(), connect()];
    two.send(hello(2));
    three.send(hello(3));
    const size = 2 ** 20;
    const asked = { type: 'topology', spec: 'bmg', position: 0 };
    const ask = (id: number): object => ({ ...asked, id, size: size - id % 4 });
    const many = Array.from({ length: 500 }, (_, i) => programRecord(ask(i + 1)));
    const bytes = many.reduce((sum, { length }) => sum + length, 0);
    assert.ok(bytes < 48_000, `one chunk, ${bytes} bytes`);
    const sinceMs = world.nowMs;
    two.channel.send(many);
    for (let id = 1; id <= 100; id++) {
      run(10);
      three.channel.send([programRecord({ type: 'get', id, key: 'k' })]);
      const before = three.told.length;
      run(1);
      assert.is(three.told.length, before + 1, 'it is answered at once');
    }
    const spentMs = built.reduce((sum, [, positions]) => sum + positions * POSITION_COST_US / 1000, 0);
    const longestMs = size * POSITION_COST_US / 1000;
    assert.ok(built.length > 2, 'they are answered in time');
    assert.ok(spentMs <= (world.nowMs - sinceMs) + longestMs, `${spentMs} ms of ${world.nowMs - sinceMs}`);
    for (const [i, [atMs]] of built.entries()) {
      const before = built[i - 1];
      const restedMs = before === undefined ? atMs : before[0] + before[1] * POSITION_COST_US / 1000;
      assert.ok(atMs >= restedMs, 'a rest between two');
    }
    run(100_000);
    assert.is(two.told.length, 1 + many.length, 'all are answered in the end');
  });

  test('a rank whose process has ended is refused; one that does not read loses its connection', () => {
    const { port, connect, hello, deliver, run } = play({ isKnown: true });
    const [two, three] = [connect(), connect()];
    two.send(hello(2));
    three.send(hello(3));
    port.remove(2);
    run();
    assert.ok(two.isClosed);
    const late = connect();
    late.send(hello(2));
    assert.match(refusal(late), /no rank/);
    three.channel.readable(false);
    const reason = 'r'.repeat(8_000_000);
    for (let rank = 4; rank < SIZE; rank++) deliver('program.failed', { lost: [[rank, rank, reason, 'c']] });
    three.channel.readable(true);
    run();
    assert.ok(three.isClosed);
  });

  test('an old connection that a child of the process holds takes nothing from the next attempt', () => {
    const { port, alive, connect, hello, deliver, run } = play({ isKnown: true });
    const [old, next] = [connect(), connect()];
    old.send(hello(2), { type: 'alive', withinMs: 1000 });
    old.channel.readable(false);
    deliver('program.failed', { lost: [[5, 5, 'r'.repeat(8_000_000), 'c']] });
    port.remove(2);
    const token = port.add(2, 2)['STCI_CLIENT_TOKEN'];
    next.send({ type: 'hello', version: 2, token }, { type: 'alive', withinMs: 2000 });
    old.channel.readable(true);
    run();
    assert.equal([old.isClosed, next.isClosed, alive], [true, false, [[2, 1000], [2, 2000]]]);
  });

  test('what it may leave unread: answers to a mark, the last of them, a decision, and as much again of news', () => {
    const mib = 1024 * 1024;
    let [queuedBytes, sent, why] = [0, 0, ''];
    const channel = {
      get queuedBytes() {
        return queuedBytes;
      },
      bind: () => undefined,
      send: () => (sent += 1),
      destroy: (text: string) => (why = text),
    } as unknown as Channel;
    const connection = new ProgramConnection(channel, {} as ProgramConnectionEvents);
    const isSent = (bytes: number): unknown => {
      const before = sent;
      queuedBytes = bytes;
      connection.send({ type: 'failed-call', id: 1, code: 'c', reason: 'r' } as never);
      return [connection.hasRoom, sent > before, why];
    };
    const most = 2 * mib + PROGRAM_MESSAGE_BYTES_MAX + PROGRAM_PARTS_BYTES_MAX;
    assert.equal([isSent(mib), isSent(mib + 1)], [[true, true, ''], [false, true, '']]);
    assert.equal([isSent(most), isSent(most + 1)], [[false, true, ''], [false, false, 'it does not read']]);
  });

  test('connections that never say hello: no more than may be pending, and ranks still connect', () => {
    const { connect, hello, run } = play({ isKnown: true });
    const idle = Array.from({ length: 200 }, () => connect());
    for (const peer of idle) peer.send(Uint8Array.of(123));
    run();
    assert.ok(idle.filter(({ isClosed }) => !isClosed).length <= 64, 'idle ones are closed');
    const honest = connect();
    honest.send(hello(2));
    assert.is(honest.told[0]?.type, 'welcome');
    assert.ok(!honest.isClosed);
  });
});
