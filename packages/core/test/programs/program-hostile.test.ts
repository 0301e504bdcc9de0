/** What an agent of one host cannot do to the messages and collectives of ranks that are elsewhere. */

import type { HostIndex, Rank } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { Scope } from '../../dist/event/scope.js';
import { checkBody, type MessageBody } from '../../dist/messages/messages.js';
import '../../dist/programs/messages.js';
import type { AgentNode } from '../../dist/node/node.js';
import { IncomingMessages } from '../../dist/programs/incoming-messages.js';
import { OutgoingMessages, type Outgoing } from '../../dist/programs/outgoing-messages.js';
import { BATCHES_MAX, messagingLimits } from '../../dist/programs/program-limits.js';
import { Program } from '../../dist/programs/program.js';
import { RankMessaging } from '../../dist/programs/rank-messaging.js';
import { RankStatusView } from '../../dist/programs/rank-status-view.js';
import { testPlace } from '../world.js';
import { peersOf } from './messages-help.js';

type Batch = MessageBody<'program.messages'>;

const MIB = 1024 * 1024;
const SIZE = 3;
const LIMITS = messagingLimits(SIZE, 64 * MIB, 16 * MIB);
const DECIDED_MAX = 2 ** 32 - 1;

/** One rank on each host. */
function newsOf(): RankStatusView {
  const news = new RankStatusView(SIZE);
  const places = [0, 1, 2].map((at) => [at, `h${at}`, [[at, at] as const]] as const);
  news.onState({ decided: 0, lost: [], ended: [], places, attempts: [], pairs: [] });
  return news;
}

function batchOf(host: HostIndex, more: Partial<Batch>): Batch {
  return { host, decided: 0, messages: [], asks: [], ...more };
}

function messageOf(call: number, from: Rank, bytes = 4): Batch['messages'][number] {
  return [call, from, 0, 1, 't', 0, new Uint8Array(bytes)];
}

function askOf(call: number, from: Rank, bytes = 8 * MIB): Batch['asks'][number] {
  return [call, from, 0, 1, 't', bytes];
}

function incomingOf() {
  const program = new Program(0, 1, '');
  const { peer, turn } = peersOf(LIMITS, () => undefined);
  let got = 0;
  const news = newsOf();
  program.connection = { hasRoom: true, send: () => (got += 1) } as never;
  const incoming = new IncomingMessages({
    limits: LIMITS, news,
    programs: new Map([program, new Program(1, 1, ''), new Program(2, 1, '')].map((of) => [of.rank, of])),
    answers: (host) => turn(peer(host)),
  });
  const receive = (from: Rank | undefined): void => incoming.receive(program, { id: 1, from, tag: undefined });
  const granted = (): string[] =>
    [1, 2].flatMap((host) => turn(peer(host)).grants.splice(0).map((call) => `${host} ${call}`));
  return { news, incoming, program, receive, granted, got: () => got };
}

/** Messages of host 0, with what it sends. */
function messagingOf() {
  const place = testPlace();
  const sent: string[] = [];
  const granted: number[] = [];
  const faults: string[] = [];
  let [decided, got] = [0, 0];
  let on: Record<string, (body: never) => void> = {};
  const node = {
    platform: place.platform,
    holds: new Scope('agent'),
    params: { int: () => 64 * MIB },
    fault: (_fault: unknown, where: string) => faults.push(where),
    messages: {
      on: (name: string, call: (body: never) => void) => (on = { ...on, [name]: call }),
      send: (_to: number, name: string, { host, batches, grants }: MessageBody<'program.taken'>) => {
        sent.push(`${name} ${host} ${batches}`);
        granted.push(...grants);
      },
    },
  } as unknown as AgentNode;
  const program = new Program(0, 1, '');
  program.connection = { hasRoom: true, send: () => (got += 1) } as never;
  const programs = new Map([[0, program]]);
  const messaging = new RankMessaging({
    node, host: 0, hosts: SIZE, size: SIZE, news: newsOf(), programs,
    decided: () => decided, open: () => undefined,
  });
  const bring = (batch: Batch): void => {
    on['program.messages']?.(batch as never);
    place.run(1);
  };
  const decide = (): void => {
    decided += 1;
    messaging.onDecided();
    place.run(1);
  };
  const receive = (): void => messaging.receive(program, { type: 'receive', id: 1 });
  /** The rank's process ends, and it is started again. */
  const restart = (): void => {
    messaging.onEnded(program);
    programs.set(0, new Program(0, 2, ''));
  };
  return {
    bring, decide, receive, restart, got: () => got, told: () => sent.splice(0), granted: () => granted.splice(0),
    faults,
  };
}

