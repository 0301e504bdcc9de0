/** The notifier over the binomial graph: compliance, and its order of sending. */

import { notifierBmg } from '@stci/notifier-bmg';
import { assert, suite } from '@stci/testkit';
import { NotifierNetwork, membersOf, notifierCompliance } from '@stci/testkit/compliance';
import { createBmg, topologyBmg } from '@stci/topology-bmg';

notifierCompliance(notifierBmg, { topologies: [topologyBmg] });

suite('notifier bmg', (test) => {
  const module = notifierBmg.create({}, { topology: 'bmg' }, undefined);

  test('to the children in the binomial tree first, most below them first, then over the other links', () => {
    const network = new NotifierNetwork({ module, topologyOf: createBmg, members: membersOf(16), seed: 1 });
    network.broadcast(1, Uint8Array.of(1));
    assert.equal(network.sent.map(({ to }) => to), [9, 5, 3, 2, 0, 13, 15]);
  });

  test('its promise names the figures', () => {
    const { text } = module.promise({ members: 64, failures: 10, topology: createBmg(64) });
    assert.is(text, 'Each of 64 agents is told within 6 message times, whichever 10 fail meanwhile, with at most 641 '
      + 'messages.');
  });
});
