/** The overlay of a session without one: messages over the boot tree, the members, and the links that come and go. */

import type { MemberId, Position } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import type { OverlayWays } from '../../dist/peers/contracts.js';
import { TreeOverlay } from '../../dist/peers/tree-overlay.js';
import { makeNet, tree, type Net } from '../am/net.js';

interface Rig {
  readonly net: Net;
  readonly overlays: readonly TreeOverlay[];
  /** What happened at each, in words. */
  readonly told: string[][];
  /** Starts all with these members. */
  start(members?: readonly MemberId[]): void;
}

const name = ({ position, incarnation }: MemberId): string => `${position}#${incarnation}`;

function makeRig(parents: readonly number[]): Rig {
  const net = makeNet(parents);
  const overlays = net.nodes.map((node) => new TreeOverlay(node));
  const told = overlays.map((overlay): string[] => {
    const lines: string[] = [];
    overlay.events = {
      onUp: (peer) => lines.push(`up ${name(peer)}`),
      onClosed: (peer, reason) => lines.push(`closed ${name(peer)} ${reason}`),
    };
    return lines;
  });
  const all = overlays.map((_, position) => ({ position, incarnation: position === 0 ? 0 : 1 }));
  const start = (members = all): void =>
    overlays.forEach((overlay) => members.forEach((member) => overlay.members.join(member)));
  return { net, overlays, told, start };
}

function echoes(net: Net, at: Position): unknown[] {
  const got: unknown[] = [];
  net.nodes[at]?.messages.on('agent.echo', (body) => void got.push(body));
  return got;
}

suite('overlay without links of its own', (test) => {
  test('links that are up are told at the start, and none before', () => {
    const { overlays, told, start } = makeRig(tree(4, 2));
    assert.equal(told, [[], [], [], []]);
    start();
    assert.equal(told[1], ['up 0#0', 'up 3#1']);
    assert.equal(overlays[1]?.members.living().map(name), ['0#0', '1#1', '2#1', '3#1']);
    assert.equal([0, 1, 2, 3].map((to) => overlays[1]?.isLinked(to)), [true, false, false, true]);
  });

  test('messages pass between any two, those that may be lost too', () => {
    const { net, overlays, start } = makeRig(tree(7, 2));
    start();
    const got = echoes(net, 6);
    overlays[3]?.send(6, 'agent.echo', 'may be lost');
    overlays[3]?.sendReliably(6, 'agent.echo', 'is not');
    net.until(() => got.length === 2, 'both');
    assert.equal(got, ['may be lost', 'is not']);
    assert.equal(net.faults, []);
  });

  test('what may be lost is, in silence, where a link is gone; what may not waits for the next', () => {
    const { net, overlays, told, start } = makeRig(tree(7, 2));
    start();
    const got = echoes(net, 5);
    net.channels[5]?.[0].destroy('cut');
    net.until(() => told[5]?.includes('closed 2#1 lost') === true && told[2]?.includes('closed 5#1 lost') === true,
      'both ends');
    overlays[1]?.send(5, 'agent.echo', 'lost');
    overlays[1]?.sendReliably(5, 'agent.echo', 'kept');
    net.run(50);
    net.adopt(0, 5);
    net.until(() => got.length > 0, 'what was kept');
    assert.equal(got, ['kept']);
    assert.equal(net.faults, []);
    assert.ok(told[5]?.includes('up 0#0'));
  });

  test('what was kept for one that is gone does not reach its successor', () => {
    const { net, overlays, told, start } = makeRig(tree(7, 2));
    start();
    const got = echoes(net, 5);
    net.channels[5]?.[0].destroy('cut');
    net.until(() => told[5]?.includes('closed 2#1 lost') === true && told[2]?.includes('closed 5#1 lost') === true,
      'both ends');
    overlays[1]?.sendReliably(5, 'agent.echo', 'former');
    assert.ok((net.nodes[1]?.memory.unacknowledged ?? 0) > 0);
    overlays[1]?.members.lose({ position: 5, incarnation: 1 }, 'gone');
    assert.is(net.nodes[1]?.memory.unacknowledged, 0);
    net.adopt(0, 5);
    overlays[1]?.members.join({ position: 5, incarnation: 2 });
    overlays[1]?.sendReliably(5, 'agent.echo', 'next');
    overlays[1]?.members.lose({ position: 5, incarnation: 1 }, 'gone');
    net.until(() => got.length > 0, 'what was sent since');
    assert.equal(got, ['next']);
  });

  test('one that is reported is no member until it is refuted; its link is told once', () => {
    const { overlays: [, overlay], told, start } = makeRig(tree(4, 2));
    start();
    const member = { position: 3, incarnation: 1 };
    overlay?.members.lose(member, 'reported');
    assert.equal(overlay?.members.living().map(name), ['0#0', '1#1', '2#1']);
    overlay?.members.refute(member);
    assert.equal([overlay?.members.living().map(name), told[1]], [['0#0', '1#1', '2#1', '3#1'], ['up 0#0', 'up 3#1']]);
  });

  test('a link to one that joins later is told when it does, once', () => {
    const { overlays: [, overlay], told, start } = makeRig(tree(4, 2));
    const joined = { position: 3, incarnation: 1 };
    start([0, 1, 2].map((position) => ({ position, incarnation: position === 0 ? 0 : 1 })));
    assert.equal(told[1], ['up 0#0']);
    for (const time of ['first', 'second']) {
      overlay?.members.join(joined);
      assert.equal(told[1], ['up 0#0', 'up 3#1'], time);
    }
  });

  test('the next incarnation joins once, and one that is gone is no member', () => {
    const { overlays, told, start } = makeRig(tree(3, 2));
    start();
    const [, one] = overlays;
    one?.members.lose({ position: 2, incarnation: 1 }, 'gone');
    assert.equal(one?.members.living().map(name), ['0#0', '1#1']);
    one?.members.join({ position: 2, incarnation: 2 });
    one?.members.join({ position: 2, incarnation: 2 });
    one?.members.join({ position: 2, incarnation: 1 });
    one?.members.lose({ position: 2, incarnation: 1 }, 'gone');
    assert.equal(told[1], ['up 0#0']);
    assert.equal(one?.members.living().map(name), ['0#0', '1#1', '2#2']);
    assert.is(one?.self.position, 1);
  });

  test('of a session with an overlay: what waits for its ways is called when these open, and not before', () => {
    const net = makeNet([0, 0], { 'overlay.topology': 'tree:2' });
    const [overlay] = net.nodes.map((node) => new TreeOverlay(node));
    const log: string[] = [];
    const waiting: (() => void)[] = [];
    overlay?.whenOpen(() => log.push('first'));
    overlay?.extend({ whenOpen: (call: () => void) => void waiting.push(call) } as unknown as OverlayWays);
    overlay?.whenOpen(() => log.push('second'));
    assert.equal(log, []);
    for (const call of waiting) call();
    assert.equal(log, ['first', 'second']);
  });
});
