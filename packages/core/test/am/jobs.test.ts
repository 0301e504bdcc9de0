/** Several jobs at once: their session agents on one host share an address; each gets what is for its job only. */

import { CONTROLLER, addressName, rootAddress, sessionAddress, type Address } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { LAYER, encodeHeader } from '../../dist/codec/frame.js';
import type { AgentNode } from '../../dist/node/node.js';
import { LinkGuard } from '../../dist/node/peer-guard.js';
import type { StreamEvents } from '../../dist/streams/stream-endpoint.js';
import { up } from '../streams/stream-help.js';
import { addressOf, line, makeNet, type Net } from './net.js';

const SESSION = sessionAddress(1);

function jobsOnHost1() {
  const net = makeNet(line(3));
  const heard: string[] = [];
  const sessions = [1, 2].map((job) => {
    const node = net.addSession(2, job);
    node.messages.on('agent.echo', (_body, context) => {
      heard.push(`${job}: ${context.source} ${context.job}`);
      return job;
    });
    node.messages.on('agent.stop', ({ reason }) => void heard.push(`${job}: ${reason}`));
    return node;
  });
  return { net, sessions, heard };
}

function events(onData: (data: unknown) => void): StreamEvents {
  const take = (data: unknown, release: () => void): void => {
    onData(data);
    release();
  };
  return { onUp: take, onDown: take, onCredit: () => undefined };
}

const settle = (net: Net): void => void net.run(100);

suite('agents of several jobs', (test) => {
  test('a request reaches the agent of its job, and its reply comes back', () => {
    const { net, heard } = jobsOnHost1();
    const replies: unknown[] = [];
    for (const job of [2, 1]) {
      net.nodes[0]?.messages.request(SESSION, 'agent.echo', 0, (error, reply) => replies.push(error ?? reply), { job });
    }
    net.until(() => replies.length === 2, 'both replies');
    assert.equal([replies, heard], [[2, 1], ['2: 0 2', '1: 0 1']]);
  });

  test('a job that has no agent there reaches none of the others', () => {
    const { net, heard } = jobsOnHost1();
    const codes: unknown[] = [];
    net.nodes[0]?.messages.request(SESSION, 'agent.echo', 0, (error) => codes.push(error?.code), { job: 3 });
    settle(net);
    net.nodes[0]?.messages.transport.drop(SESSION, 3);
    assert.equal([codes, heard], [['STCI_AGENT_LOST'], []]);
  });

  test('a broadcast goes to all root agents and to the session agents of its job', () => {
    const { net, heard } = jobsOnHost1();
    const roots: number[] = [];
    for (const node of net.nodes) node.messages.on('agent.stop', (_body, { job }) => void roots.push(job));
    net.nodes[0]?.messages.sendSubtree('agent.stop', { reason: 'x' }, 2);
    settle(net);
    assert.equal([roots, heard], [[2, 2], ['2: x']]);
  });

  test('a session agent that comes up after the end of its job is told that, and nothing else of before', () => {
    const net = makeNet(line(3));
    const [controller, , host] = net.nodes;
    for (const { messages } of net.nodes) {
      for (const name of ['job.end', 'job.signal'] as const) messages.on(name, () => undefined);
    }
    const end = (job: number, kill: boolean): void =>
      void controller?.messages.sendSubtree('job.end', { kill, reason: 'r' }, job);
    const heardBy = (job: number): string[] => {
      const heard: string[] = [];
      const { messages } = net.addSession(2, job);
      messages.on('job.end', ({ kill }) => void heard.push(`end ${kill}`));
      messages.on('job.signal', ({ signal }) => void heard.push(signal));
      settle(net);
      return heard;
    };
    for (const kill of [false, true]) end(1, kill);
    controller?.messages.sendSubtree('job.signal', { signal: 'SIGUSR1' }, 1);
    end(2, false);
    settle(net);
    const heard = heardBy(1);
    assert.equal(heard, ['end false', 'end true']);
    end(1, true);
    settle(net);
    assert.equal(heard.slice(2), ['end true'], 'what comes later comes once');
    host?.messages.transport.closeJob(2);
    assert.equal([heardBy(2), net.faults], [[], []]);
  });

  test('the same stream of each job, at one root', () => {
    const { net, sessions } = jobsOnHost1();
    const told: string[] = [];
    const streams = sessions.map((node, i) => {
      const options = { job: i + 1, creditBytes: 1 << 20, check: () => undefined };
      const tell = (who: string) => events((data) => told.push(`${who} ${i + 1}: ${String(data)}`));
      const root = net.nodes[0]?.streams.attach({ ...options, members: [SESSION] }, tell('root'));
      return { root, own: node.streams.attach(options, tell('member')) };
    });
    up(streams[1]?.own, 'a');
    up(streams[0]?.own, 'b');
    streams[0]?.root?.down('c');
    streams[1]?.root?.down('d', SESSION);
    settle(net);
    assert.equal(told.sort(), ['member 1: c', 'member 2: d', 'root 1: b', 'root 2: a']);
  });

  test('a session agent speaks for its own job only', () => {
    const { net, sessions } = jobsOnHost1();
    for (const node of net.nodes) new LinkGuard(node);
    const header = {
      layer: LAYER.message, type: 4, flags: 0, ttl: 9, stream: 0, source: SESSION, destination: addressOf(0), job: 1,
      sequence: 1,
    };
    sessions[1]?.router.parentLink?.send([encodeHeader(header, 0)]);
    settle(net);
    assert.equal(net.closed, ['root:1 protocol', 'session:1 lost']);
    assert.match(net.faults.join(), /in the name of session:1/);
  });

  test('a session agent speaks for its own host only', () => {
    const net = makeNet(line(2));
    const [controller, host] = net.nodes as [AgentNode, AgentNode];
    const [heard, refused] = [[] as number[], [] as string[]];
    controller.messages.on('job.drained', ({ host: of }) => void heard.push(of));
    new LinkGuard(controller, (agent, { message }) => refused.push(`${addressName(agent)}: ${message}`));
    new LinkGuard(host);
    const session = net.addSession(1, 1);
    for (const of of [0, 1]) {
      session.messages.send(CONTROLLER, 'job.drained', { host: of, swept: 0, survivors: [], restarts: 0 });
      settle(net);
    }
    assert.equal([heard, refused.length], [[0], 1]);
    assert.match(refused[0] ?? '', /^session:0: .*session:0 may not send job\.drained for host 1/);
  });
});

suite('guard of an agent whose tree is mended', (test) => {
  const echo = (source: Address): Uint8Array[] => [encodeHeader({
    layer: LAYER.message, type: 4, flags: 0, ttl: 9, stream: 0, source, destination: addressOf(2), job: 0, sequence: 0,
  }, 1), Uint8Array.of(0)];

  test('from above it hears those that were below it; its own name, or one from below, ends the link', () => {
    for (const [sender, receiver, source, isHeard] of [
      // Node 3 is below node 2, as node 2 knows it.
      [1, 2, rootAddress(2), true],
      [1, 2, rootAddress(1), false],
      [3, 2, rootAddress(0), false],
    ] as const) {
      const net = makeNet(line(4));
      for (const node of net.nodes) new LinkGuard(node);
      net.nodes[sender]?.router.link(addressOf(receiver))?.send(echo(source));
      settle(net);
      const what = `${source} from node ${sender}`;
      assert.is(net.closed.length === 0, isHeard, what);
      assert.is(/in the name of/.test(net.faults.join()), !isHeard, what);
    }
  });
});
