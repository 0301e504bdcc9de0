/** Links of the overlay at one agent: when it connects, and what it lets go. */

import { addressName, type Channel } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import type { Link } from '../../dist/bootcom/link.js';
import { memoryChannel } from '../../dist/bootcom/memory-channel.js';
import { MemberView } from '../../dist/members/view.js';
import type { AgentNode } from '../../dist/node/node.js';
import { OverlayLinks } from '../../dist/overlay/overlay-links.js';
import { makeNet, star } from '../am/net.js';
import { nobody } from './overlay-help.js';

const KEY = new Uint8Array(32);

/** Agents of a net; `connect`: what comes of a connection of one of them to another. */
function play(connect: (from: number, to: number) => Channel | undefined = () => undefined) {
  const net = makeNet(star(7), { 'bootcom.handshake': '30s', 'bootcom.pending.max': '2' });
  const { clock } = net.platform;
  const accepts = new Map<number, (channel: Channel) => void>();
  const views = new Map<number, MemberView>();
  /** Whose messages each agent has had sent again. */
  const resent: string[] = [];
  /** A connection to one that listens; this end of it. */
  const reach = (to: number): Channel => {
    const [near, far] = memoryChannel(clock, 'near', 'far');
    accepts.get(to)?.(far);
    return near;
  };
  const open = (position: number): OverlayLinks => {
    const node = net.nodes[position] as AgentNode;
    const network = {
      listenPrivate: (_options: unknown, accept: (channel: Channel) => void, done: (...given: unknown[]) => void) => {
        accepts.set(position, accept);
        done(undefined, { path: String(position), close: () => undefined });
      },
      connectPrivate: (path: string) => connect(position, Number(path)) ?? reach(Number(path)),
    };
    const { params, identity, linkFaults, messages, platform } = node;
    messages.transport.resend = (isFor) => {
      const to = net.nodes.map((each) => each.identity.self).filter((self) => isFor(self, 0));
      resent.push(`${addressName(identity.self)} to ${to.map(addressName).join()}`);
    };
    const own = {
      params, identity, linkFaults, messages, holds: node.holds, platform: { ...platform, network },
      linkLimits: (...given: Parameters<AgentNode['linkLimits']>) => node.linkLimits(...given),
      linkEvents: (...given: Parameters<AgentNode['linkEvents']>) => node.linkEvents(...given),
    } as unknown as AgentNode;
    const members = new MemberView({ position, incarnation: 1 });
    views.set(position, members);
    const links = new OverlayLinks({
      node: own, members, kind: 'private', bootcom: undefined, tls: undefined,
      isLinked: () => false, onSettled: () => undefined,
    });
    members.observe((change) => links.onMember(change));
    links.listen(() => undefined);
    return links;
  };
  const neighbour = (position: number) => ({ position, incarnation: 1, addresses: [String(position)], key: KEY });
  return { net, open, reach, neighbour, resent, views };
}

/** Why it was closed. */
function closing(channel: Channel): { why: string | undefined } {
  const seen: { why: string | undefined } = { why: undefined };
  const destroy = channel.destroy.bind(channel);
  channel.destroy = (why) => {
    seen.why ??= why;
    destroy(why);
  };
  return seen;
}

