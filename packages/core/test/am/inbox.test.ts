/** The order in which messages that wait are handled. */

import { CONTROLLER, rootAddress } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { Inbox, type Received } from '../../dist/am/inbox.js';
import type { Link } from '../../dist/bootcom/link.js';

const linkTo = (host: number): Link => ({ peer: rootAddress(host), role: 'child', job: 0 }) as Link;

suite('inbox', (test) => {
  const message = (type: number, from: Link | undefined): Received =>
    ({ header: { type, source: from?.peer ?? CONTROLLER, job: 0 }, body: new Uint8Array(), from }) as Received;

  function order(...messages: readonly Received[]): number[] {
    const inbox = new Inbox();
    for (const each of messages) inbox.push(each);
    return messages.map(() => inbox.take()?.header.type ?? -1);
  }

  test('links take turns, each in order', () => {
    const [a, b] = [linkTo(0), linkTo(1)];
    assert.equal(order(message(1, a), message(2, a), message(3, a), message(4, b)), [1, 4, 2, 3]);
  });

  test('a message to oneself comes after all that came before it, and holds up none that came later', () => {
    const [a, b] = [linkTo(0), linkTo(1)];
    const own = message(9, undefined);
    assert.equal(order(message(1, a), message(2, a), own, message(3, b)), [1, 3, 2, 9]);
    assert.equal(order(own, message(1, a), message(2, undefined), message(3, b)), [9, 1, 3, 2]);
  });
});
