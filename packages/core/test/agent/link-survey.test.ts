/** Surveys of links: what an agent reports of its own, and when that of all of them is done. */

import { CONTROLLER, rootAddress, sessionAddress } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { answerSurveys, gatherLinks, reportLinks } from '../../dist/agent/link-survey.js';
import type { Answer, Later } from '../../dist/am/answer.js';
import type { HostStatus } from '../../dist/hosts/host-status.js';
import type { LinkReport } from '../../dist/messages/link-report.js';
import { MetricStore } from '../../dist/metrics/store.js';
import type { AgentNode } from '../../dist/node/node.js';
import { testPlace } from '../world.js';

const linkTo = (peer: number, job = 0) =>
  ({ peer, job, role: 'child', inStateMs: 7, facts: { kind: 'tcp', state: 'up' } });

/** An agent with these links, whose peers answer an echo after so many ms. */
function play(links: readonly ReturnType<typeof linkTo>[], echoMs = 3) {
  const place = testPlace();
  const { clock } = place.platform;
  const handlers = new Map<string, (body: unknown) => unknown>();
  const asked: number[] = [];
  const node = {
    platform: place.platform, identity: { self: rootAddress(2) }, router: { links: () => links },
    params: { string: () => 'mesh' }, metrics: new MetricStore(),
    messages: {
      on: (name: string, handler: (body: unknown) => unknown) => handlers.set(name, handler),
      request: (
        to: number, _name: string, _body: unknown, done: (error?: Error, reply?: unknown) => void,
        { timeoutMs }: { readonly timeoutMs: number },
      ) => {
        asked.push(to);
        const answerMs = to === rootAddress(1) ? Infinity : echoMs;
        const error = answerMs < timeoutMs ? undefined : new Error('no');
        clock.after(Math.min(answerMs, timeoutMs), () => done(error, [linkTo(CONTROLLER)]));
      },
    },
  } as unknown as AgentNode;
  const receive = (name: string, body: unknown): unknown => handlers.get(name)?.(body);
  return { ...place, node, asked, receive };
}

const host = (index: number, state: string): HostStatus =>
  ({ host: index, state, spec: { name: `h${index}` } }) as unknown as HostStatus;

suite('survey of links', (test) => {
  test('all links of an agent, by their peers; the round trip of those to other hosts', () => {
    const links = [linkTo(rootAddress(10)), linkTo(sessionAddress(2), 5), linkTo(rootAddress(9)), linkTo(CONTROLLER)];
    const { node, asked, run } = play(links);
    const found: (readonly LinkReport[])[] = [];
    reportLinks(node, (all) => found.push(all));
    assert.equal(found, []);
    run();
    const same = { kind: 'tcp', role: 'child', state: 'up', inStateMs: 7 };
    assert.equal(found, [[
      { peer: 'controller', ...same, roundTripMs: 3 }, { peer: 'root:9', ...same, roundTripMs: 3 },
      { peer: 'root:10', ...same, roundTripMs: 3 }, { peer: 'session:2 of job 5', ...same },
    ]]);
    assert.equal(asked, [rootAddress(10), rootAddress(9), CONTROLLER]);
  });

  test('a peer that does not answer is reported without; an agent without links reports none, at once', () => {
    const silent = play([linkTo(rootAddress(1))]);
    const found: (readonly LinkReport[])[] = [];
    reportLinks(silent.node, (all) => found.push(all));
    silent.run(2000);
    const roundTrips = found.map((all) => all.map(({ peer, roundTripMs }) => [peer, roundTripMs]));
    assert.equal(roundTrips, [[['root:1', undefined]]]);
    const alone = play([]);
    reportLinks(alone.node, (all) => found.push(all));
    assert.equal(found[1], []);
  });

  test('a root agent answers later, when all of its peers have', () => {
    const { node, receive, run } = play([linkTo(CONTROLLER)]);
    answerSurveys(node);
    const given: unknown[] = [];
    const later = receive('links.survey', {}) as Later;
    later.begin({ done: (links: unknown) => given.push(links) } as unknown as Answer);
    assert.equal(given, []);
    run();
    assert.equal((given as LinkReport[][]).map((links) => links.map(({ peer }) => peer)), [['controller']]);
  });

  test('a survey asks the hosts that may be up, and is done when all have answered, or had the time to', () => {
    const { node, asked, run, platform: { clock } } = play([linkTo(rootAddress(0))]);
    const hosts = [host(0, 'up'), host(1, 'suspect'), host(2, 'failed'), host(3, 'orphaned')];
    const told: string[] = [];
    gatherLinks(node, hosts, {
      onAgent: ({ agent, host: name, links }) => told.push(`${agent} ${name} ${links?.length}`),
      onDone: (overlay) => told.push(`${overlay} after ${Math.floor(clock.nowMs() / 1000)} s`),
    });
    assert.equal(asked, [0, 0, 1, 3].map((at) => rootAddress(at)), 'its own peer first');
    assert.equal(told, []);
    run(1900);
    assert.is(told.length, 3);
    run(200);
    assert.equal(told, [
      'controller undefined 1', 'root:0 h0 1', 'root:3 h3 1', 'root:1 h1 undefined', 'mesh after 2 s',
    ]);
  });

  test('a session whose agents have ended is surveyed at once', () => {
    const told: string[] = [];
    gatherLinks(play([]).node, [], { onAgent: ({ agent }) => told.push(agent), onDone: () => told.push('done') });
    assert.equal(told, ['controller', 'done']);
  });
});
