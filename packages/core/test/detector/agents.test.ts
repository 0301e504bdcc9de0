/** Core's detectors of agents: compliance, what `link` makes of links' ends, and when `sporadic` is silent. */

import type { Detector, DetectorAction, LinkCloseReason, MemberId, Topology } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { detectorCompliance, detectorModule } from '@stci/testkit/compliance';
import { detectorLink } from '../../dist/detector/link.js';
import { detectorSporadic } from '../../dist/detector/sporadic.js';
import { MemberView } from '../../dist/members/view.js';

/** All are linked: of agents that are linked with nobody who lives, this detector learns nothing. */
const complete = (size: number): Topology => ({
  kind: 'complete',
  size,
  diameter: 1,
  nextHop: (_source, target) => target,
  spanningTree: () => { throw new Error('has none here'); },
  neighbours: (position) => Array.from({ length: size }, (_, other) => other).filter((other) => other !== position),
});

detectorCompliance(detectorLink, [{ label: 'all linked', params: { timeout: '300ms' }, links: complete }]);

detectorCompliance(detectorSporadic, [
  {
    label: 'all wait', params: { period: '100ms', timeout: '400ms' }, waits: true,
    detection: { minMs: 390, maxMs: 905 },
  },
]);

const member = (position: number, incarnation = 1): MemberId => ({ position, incarnation });
const members = new MemberView(member(2), [0, 1, 3].map((position) => member(position)));
const init = { self: member(2), members, topologyOf: undefined, answerMs: 0, random: () => 0 };

const texts = (actions: readonly DetectorAction[]): string[] => actions.flatMap((action) => {
  if (action.type === 'send') return [`${JSON.stringify(action.body)} to ${action.to}`];
  if (action.type === 'report') return [`report ${action.cause}: ${action.evidence}`];
  return action.type === 'count' ? [] : [action.type];
});

suite('detector link', (test) => {
  const open = (): Detector => detectorModule(detectorLink, { timeout: '300ms' }).open(init);
  const closed = (reason: LinkCloseReason) => {
    return { type: 'link', peer: member(1), state: 'closed', reason, text: 'reset' } as const;
  };
  const report = (detector: Detector): string | undefined => {
    for (let now = 0; detector.dueMs !== undefined; now = detector.dueMs) {
      const found = texts(detector.on({ type: 'due' }, now)).find((text) => text.startsWith('report'));
      if (found !== undefined) return `${now} ${found}`;
    }
    return undefined;
  };

  test('an end without goodbye is a suspicion, and silence over other routes the proof', () => {
    const detector = open();
    assert.equal(texts(detector.on(closed('lost'), 0)), ['suspect']);
    assert.equal(texts(detector.on({ type: 'due' }, 0)), ['{"type":"ping","n":1} to 1']);
    assert.is(report(detector), '300 report closed: reset; no answer for 300 ms');
  });

  test('the cause is what ended the link; what was meant is none', () => {
    const causeOf = (reason: LinkCloseReason): string | undefined => {
      const detector = open();
      detector.on(closed(reason), 0);
      return report(detector)?.split(' ')[2];
    };
    const reasons = ['lost', 'silent', 'timeout', 'protocol', 'goodbye', 'local', 'refused'] as const;
    const causes = ['closed:', 'silent:', 'unreachable:', 'malformed:', undefined, undefined, undefined];
    assert.equal(reasons.map(causeOf), causes);
  });

  test('an answer, a new link, or its loss by another detector ends the suspicion', () => {
    for (const event of [
      { type: 'message', from: member(1), body: { type: 'answer', n: 1 } },
      { type: 'link', peer: member(1), state: 'up' },
      { type: 'gone', member: member(1) },
    ] as const) {
      const detector = open();
      detector.on(closed('lost'), 0);
      detector.on({ type: 'due' }, 0);
      const actions = texts(detector.on(event, 20));
      assert.equal(actions, event.type === 'gone' ? [] : ['trust'], event.type);
      assert.is(detector.dueMs, undefined, event.type);
    }
  });

  test('one that stays a member, as the controller does, is reported once until it is heard', () => {
    const detector = open();
    const peer = member(0);
    const until = (startMs: number, endMs: number): string[] => {
      const found: string[] = [];
      for (let now = startMs; now < endMs; now += 50) found.push(...texts(detector.on({ type: 'due' }, now)));
      return found;
    };
    detector.on({ ...closed('lost'), peer }, 0);
    const found = until(0, 3000);
    assert.is(found.filter((text) => text.startsWith('report')).length, 1);
    assert.ok(found.at(-1)?.endsWith('to 0'), 'it is asked on');
    assert.equal(texts(detector.on({ type: 'message', from: peer, body: { type: 'answer', n: 1 } }, 3000)), ['trust']);
    detector.on({ ...closed('lost'), peer }, 3000);
    assert.ok(until(3000, 4000).some((text) => text.startsWith('report')));
  });

  test('the time that this process stood still does not count against a suspect', () => {
    const detector = open();
    detector.on(closed('lost'), 0);
    detector.on({ type: 'lag', lagMs: 1000 }, 1000);
    assert.equal(texts(detector.on({ type: 'due' }, 1000)), ['{"type":"ping","n":1} to 1']);
    assert.is(texts(detector.on({ type: 'due' }, 1300))[0], 'report closed: reset; no answer for 300 ms');
  });
});

