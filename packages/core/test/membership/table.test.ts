/** The membership table: transitions, parents, and what is read from it. */

import { createTree } from '@stci/topology-tree';
import { assert, suite } from '@stci/testkit';
import { MEMBER_LIFE, type MemberEvent } from '../../dist/membership/member.js';
import { MembershipTable } from '../../dist/membership/table.js';
import { specOf, specs } from './specs.js';

/** `hosts` hosts below the controller in a binary tree, all up. 0: 2, 3; 1: 4, 5; 2: 6, 7; … */
function tableOf(hosts: number): MembershipTable {
  const table = new MembershipTable(createTree(hosts + 1, 2), specs(hosts));
  for (let host = 0; host < hosts; host++) for (const event of ['start', 'up'] as const) table.apply(host, event);
  return table;
}

suite('membership table', (test) => {
  test('each state permits its events, every other is refused and changes nothing', () => {
    const paths: Record<string, readonly MemberEvent[]> = {
      planned: [], starting: ['start'], up: ['start', 'up'], suspect: ['start', 'up', 'suspect'],
      orphaned: ['start', 'up', 'orphan'], left: ['leave'], failed: ['fail'],
      fenced: ['start', 'up', 'suspect', 'fence'],
    };
    const events = new Set(Object.values(MEMBER_LIFE.rows).flatMap((row) => Object.keys(row))) as Set<MemberEvent>;
    for (const [state, path] of Object.entries(paths)) {
      for (const event of events) {
        const table = new MembershipTable(createTree(2, 2), specs(1));
        for (const step of path) table.apply(0, step);
        const before = table.get(0);
        assert.is(before.state, state);
        const next = MEMBER_LIFE.rows[before.state][event];
        if (next !== undefined) table.apply(0, event);
        else assert.throws(() => table.apply(0, event), new RegExp(`${state} permits no event ${event}`));
        assert.is(table.get(0).state, next ?? state);
        assert.is(table.count(next ?? before.state), 1);
      }
    }
  });

  test('every restart is another incarnation', () => {
    const table = tableOf(1);
    assert.is(table.get(0).incarnation, 1);
    for (const event of ['fail', 'plan', 'start', 'up', 'suspect', 'fence', 'plan'] as const) table.apply(0, event);
    assert.equal([table.get(0).incarnation, table.get(0).state], [3, 'planned']);
  });

  test('what is known of a state ends with it, of an incarnation with the next start, of a host with another', () => {
    const table = tableOf(1);
    const known = (): unknown[] => {
      const { evidence, isPausing, socket, network, upMs, starts } = table.get(0);
      return [evidence, isPausing, socket, network, upMs, starts];
    };
    const agent = { socket: 's', network: 'n', upMs: 3 };
    table.note(0, { ...agent, isPausing: true, starts: 2 });
    table.apply(0, 'suspect', { evidence: 'e' });
    assert.equal(known(), ['e', false, 's', 'n', 3, 2]);
    table.note(0, { isPausing: true });
    table.drain(0, true);
    assert.is(table.get(0).isPausing, false);
    for (const event of ['link', 'orphan', 'fence'] as const) table.apply(0, event);
    assert.equal(known(), ['', false, 's', 'n', 3, 2]);
    table.apply(0, 'plan');
    assert.equal(known(), ['', false, undefined, undefined, undefined, 2]);
    table.assign(0, { ...table.get(0).spec, slots: 7 });
    assert.equal([table.get(0).starts, table.get(0).spec.slots], [2, 7]);
    table.assign(0, specOf('x'));
    assert.equal([table.get(0).starts, table.nameOf(0)], [1, 'x']);
  });

  test('a host that is added has the next place in the tree, and begins when it is planned', () => {
    const table = new MembershipTable(createTree(100, 2), specs(2));
    assert.equal([table.add(specOf('h2')), table.size, table.plannedParent(2)], [2, 3, 0]);
    const { state, incarnation, parent } = table.get(2);
    assert.equal([state, incarnation, parent, table.isGone(2)], ['left', 0, 0, true]);
    for (const event of ['plan', 'start', 'up'] as const) table.apply(2, event);
    assert.equal([table.get(2).state, table.get(2).incarnation, table.children(0)], ['up', 1, [2]]);
  });

  test('a host that is draining is used by no job and links to no other; leaving, or another start, ends that', () => {
    const table = tableOf(8);
    assert.equal([table.isUsable(2), table.connectedAncestors(6)], [true, [2, 0, undefined]]);
    table.drain(2, true);
    assert.equal([table.get(2).state, table.isUsable(2), table.connectedAncestors(6)], ['up', false, [0, undefined]]);
    table.apply(2, 'suspect');
    assert.is(table.get(2).isDraining, true);
    table.apply(2, 'leave');
    table.apply(2, 'plan');
    assert.equal([table.get(2).isDraining, table.get(2).incarnation], [false, 2]);
  });

  test('hosts below are those by current parents', () => {
    const table = tableOf(8);
    assert.equal(table.hostsBelow(0), [0, 2, 6, 7, 3]);
    table.apply(0, 'fail', { evidence: 'exited' });
    for (const child of [2, 3]) table.apply(child, 'orphan');
    assert.equal([table.isConnected(6), table.isConnected(1)], [false, true]);
    for (const child of [2, 3]) table.apply(child, 'link', { parent: undefined });
    assert.equal([table.children(undefined), table.children(0), table.hostsBelow(2)], [[1, 2, 3], [], [2, 6, 7]]);
    assert.equal([table.isConnected(6), table.isGone(0), table.isGone(2)], [true, true, false]);
    assert.equal([table.hosts('failed'), table.count('up', 'failed'), table.get(0).evidence], [[0], 8, 'exited']);
  });

  test('agents above that can reach a host: connected ones of the planned tree, then the controller', () => {
    const table = tableOf(16);
    assert.equal(table.connectedAncestors(14), [6, 2, 0, undefined]);
    table.apply(2, 'suspect');
    assert.equal(table.connectedAncestors(14), [0, undefined]);
    table.apply(0, 'orphan');
    assert.equal(table.connectedAncestors(14), [undefined]);
  });

  test('a host that left is passed over by the starter, a failed one is not', () => {
    const table = new MembershipTable(createTree(9, 2), specs(8));
    table.apply(2, 'leave');
    table.apply(0, 'fail');
    assert.equal([table.starterOf(6), table.starterOf(0)], [0, undefined]);
  });

  test('a parent is above its child in the planned tree, so links form no circle', () => {
    const table = tableOf(8);
    assert.throws(() => table.apply(2, 'link', { parent: 6 }), /above its child/);
    assert.throws(() => table.apply(2, 'link', { parent: 1 }), /above its child/);
  });
});
