/** Messages between the ranks of three hosts, over agents that get each batch late: order, bounds, and their ends. */

import type { HostIndex, ProgramEvent, Rank } from '@stci/interface';
import { assert, seededIntegers, suite } from '@stci/testkit';
import { encode } from '../../dist/codec/cbor.js';
import { IncomingMessages } from '../../dist/programs/incoming-messages.js';
import { OutgoingMessages, type Outgoing, type Peer, type Turn } from '../../dist/programs/outgoing-messages.js';
import { messagingLimits } from '../../dist/programs/program-limits.js';
import { Program } from '../../dist/programs/program.js';
import { chargeOf } from '../../dist/programs/rank-mailbox.js';
import { RankStatusView } from '../../dist/programs/rank-status-view.js';
import { peersOf } from './messages-help.js';

const HOSTS = 3;
const SIZE = 6;
const MIB = 1024 * 1024;
const LIMITS = messagingLimits(HOSTS, 64 * MIB, 16 * MIB);
/** Credit for two short messages. */
const TIGHT = messagingLimits(1000, 64 * MIB, 16 * MIB);
const hostOf = (rank: Rank): HostIndex => rank % HOSTS;
const REASON = { code: 'STCI_CLIENT_RANK_LOST', reason: 'r' } as const;

interface Agent {
  readonly outgoing: OutgoingMessages;
  readonly incoming: IncomingMessages;
  readonly programs: Map<Rank, Program>;
  readonly peer: (host: HostIndex) => Peer;
  readonly turn: (peer: Peer) => Turn;
  /** Ends its turn. */
  readonly flush: () => void;
}

const textOf = (bytes: Uint8Array | undefined): string => new TextDecoder().decode(bytes?.subarray(0, 12));

function play(seed: number, limits = LIMITS) {
  const pick = seededIntegers(seed);
  const links = new Map<string, (() => void)[]>();
  const wire = (from: HostIndex, to: HostIndex, call: () => void): void => {
    const key = `${from} ${to}`;
    links.set(key, [...(links.get(key) ?? []), call]);
  };
  const got: [to: Rank, of: string, text: string][] = [];
  const agents: Agent[] = Array.from({ length: HOSTS }, (_, host): Agent => {
    const news = new RankStatusView(SIZE);
    const places = Array.from({ length: HOSTS }, (__, at) =>
      [at, `h${at}`, [at, at + HOSTS].map((rank) => [rank, rank] as const)] as const);
    news.onState({ decided: 0, lost: [], ended: [], places, attempts: [], pairs: [] });
    const programs = new Map([host, host + HOSTS].map((rank) => [rank, new Program(rank, 1, '')]));
    for (const [rank, program] of programs) {
      const send = (event: ProgramEvent, bytes?: Uint8Array): void => {
        if (event.type !== 'message') return;
        got.push([rank, `${event.from} ${event.tag}`, textOf(bytes)]);
      };
      program.connection = { hasRoom: true, send } as never;
    }
    const { peer, turn, flush } = peersOf(limits, (to, { messages, asks, ...taken }) => {
      const other = (): Agent => agents[to.host] as Agent;
      wire(host, to.host, () => other().outgoing.onTaken(other().peer(host), taken));
      if (messages.length + asks.length === 0) return;
      to.batches += 1;
      wire(host, to.host, () => deliver(host, other(), messages, asks));
    });
    const outgoing = new OutgoingMessages({ limits, attempt: () => 1, peer: (rank) => peer(hostOf(rank)), turn });
    const incoming = new IncomingMessages({ limits, news, programs, answers: (to) => turn(peer(to)) });
    return { outgoing, incoming, programs, peer, turn, flush };
  });
  const deliver = (host: HostIndex, to: Agent, messages: readonly Outgoing[], asks: readonly Outgoing[]): void => {
    to.turn(to.peer(host)).batches += 1;
    to.incoming.onBatch({
      host, decided: 0,
      messages: messages.map(({ call, from, to: rank, attempt, tag, bytes }) =>
        [call, from, rank, attempt, tag, 0, bytes] as const),
      asks: asks.map(({ call, from, to: rank, attempt, tag, bytes }) =>
        [call, from, rank, attempt, tag, bytes.length] as const),
    });
  };
  const move = (): boolean => {
    for (const { flush } of agents) flush();
    const open = [...links.values()].filter((queue) => queue.length > 0);
    open[pick(Math.max(1, open.length))]?.shift()?.();
    return open.length > 0;
  };
  return { pick, agents, got, move };
}

const agentOf = (agents: readonly Agent[], rank: Rank): Agent => agents[hostOf(rank)] as Agent;

