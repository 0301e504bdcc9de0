/** The failure watch of several agents over a network that delivers at once: who is told, of what, how often. */

import { StciError, type Evidence, type NotifierModule } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { encode } from '../../dist/codec/cbor.js';
import { testPlace } from '../world.js';
import { cause, directNotifier, idOf, makeAgent, network, reportOf, type Agent } from './watch-help.js';

const HOST_2 = { kind: 'host', host: 2, incarnation: 1 } as const;

suite('failure watch', (test) => {
  test('all members are told once, the one that is dead to them ends, and detectors stop expecting it', () => {
    const place = testPlace();
    const agents = network(place, 5);
    cause(agents[1], reportOf(3));
    place.run();
    cause(agents[2], reportOf(3)); // Too late: it knows already.
    cause(agents[2], reportOf(3, 2)); // That incarnation is none.
    place.run();
    for (const at of [0, 1, 2, 4]) {
      assert.equal(agents[at]?.told, ['new host 2']);
      assert.equal(agents[at]?.gone, ['gone 3']);
      assert.is(agents[at]?.detector.seen.filter((seen) => seen === 'gone 3').length, 1);
    }
    const notice = agents[4]?.watch.board.get(HOST_2)?.notice;
    assert.equal(notice?.promised, { minMs: 5, maxMs: 9 });
    agents[3]?.watch.onChange({ member: idOf(3), change: 'dead', notice });
    assert.equal(agents[3]?.told, [
      'fenced: the controller has given this agent up: root:0 reports (detector scripted) no heartbeat for 9 ms',
    ]);
  });

  test('detectors start when the overlay is open, and hear of members before', () => {
    const place = testPlace();
    const [, agent] = network(place, 3, 3);
    agent?.watch.onChange({ member: idOf(2), change: 'dead', notice: undefined });
    assert.equal(agent?.detector.seen, ['gone 2']);
    place.run();
    assert.equal(agent?.detector.seen, ['gone 2', 'start']);
  });

  test('two that report the same at once confirm each other', () => {
    const place = testPlace();
    const agents = network(place, 4);
    for (const at of [1, 2]) cause(agents[at], reportOf(3));
    place.run();
    assert.equal(agents[0]?.told, ['new host 2', 'confirmed host 2']);
    assert.equal(agents[0]?.watch.board.get(HOST_2)?.confirmers, [idOf(2)]);
  });

  test('nobody declares the controller dead', () => {
    const place = testPlace();
    const agents = network(place, 3);
    cause(agents[1], reportOf(0));
    place.run();
    assert.equal(agents.map(({ told }) => told), [[], ['cut off: no heartbeat for 9 ms'], []]);
    agents[1]?.watch.onLinked();
    assert.is(agents[1]?.detector.seen.at(-1), 'refuted 0');
  });

  test('the controller refutes a report: the member takes part again, and may be reported again', () => {
    const place = testPlace();
    const agents = network(place, 4);
    cause(agents[1], reportOf(3));
    place.run();
    for (const at of [0, 1, 2]) agents[at]?.watch.onChange({ member: idOf(3), change: 'refuted', notice: undefined });
    assert.ok(agents[2]?.detector.seen.includes('refuted 3'));
    cause(agents[2], reportOf(3));
    place.run();
    assert.equal(agents[0]?.told, ['new host 2', 'new host 2']);
  });

  test('one that was refuted is told of failures again, and routes lead over it', () => {
    const place = testPlace();
    const agents = network(place, 4);
    cause(agents[1], reportOf(3));
    place.run();
    assert.equal(agents[1]?.links, [], 'a report closes no link');
    const finding = { cause: 'exited', evidence: 'e', suspectedWallMs: 1, confirmedWallMs: 1 } as const;
    const subject = { kind: 'tool', host: 0, job: 1, rank: 4, attempt: 1 } as const;
    agents[1]?.watch.report({ ...finding, detector: 'scripted', subject });
    place.run();
    assert.equal([agents[2]?.told, agents[3]?.told], [['new host 2', 'new tool 0'], []], 'meanwhile it is not told');
    agents[1]?.watch.onChange({ member: idOf(3), change: 'refuted', notice: undefined });
    assert.equal(agents[1]?.links, ['open 3', 'checked 3'], 'its detector had not heard it');
    agents[2]?.watch.onChange({ member: idOf(3), change: 'refuted', notice: undefined });
    assert.equal(agents[2]?.links, ['open 3']);
    cause(agents[1], reportOf(2));
    place.run();
    assert.equal(agents[3]?.told, ['new host 1']);
  });

  test('once refuted, other agents report it in vain: the controller, which is told, and its verdict decide', () => {
    const place = testPlace();
    const agents = network(place, 4);
    for (const { watch } of agents) watch.onChange({ member: idOf(3), change: 'refuted', notice: undefined });
    cause(agents[1], reportOf(3));
    place.run();
    assert.equal([agents[0]?.told, agents[2]?.told], [['new host 2'], []]);
    agents[2]?.watch.onChange({ member: idOf(3), change: 'dead', notice: undefined });
    assert.equal([agents[2]?.gone, agents[2]?.links], [['gone 3'], ['closed 3']]);
  });

  test('a verdict on a former incarnation ends neither the agent nor its links', () => {
    const place = testPlace();
    const agents = network(place, 4);
    for (const { watch } of agents.slice(1)) {
      watch.joined(idOf(3, 2));
      watch.onChange({ member: idOf(3, 1), change: 'dead', notice: undefined });
      watch.onChange({ member: idOf(3, 1), change: 'refuted', notice: undefined });
      watch.joined(idOf(3, 2));
    }
    assert.equal([agents[1]?.gone, agents[1]?.detector.seen], [[], ['start', 'joined 3']]);
    assert.ok(!agents[3]?.links.includes('closed 2'));
    agents[2]?.watch.onChange({ member: idOf(2, 0), change: 'dead', notice: undefined });
    assert.equal(agents[2]?.told, [], 'it is another incarnation');
  });

  test('of messages that come before the news of their sender, the latest are kept', () => {
    const place = testPlace();
    const [agent] = network(place, 3) as [Agent];
    for (let i = 0; i < 100; i++) agent.watch.onMessage(2, { detector: 'scripted', incarnation: 2, body: i });
    agent.watch.joined(idOf(2, 2));
    assert.is(agent.detector.seen.filter((type) => type === 'message').length, 64);
  });

  test('a verdict needs no notifier; one that left is expected no more, and is no failure', () => {
    const place = testPlace();
    const agents = network(place, 4);
    agents[1]?.watch.onChange({ member: idOf(2), change: 'left', notice: undefined });
    assert.equal([agents[1]?.told, agents[1]?.gone], [[], ['gone 2']]);
    const notice: Evidence = {
      cause: 'closed', evidence: 'e', detector: 'link', suspectedWallMs: 1, confirmedWallMs: 1,
      reporter: idOf(0), subject: { kind: 'host', host: 2, incarnation: 1 },
    };
    for (const at of [1, 3]) agents[at]?.watch.onChange({ member: idOf(3), change: 'dead', notice });
    assert.equal(agents[1]?.told, ['new host 2']);
    assert.ok(agents[3]?.told[0]?.startsWith('fenced: the controller has given this agent up: controller reports'));
  });

  test('an agent reports tools of its own host only', () => {
    const place = testPlace();
    const agents = network(place, 3);
    const finding = {
      cause: 'exited', evidence: 'e', detector: 'scripted', suspectedWallMs: 1, confirmedWallMs: 1,
    } as const;
    agents[1]?.watch.report({ ...finding, subject: { kind: 'tool', host: 0, job: 1, rank: 4, attempt: 1 } });
    agents[1]?.watch.report({ ...finding, subject: { kind: 'tool', host: 1, job: 1, rank: 5, attempt: 1 } });
    place.run();
    assert.equal(agents[2]?.told, [
      'new tool 0',
      'notice of root:0 by notifier direct: STCI_MESSAGE_INVALID root:0 may not report rank 5 of job 1',
    ]);
  });

  test('a notice of an incarnation, or of a host, that nobody has told of changes nothing', () => {
    const place = testPlace();
    const agents = network(place, 4);
    const finding = {
      cause: 'silent', evidence: 'e', detector: 'scripted', suspectedWallMs: 1, confirmedWallMs: 1,
    } as const;
    for (const [host, incarnation] of [[2, 2], [2, 0xffff_ffff], [0xffff_fffe, 1], [2, 0]] as const) {
      agents[1]?.watch.report({ ...finding, subject: { kind: 'host', host, incarnation } });
    }
    place.run();
    for (const at of [0, 2]) assert.equal([agents[at]?.told, agents[at]?.gone], [[], []]);
    cause(agents[2], reportOf(3));
    place.run();
    assert.equal([agents[0]?.told, agents[0]?.gone], [['new host 2'], ['gone 3']]);
    agents[0]?.watch.joined(idOf(3, 2));
    cause(agents[2], reportOf(3, 2)); // It does not know that one.
    agents[2]?.watch.joined(idOf(3, 2));
    cause(agents[2], reportOf(3, 2));
    place.run();
    assert.equal(agents[0]?.gone, ['gone 3', 'gone 3']);
  });

  test('all warmUpNotices once they have settled: the controller says nothing to each, and nobody is told', () => {
    const place = testPlace();
    const agents = network(place, 4);
    place.run(900);
    const sent = (): number[][] => agents.map((agent) => agent.sent);
    assert.equal(sent(), [[], [], [], []], 'a short session has none');
    place.run(10_000);
    assert.equal(sent(), [[1, 2, 3], [], [], []]);
    for (const { told, watch } of agents) assert.equal([told, watch.board.size], [[], 0]);
    cause(agents[1], reportOf(3));
    place.run();
    assert.equal(agents[2]?.told, ['new host 2'], 'the first failure is news nevertheless');
    agents[2]?.watch.onMessage(1, { notifier: 'direct', incarnation: 1, body: new Uint8Array(0) });
    place.run();
    assert.ok(agents[2]?.told[1]?.startsWith('notice of root:0 by notifier direct: STCI_CODEC_INVALID'), 'of it only');
  });

  test('after a failure, or the end, nobody rehearses', () => {
    const place = testPlace();
    const agents = network(place, 4);
    cause(agents[1], reportOf(3));
    const stopped = network(place, 3);
    for (const { watch } of stopped) watch.stop();
    place.run(10_000);
    assert.equal([agents[0]?.sent, stopped[0]?.sent], [[], []]);
  });

  test('an agent reports by the detectors of the session only', () => {
    const place = testPlace();
    const agents = network(place, 3);
    const finding = { cause: 'silent', evidence: 'e', suspectedWallMs: 1, confirmedWallMs: 1 } as const;
    const subject = { kind: 'tool', host: 0, job: 1, rank: 4, attempt: 1 } as const;
    const report = (): void => agents[1]?.watch.report({ ...finding, subject, detector: 'd1' });
    assert.throwsCode('STCI_MESSAGE_INVALID', report);
    const notice = { ...finding, subject, detector: 'd1', reporter: idOf(1) };
    agents[2]?.watch.onMessage(1, { notifier: 'direct', incarnation: 1, body: encode(notice) });
    assert.equal(agents[2]?.told, [], 'its copies leave first');
    place.run();
    assert.equal(agents[2]?.told, [
      'notice of root:0 by notifier direct: STCI_MESSAGE_INVALID Expected a detector of this session, got d1',
    ]);
  });

  test('a former incarnation, and one that is gone, are not heard; a later one once the controller tells of it', () => {
    const place = testPlace();
    const agents = network(place, 3);
    const heard = (incarnation: number): number => {
      const { seen } = (agents[1] as Agent).detector;
      const before = seen.filter((type) => type === 'message').length;
      agents[1]?.watch.onMessage(2, { detector: 'scripted', incarnation, body: null });
      return seen.filter((type) => type === 'message').length - before;
    };
    assert.equal([heard(0), heard(1)], [0, 1]);
    agents[1]?.watch.onChange({ member: idOf(2), change: 'left', notice: undefined });
    assert.equal([heard(1), heard(2), heard(3)], [0, 0, 0]);
    agents[1]?.watch.joined(idOf(2, 2));
    assert.equal(agents[1]?.detector.seen.slice(-2), ['joined 2', 'message']);
    assert.equal([heard(2), heard(1), heard(0xffff_ffff)], [1, 0, 0]);
    agents[1]?.watch.joined(idOf(2, 3));
    assert.equal(agents[1]?.detector.seen.slice(-2), ['joined 2', 'message']);
  });

  test('a detector that throws is stopped and named, others go on; a malformed message is dropped, told once', () => {
    const place = testPlace();
    const [agent] = network(place, 2) as [Agent];
    const malformed = { detector: 'scripted', incarnation: 1, body: null };
    agent.detector.fault = Object.assign(new Error('no such body'), {});
    agent.watch.onMessage(1, malformed);
    agent.watch.onMessage(1, malformed);
    assert.equal(agent.told, ['detector scripted: STCI_INTERNAL Detector scripted failed and has been stopped, the '
      + 'session goes on without it: no such body']);
    const [, other] = network(place, 3) as [Agent, Agent];
    other.detector.fault = new StciError('STCI_MESSAGE_INVALID', 'no such body');
    for (const from of [2, 2, 0, 2]) other.watch.onMessage(from, { ...malformed, ...idOf(from) });
    assert.equal(other.told, ['root:1', 'controller'].map((from) =>
      `message of ${from} to detector scripted: STCI_MESSAGE_INVALID no such body`));
  });

  test('what has no route is lost, and the detector that sent it goes on', () => {
    const place = testPlace();
    const agents = network(place, 4);
    cause(agents[1], { type: 'send', to: 9, body: null }, reportOf(3));
    assert.equal(agents[1]?.told, ['new host 2']);
  });

  test('at the end, no notifier has anything left to send', () => {
    const place = testPlace();
    const waiting: NotifierModule = { ...directNotifier, open: () => ({ dueMs: 1e9, on: () => [] }) };
    const agent = makeAgent(place, [], idOf(1), [idOf(0)], waiting);
    agent.watch.start([idOf(0)]);
    agent.watch.joined(idOf(2)); // As after any event, its timer is set.
    agent.watch.stop();
    assert.equal(place.world.scheduler.queue.pending(), []);
  });

  test('a process that stood still tells its detectors for how long, before they find others silent', () => {
    const place = testPlace();
    const [agent] = network(place, 2) as [Agent];
    agent.detector.dueMs = place.platform.clock.nowMs() + 10;
    agent.watch.waiting(1, 'all');
    agent.detector.seen.length = 0;
    place.run();
    assert.equal(agent.detector.seen, ['due']);
    agent.detector.dueMs = place.platform.clock.nowMs() - 50;
    agent.watch.waiting(1, 'all');
    agent.detector.seen.length = 0;
    place.run();
    assert.equal(agent.detector.seen, ['lag', 'due']);
  });

  test('once the session ends, nothing is a failure', () => {
    const place = testPlace();
    const agents = network(place, 3);
    for (const { watch } of agents) watch.stop();
    cause(agents[1], reportOf(2));
    place.run();
    assert.equal(agents.map(({ told }) => told), [[], [], []]);
  });
});
