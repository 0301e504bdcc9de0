/**
 * Peers that break the rules over links of an overlay: a root agent that was taken over, and processes of the host that
 * reach the listener. The peer loses its link or is not heard; all others go on.
 */
// @timeoutMs 240000

import {
  CONTROLLER, NEIGHBOUR, rootAddress, sessionAddress, type Address, type Channel, type MemberId, type Platform,
} from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { SUBTREE } from '../../dist/am/transport.js';
import { Handshake, LINK_FRAME, linkFrame } from '../../dist/bootcom/handshake.js';
import type { Link } from '../../dist/bootcom/link.js';
import { encode } from '../../dist/codec/cbor.js';
import { FrameDecoder } from '../../dist/codec/frame-decoder.js';
import { HEADER_BYTES, LAYER, encodeHeader, frameType, type FrameHeader } from '../../dist/codec/frame.js';
import { messageId, type MessageName } from '../../dist/messages/messages.js';
import type { AgentNode } from '../../dist/node/node.js';
import { pairKey } from '../../dist/overlay/keys.js';
import type { Settings } from '../assembly.js';
import { at, bmgPairs, isIn, open, pairs } from './overlay-help.js';

const HOSTS = 8;
const BAD = 3;
/** A neighbour of the bad agent that is none in the tree. */
const VICTIM = 5;
const EAGER: Settings = { 'overlay.topology': 'bmg' };
const LAZY: Settings = { ...EAGER, 'overlay.open': 'lazy' };

interface Place {
  readonly session: ReturnType<typeof open>;
  /** Where agents listen for links of the overlay, by position. */
  readonly paths: ReadonlyMap<number, string>;
  /** What each connection to a listener began with. */
  readonly sent: readonly Uint8Array[][];
  node(position: number): AgentNode;
  linkTo(from: number, to: number): Link | undefined;
  run(ms: number): void;
  /** A message between these two, over their link if they have one. */
  canTalk(a: number, b: number): void;
  end(): void;
}

/** A session; all links of its topology are up if they are opened eagerly. */
function place(settings: Settings): Place {
  const byPid = new Map<number, string>();
  const sent: Uint8Array[][] = [];
  const platformOf = (platform: Platform): Platform => {
    const { network, env } = platform;
    return {
      ...platform,
      network: {
        listen: (...args) => network.listen(...args),
        connect: (...args) => network.connect(...args),
        listenLoopback: (...args) => network.listenLoopback(...args),
        listenPrivate: (options, accept, done) => network.listenPrivate(options, accept, (error, listener) => {
          if (options.prefix === 'overlay' && listener !== undefined) byPid.set(env.pid, listener.path);
          done(error, listener);
        }),
        connectPrivate: (path, ...rest) => {
          const channel = network.connectPrivate(path, ...rest);
          return path.includes('overlay') ? recorded(channel, sent) : channel;
        },
      },
    };
  };
  const session = open(HOSTS, settings, 1, platformOf);
  const { nodes, pids, world } = session;
  const node = (position: number): AgentNode => nodes.get(at(position)) as AgentNode;
  const paths = new Map<number, string>();
  for (let position = 1; position <= HOSTS; position++) {
    const path = (): string | undefined => byPid.get(pids.get(at(position)) ?? -1);
    session.until(() => path() !== undefined, 'its listener');
    paths.set(position, path() as string);
  }
  const isLazy = settings['overlay.open'] === 'lazy';
  session.until(() => isLazy || isIn(pairs(session, HOSTS + 1), bmgPairs(HOSTS + 1)), 'all links');
  const run = (ms: number): void => void world.run({ untilMs: world.nowMs + ms, maxEvents: 5_000_000 });
  run(100);
  const linkTo = (from: number, to: number): Link | undefined =>
    node(from).router.links().find(({ peer, role }) => peer === at(to) && role === 'overlay');
  const canTalk = (a: number, b: number): void => {
    let answer: unknown;
    node(a).messages.request(at(b), 'agent.echo', 'hear', (error, reply) => (answer = error ?? reply));
    session.until(() => answer === 'hear', `${a} and ${b} talk`, 10_000);
  };
  return { session, paths, sent, node, linkTo, run, canTalk, end: () => void session.end() };
}

