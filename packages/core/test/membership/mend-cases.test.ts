/** Cases of the mender: what it costs to mend a tree in which many hosts are orphaned at once. */

import type { HostIndex } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { ParentTree, wholePart, type ParentsPart } from '../../dist/launcher/parent-tree.js';
import { Mender, type MendAction } from '../../dist/membership/mender.js';
import { MembershipTable, type Member } from '../../dist/membership/table.js';
import { specs } from './specs.js';
import { LEASE_MS } from './tree-model.js';

class CountedTable extends MembershipTable {
  looks = 0;

  override get(host: HostIndex): Member {
    this.looks += 1;
    return super.get(host);
  }
}

suite('mender: many at once', (test) => {
  test('an answer is work for the host that it is about, not for all that are orphaned', () => {
    const orphans = 1000;
    const parents = [undefined, ...Array.from({ length: orphans }, () => 0)];
    const tree = new ParentTree(orphans + 2, wholePart({ parents }) as ParentsPart);
    const table = new CountedTable(tree, specs(orphans + 1));
    for (let host = 0; host <= orphans; host += 1) {
      for (const event of ['start', 'up'] as const) table.apply(host, event);
    }
    const mender = new Mender({ table, leaseMs: LEASE_MS, handshakeMs: 1000 });
    let nowMs = 0;
    let actions: readonly MendAction[] =
      mender.lost({ reporter: undefined, host: 0, incarnation: 1, evidence: 'exited', text: 'exited' }, nowMs);
    assert.is(table.hosts('orphaned').length, orphans);
    table.looks = 0;
    for (let round = 0; mender.dueMs !== undefined; round += 1) {
      assert.ok(round < 3, 'all are linked when they have been tried twice');
      for (const action of actions) {
        // The first time, only each other one.
        const result = round === 0 && action.type === 'attempt' && action.host % 2 === 0 ? 'unreachable' : 'adopted';
        if (action.type === 'attempt') mender.answered(action.id, { result }, nowMs);
      }
      nowMs = mender.dueMs ?? nowMs;
      actions = mender.tick(nowMs);
    }
    assert.is(table.count('up'), orphans);
    assert.ok(table.looks <= 60 * orphans, `${table.looks} looks at hosts, of which ${orphans} are linked`);
  });
});