suite('a hostile agent and programs', (test) => {
  test('a message that waits retains nothing else of the batch that it came in', () => {
    const { incoming, program } = incomingOf();
    const came = new Uint8Array(MIB);
    incoming.onBatch(batchOf(1, { messages: [[1, 1, 0, 1, 't', 0, came.subarray(7, 8)]] }));
    program.mailbox.await({ id: 1, from: 1, tag: undefined });
    assert.is(program.mailbox.take()?.[1].bytes.buffer.byteLength, 1);
  });

  test('batches ahead of every decision stop nobody else, are not answered, and are bounded', () => {
    const { bring, receive, got, told } = messagingOf();
    bring(batchOf(1, { decided: DECIDED_MAX, messages: [messageOf(1, 1)] }));
    assert.equal(told(), []);
    bring(batchOf(2, { messages: [messageOf(1, 2)] }));
    assert.equal(told(), ['program.taken 0 1']);
    receive();
    assert.is(got(), 1);
    for (let i = 2; i <= 2 * BATCHES_MAX; i++) bring(batchOf(1, { decided: DECIDED_MAX }));
    assert.throwsCode('STCI_MESSAGE_INVALID', () => bring(batchOf(1, { decided: DECIDED_MAX })));
    const { asksMax } = messagingLimits(SIZE, 64 * MIB, 64 * MIB);
    const asks = Array.from({ length: asksMax + 1 }, (_, call) => askOf(call, 2));
    assert.throwsCode('STCI_MESSAGE_INVALID', () => bring(batchOf(2, { decided: DECIDED_MAX, asks })));
    const large = batchOf(2, { decided: DECIDED_MAX, messages: [1, 2, 3].map((call) => messageOf(call, 2, 8 * MIB)) });
    assert.throwsCode('STCI_MESSAGE_INVALID', () => bring(large));
  });

  test('what comes early is taken in order once it is decided; a wrong batch is no fault of who decided', () => {
    const { bring, decide, receive, got, told, faults } = messagingOf();
    bring(batchOf(1, { decided: 1, messages: [messageOf(1, 1)] }));
    bring(batchOf(1, { messages: [messageOf(2, 1)] }));
    bring(batchOf(2, { decided: 1, messages: [messageOf(1, 1)] }));
    assert.equal(told(), []);
    decide();
    assert.equal(told().sort(), ['program.taken 0 1', 'program.taken 0 2']);
    assert.equal(faults, ['messages of ranks of host 2']);
    receive();
    receive();
    assert.is(got(), 2);
  });

  test('an agent answers for its own host alone: calls, and credit for ranks', () => {
    const sent: Outgoing[] = [];
    const { peer, turn, flush } = peersOf(LIMITS, (_to, { messages }) => void sent.push(...messages));
    const outgoing = new OutgoingMessages({ limits: LIMITS, attempt: () => 1, peer: (rank) => peer(rank), turn });
    const take = (host: HostIndex, more: { readonly calls?: number[]; readonly bytes?: number }): void => {
      const { calls = [], bytes } = more;
      const credit = bytes === undefined ? [] : [[1, bytes] as const];
      outgoing.onTaken(peer(host), { batches: 0, calls, credit, grants: [] });
      flush();
    };
    let settled = 0;
    const bytes = new Uint8Array(10_000);
    for (let i = 0; i < 600; i++) {
      outgoing.send({ from: 0, to: 1, tag: 't', form: 'bytes', bytes, settle: () => (settled += 1) });
    }
    flush();
    take(2, { calls: sent.map(({ call }) => call), bytes: LIMITS.windowBytes });
    assert.is(settled, 0);
    while (settled < sent.length) take(1, { calls: sent.map(({ call }) => call) });
    const some = sent.length;
    assert.ok(some < 600);
    take(2, { bytes: LIMITS.windowBytes });
    take(1, {});
    assert.is(sent.length, some, 'no credit of another host');
    take(1, { bytes: LIMITS.windowBytes });
    assert.ok(sent.length > some);
  });

  test('room that is not used keeps no message from a receive that waits, and is free at its sender\'s loss', () => {
    const { news, incoming, receive, granted, got } = incomingOf();
    incoming.onBatch(batchOf(1, { asks: [askOf(1, 1)] }));
    incoming.onBatch(batchOf(2, { asks: [askOf(1, 2)] }));
    assert.equal(granted(), ['1 1'], 'one of the longest at a time');
    receive(2);
    assert.equal(granted(), ['2 1'], 'it is waited for');
    incoming.onBatch(batchOf(2, { messages: [messageOf(1, 2, 8 * MIB)], asks: [askOf(2, 2)] }));
    assert.equal([got(), granted()], [1, []]);
    news.onLost([[1, 1, 'its host is lost', 'h1']]);
    incoming.onGone(1);
    assert.equal(granted(), ['2 2']);
    incoming.onBatch(batchOf(2, { messages: [messageOf(2, 2, 8 * MIB)] }));
    receive(2);
    assert.is(got(), 2);
  });

  test('a receive from any that a lost rank was to send to gets what others send', () => {
    const { news, incoming, receive, granted, got } = incomingOf();
    receive(undefined);
    incoming.onBatch(batchOf(1, { asks: [askOf(1, 1)] }));
    incoming.onBatch(batchOf(2, { asks: [askOf(1, 2)] }));
    assert.equal(granted(), ['1 1'], 'the receive waits for one');
    news.onLost([[1, 1, 'its host is lost', 'h1']]);
    incoming.onGone(1);
    assert.equal(granted(), ['2 1']);
    incoming.onBatch(batchOf(1, { messages: [messageOf(1, 1, 8 * MIB)] }));
    assert.is(got(), 0, 'it came after the news of its sender\'s end, with no room');
    incoming.onBatch(batchOf(2, { messages: [messageOf(1, 2, 8 * MIB)] }));
    assert.is(got(), 1);
  });

  test('room of one rank is none of another\'s, whoever does not use it', () => {
    const { incoming, granted } = incomingOf();
    const asks = [0, 1, 2].map((to) => [1 + to, 1, to, 1, 't', 8 * MIB] as const);
    incoming.onBatch(batchOf(1, { asks }));
    assert.equal(granted(), ['1 1', '1 2', '1 3']);
    const message = batchOf(1, { messages: [messageOf(1, 1, 8 * MIB)] });
    incoming.onBatch(message);
    incoming.onBatch(message); // Without room: another agent may have left as much.
    assert.throwsCode('STCI_STREAM_CREDIT', () => incoming.onBatch(message));
  });

  test('what a process was given room for, and has not come when it ends, takes none from the next', () => {
    const { bring, restart, granted } = messagingOf();
    bring(batchOf(1, { asks: [askOf(1, 1)] }));
    bring(batchOf(2, { asks: [askOf(2, 2)] }));
    assert.equal(granted(), [1], 'one of the longest at a time');
    restart();
    bring(batchOf(2, { asks: [[3, 2, 0, 2, 't', 8 * MIB]] }));
    assert.equal(granted(), [3]);
  });

  test('an ask that comes after the news of its sender\'s end gets no room', () => {
    const { news, incoming, granted } = incomingOf();
    news.onEnded([[1, 1]]);
    incoming.onGone(1);
    incoming.onBatch(batchOf(1, { asks: [askOf(1, 1)] }));
    assert.equal(granted(), []);
  });

  test('one ask of each pair of ranks: another takes its place, and its room', () => {
    const { incoming, receive, granted } = incomingOf();
    for (let call = 1; call <= 1000; call++) incoming.onBatch(batchOf(1, { asks: [askOf(call % 2, 1)] }));
    assert.is(granted().length, 1000);
    incoming.onBatch(batchOf(1, { messages: [messageOf(0, 1, 20_000)] }));
    incoming.onBatch(batchOf(2, { asks: [askOf(1, 2)] }));
    assert.equal(granted(), [], 'the message that is there has its room');
    receive(1);
    assert.equal(granted(), ['2 1'], 'it was shorter than what was asked for');
  });

  test('short messages that ask get what a receive waits for: one each, and none that came by credit meanwhile', () => {
    const { incoming, receive, granted, got } = incomingOf();
    incoming.onBatch(batchOf(1, { asks: [askOf(1, 1, 100)] }));
    incoming.onBatch(batchOf(1, { messages: [messageOf(1, 1, 100)] }));
    receive(1);
    assert.is(got(), 1);
    receive(1);
    assert.equal(granted(), [], 'it was sent');
    incoming.onBatch(batchOf(1, { asks: [askOf(2, 1, 100)] }));
    assert.equal(granted(), ['1 2']);
    incoming.onBatch(batchOf(2, { asks: [askOf(1, 2, 100)] }));
    receive(2);
    assert.equal(granted(), ['2 1']);
    incoming.onBatch(batchOf(2, { messages: [messageOf(1, 2, 100)], asks: [askOf(2, 2, 100)] }));
    assert.is(got(), 2);
    assert.equal(granted(), [], 'no receive waits for it');
    incoming.onBatch(batchOf(1, { messages: [messageOf(2, 1, 100)] }));
    assert.is(got(), 3);
  });

  test('tags and keys have the bound that they have for programs', () => {
    const batch = (tag: string): Batch => batchOf(1, { messages: [[1, 1, 0, 1, tag, 0, new Uint8Array()]] });
    checkBody('program.messages', batch('t'.repeat(64)));
    assert.throwsCode('STCI_MESSAGE_INVALID', () => checkBody('program.messages', batch('t'.repeat(65))));
    const asks = batchOf(1, { asks: [[1, 1, 0, 1, 't'.repeat(65), 9]] });
    assert.throwsCode('STCI_MESSAGE_INVALID', () => checkBody('program.messages', asks));
    const votes = (key: string) => {
      const pairs = [[key, 0, new Uint8Array()] as const];
      return { host: 0, sequence: 1, votes: [[0, 1, 0, true, 0, 0, 0, new Uint8Array(), pairs] as const] };
    };
    checkBody('program.votes', votes('k'.repeat(256)));
    assert.throwsCode('STCI_MESSAGE_INVALID', () => checkBody('program.votes', votes('k'.repeat(257))));
  });
});