suite('detector sporadic', (test) => {
  const open = (): Detector => detectorModule(detectorSporadic, { period: '100ms', timeout: '400ms' }).open(init);

  test('sends nothing while nobody waits, or not for long', () => {
    const detector = open();
    detector.on({ type: 'start' }, 0);
    assert.is(detector.dueMs, undefined);
    detector.on({ type: 'waiting', id: 7, on: 0 }, 10);
    assert.is(detector.dueMs, 410);
    detector.on({ type: 'over', id: 7 }, 300);
    assert.is(detector.dueMs, undefined);
  });

  test('of several who wait probes those that they wait for, and nobody else, as long as one waits', () => {
    const detector = open();
    detector.on({ type: 'waiting', id: 7, on: 0 }, 0);
    detector.on({ type: 'waiting', id: 8, on: 3 }, 100);
    detector.on({ type: 'waiting', id: 9, on: 3 }, 100);
    assert.equal(texts(detector.on({ type: 'due' }, 400)), ['{"type":"ping","n":1} to 0']);
    detector.on({ type: 'over', id: 7 }, 450);
    assert.equal(texts(detector.on({ type: 'due' }, 500)), ['{"type":"ping","n":2} to 3']);
    detector.on({ type: 'over', id: 8 }, 550);
    assert.equal(texts(detector.on({ type: 'due' }, 600)), ['{"type":"ping","n":3} to 3']);
    detector.on({ type: 'over', id: 9 }, 650);
    assert.is(detector.dueMs, undefined);
  });

  test('probes the one that somebody waits for, and stops with the wait', () => {
    const detector = open();
    detector.on({ type: 'waiting', id: 7, on: 0 }, 0);
    assert.equal(texts(detector.on({ type: 'due' }, 400)), ['{"type":"ping","n":1} to 0']);
    detector.on({ type: 'over', id: 7 }, 450);
    assert.is(detector.dueMs, undefined);
  });

  test('the time that this process stood still does not count against a suspect', () => {
    const detector = open();
    detector.on({ type: 'waiting', id: 7, on: 0 }, 0);
    detector.on({ type: 'due' }, 400);
    assert.ok(texts(detector.on({ type: 'due' }, 800)).includes('suspect'));
    detector.on({ type: 'lag', lagMs: 1000 }, 1850);
    const isReported = (now: number): boolean => texts(detector.on({ type: 'due' }, now)).some((text) =>
      text.startsWith('report'));
    assert.equal([isReported(1850), isReported(1900)], [false, true]);
  });

  test('a wait for all goes around the ring, and each asks the next', () => {
    const detector = open();
    const round = (hops: number) => ({ type: 'message', from: member(1), body: { type: 'round', hops } }) as const;
    assert.equal(texts(detector.on(round(3), 0)), ['{"type":"round","hops":2} to 3']);
    assert.equal(texts(detector.on({ type: 'due' }, 0)), ['{"type":"ping","n":1} to 3']);
    assert.equal(texts(detector.on(round(2), 10)), [], 'passed on once in half a period');
    assert.equal(texts(detector.on(round(1), 100)), [], 'has been around');
    detector.on({ type: 'message', from: member(3), body: { type: 'answer', n: 1 } }, 20);
    detector.on({ type: 'due' }, 400);
    assert.is(detector.dueMs, undefined, 'nobody asks any more');
  });
});
