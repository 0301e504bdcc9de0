/** Surveys of links: what an agent reports of its own, and when that of all of them is done. */

import { CONTROLLER, rootAddress, sessionAddress } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { LinkSurveys, answerSurveys, reportLinks } from '../../dist/agent/link-survey.js';
import { Scope } from '../../dist/event/scope.js';
import type { HostStatus } from '../../dist/hosts/host-status.js';
import type { LinkReport } from '../../dist/messages/topology-report.js';
import { MetricStore } from '../../dist/metrics/store.js';
import type { AgentNode } from '../../dist/node/node.js';
import { testPlace } from '../world.js';

const linkTo = (peer: number, job = 0) =>
  ({ peer, job, role: 'child', inStateMs: 7, facts: { kind: 'tcp', state: 'up' } });

/** An agent with these links, whose peers answer an echo after so many ms. */
function play(links: readonly ReturnType<typeof linkTo>[], echoMs = 3) {
  const place = testPlace();
  const { clock } = place.platform;
  const sent: [to: number, name: string, body: unknown][] = [];
  const handlers = new Map<string, (body: unknown) => void>();
  const asked: number[] = [];
  const node = {
    platform: place.platform, identity: { self: rootAddress(2) }, router: { links: () => links },
    params: { string: () => 'mesh' }, metrics: new MetricStore(),
    messages: {
      on: (name: string, handler: (body: unknown) => void) => handlers.set(name, handler),
      send: (to: number, name: string, body: unknown) => sent.push([to, name, body]),
      request: (to: number, _name: string, _body: unknown, done: (error?: Error) => void, { timeoutMs }: {
        readonly timeoutMs: number;
      }) => {
        asked.push(to);
        clock.after(Math.min(echoMs, timeoutMs), () => done(echoMs < timeoutMs ? undefined : new Error('no')));
      },
    },
  } as unknown as AgentNode;
  const receive = (name: string, body: unknown): void => handlers.get(name)?.(body);
  return { ...place, node, sent, asked, receive };
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
    const silent = play([linkTo(rootAddress(1))], Infinity);
    const found: (readonly LinkReport[])[] = [];
    reportLinks(silent.node, (all) => found.push(all));
    silent.run(2000);
    const roundTrips = found.map((all) => all.map(({ peer, roundTripMs }) => [peer, roundTripMs]));
    assert.equal(roundTrips, [[['root:1', undefined]]]);
    const alone = play([]);
    reportLinks(alone.node, (all) => found.push(all));
    assert.equal(found[1], []);
  });

  test('a root agent answers the controller with its host and the survey\'s number', () => {
    const { node, sent, receive, run } = play([linkTo(CONTROLLER)]);
    answerSurveys(node);
    receive('links.survey', { survey: 4 });
    run();
    const [[to, name, body]] = sent as [(typeof sent)[number]];
    const { links, ...rest } = body as { links: LinkReport[] };
    assert.equal([to, name, rest, links.length], [CONTROLLER, 'links.report', { host: 2, survey: 4 }, 1]);
  });

  test('a survey asks the hosts that are up, and is done when all have answered; others get the same', () => {
    const { node, sent, receive, run } = play([linkTo(rootAddress(0))]);
    const hosts = [host(0, 'up'), host(1, 'suspect'), host(2, 'failed'), host(3, 'orphaned')];
    const surveys = new LinkSurveys(node, new Scope('session'), () => hosts);
    const first = surveys.report(0);
    assert.equal([first.survey, first.isDone, first.overlay], [1, false, 'mesh']);
    assert.equal(sent.map(([to, name]) => [to, name]), [0, 1, 3].map((at) => [rootAddress(at), 'links.survey']));
    assert.equal([surveys.report(0).survey, sent.length], [1, 3]);
    run(10);
    for (const at of [0, 1]) receive('links.report', { host: at, survey: 1, links: [] });
    assert.is(surveys.report(1).isDone, false);
    receive('links.report', { host: 3, survey: 9, links: [] });
    assert.is(surveys.report(1).isDone, false);
    receive('links.report', { host: 3, survey: 1, links: [] });
    const { isDone, agents } = surveys.report(1);
    assert.equal([isDone, agents.map(({ agent, links }) => `${agent} ${links?.length}`)],
      [true, ['controller 1', 'root:0 0', 'root:1 0', 'root:3 0']]);
  });

  test('it is done after its time, too, without those that do not answer; the next one begins then', () => {
    const { node, sent, run } = play([]);
    const holds = new Scope('session');
    const surveys = new LinkSurveys(node, holds, () => [host(0, 'up')]);
    surveys.report(0);
    run(1999);
    assert.is(surveys.report(1).isDone, false);
    run(1);
    const { isDone, agents } = surveys.report(1);
    assert.equal([isDone, agents.map(({ links }) => links?.length)], [true, [0, undefined]]);
    assert.is(sent.length, 1);
    assert.equal([surveys.report(0).survey, sent.length], [2, 2]);
    holds.close();
    assert.is(surveys.report(2).isDone, true);
  });

  test('of an agent no more links are kept than there may be, and none of one that was not asked', () => {
    const { node, receive, run } = play([]);
    const hosts = [host(0, 'up'), host(1, 'up'), host(2, 'failed')];
    const surveys = new LinkSurveys(node, new Scope('session'), () => hosts);
    surveys.report(0);
    run(10);
    const link = { peer: 'root:1', kind: 'ws', role: 'overlay', state: 'up', inStateMs: 1 };
    receive('links.report', { host: 2, survey: 1, links: [link] });
    receive('links.report', { host: 0, survey: 1, links: [link] });
    assert.is(surveys.report(1).isDone, false, 'one is missing');
    receive('links.report', { host: 1, survey: 1, links: Array.from({ length: 100_000 }, () => link) });
    const { isDone, agents } = surveys.report(1);
    assert.equal([isDone, agents.map(({ links }) => links?.length)], [true, [0, 1, 3 + 1024]]);
  });
});
