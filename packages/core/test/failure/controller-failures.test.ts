/** Failures at the controller: who is given up for a silence, and what the records say of those who reported it. */

import { StciError } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { arbiterCode } from '../../dist/failure/arbiter-code.js';
import { Arbiter } from '../../dist/failure/arbiter.js';
import { RECORD_MS } from '../../dist/failure/records.js';
import { play } from './play-failures.js';

arbiterCode.provide(Arbiter);

suite('failures at the controller', (test) => {
  test('a host that is silent alone is given up; its record names who else reported it, and when it is decided', () => {
    const { report, run, events, declared, records } = play([0, 1, 2]);
    for (const by of [0, 1, 1, 2]) report(by, 3);
    assert.equal([events, declared, records], [['suspected h3'], [], []]);
    run(1000);
    assert.equal([events, declared], [['suspected h3'], ['h3: no heartbeat']]);
    run(RECORD_MS);
    assert.equal(records.map(({ hostName, reporter, confirmers }) => [hostName, reporter, confirmers]),
      [['h3', 'root:0', ['root:1', 'root:2']]]);
  });

  test('no record is told before it is decided, however long that takes', () => {
    const { report, run, declared, records } = play([0, 1, 2], 200);
    report(0, 3);
    run(RECORD_MS + 500);
    assert.equal([declared, records], [[], []]);
    run(500);
    assert.equal([declared.length, records], [1, []]);
    run(RECORD_MS);
    assert.equal(records.map(({ hostName }) => hostName), ['h3']);
  });

  test('of hosts that are silent together, the one above is given up, and the report of those below is refuted', () => {
    const { report, run, events, declared, records } = play([0]);
    report(0, 3);
    run(1000);
    assert.equal(declared, ['h1: no answer, and silence below it (no heartbeat)']);
    assert.equal(events, ['suspected h3', 'refuted h3']);
    run(RECORD_MS);
    assert.equal(records.map(({ hostName }) => hostName), ['h1']);
  });

  test('an agent above that is just being linked to another is not given up for a silence below it', () => {
    const { table, report, run, events, declared } = play([0]);
    report(0, 3);
    table.apply(1, 'suspect', { evidence: 'its link closed' });
    run(60_000);
    assert.equal([declared, events], [[], ['suspected h3', 'refuted h3']]);
  });

  test('a host that answers is refuted, without a record; what is said of it soon after is asked, not told', () => {
    const { report, run, events, declared, records } = play([0, 1, 2, 3]);
    report(0, 3);
    run(1000);
    report(1, 3);
    run(60_000);
    assert.equal([events.filter((event) => event === 'suspected h3').length, events.slice(0, 2)],
      [1, ['suspected h3', 'refuted h3']]);
    assert.equal([declared, records], [[], []]);
  });

  test('a host that does not come up, and ends the launch, has a record that says so', () => {
    const { failures, holds, records } = play([]);
    const error = new StciError('STCI_LAUNCH_FAILED', 'no route\nto it');
    for (const [host, reason] of [[1, 'no host is left'], [2, undefined]] as const) {
      failures.onStartFailed(host, error, 0);
      failures.onLaunchEnding(host, reason);
    }
    holds.close();
    assert.equal(records.map(({ hostName, reporter, cause, evidence, policy }) =>
      [hostName, reporter, cause, evidence, policy]), [
      ['h1', 'root:0', 'not-started', 'no route', ['the launch is ended: no host is left']],
      ['h2', 'root:0', 'not-started', 'no route', ['the launch is ended']],
    ]);
  });

  test('a host that is given up for its link while it is asked has its record at once', () => {
    const { failures, holds, report, records, table } = play([0, 1, 2]);
    report(0, 3);
    for (const event of ['suspect', 'fence'] as const) table.apply(3, event, { evidence: 'its link closed' });
    failures.onHostLost(3, new StciError('STCI_AGENT_LOST', 'its link closed'), undefined, undefined);
    assert.equal(records, []);
    holds.close();
    assert.equal(records.map(({ hostName }) => hostName), ['h3']);
  });

  test('what is said of an agent that was given up, or is not there yet, says nothing of the one there', () => {
    const { failures, report, run, events, declared, table } = play([0, 1, 2]);
    report(0, 3);
    run(1000);
    for (const event of ['plan', 'start', 'up'] as const) table.apply(3, event);
    failures.onUp(3);
    for (const incarnation of [1, 3]) report(1, 3, incarnation);
    run(60_000);
    assert.equal([declared.length, events.filter((event) => event === 'suspected h3').length], [1, 1]);
    assert.is(table.get(3).state, 'up');
  });

  test('after the end of the session nothing is given up', () => {
    const { holds, report, run, declared } = play([]);
    report(0, 3);
    holds.close();
    run(60_000);
    assert.equal(declared, []);
  });
});
