/** Messages between the ranks of three hosts, over agents that get each batch late: order, bounds, and their ends. */

import type { HostIndex, ProgramEvent, Rank } from '@stci/interface';
import { assert, seededIntegers, suite } from '@stci/testkit';
import { mailLimits } from '../../dist/agent/program-credit.js';
import { ProgramInbox } from '../../dist/agent/program-inbox.js';
import { ProgramNews } from '../../dist/agent/program-news.js';
import { ProgramOutbox, type Outgoing } from '../../dist/agent/program-outbox.js';
import { Program } from '../../dist/agent/program.js';

const HOSTS = 3;
const SIZE = 6;
const MIB = 1024 * 1024;
const LIMITS = mailLimits(HOSTS, 64 * MIB, 16 * MIB);
const hostOf = (rank: Rank): HostIndex => rank % HOSTS;
const REASON = { code: 'STCI_CLIENT_RANK_LOST', reason: 'r' } as const;

interface Agent {
  readonly outbox: ProgramOutbox;
  readonly inbox: ProgramInbox;
  readonly programs: Map<Rank, Program>;
}

function play(seed: number) {
  const pick = seededIntegers(seed);
  const links = new Map<string, (() => void)[]>();
  const wire = (from: HostIndex, to: HostIndex, call: () => void): void => {
    const key = `${from} ${to}`;
    links.set(key, [...(links.get(key) ?? []), call]);
  };
  const got: [to: Rank, from: Rank, text: string][] = [];
  const agents: Agent[] = Array.from({ length: HOSTS }, (_, host): Agent => {
    const news = new ProgramNews(SIZE);
    const places = Array.from({ length: HOSTS }, (__, at) =>
      [at, `h${at}`, [at, at + HOSTS].map((rank) => [rank, rank] as const)] as const);
    news.onState({ decided: 0, lost: [], ended: [], places, attempts: [], pairs: [] });
    const programs = new Map([host, host + HOSTS].map((rank) => [rank, new Program(rank, 1, '')]));
    for (const [rank, program] of programs) {
      const send = (event: ProgramEvent, bytes?: Uint8Array): void => {
        if (event.type === 'message') got.push([rank, event.from, new TextDecoder().decode(bytes?.subarray(0, 12))]);
      };
      program.connection = { hasRoom: true, send } as never;
    }
    const outbox = new ProgramOutbox({
      limits: LIMITS, attempt: () => 1, host: hostOf,
      transmit: (to, messages, asks) => {
        outbox.onBatch(to);
        wire(host, to, () => deliver(host, to, messages, asks));
      },
    });
    const inbox = new ProgramInbox({
      limits: LIMITS, news, programs,
      after: () => ({ cancel: () => undefined }),
      answer: (to, { calls = [], credit = [], grants = [] }) => {
        wire(host, to, () => agents[to]?.outbox.onTaken(host, 0, calls, credit, grants));
      },
    });
    return { outbox, inbox, programs };
  });
  const deliver = (host: HostIndex, to: HostIndex, messages: readonly Outgoing[], asks: readonly Outgoing[]): void => {
    agents[to]?.inbox.onBatch({
      host, decided: 0,
      messages: messages.map(({ call, from, to: rank, attempt, tag, bytes }) =>
        [call, from, rank, attempt, tag, 0, bytes] as const),
      asks: asks.map(({ call, from, to: rank, attempt, tag, bytes }) =>
        [call, from, rank, attempt, tag, bytes.length] as const),
    });
    wire(to, host, () => agents[host]?.outbox.onTaken(to, 1, [], [], []));
  };
  const move = (): boolean => {
    const open = [...links.values()].filter((queue) => queue.length > 0);
    open[pick(Math.max(1, open.length))]?.shift()?.();
    return open.length > 0;
  };
  return { pick, agents, got, move };
}

const agentOf = (agents: readonly Agent[], rank: Rank): Agent => agents[hostOf(rank)] as Agent;

