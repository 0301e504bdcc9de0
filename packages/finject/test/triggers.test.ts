/** What counts for a trigger, and how often. */

import type { Trigger } from '@stci/finject/experiment';
import type { JobEvent } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { LineSplitter } from '../dist/run/lines.js';
import { Triggers } from '../dist/run/triggers.js';

function play(trigger: Trigger) {
  const state = { fired: 0 };
  const triggers = new Triggers([trigger], () => (state.fired += 1));
  return { triggers, state, event: (event: object) => triggers.onJobEvent(event as JobEvent) };
}

const detection = (nth: number, fault?: string): Trigger => ({ on: 'event', event: 'detection', nth, fault });
const failure = (rank: number, isRecorded: boolean) => ({ type: 'failure', isRecorded, error: { rank } });
const record = (subject: object) => ({ type: 'failure-record', record: { subject } });

suite('triggers', (test) => {
  test('the news of a failure and its record are one detection; the second is the second', () => {
    const { event, state } = play(detection(2));
    event(failure(1, true));
    event(record({ kind: 'tool', rank: 1, host: 0 }));
    assert.is(state.fired, 0);
    event(failure(2, true));
    event(failure(3, true));
    assert.is(state.fired, 1, 'once');
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

  test('lines that do not end are cut', () => {
    const lines = new LineSplitter();
    const found = lines.push('a', 'x'.repeat(200_000));
    assert.equal(found.map(({ length }) => length), [65_536, 65_536, 65_536]);
    assert.equal(lines.end('a').map(({ length }) => length), [200_000 - 3 * 65_536]);
  });
});
