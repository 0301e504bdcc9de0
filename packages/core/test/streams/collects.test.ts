/** Collections up the boot tree: each agent once, few messages at the controller, what the silent and the lost cost. */

import { CONTROLLER, addressName, agentName, sessionAddress, type JobId } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { Later } from '../../dist/am/answer.js';
import type { Link } from '../../dist/bootcom/link.js';
import { encode } from '../../dist/codec/cbor.js';
import { FLAG, LAYER, decodeHeader, frameLayer, type FrameHeader } from '../../dist/codec/frame.js';
import type { HeldRow } from '../../dist/event/scope.js';
import type { AgentOfJob } from '../../dist/messages/collected.js';
import { messageId } from '../../dist/messages/messages.js';
import type { AgentNode } from '../../dist/node/node.js';
import { LinkGuard } from '../../dist/node/peer-guard.js';
import { Pieces } from '../../dist/streams/pieces.js';
import { addressOf, line, makeNet, star, tree, type Net } from '../am/net.js';

const MIB = 1024 * 1024;

const all = (size: number): AgentOfJob[] => Array.from({ length: size - 1 }, (_, i) => [addressOf(i + 1), 0]);

/** Each agent of a net contributes a row with its name. */
function contribute(nodes: readonly AgentNode[]): void {
  for (const node of nodes) if (node.identity.self !== CONTROLLER) node.collects.on('agent.held', () => [rowOf(node)]);
}

function rowOf({ identity: { self, job } }: AgentNode): HeldRow {
  return [0, agentName(self, job), 1];
}

function heightOf(net: Net, height: number): Net {
  for (const node of net.nodes) node.levels = () => height;
  return net;
}

interface Collected {
  readonly told: string[];
  readonly each: (readonly HeldRow[])[];
  silent: readonly string[] | undefined;
  atMs: number;
}

function collect(net: Net, agents: readonly AgentOfJob[], job: JobId = 0): Collected {
  const collected: Collected = { told: [], each: [], silent: undefined, atMs: NaN };
  const { clock } = net.platform;
  const sinceMs = clock.nowMs();
  net.nodes[0]?.collects.ask('agent.held', agents, {
    job,
    onEach: (rows, agent) => {
      collected.told.push(agentName(...agent));
      collected.each.push(rows);
    },
    onDone: (silent) => {
      assert.is(collected.silent, undefined, 'once');
      Object.assign(collected, { silent, atMs: clock.nowMs() - sinceMs });
    },
  });
  return collected;
}

const names = (agents: readonly AgentOfJob[]): string[] => agents.map((agent) => agentName(...agent)).sort();

