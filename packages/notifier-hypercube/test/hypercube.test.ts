/** The double hypercube: compliance, and its labels. */

import { MemberView } from '@stci/core/component';
import { notifierHypercube } from '@stci/notifier-hypercube';
import { assert, suite } from '@stci/testkit';
import { NotifierNetwork, membersOf, notifierCompliance } from '@stci/testkit/compliance';

notifierCompliance(notifierHypercube);

suite('notifier hypercube', (test) => {
  const module = notifierHypercube.create({}, {}, undefined);

  test('the source is linked with the labels 2^j and n − 2^j', () => {
    const network = new NotifierNetwork({ module, topologyOf: undefined, members: membersOf(11), seed: 1 });
    network.broadcast(3, Uint8Array.of(1));
    assert.equal(network.sent.map(({ to }) => to), [4, 5, 7, 2, 1, 10]);
  });

  test('a relay uses the dead set that is carried, not its own', () => {
    const self = { position: 1, incarnation: 1 };
    const from = { position: 0, incarnation: 0 };
    const sends = (dead: readonly number[], known: readonly number[]): number[] => {
      const members = new MemberView(self, membersOf(8));
      const relay = module.open({ self, members, topologyOf: undefined });
      for (const position of known) members.lose({ position, incarnation: 1 }, 'reported');
      const actions = relay.on({ type: 'message', from, body: [0, 0, 0, 8, dead, Uint8Array.of(1)] }, 0);
      return actions.flatMap((action) => (action.type === 'send' ? [action.to] : []));
    };
    assert.equal(sends([], []), [3, 5, 7, 2]);
    assert.equal(sends([2], []), [4, 7]);
    assert.equal(sends([], [2]), [3, 5, 7]);
  });
});