suite('links of an overlay', (test) => {
  test('its own attempt that hangs is let go as soon as the other end has connected', () => {
    const hung = nobody(makeNet([0]).platform);
    const seen = closing(hung);
    const { net, open, neighbour, resent } = play((from) => (from === 1 ? hung : undefined));
    const [lower, higher] = [open(1), open(2)];
    lower.setNeighbours([neighbour(2)]);
    net.run(10);
    higher.setNeighbours([neighbour(1)]);
    net.run(900);
    assert.equal([lower.linkTo(2), seen.why], [undefined, undefined], 'the higher one leaves it to the lower');
    net.until(() => lower.linkTo(2)?.state === 'up' && higher.linkTo(1)?.state === 'up', 'the link');
    assert.is(seen.why, 'the other end has connected');
    assert.equal(resent, ['root:0 to root:1'], 'what that attempt may have taken');
  });

  test('as a link ends, what it took last is sent again to its other end, and to nobody else', () => {
    const { net, open, neighbour, resent, views } = play();
    const [lower, higher] = [open(1), open(2)];
    lower.setNeighbours([neighbour(2)]);
    higher.setNeighbours([neighbour(1)]);
    net.until(() => lower.linkTo(2)?.state === 'up' && higher.linkTo(1)?.state === 'up', 'the link');
    assert.equal(resent, []);
    views.get(1)?.lose({ position: 2, incarnation: 0 }, 'gone');
    assert.is(lower.linkTo(2)?.state, 'up', 'it is a former one that is gone');
    lower.linkTo(2)?.destroy('cut');
    net.run(5);
    assert.equal(resent.toSorted(), ['root:0 to root:1', 'root:1 to root:0']);
  });

  test('where its neighbour lives and was not heard, a link that brings no answer is closed', () => {
    const { net, open, neighbour } = play();
    const [lower, higher] = [open(1), open(2)];
    const answers: (() => void)[] = [];
    const { messages } = net.nodes[1] as AgentNode;
    messages.request = ((_to, _name, _body, done: () => void) => void answers.push(done)) as typeof messages.request;
    lower.setNeighbours([neighbour(2)]);
    higher.setNeighbours([neighbour(1)]);
    const isUp = (): boolean => lower.linkTo(2)?.state === 'up' && higher.linkTo(1)?.state === 'up';
    net.until(isUp, 'the link');
    const first = lower.linkTo(2);
    for (const position of [2, 2, 3]) lower.check(position);
    assert.is(answers.length, 1, 'it is asked once, and one without a link is not');
    answers[0]?.();
    net.until(() => isUp() && lower.linkTo(2) !== first, 'another link');
    lower.check(2);
    net.nodes[2]?.messages.sendNeighbour(higher.linkTo(1) as Link, 'overlay.detour', {});
    net.run(5);
    answers[1]?.();
    net.run(5);
    assert.ok(isUp(), 'it has brought something');
  });

  test('pauses between attempts double, to a bound; a link that was up begins anew', () => {
    const atMs: number[] = [];
    let isRefused = true;
    const refused = (): Channel => {
      const channel = nobody(net.platform);
      channel.destroy('refused');
      return channel;
    };
    const { net, open, neighbour } = play((from) => {
      if (from === 1) atMs.push(net.platform.clock.nowMs());
      return isRefused ? refused() : undefined;
    });
    const [lower] = [open(1), open(2).setNeighbours([{ ...neighbour(1), addresses: [] }])];
    const check = (): void => {
      for (const [i, ms] of atMs.slice(1).entries()) {
        const pauseMs = Math.min(5000, 50 * 2 ** i);
        const gapMs = ms - (atMs[i] as number);
        assert.ok(gapMs >= 0.5 * pauseMs && gapMs < 1.5 * pauseMs + 10, `pause ${i}: ${gapMs} ms for ${pauseMs}`);
      }
    };
    lower.setNeighbours([neighbour(2)]);
    net.run(40_000);
    assert.ok(atMs.length > 10, `${atMs.length} attempts`);
    check();
    isRefused = false;
    net.until(() => lower.linkTo(2)?.state === 'up', 'the link');
    [isRefused, atMs.length] = [true, 0];
    lower.linkTo(2)?.destroy('cut');
    atMs.push(net.platform.clock.nowMs());
    net.run(3000);
    assert.ok(atMs.length > 4, `${atMs.length} attempts`);
    check();
  });

  test('links that are up are none of those that are pending', () => {
    const { net, open, neighbour } = play();
    const one = open(6);
    const others = [1, 2, 3, 4, 5].map(open);
    one.setNeighbours([1, 2, 3, 4, 5].map(neighbour));
    for (const each of others) {
      each.setNeighbours([neighbour(6)]);
      net.run(1000);
    }
    assert.equal(others.map((each) => each.linkTo(6)?.state), Array(5).fill('up'));
  });

  test('one that closes lets those go that have not said who they are', () => {
    const { net, open, reach } = play();
    const links = open(1);
    let isClosed = false;
    reach(1).bind({ onData: () => undefined, onDrain: () => undefined, onClose: () => (isClosed = true) });
    net.run(1000);
    assert.is(isClosed, false);
    links.close();
    net.run(10);
    assert.is(isClosed, true);
  });
});