function recorded(channel: Channel, all: Uint8Array[][]): Channel {
  const own: Uint8Array[] = [];
  all.push(own);
  return new Proxy(channel, {
    get: (target, name) => {
      if (name !== 'send') return typeof target[name as keyof Channel] === 'function'
        ? (target[name as 'close'] as () => void).bind(target) : target[name as keyof Channel];
      return (chunks: readonly Uint8Array[]): boolean => {
        if (own.length < 2) own.push(...chunks.map((chunk) => chunk.slice()));
        return target.send(chunks);
      };
    },
  });
}

function frame(header: Partial<FrameHeader>, body: Uint8Array): Uint8Array {
  const full: FrameHeader = {
    layer: LAYER.message, type: 0, flags: 0, ttl: 64, stream: 0, source: at(BAD), destination: at(VICTIM), job: 0,
    sequence: 0, ...header,
  };
  const bytes = new Uint8Array(HEADER_BYTES + body.length);
  bytes.set(encodeHeader(full, body.length));
  bytes.set(body, HEADER_BYTES);
  return bytes;
}

const message = (name: MessageName, body: unknown, header: Partial<FrameHeader> = {}): Uint8Array =>
  frame({ type: messageId(name), ...header }, encode(body));

/** A connection from the host of the bad agent to the victim's listener. */
class Stranger {
  readonly channel: Channel;
  /** Types of frames that came. */
  readonly heard: number[] = [];
  closed: string | undefined;
  onFrame: (frame: Uint8Array) => void = () => undefined;

  constructor({ node, paths }: Place) {
    this.channel = node(BAD).platform.network.connectPrivate(paths.get(VICTIM) as string, 5000);
    const decoder = new FrameDecoder(1 << 20, (each) => {
      this.heard.push(frameType(each));
      this.onFrame(each.slice());
    });
    this.channel.bind({
      onData: (chunk) => decoder.push(chunk),
      onDrain: () => undefined,
      onClose: (reason) => (this.closed = String(reason ?? '')),
    });
  }
}

/** Links that the bad neighbour opens, by the key of its pair with the victim; `onProved` once its proof is sent. */
function neighbour(here: Place): (onProved?: (stranger: Stranger) => void) => Stranger {
  const { identity, platform } = here.node(BAD);
  const [one, victim] = [BAD, VICTIM].map((position) => ({ position, incarnation: 1 })) as [MemberId, MemberId];
  const secret = pairKey(platform.secrets, here.node(0).identity.secret, one, victim);
  return (onProved) => {
    const end = new Handshake({
      role: 'connect', self: at(BAD), session: identity.session, secret, secrets: platform.secrets, start: 1,
      admit: () => undefined,
    });
    const stranger = new Stranger(here);
    stranger.onFrame = (each) => {
      if (LINK_FRAME.hello === frameType(each)) void end.receive(each);
      if (LINK_FRAME.proof !== frameType(each)) return;
      stranger.channel.send(end.receive(each).send.slice());
      onProved?.(stranger);
    };
    stranger.channel.send(end.begin().slice());
    return stranger;
  };
}