/** Rank 0, and what others send it: messages of the longest size, but for those that say theirs. */
function longOnes() {
  const { agents, got, move } = play(1);
  const { incoming, programs } = agentOf(agents, 0);
  const program = programs.get(0) as Program;
  const { connection } = program;
  const failed: string[] = [];
  const send = (event: ProgramEvent, bytes?: Uint8Array): void => {
    if (event.type === 'failed-call') failed.push(`${event.id} ${event.code}`);
    else connection?.send(event, bytes);
  };
  const paused = { hasRoom: true, send };
  program.connection = paused as never;
  const moveAll = (): void => {
    while (move());
  };
  /** Returns the receive that fits it. */
  const ask = (id: number, length = LIMITS.messageBytesMax) => {
    const [from, tag] = [1 + id % 2, `${id}`];
    const bytes = new Uint8Array(length);
    agentOf(agents, from).outgoing.send({ from, to: 0, tag, form: 'bytes', bytes, settle: () => undefined });
    moveAll();
    return { id, from, tag };
  };
  return { program, incoming, ask, moveAll, got, failed, pause: (isIt: boolean) => (paused.hasRoom = !isIt) };
}

suite('messages between ranks', (test) => {
  test('what is sent together is one message between agents, at the least of both parameters too', () => {
    const settings = [[4 * MIB, MIB / 16, MIB / 32], [4 * MIB, 4 * MIB, MIB / 2], [64 * MIB, 16 * MIB, 8 * MIB]];
    for (const [queue, agent, most] of settings) {
      for (const hosts of [1, 3, 1000]) {
        const { messageBytesMax, longBytesMax, flightBytes } = messagingLimits(hosts, queue as number, agent as number);
        assert.is(messageBytesMax, most);
        assert.ok(Math.max(messageBytesMax, longBytesMax) + flightBytes < (agent as number), `${queue} ${agent}`);
      }
    }
  });

  test('asks of many ranks fit into messages between agents, and each asks in its turn', () => {
    const limits = messagingLimits(2, 4 * MIB, MIB / 16);
    const count = 4 * limits.asksMax;
    const batches: (readonly Outgoing[])[] = [];
    const { peer, turn, flush } = peersOf(limits, (to, { messages, asks }) => {
      assert.is(messages.length, 0);
      to.batches += 1;
      batches.push(asks);
    });
    const outgoing = new OutgoingMessages({ limits, attempt: () => 1, peer: () => peer(1), turn });
    for (let from = 1; from <= count; from++) {
      const bytes = new Uint8Array(limits.messageBytesMax);
      outgoing.send({ from, to: 0, tag: '\uffff'.repeat(64), form: 'bytes', bytes, settle: () => undefined });
    }
    for (let before = -1; before < batches.length;) {
      before = batches.length;
      flush();
      outgoing.onTaken(peer(1), { batches: 1, calls: [], credit: [], grants: [] });
    }
    assert.is(batches.flat().length, count);
    for (const batch of batches) {
      const asks = batch.map(({ call, from, to, attempt, tag, bytes }) => [call, from, to, attempt, tag, bytes.length]);
      assert.ok(encode({ host: 1, decided: 1, messages: [], asks }).length < MIB / 16 / 5);
    }
  });

  test('long messages that have room go to one agent no more at once than one message between agents has', () => {
    const sent: Outgoing[] = [];
    const { peer, turn, flush } = peersOf(LIMITS, (_to, { messages }) => void sent.push(...messages));
    const peerAt = (rank: Rank): Peer => peer(hostOf(rank));
    const outgoing = new OutgoingMessages({ limits: LIMITS, attempt: () => 1, peer: peerAt, turn });
    const bytes = new Uint8Array(LIMITS.messageBytesMax);
    for (const to of [1, 4, 2]) {
      outgoing.send({ from: 0, to, tag: 't', form: 'bytes', bytes, settle: () => undefined });
    }
    const take = (host: number, calls: number[], grants: number[]): unknown => {
      outgoing.onTaken(peer(host), { batches: 0, calls, credit: [], grants });
      flush();
      return sent.splice(0).map(({ call }) => call);
    };
    assert.equal([take(1, [], [1, 2]), take(2, [], [3])], [[1], [3]]);
    assert.equal([take(2, [3], []), take(1, [1], []), take(1, [2], [])], [[], [2], []]);
  });

  test('60 seeds: in order for each pair and tag, none lost, each answered; queues keep their bound', () => {
    let [longest, most] = [0, 0];
    for (let seed = 1; seed <= 60; seed++) {
      const { pick, agents, got, move } = play(seed, seed % 2 === 0 ? TIGHT : LIMITS);
      const sent = new Map<string, string[]>();
      let open = 0;
      for (let i = 0; i < 60; i++) {
        const [from, to] = [pick(SIZE), pick(2)];
        const text = `${i}`.padEnd(12);
        const bytes = new Uint8Array([20, 200, 16_000, 20_000, MIB, 5 * MIB][pick(6)] as number);
        bytes.set(new TextEncoder().encode(text));
        const tag = ['t', 'u', '_o'][pick(3)] as string;
        const key = `${from} ${tag} ${to}`;
        sent.set(key, [...(sent.get(key) ?? []), text]);
        open += 1;
        const settle = (problem: unknown): void => {
          assert.is(problem, undefined);
          open -= 1;
        };
        agentOf(agents, from).outgoing.send({ from, to, tag, form: 'bytes', bytes, settle });
        for (let steps = pick(4); steps > 0; steps--) move();
      }
      let receives = 0;
      for (let step = 0; step < 5000; step++) {
        const isMoving = move();
        for (const agent of agents) {
          for (const { mailbox } of agent.programs.values()) longest = Math.max(longest, mailbox.bytes);
        }
        if (isMoving && pick(3) > 0) continue;
        if (!isMoving && receives >= 400) break;
        const rank = pick(2);
        const agent = agentOf(agents, rank);
        receives += 1;
        const program = agent.programs.get(rank) as Program;
        agent.incoming.receive(program, { id: receives, from: undefined, tag: [undefined, 't', '_o'][pick(3)] });
        if (receives < 200 && pick(3) === 0) program.mailbox.cancel(receives);
      }
      assert.is(open, 0, `seed ${seed}: sends without an answer`);
      most = Math.max(most, got.length);
      for (const [key, texts] of sent) {
        const arrived = got.filter(([to, of]) => `${of} ${to}` === key).map(([, , text]) => text);
        assert.equal(arrived, texts, `seed ${seed}: ${key}`);
      }
      // What is not given back is less than half a window, so that there is credit for any short message.
      for (const { programs } of agents) for (const { mailbox } of programs.values()) mailbox.cancelAll(() => true);
      for (let host = 0; host < 2 * HOSTS; host++) {
        const bytes = new Uint8Array(16_384);
        const settle = (): void => void (open -= 1);
        open += 1;
        agentOf(agents, host).outgoing.send({
          from: host % HOSTS, to: host < HOSTS ? 0 : 1, tag: 't', form: 'bytes', bytes, settle,
        });
      }
      while (move());
      assert.is(open, 0, `seed ${seed}: credit that was lost`);
    }
    assert.ok(longest > 6 * MIB && longest <= 24 * MIB, `${longest} bytes in a queue`);
    assert.is(most, 60);
  }, { timeoutMs: 60_000 });

  test('a rank that receives nothing: sends to it wait within the credit, those to others go on', () => {
    const { agents, move } = play(1);
    let [stuck, free] = [0, 0];
    const bytes = new Uint8Array(10_000);
    const { outgoing } = agentOf(agents, 0);
    for (let i = 0; i < 600; i++) {
      outgoing.send({ from: 0, to: 1, tag: 't', form: 'bytes', bytes, settle: () => (stuck += 1) });
    }
    outgoing.send({ from: 0, to: 4, tag: 't', form: 'bytes', bytes, settle: () => (free += 1) });
    while (move());
    const charge = 10_256;
    assert.is(stuck, Math.floor(LIMITS.windowBytes / charge));
    assert.is(free, 1, 'another rank of the same host');
    const problems: unknown[] = [];
    outgoing.send({ from: 0, to: 1, tag: 't', form: 'bytes', bytes, settle: (problem) => problems.push(problem) });
    outgoing.onGone(1, REASON);
    assert.equal(problems, [REASON]);
    assert.is(stuck, 600, 'all are answered when it ends');
  });

  test('what a rank leaves unread keeps nothing from it that it waits for', () => {
    for (const limits of [LIMITS, TIGHT]) {
      const { agents, got, move } = play(1, limits);
      const { outgoing } = agentOf(agents, 1);
      const { incoming, programs } = agentOf(agents, 0);
      let answered = 0;
      const send = (from: Rank, tag: string, length = 10_000): void =>
        outgoing.send({
          from, to: 0, tag, form: 'bytes', bytes: new Uint8Array(length), settle: () => (answered += 1),
        });
      const receive = (from: Rank | undefined, tag: string | undefined): string | undefined => {
        const count = got.length;
        incoming.receive(programs.get(0) as Program, { id: 1, from, tag });
        while (move());
        return got[count]?.[1];
      };
      const fill = (): number => {
        answered = 0;
        for (let i = 0; i < 600; i++) send(1, 'much');
        while (move());
        return answered;
      };
      const most = fill();
      assert.is(most, Math.floor(limits.windowBytes / 10_256));
      send(4, 'other');
      send(1, '_own');
      send(1, '_own', MIB);
      send(1, 'later');
      while (move());
      assert.is(answered, most);
      assert.is(receive(4, undefined), '4 other');
      assert.is(receive(1, '_own'), '1 _own');
      assert.is(receive(undefined, '_own'), '1 _own');
      assert.is(receive(undefined, 'later'), '1 later');
      assert.is(answered, 604);
      for (let i = 0; i < 600; i++) assert.is(receive(undefined, undefined), '1 much');
    }
  });

  test('a receive gets what it waits for although more than all room is unread', () => {
    const { agents, got, move } = play(1, TIGHT);
    const { incoming, programs } = agentOf(agents, 0);
    const program = programs.get(0) as Program;
    const send = (from: Rank, tag: string, length: number): void => {
      const bytes = new Uint8Array(length);
      agentOf(agents, from).outgoing.send({ from, to: 0, tag, form: 'bytes', bytes, settle: () => undefined });
    };
    for (let i = 0; i < 2000; i++) for (const from of [1, 2, 4, 5]) send(from, i % 2 === 0 ? 'y' : 'z', 10_000);
    for (const from of [1, 2]) send(from, '_own', 5 * MIB);
    incoming.receive(program, { id: 1, from: 1, tag: 'none' });
    while (move());
    assert.ok(program.mailbox.bytes > 7 * MIB && program.mailbox.bytes < 10 * MIB, `${program.mailbox.bytes} bytes`);
    incoming.receive(program, { id: 2, from: 2, tag: '_own' });
    incoming.receive(program, { id: 3, from: undefined, tag: '_own' });
    while (move());
    assert.equal(got.map(([, of]) => of), ['2 _own', '1 _own']);
  });

  test('of two of the longest messages, one that is waited for comes, whatever lies there', () => {
    const { agents, got, move } = play(1);
    const bytes = new Uint8Array(LIMITS.messageBytesMax);
    for (const from of [0, 2]) {
      agentOf(agents, from).outgoing.send({ from, to: 1, tag: 't', form: 'bytes', bytes, settle: () => undefined });
      while (move());
    }
    const { incoming, programs } = agentOf(agents, 1);
    for (const from of [2, 0]) {
      incoming.receive(programs.get(1) as Program, { id: from, from, tag: undefined });
      while (move());
    }
    assert.equal(got.map(([, of]) => of), ['2 t', '0 t']);
  });

  test('what receives have left that ended keeps no longest message from one that waits, up to a bound', () => {
    const { program, incoming, ask, moveAll, got, failed } = longOnes();
    ask(1);
    const most = LIMITS.unreadBytesMax / LIMITS.longBytesMax;
    for (let id = 2; id <= most; id++) {
      incoming.receive(program, ask(id));
      if (id < most) program.mailbox.cancel(id);
      moveAll();
    }
    assert.equal([got.map(([, of]) => of), failed], [[`${1 + most % 2} ${most}`], []]);
    for (let id = most + 1; id <= most + 2; id++) {
      incoming.receive(program, ask(id));
      if (id === most + 1) program.mailbox.cancel(id);
      moveAll();
    }
    assert.equal(failed, [`${most + 2} STCI_CLIENT_LIMIT`]);
    assert.is(program.mailbox.bytes, LIMITS.unreadBytesMax);
  });

  test('a program that does not read gets no more for its receives than there is room, until it reads', () => {
    const { program, incoming, ask, moveAll, got, pause } = longOnes();
    ask(1);
    incoming.receive(program, ask(2));
    program.mailbox.cancel(2);
    moveAll();
    assert.is(program.mailbox.bytes, 2 * LIMITS.longBytesMax);
    pause(true);
    ask(0, 1000);
    for (const id of [3, 4]) incoming.receive(program, ask(id));
    moveAll();
    assert.ok(program.mailbox.bytes < 2 * LIMITS.longBytesMax + 2000, `${program.mailbox.bytes} bytes`);
    pause(false);
    incoming.onRoom(program);
    moveAll();
    assert.equal(got.map(([, of]) => of).sort(), ['1 4', '2 3']);
  });

  test('an agent that speaks for ranks of others, or sends more than its credit, breaks the protocol', () => {
    const { agents } = play(1);
    const { incoming } = agents[0] as Agent;
    const batch = (from: Rank, bytes: number) =>
      ({ host: 1, decided: 0, asks: [], messages: [[1, from, 0, 1, 't', 0, new Uint8Array(bytes)] as const] });
    assert.throwsCode('STCI_MESSAGE_INVALID', () => incoming.onBatch(batch(2, 10)));
    const most = 4 * LIMITS.windowBytes;
    incoming.onBatch(batch(1, most - 2 * chargeOf(0)));
    incoming.onBatch(batch(1, 0));
    assert.throwsCode('STCI_STREAM_CREDIT', () => incoming.onBatch(batch(1, 0)));
    const ask = { host: 1, decided: 0, messages: [], asks: [[1, 1, 0, 1, 't', 9 * MIB] as const] };
    assert.throwsCode('STCI_MESSAGE_INVALID', () => incoming.onBatch(ask));
  });
});
