/** Answers that come later, or in parts: each request gets its own, once. */

import { StciError } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { Later, type Answer } from '../../dist/am/answer.js';
import type { AgentNode } from '../../dist/node/node.js';
import { addressOf, line, makeNet, type Net } from './net.js';

type Metrics = Answer<'client.metrics'>;

/** Node 0 asks node 1, whose answers the test gives. */
function play(settings = {}) {
  const net: Net = makeNet(line(2), { 'message.bytes.max': '64KiB', ...settings });
  const [asker, asked] = net.nodes as [AgentNode, AgentNode];
  const answers: Metrics[] = [];
  asked.messages.on('client.metrics', () => new Later<'client.metrics'>((answer) => void answers.push(answer)));
  const told: string[] = [];
  const ask = (name: string): void => asker.messages.request(addressOf(1), 'client.metrics', {},
    (error, reply) => told.push(`${name}: ${error?.code ?? JSON.stringify(reply)}`),
    { onPart: (part) => told.push(`${name} ${(part as { readonly agent: string }).agent}`) });
  const asks = (...names: string[]): Metrics[] => {
    for (const name of names) ask(name);
    net.until(() => answers.length === names.length, 'the requests');
    return answers.splice(0);
  };
  const next = (): string[] => {
    net.run();
    return told.splice(0);
  };
  return { ...net, asker, asked, asks, next };
}

suite('answers that come later', (test) => {
  test('each request gets its own parts and its own reply, in whatever order, and nothing behind it', () => {
    const { asks, next } = play();
    const [first, second] = asks('first', 'second') as [Metrics, Metrics];
    let over = 0;
    second.onOver = () => (over += 1);
    second.part({ agent: 'b', rows: [] });
    first.part({ agent: 'a', rows: [] });
    second.part({ agent: 'c', rows: [] });
    assert.equal([second.isOver, over], [false, 0]);
    second.done(['d']);
    assert.equal([second.isOver, over], [true, 1]);
    second.part({ agent: 'e', rows: [] });
    second.done([]);
    second.fail(new StciError('STCI_INTERNAL', 'no'));
    assert.is(over, 1);
    first.fail(new StciError('STCI_SESSION_REFUSED', 'no'));
    assert.equal(next(), ['second b', 'first a', 'second c', 'second: ["d"]', 'first: STCI_SESSION_REFUSED']);
  });

  test('a part or a reply that is too long for a message fails its request, and no other', () => {
    const { asks, next } = play();
    const [first, second, third] = asks('first', 'second', 'third') as [Metrics, Metrics, Metrics];
    const names = Array.from({ length: 100 }, () => 'x'.repeat(1000));
    first.done(names);
    second.part({ agent: 'b', rows: names.map((text) => ['stci_x', 'counter', text, [], [1]]) });
    third.done([]);
    assert.equal([first.isOver, second.isOver], [true, true]);
    assert.equal(next(), ['first: STCI_MESSAGE_TOO_LARGE', 'second: STCI_MESSAGE_TOO_LARGE', 'third: []']);
  });

  test('parts of several frames each come whole', () => {
    const { asks, next } = play({ 'message.bytes.max': '1MiB' });
    const [only] = asks('only') as [Metrics];
    for (const agent of ['a', 'b']) {
      only.part({ agent, rows: Array.from({ length: 500 }, () => ['stci_x', 'counter', 'y'.repeat(1000), [], [1]]) });
    }
    only.done([]);
    assert.equal(next(), ['only a', 'only b', 'only: []']);
  });

  test('one that is answered late has no deadline; it fails when the other agent is gone', () => {
    const { asks, next, run, asker } = play({ 'request.timeout': '1s' });
    const [first] = asks('first', 'second') as [Metrics];
    run(60_000);
    assert.equal(next(), []);
    first.done([]);
    assert.equal(next(), ['first: []']);
    asker.messages.transport.drop(addressOf(1));
    assert.equal(next(), ['second: STCI_AGENT_LOST']);
  });

  test('what a handler throws as it begins is the answer; a message that asks for none is malformed', () => {
    const { asker, asked, faults, run } = play();
    asked.messages.on('client.wait', ({ job }) => new Later(() => {
      throw new StciError('STCI_JOB_UNKNOWN', `no job ${job}`);
    }));
    const told: unknown[] = [];
    asker.messages.request(addressOf(1), 'client.wait', { job: 3 }, (error) => told.push(error?.message));
    asker.messages.send(addressOf(1), 'client.wait', { job: 3 });
    run();
    assert.equal(told, ['no job 3']);
    assert.match(faults.join(), 'Expected client.wait as a request');
  });
});
