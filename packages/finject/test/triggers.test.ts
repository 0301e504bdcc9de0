/** What counts for a trigger, and how often. */

import type { Trigger } from '@stci/finject/experiment';
import { failureId, type FailedSubject, type JobEvent } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { LineSplitter } from '../dist/run/lines.js';
import { Triggers } from '../dist/run/triggers.js';

function play(trigger: Trigger) {
  const state = { fired: 0 };
  const triggers = new Triggers([trigger], { onFired: () => (state.fired += 1) });
  return { triggers, state, event: (event: object) => triggers.onJobEvent(event as JobEvent) };
}

const detection = (nth: number, fault?: string): Trigger => ({ on: 'event', event: 'detection', nth, fault });
const RANK = { kind: 'tool', host: 0, job: 1, attempt: 1 } as const;
const HOST = { kind: 'host', incarnation: 1 } as const;
const failure = (subject: FailedSubject, rank?: number) =>
  ({ type: 'failure', error: { rank, failure: failureId(subject) } });
const record = (subject: FailedSubject) =>
  ({ type: 'failure-record', record: { failure: failureId(subject), subject } });

suite('triggers', (test) => {
  test('the news of a failure and its record are one detection; the second is the second', () => {
    const { event, state } = play(detection(2));
    event(failure({ ...RANK, rank: 1 }, 1));
    event(record({ ...RANK, rank: 1 }));
    assert.is(state.fired, 0);
    event(failure({ ...RANK, rank: 2 }, 2));
    event(failure({ ...RANK, rank: 3 }, 3));
    assert.is(state.fired, 1, 'once');
  });

  test('a lost host is one detection, and belongs to its fault by the record, which names its index', () => {
    const [any, own] = [play(detection(2)), play(detection(1, 'f'))];
    own.triggers.onInjected('f', { kind: 'host', host: 2 });
    for (const { event } of [any, own]) event(failure({ ...HOST, host: 2 }));
    assert.equal([any.state.fired, own.state.fired], [0, 0]);
    for (const { event } of [any, own]) event(record({ ...HOST, host: 2 }));
    assert.equal([any.state.fired, own.state.fired], [0, 1]);
    any.event(record({ ...HOST, host: 3 }));
    assert.is(any.state.fired, 1);
  });

  test('a detection belongs to a fault by its victims: of a host, that host', () => {
    const { event, state, triggers } = play(detection(1, 'f'));
    triggers.onInjected('f', { kind: 'host', host: 2 });
    triggers.onInjected('g', { kind: 'host', host: 3 });
    event(record({ kind: 'host', host: 3, incarnation: 1 }));
    assert.is(state.fired, 0);
    event(record({ kind: 'host', host: 2, incarnation: 1 }));
    assert.is(state.fired, 1);
  });

  test('lines of output that match, by rank, each counted once; also without an end of line', () => {
    const { state, triggers } = play({ on: 'output', pattern: '^step', rank: 1, nth: 3 });
    triggers.onOutput(1, 'stdout', 'step 1\nno step\nst');
    triggers.onOutput(0, 'stdout', 'step 1\nstep 2\nstep 3\n');
    triggers.onOutput(1, 'stdout', 'ep 2\n');
    triggers.onOutput(1, 'stderr', 'step 3');
    assert.is(state.fired, 0);
    triggers.onOutput(1, 'stderr', undefined);
    assert.is(state.fired, 1);
  });

  test('a pattern that takes forever is given up and told of; the others go on', () => {
    const of = (pattern: string): Trigger => ({ on: 'output', pattern, rank: undefined, nth: 1 });
    const fired: string[] = [];
    const late: string[] = [];
    let calls = 0;
    const triggers = new Triggers([of('slow'), of('line')], {
      onFired: (key) => fired.push(key), onLate: (pattern) => late.push(pattern),
      within: (_limitMs, run) => (calls++ === 0 ? undefined : run()),
    });
    triggers.onOutput(0, 'stdout', 'slow\n');
    triggers.onOutput(0, 'stdout', 'slow line\n');
    assert.equal([late, fired.length, calls], [['slow'], 1, 3]);
  });

  test('lines that do not end are cut', () => {
    const lines = new LineSplitter();
    const found = lines.push('a', 'x'.repeat(200_000));
    assert.equal(found.map(({ length }) => length), [65_536, 65_536, 65_536]);
    assert.equal(lines.end('a').map(({ length }) => length), [200_000 - 3 * 65_536]);
  });
});