suite('messages between ranks', (test) => {
  test('what is sent together is one message between agents, at the least of both parameters too', () => {
    const settings = [[4 * MIB, MIB / 16, MIB / 32], [4 * MIB, 4 * MIB, MIB / 2], [64 * MIB, 16 * MIB, 8 * MIB]];
    for (const [queue, agent, most] of settings) {
      for (const hosts of [1, 3, 1000]) {
        const { messageBytesMax, longBytesMax, flightBytes } = mailLimits(hosts, queue as number, agent as number);
        assert.is(messageBytesMax, most);
        assert.ok(Math.max(messageBytesMax, longBytesMax) + flightBytes < (agent as number), `${queue} ${agent}`);
      }
    }
  });

  test('60 seeds: in order for each pair, none lost, each answered; the queue of a rank keeps its bound', () => {
    let [longest, most] = [0, 0];
    for (let seed = 1; seed <= 60; seed++) {
      const { pick, agents, got, move } = play(seed);
      const sent = new Map<string, string[]>();
      let open = 0;
      for (let i = 0; i < 60; i++) {
        const [from, to] = [pick(SIZE), pick(2)];
        const text = `${i}`.padEnd(12);
        const bytes = new Uint8Array([20, 200, 16_000, 20_000, MIB, 5 * MIB][pick(6)] as number);
        bytes.set(new TextEncoder().encode(text));
        const key = `${from} ${to}`;
        sent.set(key, [...(sent.get(key) ?? []), text]);
        open += 1;
        const settle = (problem: unknown): void => {
          assert.is(problem, undefined);
          open -= 1;
        };
        agentOf(agents, from).outbox.send({ from, to, tag: 't', form: 'bytes', bytes, settle });
        for (let steps = pick(4); steps > 0; steps--) move();
      }
      let receives = 0;
      for (let step = 0; step < 5000; step++) {
        const isMoving = move();
        for (const agent of agents) {
          for (const { mailbox } of agent.programs.values()) longest = Math.max(longest, mailbox.bytes);
        }
        if (isMoving && pick(3) > 0) continue;
        if (!isMoving && receives >= 200) break;
        const rank = pick(2);
        const agent = agentOf(agents, rank);
        receives += 1;
        agent.inbox.receive(agent.programs.get(rank) as Program, { id: receives, from: undefined, tag: undefined });
      }
      assert.is(open, 0, `seed ${seed}: sends without an answer`);
      most = Math.max(most, got.length);
      for (const [key, texts] of sent) {
        const arrived = got.filter(([to, from]) => `${from} ${to}` === key).map(([, , text]) => text);
        assert.equal(arrived, texts, `seed ${seed}: ${key}`);
      }
    }
    assert.ok(longest > 6 * MIB && longest <= 24 * MIB, `${longest} bytes in a queue`);
    assert.is(most, 60);
  }, { timeoutMs: 60_000 });

  test('a rank that receives nothing: sends to it wait within the credit, those to others go on', () => {
    const { agents, move } = play(1);
    let [stuck, free] = [0, 0];
    const bytes = new Uint8Array(10_000);
    const { outbox } = agentOf(agents, 0);
    for (let i = 0; i < 600; i++) {
      outbox.send({ from: 0, to: 1, tag: 't', form: 'bytes', bytes, settle: () => (stuck += 1) });
    }
    outbox.send({ from: 0, to: 4, tag: 't', form: 'bytes', bytes, settle: () => (free += 1) });
    while (move());
    const charge = 10_256;
    assert.is(stuck, Math.floor(LIMITS.shareBytes / charge));
    assert.is(free, 1, 'another rank of the same host');
    const problems: unknown[] = [];
    outbox.send({ from: 0, to: 1, tag: 't', form: 'bytes', bytes, settle: (problem) => problems.push(problem) });
    outbox.onGone(1, REASON);
    assert.equal(problems, [REASON]);
    assert.is(stuck, 600, 'all are answered when it ends');
  });

  test('an agent that speaks for ranks of others, or sends more than its credit, breaks the protocol', () => {
    const { agents } = play(1);
    const { inbox } = agents[0] as Agent;
    const batch = (from: Rank, bytes: number) =>
      ({ host: 1, decided: 0, asks: [], messages: [[1, from, 0, 1, 't', 0, new Uint8Array(bytes)] as const] });
    assert.throwsCode('STCI_MESSAGE_INVALID', () => inbox.onBatch(batch(2, 10)));
    inbox.onBatch(batch(1, 10));
    assert.throwsCode('STCI_MESSAGE_INVALID', () => inbox.onBatch(batch(1, 4 * LIMITS.shareBytes)));
    const ask = { host: 1, decided: 0, messages: [], asks: [[1, 1, 0, 1, 't', 9 * MIB] as const] };
    assert.throwsCode('STCI_MESSAGE_INVALID', () => inbox.onBatch(ask));
  });
});