suite('adversaries over an overlay', (test) => {
  test('commands, in its own name or others\', for one or for all below: not followed', () => {
    const here = place(EAGER);
    const stop = { reason: 'evil' };
    const link = (): Link => {
      here.session.until(() => here.linkTo(BAD, VICTIM) !== undefined, 'the link', 20_000);
      return here.linkTo(BAD, VICTIM) as Link;
    };
    for (const source of [at(BAD), CONTROLLER, at(2), rootAddress(70)]) {
      link().send([message('agent.stop', stop, { source })]);
      link().send([message('session.end', {}, { source })]);
      for (const destination of [SUBTREE, NEIGHBOUR]) {
        const used = link();
        used.send([message('agent.stop', stop, { source, destination })]);
        here.session.until(() => used.state === 'closed', 'its link is closed');
        link();
      }
    }
    here.canTalk(VICTIM, 6);
    here.canTalk(0, VICTIM);
    here.end();
  });

  test('where it listens, said again and again, is told once; more than may be costs its link', () => {
    const here = place(EAGER);
    let told = 0;
    const { messages } = here.node(0);
    const send = messages.send.bind(messages);
    messages.send = (...args) => {
      if (args[1] === 'overlay.links') told += 1;
      return send(...args);
    };
    const { incarnation = 0 } = here.node(BAD).identity;
    const of = { host: BAD - 1, incarnation, problem: undefined };
    const say = (addresses: readonly string[]): void =>
      void here.node(BAD).messages.send(CONTROLLER, 'overlay.opened', { ...of, addresses });
    for (let i = 0; i < 500; i++) {
      say(Array.from({ length: 64 }, (_, j) => `/${i}/${j}/${'x'.repeat(280)}`));
      here.run(1);
    }
    here.run(500);
    assert.is(told, 0, 'it had said so');
    for (let i = 0; i < 100; i++) say(i % 2 === 0 ? [] : ['/x']);
    here.run(500);
    assert.ok(told > 0 && told < HOSTS, `its neighbours were told ${told} times that it does not listen any more`);
    here.canTalk(VICTIM, 6);
    here.canTalk(0, VICTIM);
    const link = here.node(BAD).router.parentLink as Link;
    say(Array.from({ length: 65 }, () => '/x'));
    here.session.until(() => link.state === 'closed', 'its link is closed', 20_000);
    assert.ok(told < HOSTS);
    here.canTalk(0, VICTIM);
    here.end();
  });

  test('names of agents that are not there, of its own or of the victim\'s host: dropped', () => {
    const here = place(EAGER);
    const heard: Address[] = [];
    here.node(VICTIM).messages.on('agent.echo', (_body, { source }) => void heard.push(source));
    const forged = [at(VICTIM), sessionAddress(VICTIM - 1), rootAddress(70), sessionAddress(70)];
    for (const source of forged) here.linkTo(BAD, VICTIM)?.send([message('agent.echo', 1, { source })]);
    here.linkTo(BAD, VICTIM)?.send([message('agent.echo', 1)]);
    here.session.until(() => heard.length > 0, 'its own');
    here.run(500);
    assert.equal(heard, [at(BAD)]);
    here.end();
  });

  test('a flood is read no faster than it is worked off; frames over the limit cost the link', () => {
    const here = place(EAGER);
    const echo = message('agent.echo', 'x'.repeat(60_000));
    const used = here.linkTo(BAD, VICTIM) as Link;
    for (let i = 0; i < 3000; i++) used.send([echo.slice()]);
    here.canTalk(VICTIM, 6);
    here.canTalk(0, VICTIM);
    here.session.until(() => here.linkTo(BAD, VICTIM) !== undefined, 'the link', 20_000);
    const other = here.linkTo(BAD, VICTIM) as Link;
    other.send([frame({}, new Uint8Array(4 << 20))]);
    here.session.until(() => other.state === 'closed', 'its link is closed', 60_000);
    here.canTalk(VICTIM, 6);
    here.end();
  });

  test('a wrong key, that of another incarnation, of another pair: no answer; another incarnation: refused', () => {
    const here = place(LAZY);
    const { identity, platform } = here.node(BAD);
    const { secret } = here.node(0).identity;
    const one = { position: BAD, incarnation: identity.incarnation ?? 0 };
    const victim = { position: VICTIM, incarnation: here.node(VICTIM).identity.incarnation ?? 0 };
    const keyOf = (a: typeof one, b: typeof one): Uint8Array => pairKey(platform.secrets, secret, a, b);
    const former = { ...one, incarnation: one.incarnation + 1 };
    const attempts: [key: Uint8Array, self: Address, start: number, answer: number[]][] = [
      [new Uint8Array(32), at(BAD), one.incarnation, []],
      [identity.secret, at(BAD), one.incarnation, []],
      [keyOf(former, victim), at(BAD), former.incarnation, []],
      [keyOf(one, { ...victim, position: 6 }), at(BAD), one.incarnation, []],
      [keyOf(one, victim), at(6), one.incarnation, []],
      [keyOf(one, victim), at(BAD), former.incarnation, [LINK_FRAME.refuse]],
    ];
    for (const [key, self, start, answer] of attempts) {
      const end = new Handshake({
        role: 'connect', self, session: identity.session, secret: key, secrets: platform.secrets, start,
        admit: () => undefined,
      });
      const stranger = new Stranger(here);
      stranger.onFrame = (each) => {
        if (frameType(each) === LINK_FRAME.hello) void end.receive(each);
        else if (frameType(each) === LINK_FRAME.proof && answer.length > 0) {
          stranger.channel.send(end.receive(each).send.slice());
        } else if (frameType(each) === LINK_FRAME.proof) {
          stranger.channel.send([linkFrame(LINK_FRAME.proof, self, new Uint8Array(32))]);
        }
      };
      stranger.channel.send(end.begin().slice());
      here.session.until(() => stranger.closed !== undefined, 'it is closed');
      assert.equal(stranger.heard, [LINK_FRAME.hello, LINK_FRAME.proof, ...answer]);
    }
    assert.is(here.linkTo(VICTIM, BAD), undefined);
    here.canTalk(BAD, VICTIM);
    here.end();
  });

  test('a neighbour that connects several times at once has one link', () => {
    const here = place(LAZY);
    const open = neighbour(here);
    const all = Array.from({ length: 3 }, () => open());
    here.session.until(() => all.filter(({ closed }) => closed !== undefined).length === 2, 'two are refused');
    const links = here.node(VICTIM).router.links().filter(({ peer }) => peer === at(BAD));
    assert.is(links.length, 1);
    all.find(({ closed }) => closed === undefined)?.channel.destroy('enough');
    here.canTalk(BAD, VICTIM);
    here.end();
  });

  test('a handshake that was recorded proves nothing a second time', () => {
    const here = place(EAGER);
    const used = here.linkTo(VICTIM, BAD);
    assert.ok(here.sent.length >= HOSTS, `${here.sent.length} connections`);
    for (const chunks of here.sent.slice()) {
      const stranger = new Stranger(here);
      stranger.channel.send(chunks);
      here.session.until(() => stranger.closed !== undefined, 'it is closed');
      assert.ok(!stranger.heard.includes(LINK_FRAME.refuse), 'it did not prove anything');
    }
    assert.is(here.linkTo(VICTIM, BAD), used);
    here.end();
  });

  test('connections that say nothing: bounded, closed in time, and neighbours still get through', () => {
    const here = place({ ...LAZY, 'bootcom.pending.max': '8', 'bootcom.handshake': '2s' });
    const all = Array.from({ length: 40 }, () => new Stranger(here));
    const open = (): number => all.filter(({ closed }) => closed === undefined).length;
    here.run(100);
    assert.ok(open() <= 16, 'for a moment twice as many as may be pending');
    here.run(300);
    assert.ok(open() <= 8, 'no more than may be pending');
    here.node(BAD).messages.post(at(VICTIM), 'agent.echo', 1);
    here.canTalk(BAD, VICTIM);
    here.session.until(() => all.every(({ closed }) => closed !== undefined), 'all are closed', 10_000);
    here.canTalk(6, VICTIM);
    here.end();
  });

  test('a neighbour that opens and closes its link as fast as it can has little sent again', () => {
    const here = place(LAZY);
    const { platform } = here.node(BAD);
    here.node(BAD).messages.onFrame = () => undefined; // It acknowledges nothing.
    for (let i = 0; i < 64; i++) here.node(VICTIM).messages.send(at(BAD), 'agent.echo', 'x'.repeat(60_000));
    const { router } = here.node(VICTIM);
    let [sentBytes, links, told] = [0, 0, 0];
    const forward = router.forward.bind(router);
    router.forward = (destination, job, pieces, from) => {
      if (destination === CONTROLLER) told += 1;
      if (destination === at(BAD)) sentBytes += pieces.reduce((sum, { length }) => sum + length, 0);
      return forward(destination, job, pieces, from);
    };
    const open = neighbour(here);
    const again = (): void => void open((stranger) => platform.clock.after(1, () => {
      links += 1;
      stranger.channel.destroy('again');
      again();
    }));
    here.node(VICTIM).router.links().find(({ peer }) => peer === at(BAD))?.destroy('begin');
    again();
    const kept = here.node(VICTIM).memory.unacknowledged;
    here.run(1000);
    assert.ok(links > 100, `${links} links in a second`);
    assert.ok(sentBytes < 4 * kept, `of ${kept} bytes ${sentBytes} were sent again`);
    assert.ok(told < 100, `the controller was told ${told} times`);
    here.canTalk(VICTIM, 6);
    here.canTalk(0, VICTIM);
    here.end();
  });
});
