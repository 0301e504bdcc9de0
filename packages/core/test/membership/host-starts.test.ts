/** Starts of agents while a session runs: along the planned tree, each told once what became of it. */

import { StciError, type HostIndex } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { createTree } from '@stci/topology-tree';
import { Mender, type MendAction } from '../../dist/membership/mender.js';
import { MembershipTable } from '../../dist/membership/table.js';
import { specOf, specs } from './specs.js';

const HANDSHAKE_MS = 1000;
const START_MS = 6 * HANDSHAKE_MS;

const failure = (message: string): StciError => new StciError('STCI_LAUNCH_FAILED', message);

/** Hosts 0 and 1 are up; 2 and 3 are planned below host 0, 4 and 5 below host 1, 6 below host 2. */
function play() {
  const table = new MembershipTable(createTree(16, 2), specs(2));
  for (const host of [0, 1]) for (const event of ['start', 'up'] as const) table.apply(host, event);
  for (let host = 2; host < 8; host += 1) table.add(specOf(`h${host}`));
  const mender = new Mender({ table, leaseMs: 10_000, handshakeMs: HANDSHAKE_MS });
  const by = (parent: HostIndex | undefined): string => (parent === undefined ? 'controller' : String(parent));
  const text = (actions: readonly MendAction[]): string[] => actions.map((action) => {
    if (action.type === 'unstarted') {
      return `${action.host} ${action.isFailure ? 'failed' : 'ended'}: ${action.error.message}`;
    }
    if (action.type === 'lost') return `${action.host} lost${action.was.start !== undefined ? ' as it starts' : ''}`;
    return `${action.host} ${action.type} ${'by' in action ? by(action.by) : ''}`;
  });
  const start = (...hosts: HostIndex[]): string[] => {
    for (const host of hosts) mender.start(host, 0);
    return text(mender.tick(0));
  };
  const fail = (host: HostIndex, message: string, nowMs: number): string[] =>
    text(mender.onStarts((starts) => starts.fail(host, failure(message), 0), nowMs));
  const giveUp = (host: HostIndex, message: string, nowMs: number): string[] =>
    text(mender.onStarts((starts) => starts.giveUp(host, failure(message)), nowMs));
  return { table, mender, text, start, fail, giveUp };
}

suite('starts while a session runs', (test) => {
  test('one waits for its planned parent that is being started', () => {
    const { table, mender, text, start } = play();
    for (const host of [6, 2]) mender.start(host, 0);
    assert.equal([table.get(6).state, mender.dueMs], ['left', 0], 'nothing begins in the turn of the request');
    assert.equal([text(mender.tick(0)), table.isRestarting(6)], [['2 start 0'], true]);
    assert.equal(text(mender.up(2, { socket: 's' }, 5)), ['6 start 2']);
    const { parent, incarnation } = table.get(6);
    assert.equal([parent, incarnation, table.get(2).state, table.get(2).socket], [2, 1, 'up', 's']);
    assert.equal([text(mender.up(6, {}, 9)), table.isRestarting(6), mender.dueMs], [[], false, undefined]);
    assert.equal(start(), []);
  });

  test('one that fails lets those begin that have waited for it, below another', () => {
    const { table, start, fail } = play();
    start(2, 6);
    assert.equal(fail(2, 'no', 5), ['2 failed: no', '6 start 0']);
    assert.equal([table.get(2).state, table.get(2).evidence, table.get(6).parent], ['failed', 'no', 0]);
    assert.equal(fail(2, 'again', 6), []);
  });

  test('a report of the agent before says nothing of one that waits for its start', () => {
    const { table, start, fail } = play();
    start(2, 6);
    assert.equal([fail(6, 'old', 5), table.isRestarting(6)], [[], true]);
  });

  test('one that is not up in time is given up; its own time begins with its start', () => {
    const { table, mender, text, start } = play();
    start(2, 6);
    const firstMs = START_MS + 2 * 500;
    assert.is(mender.dueMs, firstMs);
    assert.equal(text(mender.tick(firstMs - 1)), []);
    assert.equal(text(mender.tick(firstMs)),
      ['2 failed: The agent of host h2 was not up after 7 s', '2 expel 0', '6 start 0']);
    assert.equal([table.get(2).state, mender.dueMs], ['failed', firstMs + START_MS + 500]);
  });

  test('one that is not wanted any more ends, whether it waits or has begun; one that is up stays', () => {
    const { table, mender, start, giveUp } = play();
    start(2, 6, 4);
    assert.equal(giveUp(6, 'removed', 5), ['6 ended: removed']);
    assert.equal(giveUp(2, 'removed', 5), ['2 ended: removed', '2 expel 0']);
    mender.up(4, {}, 6);
    assert.equal([giveUp(4, 'late', 7), table.get(4).state], [[], 'up']);
    assert.equal([table.get(6).state, table.get(2).state, mender.dueMs], ['left', 'failed', undefined]);
  });

  test('one is lost with the agent that starts it', () => {
    const { table, mender, text, start } = play();
    start(2, 6);
    const report = { reporter: undefined, host: 0, incarnation: 1, evidence: 'exited', text: 'ended' } as const;
    assert.equal(text(mender.lost(report, 5)), ['0 lost', '2 lost as it starts', '6 start controller']);
    assert.equal([table.isRestarting(2), table.isRestarting(6)], [false, true]);
  });

  test('in a launch one starts with those below it, or is left out, and those below it start without it', () => {
    const table = new MembershipTable(createTree(9, 2), specs(8));
    for (const host of table.hosts()) table.apply(host, 'start');
    const mender = new Mender({ table, leaseMs: 10_000, handshakeMs: HANDSHAKE_MS });
    const orders = (actions: readonly MendAction[]): unknown[] => actions.map((action) =>
      action.type === 'start' && [action.host, action.by, action.isLate]);
    table.apply(2, 'fail');
    assert.equal(orders(mender.onStarts((starts) => starts.restart(2), 1)), [[2, 0, false]]);
    assert.equal([table.get(2).state, table.get(2).incarnation, table.isRestarting(2)], ['starting', 2, false]);
    table.apply(0, 'fail');
    assert.equal(orders(mender.onStarts((starts) => starts.leaveOut(0), 2)),
      [[2, undefined, false], [3, undefined, false]]);
    assert.equal([table.get(2).incarnation, table.get(6).incarnation, table.children(undefined)], [3, 1, [1, 2, 3]]);
    assert.is(mender.dueMs, undefined);
  });

  test('without connected agents above the controller starts it; after the end of the session nobody does', () => {
    const { table, mender, text, start } = play();
    for (const host of [0, 1]) table.apply(host, 'fail', { evidence: 'x' });
    assert.equal([start(4), table.get(4).parent], [['4 start controller'], undefined]);
    mender.finish();
    mender.start(5, 1);
    assert.equal([text(mender.tick(60_000)), table.isRestarting(4), mender.dueMs], [[], false, undefined]);
  });
});
