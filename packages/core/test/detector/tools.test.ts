/** Core's detectors of tools: `process` and `watchdog`. */

import type { DetectorAction, DetectorEvent } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { detectorModule } from '@stci/testkit/compliance';
import { detectorProcess } from '../../dist/detector/process.js';
import { detectorWatchdog } from '../../dist/detector/watchdog.js';
import { MemberView } from '../../dist/members/view.js';
import { composition, resolved } from '../assembly.js';
import { testPlace } from '../world.js';

const self = { position: 1, incarnation: 1 };
const init = { self, members: new MemberView(self), topologyOf: undefined, answerMs: 0, random: () => 0 };
const texts = (actions: readonly DetectorAction[]): string[] => actions.map((action) => {
  if (action.type !== 'report') return action.type;
  return `${JSON.stringify(action.failed)} ${action.cause}: ${action.evidence}`;
});

suite('detector process', (test) => {
  const ended = (isFailure: boolean, isSignal: boolean): DetectorEvent => {
    return { type: 'tool-ended', rank: 3, isFailure, isSignal, evidence: 'it ended' };
  };

  test('reports who ended badly, at once', () => {
    const detector = detectorModule(detectorProcess).open(init);
    assert.equal(texts(detector.on(ended(true, false), 5)), ['{"rank":3} exited: it ended']);
    assert.equal(texts(detector.on(ended(true, true), 5)), ['{"rank":3} signalled: it ended']);
    assert.equal(texts(detector.on(ended(false, false), 5)), []);
    assert.is(detector.dueMs, undefined);
  });

  test('an agent selects its detectors once, not again when the first failure is counted', () => {
    const scope = composition.scope('agent', resolved({}).params, testPlace().platform);
    assert.ok(scope.detectors().some(({ name }) => name === 'process'));
    assert.is(scope.detectors(), scope.detectors());
  });
});

suite('detector watchdog', (test) => {
  const open = (...events: (readonly [DetectorEvent, number])[]) => {
    const detector = detectorModule(detectorWatchdog, { grace: '50ms' }).open(init);
    for (const [event, now] of events) detector.on(event, now);
    return detector;
  };
  const started: DetectorEvent = { type: 'tool-started', rank: 3 };
  const alive: DetectorEvent = { type: 'tool-alive', rank: 3, withinMs: 100 };
  const ended: DetectorEvent = { type: 'tool-ended', rank: 3, isFailure: false, isSignal: false, evidence: '' };

  test('watches nobody who promised nothing', () => assert.is(open([started, 0]).dueMs, undefined));

  test('reports who did not keep its promise, once', () => {
    const detector = open([started, 0], [alive, 10], [alive, 60]);
    assert.is(detector.dueMs, 210);
    assert.equal(texts(detector.on({ type: 'due' }, 209)), []);
    const evidence = 'no sign of life for 150 ms, promised within 100 ms';
    assert.equal(texts(detector.on({ type: 'due' }, 210)), [`{"rank":3} watchdog: ${evidence}`]);
    assert.is(detector.dueMs, undefined);
  });

  test('a tool that ended, or was started again, has no promise to keep', () => {
    assert.is(open([alive, 0], [ended, 50]).dueMs, undefined);
    assert.is(open([alive, 0], [started, 50]).dueMs, undefined);
  });

  test('the time that this process stood still does not count', () => {
    assert.is(open([alive, 0], [{ type: 'lag', lagMs: 1000 }, 1000]).dueMs, 1150);
  });
});
