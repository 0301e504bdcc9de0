/** What members are told of one another: at once, and of many together. */

import { addressName, bootPosition, type Address, type HostIndex, type MemberId } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { Scope } from '../../dist/event/scope.js';
import { MemberChanges, type MemberNews } from '../../dist/failure/member-changes.js';
import type { AgentNode } from '../../dist/node/node.js';
import { testPlace } from '../world.js';

/** Of so many hosts and the controller; `told`: of each message to whom, and the hosts and what became of them. */
function play(hosts: number) {
  const place = testPlace();
  const told: string[] = [];
  const holds = new Scope('session');
  const node = {
    platform: place.platform,
    messages: {
      sendList: (
        to: Address, name: string, items: readonly MemberNews[], bodyOf: (all: readonly MemberNews[]) => object,
      ): void => {
        assert.equal([name, bodyOf(items)], ['failure.changes', { changes: items }]);
        const news = items.map(({ member, change }) => `${member.position - 1} ${change}`);
        told.push(`${addressName(to)}: ${news.join()}`);
      },
    },
  } as unknown as AgentNode;
  const memberOf = (host: HostIndex): MemberId => ({ position: bootPosition(host), incarnation: 1 });
  const members = Array.from({ length: hosts }, (_none, host) => memberOf(host));
  const changes = new MemberChanges(node, holds, () => [{ position: 0, incarnation: 0 }, ...members]);
  const tell = (host: HostIndex, change: MemberNews['change']): void =>
    changes.tell({ member: memberOf(host), change });
  return { ...place, holds, tell, told };
}

suite('changes of members', (test) => {
  test('the first is told at once, to all others', () => {
    const { tell, told, run } = play(3);
    tell(1, 'dead');
    assert.equal(told, ['root:0: 1 dead', 'root:2: 1 dead']);
    run(1000);
    assert.is(told.length, 2);
  });

  test('those that come while members are told are told together, in their order, none of itself', () => {
    const { tell, told, run } = play(3);
    tell(0, 'joined');
    told.length = 0;
    tell(0, 'dead');
    tell(1, 'refuted');
    tell(0, 'joined');
    assert.equal(told, []);
    run(2);
    assert.equal(told, [
      'root:0: 1 refuted', 'root:1: 0 dead,0 joined', 'root:2: 0 dead,1 refuted,0 joined',
    ]);
  });

  test('hosts that come back by the hundred do not make a message each to each other', () => {
    const { tell, told, run } = play(1000);
    for (let host = 0; host < 500; host += 1) {
      tell(host, 'joined');
      run(0.5);
    }
    run(1000);
    assert.ok(told.length < 8 * 1000, `${told.length} messages`);
  });

  test('when the session ends nothing is told any more', () => {
    const { tell, told, run, holds } = play(3);
    tell(1, 'dead');
    tell(2, 'dead');
    holds.close();
    told.length = 0;
    run(1000);
    assert.equal(told, []);
  });
});
