/** A host that stands still for a while, and for which more waits then than the queue of its link takes. */

import { assert, suite } from '@stci/testkit';
import type { AgentNode } from '../../dist/node/node.js';
import { at, open } from '../overlay/overlay-help.js';

const STALLED = 2;
const MESSAGES = 150;
const BODY_BYTES = 60_000;
const SETTINGS = { 'bootcom.queue.max': '4MiB', 'message.bytes.max': '64KiB', 'iof.window': '1MiB' };

suite('a host that stands still', (test) => {
  for (const overlay of ['', 'bmg']) {
    const name = overlay === '' ? 'the tree alone' : `overlay ${overlay}`;
    test(`comes back, and gets all that was sent meanwhile: ${name}`, () => {
      const session = open(4, { ...SETTINGS, 'overlay.topology': overlay, 'bootcom.lease': '10s' });
      const { world, nodes, pids, records } = session;
      const node = nodes.get(at(STALLED)) as AgentNode;
      const heard: number[] = [];
      node.messages.on('agent.echo', (body) => {
        const { length, 0: number } = body as Uint8Array;
        // The controller's own question to a host that is suspected is short.
        if (length === BODY_BYTES) heard.push(number as number);
      });
      const closed: string[] = [];
      const controller = nodes.get(at(0)) as AgentNode;
      const observer = controller.linkObserver;
      controller.linkObserver = {
        onUp: (link) => observer?.onUp(link),
        onClosed: (link, reason, text) => {
          if (link.peer === at(STALLED)) closed.push(text);
          observer?.onClosed(link, reason, text);
        },
      };
      const pid = pids.get(at(STALLED)) as number;
      world.pauseProcess('login', pid);
      for (let i = 0; i < MESSAGES; i++) {
        controller.messages.send(at(STALLED), 'agent.echo', new Uint8Array(BODY_BYTES).fill(i));
        world.run({ untilMs: world.nowMs + 20, maxEvents: 5_000_000 });
      }
      world.resumeProcess('login', pid);
      session.until(() => heard.length === MESSAGES, 'all messages', 60_000);
      assert.equal(heard, Array.from({ length: MESSAGES }, (_, i) => i), 'in order');
      assert.is(nodes.get(at(STALLED)), node, 'the same agent');
      // Once by its queue; besides, the ends may connect to each other at once, and each close what it began itself.
      assert.is(closed.filter((text) => text.includes('does not read')).length, 1, closed.join('; '));
      assert.ok(closed.length <= 4, closed.join('; '));
      session.end();
      assert.equal(records.filter(({ subject }) => subject.kind === 'host'), []);
    });
  }
});
