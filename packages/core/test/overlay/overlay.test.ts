/** Sessions with an overlay, in simulation: which links it opens, and who can talk to whom when agents die. */

import type { Platform } from '@stci/interface';
import { assert, suite, seeded } from '@stci/testkit';
import type { Link } from '../../dist/bootcom/link.js';
import type { LinkedOverlay } from '../../dist/overlay/linked-overlay.js';
import { positionOf } from '../../dist/members/positions.js';
import type { Settings } from '../assembly.js';
import {
  at, bmgPairs, connecting, isIn, kill, nobody, open, pairs, reached, withoutReach, type Session,
} from './overlay-help.js';

const LAZY: Settings = { 'overlay.topology': 'bmg', 'overlay.open': 'lazy' };
/** Of the controller, and of links, to a host that is suspected. */
const QUESTION = 0;
const overlayOf = ({ nodes }: Session, position: number): LinkedOverlay =>
  nodes.get(at(position))?.router.overlay as LinkedOverlay;
const echoes = ({ nodes }: Session, position: number): unknown[] => {
  const heard: unknown[] = [];
  nodes.get(at(position))?.messages.on('agent.echo', (body) => {
    if (body !== QUESTION) heard.push(body);
  });
  return heard;
};

suite('sessions with an overlay', (test) => {
  test('eager: all links of the topology come up, and go at the end', () => {
    const session = open(12, { 'overlay.topology': 'bmg' });
    session.until(() => isIn(pairs(session, 13), bmgPairs(13)), 'all links');
    const overlay = session.nodes.get(at(5))?.router.links().filter(({ role }) => role === 'overlay') ?? [];
    assert.ok(overlay.length > 3 && overlay.every(({ facts }) => facts.kind === 'unix'), `${overlay.length}`);
    session.end();
  });

  test('eager: the lower position connects: both ends do not make each link twice', () => {
    let connections = 0;
    const session = open(12, { 'overlay.topology': 'bmg' }, 3, (platform) => connecting(platform, '/overlay', () => {
      connections += 1;
      return undefined;
    }));
    session.until(() => isIn(pairs(session, 13), bmgPairs(13)), 'all links');
    const links = [...session.nodes.values()].flatMap(({ router }) => router.links())
      .filter(({ role }) => role === 'overlay');
    // Some reach an agent that has not heard of its neighbours yet, and connect again.
    const count = links.length / 2;
    assert.ok(count > 12 && connections >= count && connections < 1.3 * count, `${connections} for ${count} links`);
    session.end();
  });

  test('the overlay is open when its first attempts are over: those that hang are given up', () => {
    let hung = 0;
    const settings = { 'overlay.topology': 'bmg', 'bootcom.handshake': '700ms' };
    const session = open(6, settings, 4, (platform) => connecting(platform, '/overlay', () => {
      hung += 1;
      return nobody(platform);
    }));
    const startMs = session.world.nowMs;
    let openMs: number | undefined;
    overlayOf(session, 1).whenOpen(() => { openMs = session.world.nowMs; });
    assert.is(openMs, undefined);
    session.until(() => openMs !== undefined, 'its end');
    assert.ok(hung > 0 && (openMs ?? 0) - startMs <= 1400, `${openMs}`);
    session.end();
  });

  test('without an overlay none is opened; lazily none until something is sent', () => {
    for (const settings of [{}, LAZY]) {
      const session = open(6, settings);
      session.world.run({ untilMs: session.world.nowMs + 500, maxEvents: 1_000_000 });
      const all = [...session.nodes.values()].flatMap(({ router }) => router.links());
      assert.equal(all.filter(({ role }) => role === 'overlay').length, 0);
      session.end();
    }
  });

  test('routes lead around one that is reported until it is refuted; the link to one that is gone closes', () => {
    const session = open(12, { 'overlay.topology': 'bmg' });
    session.until(() => isIn(pairs(session, 13), bmgPairs(13)), 'all links');
    const overlay = overlayOf(session, 5);
    // 12 is no neighbour of 5 in the binomial graph of 13.
    const over = (): number => positionOf(overlay.next(at(12), undefined)?.peer as number) as number;
    const first = over();
    const member = { position: first, incarnation: 1 };
    assert.ok(first !== 12);
    overlay.overlay.members.lose(member, 'reported');
    assert.ok(![first, 12].includes(over()));
    overlay.overlay.members.refute(member);
    assert.is(over(), first);
    const link = overlay.direct(at(first));
    overlay.overlay.members.lose(member, 'gone');
    session.until(() => link?.state === 'closed', 'its end', 100);
    session.end();
  });

  test('lazy: what waits for a link goes as soon as it is up, whoever connects; beyond the bound it is dropped', () => {
    const session = open(12, { ...LAZY, 'overlay.queue': '3' });
    session.world.run({ untilMs: session.world.nowMs + 500, maxEvents: 1_000_000 });
    const [at5, at9] = [echoes(session, 5), echoes(session, 9)];
    // Both connect at once; each pair has one link in the end.
    for (let i = 1; i <= 10; i++) overlayOf(session, 5).overlay.send(9, 'agent.echo', i);
    overlayOf(session, 9).overlay.send(5, 'agent.echo', 'first');
    overlayOf(session, 9).overlay.sendReliably(5, 'agent.echo', 'back');
    session.until(() => at5.length > 0 && at9.length > 0, 'both', 100);
    overlayOf(session, 5).overlay.send(9, 'agent.echo', 11);
    session.until(() => at9.includes(11), 'the next', 100);
    assert.equal([at5.filter((each) => each !== 'first'), at9], [['back'], [1, 2, 3, 11]]);
    for (const [from, to] of [[5, 9], [9, 5]] as const) {
      const links = session.nodes.get(at(from))?.router.links().filter(({ peer }) => peer === at(to));
      assert.equal(links?.map(({ role, state }) => [role, state]), [['overlay', 'up']]);
    }
    session.end();
  });

  test('lazy: what waits for a link that cannot be made goes another way as soon as that is known', () => {
    const refused = (platform: Platform): Platform => connecting(platform, '/overlay-', () => {
      const channel = nobody(platform);
      channel.destroy('refused');
      return channel;
    });
    const session = open(12, LAZY, 1, refused);
    const at9 = echoes(session, 9);
    session.world.run({ untilMs: session.world.nowMs + 500, maxEvents: 1_000_000 });
    let isSent = false;
    assert.ok(overlayOf(session, 5).hold(at(9), undefined, () => (isSent = true)), 'it waits for a link');
    session.until(() => isSent, 'what was held is given back', 100);
    overlayOf(session, 5).overlay.send(9, 'agent.echo', 1);
    session.until(() => at9.includes(1), 'by the tree', 100);
    session.end();
  });

  test('what a link took before it was lost goes another way at once', () => {
    const session = open(12, { 'overlay.topology': 'bmg' });
    session.until(() => isIn(pairs(session, 13), bmgPairs(13)), 'all links');
    const at9 = echoes(session, 9);
    const link = overlayOf(session, 5).direct(at(9)) as Link;
    link.send = () => true; // As one that is cut: it does not tell.
    session.nodes.get(at(5))?.messages.send(at(9), 'agent.echo', 'news');
    session.world.run({ untilMs: session.world.nowMs + 50, maxEvents: 1_000_000 });
    assert.equal(at9, []);
    link.destroy('no data', 'silent');
    session.until(() => at9.includes('news'), 'by the tree', 50);
    session.end();
    assert.equal(at9, ['news']);
  });

  test('the link of an agent that is fenced closes at its neighbours, and it is not linked again', () => {
    const session = open(12, { 'overlay.topology': 'bmg' });
    session.until(() => isIn(pairs(session, 13), bmgPairs(13)), 'all links');
    const [fenced, neighbour] = [5, 7];
    const link = overlayOf(session, neighbour).direct(at(fenced));
    assert.is(link?.state, 'up');
    overlayOf(session, neighbour).overlay.members.lose({ position: fenced, incarnation: 1 }, 'gone');
    session.until(() => link?.state === 'closed', 'its end', 100);
    // It asks for the link again, as one that has not heard of it does.
    session.world.run({ untilMs: session.world.nowMs + 3000, maxEvents: 5_000_000 });
    assert.is(overlayOf(session, neighbour).direct(at(fenced)), undefined);
    session.end();
  });

  test('any pair of survivors talks while the tree is broken: nothing lost, doubled, reordered', () => {
    for (let seed = 1; seed <= 9; seed++) {
      const { below } = seeded(seed);
      const hosts = 7 + below(10);
      const session = open(hosts, { 'overlay.topology': 'bmg' }, seed, withoutReach);
      const size = hosts + 1;
      const all = bmgPairs(size);
      session.until(() => isIn(pairs(session, size), all), 'all links');
      const count = 1 + below(seed % 3 === 0 ? size / 2 : Math.floor(Math.log2(size)) - 1);
      const dead = new Set<number>();
      while (dead.size < count) dead.add(1 + below(hosts));
      const alive = Array.from({ length: size }, (_, position) => position)
        .filter((position) => position > 0 && !dead.has(position));
      const got = new Map<string, number[]>();
      for (const b of alive) {
        session.nodes.get(at(b))?.messages.on('agent.echo', (body, { source }) => {
          if (body === QUESTION) return;
          const key = `${source}-${b}`;
          got.set(key, [...(got.get(key) ?? []), Number(body)]);
        });
      }
      const sendAll = (number: number): void => {
        for (const a of alive) {
          for (const b of alive) if (a !== b) session.nodes.get(at(a))?.messages.send(at(b), 'agent.echo', number);
        }
      };
      sendAll(1);
      for (const position of dead) kill(session, position);
      sendAll(2);
      session.world.run({ untilMs: session.world.nowMs + below(20), maxEvents: 1_000_000 });
      sendAll(3);
      const wanted = alive.flatMap((a) => [...reached(a, size, dead, all)].map((b) => `${at(a)}-${b}`));
      const isDone = (): boolean => wanted.every((key) => (got.get(key)?.length ?? 0) >= 3);
      session.until(isDone, `seed ${seed}, dead ${[...dead]}: ${wanted.length} pairs`, 3000);
      for (const [key, numbers] of got) assert.equal(numbers, [1, 2, 3], `seed ${seed}: ${key}`);
      session.end();
    }
  }, { timeoutMs: 60_000 });
});