suite('collections', (test) => {
  test('of 64 hosts, arity 4: the controller sends to and hears from its children only', () => {
    const net = heightOf(makeNet(tree(65, 4)), 3);
    contribute(net.nodes);
    const [controller] = net.nodes as [AgentNode];
    let [sent, heard] = [0, 0];
    const isMessage = (frame: Uint8Array): boolean => frameLayer(frame) === LAYER.message;
    const { onFrame } = controller.messages;
    controller.messages.onFrame = (link, frame) => {
      if (isMessage(frame)) heard += 1;
      onFrame.call(controller.messages, link, frame);
    };
    for (const link of controller.router.links()) {
      const send = link.send.bind(link);
      link.send = (pieces) => {
        if (isMessage(pieces[0] as Uint8Array)) sent += 1;
        return send(pieces);
      };
    }
    const collected = collect(net, all(65));
    net.run();
    assert.equal([sent, heard, collected.silent], [4, 4, []]);
    assert.equal(collected.told.slice().sort(), names(all(65)));
    assert.equal(collected.each.map(([row]) => row?.[1]), collected.told, 'each has its own');
    assert.ok(collected.atMs < 100, `${collected.atMs} ms`);
    assert.equal(net.faults, []);
  });

  test('a silent subtree costs its own part, and less time than the controller waits', () => {
    const net = heightOf(makeNet(tree(31, 2)), 4);
    contribute(net.nodes);
    // Node 4 hears nothing: those below it, 9, 10, 19 to 22, are not asked.
    const silent = [4, 9, 10, 19, 20, 21, 22];
    (net.nodes[4] as AgentNode).onFrame = () => undefined;
    const collected = collect(net, all(31));
    net.run(2000);
    assert.equal(collected.silent?.slice().sort(), silent.map((i) => addressName(addressOf(i))).sort());
    assert.is(collected.told.length, 30 - silent.length);
    assert.ok(collected.atMs > 1000 && collected.atMs < 2000, `${collected.atMs} ms`);
  });

  test('an agent that is lost in the middle of a round ends its part at once', () => {
    const net = heightOf(makeNet(tree(15, 2)), 3);
    contribute(net.nodes);
    const collected = collect(net, all(15));
    (net.nodes[1] as AgentNode).onFrame = () => net.channels[1]?.[0].destroy('killed');
    net.run(100);
    assert.equal(collected.silent?.slice().sort(), [1, 3, 4, 7, 8, 9, 10].map((i) => addressName(addressOf(i))).sort());
    assert.equal(collected.told.slice().sort(), [2, 5, 6, 11, 12, 13, 14].map((i) => addressName(addressOf(i))).sort());
    assert.ok(collected.atMs < 100, `${collected.atMs} ms`);
  });

  test('who is linked to another in the middle of a round, and was not asked, is silent; others are not', () => {
    const net = heightOf(makeNet([0, 0, 0, 1]), 2);
    contribute(net.nodes);
    (net.nodes[1] as AgentNode).onFrame = () => undefined;
    const collected = collect(net, all(4));
    net.run(50);
    net.adopt(0, 3);
    net.run(5000);
    assert.equal([collected.told, collected.silent], [['root:1'], ['root:0', 'root:2']]);
    const next = collect(net, all(4));
    net.run(5000);
    assert.equal([next.told.sort(), next.silent], [['root:1', 'root:2'], ['root:0']], 'the next round asks it');
  });

  test('what is said of an agent twice, or of one that was not asked for, counts once, or not', () => {
    const net = heightOf(makeNet([0, 0, 0, 1]), 2);
    contribute(net.nodes.slice(0, 2).concat(net.nodes.slice(3)));
    (net.nodes[0] as AgentNode).leadsTo = () => true;
    const rows: HeldRow[] = [[0, 'x', 1]];
    net.nodes[2]?.messages.on('agent.held', () => [2, 3, 3, 77].map((i) => [addressOf(i), 0, rows]));
    const collected = collect(net, all(4));
    net.run();
    assert.equal([collected.told.sort(), collected.silent], [['root:0', 'root:1', 'root:2'], []]);
  });

  test('who speaks for an agent that is not below it loses its link, and its own part', () => {
    const net = heightOf(makeNet([0, 0, 0, 1]), 2);
    contribute(net.nodes.slice(0, 2).concat(net.nodes.slice(3)));
    new LinkGuard(net.nodes[0] as AgentNode);
    net.nodes[2]?.messages.on('agent.held', () => [2, 3].map((i) => [addressOf(i), 0, [[0, 'forged', 1]]]));
    const collected = collect(net, all(4));
    net.run();
    assert.equal([collected.told.sort(), collected.silent], [['root:0', 'root:2'], ['root:1']]);
    assert.ok(!collected.each.flat().some(([, label]) => label === 'forged'));
    assert.equal(net.closed.slice().sort(), ['controller protocol', 'root:1 lost']);
    assert.match(net.faults.join(), /root:1 may not contribute for root:2/u);
  });

  test('only its parent may ask an agent', () => {
    const net = makeNet(line(3));
    contribute(net.nodes);
    new LinkGuard(net.nodes[2] as AgentNode);
    const answers: unknown[] = [];
    const body = { withinMs: 1, stepMs: 0 };
    net.nodes[0]?.messages.request(addressOf(2), 'agent.held', body, (_error, reply) => answers.push(reply), {
      timeoutMs: 100,
    });
    net.run();
    assert.equal(answers, [undefined]);
    assert.match(net.faults.join(), /controller may not send agent.held/u);
  });

  test('much comes in pieces; what is too long for a message is left out, and its agent named', () => {
    const net = heightOf(makeNet(line(10), { 'message.bytes.max': '256KiB' }), 10);
    const label = 'x'.repeat(200);
    const lengthOf = (i: number): number => (i === 4 ? 900 : 300);
    net.nodes.slice(1).forEach((node, i) => node.collects.on('agent.held', () =>
      Array.from({ length: lengthOf(i + 1) }, (): HeldRow => [0, label, 1])));
    const collected = collect(net, all(10));
    net.run();
    assert.equal(collected.silent, ['root:3']);
    assert.equal(collected.each.map((rows) => rows.length), Array.from({ length: 8 }, () => 300));
    assert.equal(net.faults, []);
  });

  test('a piece is bounded in bytes, not in contributions: 30 000 small ones are several', () => {
    const sizes: number[] = [];
    const pieces = new Pieces<readonly [number, string]>(2 ** 30, (piece) => sizes.push(encode(piece).length));
    pieces.add(Array.from({ length: 30_000 }, (_, i) => [i, 'x'.repeat(50)] as const));
    sizes.push(encode(pieces.take()).length);
    assert.equal([sizes.length, sizes.every((bytes) => bytes <= 530_000)], [4, true]);
  });

  test('what comes faster than the parent takes it is given up, not the link to the parent', () => {
    const net = heightOf(makeNet(line(3), { 'bootcom.queue.max': '8MiB', 'message.bytes.max': '8MiB' }), 2);
    const [controller, between, below] = net.nodes as [AgentNode, AgentNode, AgentNode];
    contribute([controller, between]);
    const rows = Array.from({ length: 500 }, (): HeldRow => [0, 'x'.repeat(200), 1]);
    below.messages.on('agent.held', () => Array.from({ length: 60 }, () => [addressOf(2), 0, rows]));
    const link = between.router.parentLink as Link;
    let bytes = 0;
    const send = link.send.bind(link);
    link.send = (pieces) => {
      bytes += pieces.reduce((sum, { length }) => sum + length, 0);
      return send(pieces);
    };
    Object.defineProperty(link, 'queuedBytes', { get: () => bytes });
    const collected = collect(net, all(3));
    net.run(1000);
    assert.ok(bytes > 4 * MIB && bytes < 5 * MIB, `${bytes} bytes to the parent at once`);
    assert.equal([collected.told, collected.silent, net.closed], [['root:0', 'root:1'], [], []]);
  });

  test('an agent cannot say that what others were asked has found no way', () => {
    const net = heightOf(makeNet([0, 0, 0]), 1);
    for (const node of net.nodes) new LinkGuard(node);
    const later: (() => void)[] = [];
    const [controller, honest, other] = net.nodes as [AgentNode, AgentNode, AgentNode];
    honest.messages.on('agent.held', () => new Later<'agent.held'>((answer) =>
      void later.push(() => answer.done([[addressOf(1), 0, [rowOf(honest)]]]))));
    const { onFrame } = other.messages;
    other.messages.onFrame = (link, frame) => {
      const { type, sequence, layer } = decodeHeader(frame);
      onFrame.call(other.messages, link, frame);
      const header: FrameHeader = {
        layer, type, flags: FLAG.reply | FLAG.error, ttl: 9, stream: 0, source: addressOf(2), destination: CONTROLLER,
        job: 0, sequence: sequence - 1,
      };
      const error = encode({ code: 'STCI_MESSAGE_UNROUTABLE', message: 'no way' });
      if (layer === LAYER.message && type === messageId('agent.held')) other.messages.transport.send(header, [error]);
    };
    contribute([controller, other]);
    const collected = collect(net, all(3));
    net.run(100);
    assert.equal(collected.silent, undefined);
    for (const answer of later) answer();
    net.run(100);
    assert.equal([collected.told.sort(), collected.silent], [['root:0', 'root:1'], []]);
  });

  test('session agents of all jobs, or of one; those between pass it on', () => {
    const net = heightOf(makeNet(tree(4, 2)), 3);
    const sessions = [[1, 5], [3, 5], [3, 6]] as const;
    const nodes = sessions.map(([at, job]) => net.addSession(at, job));
    const [other] = nodes.splice(2) as [AgentNode];
    contribute([...net.nodes, ...nodes]);
    let asked = 0;
    other.collects.on('agent.held', () => ((asked += 1), [rowOf(other)]));
    const wanted = sessions.map(([at, job]): AgentOfJob => [sessionAddress(at - 1), job]);
    const one = collect(net, wanted.slice(0, 2), 5);
    net.run();
    assert.equal([one.told.sort(), one.silent, asked], [['session:0 of job 5', 'session:2 of job 5'], [], 0]);
    const every = collect(net, [...all(4), ...wanted]);
    net.run();
    assert.equal([every.told.sort(), every.silent, asked], [names([...all(4), ...wanted]), [], 1]);
  });

  test('of none nothing is asked; an agent without children answers at once', () => {
    const net = makeNet(star(2));
    contribute(net.nodes);
    assert.equal([collect(net, []).silent, collect(net, []).atMs], [[], 0]);
    const collected = collect(net, all(2));
    net.run(20);
    assert.equal([collected.told, collected.silent], [['root:0'], []]);
  });
});
