/** A gate: where it was opened, whom it keeps, and that it ends. */

import { createWorld } from '@stci/platform-sim';
import { assert, suite } from '@stci/testkit';
import { Gate, type Watch } from '../../dist/bootcom/gate.js';
import type { Link } from '../../dist/bootcom/link.js';
import { Scope } from '../../dist/event/scope.js';

const MAX = 2;

interface Came {
  gone: string;
  up(): void;
}

function place(holds = new Scope('agent')) {
  const world = createWorld({ seed: 1 });
  const { clock, random } = world.platform('h1');
  const log: string[] = [];
  let accept: (label: string) => void = () => undefined;
  let opened: (error: unknown, listener: unknown) => void = () => undefined;
  const network = {
    listenPrivate: (_options: unknown, take: (channel: unknown) => void, done: typeof opened) => {
      accept = (label) => take({ label });
      opened = done;
    },
  };
  const crowd: Came[] = [];
  const gate = new Gate({
    holds, of: 'children',
    platform: { clock, random, network } as never,
    pendingMax: MAX,
    accept: (_channel, watch: Watch) => {
      const hooks = watch({ onClosed: (_link, _reason, text) => log.push(`closed: ${text}`) });
      const came = { gone: '', isIntroduced: false, up: () => hooks.onUp(link), destroy: (text: string) => {
        came.gone = text;
        hooks.onClosed(link, 'lost', text);
      } };
      const link = came as unknown as Link;
      crowd.push(came);
      return link;
    },
  });
  const listen = (error?: unknown): void =>
    opened(error, error === undefined ? { path: '/s', close: () => log.push('listener closed') } : undefined);
  const pass = (): void => void world.run({ untilMs: world.nowMs + 400 });
  return { gate, log, crowd, listen, come: () => accept('unix'), pass };
}

suite('gate', (test) => {
  test('it says where it was opened, or why not', () => {
    const { gate, log, listen } = place();
    gate.openPrivate('x', (error) => log.push(error === undefined ? 'open' : error.message));
    assert.equal(gate.addresses, []);
    listen({ message: 'no' });
    assert.equal([log.splice(0), gate.addresses], [['no'], []]);
    listen();
    assert.equal([log, gate.addresses], [['open'], ['/s']]);
  });

  test('of those that are not authenticated, a bounded number stays; those that are do not count', () => {
    const { gate, crowd, come, pass } = place();
    gate.openPrivate('x', () => undefined);
    come();
    come();
    for (const came of crowd) came.up();
    for (let i = 0; i < MAX + 1; i += 1) come();
    pass();
    assert.equal([crowd.length, crowd.filter(({ gone }) => gone === '').length], [MAX + 3, MAX + 2]);
  });

  test('with it close those that are pending, and a listener that was just being opened', () => {
    const { gate, log, crowd, listen, come } = place();
    gate.openPrivate('x', () => log.push('open'));
    come();
    come();
    crowd[0]?.up();
    gate.close();
    assert.equal([log.splice(0), gate.isClosed], [['closed: the listener has closed'], true]);
    listen();
    assert.equal(log, ['listener closed', 'open']);
  });

  test('of a scope that has ended, it is closed, and so is what it opens', () => {
    const holds = new Scope('agent');
    holds.close();
    const { gate, log, listen } = place(holds);
    assert.is(gate.isClosed, true);
    gate.openPrivate('x', () => log.push('open'));
    listen();
    assert.equal(log, ['listener closed', 'open']);
  });
});
