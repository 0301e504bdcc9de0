/**
 * Router: which link leads to an agent, and which agents are beyond a link. With an overlay: what nothing leads on for
 * waits for a link that opens, with the bytes that it had.
 */

import {
  CONTROLLER, NEIGHBOUR, rootAddress, sessionAddress, type Address, type JobId,
} from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { Router } from '../../dist/am/router.js';
import type { Link } from '../../dist/bootcom/link.js';
import { encodeHeader, isByOverlay, setByOverlay, type Frame } from '../../dist/codec/frame.js';
import { isCommandFrame } from '../../dist/node/command.js';

function frameTo(destination: Address): Frame {
  return encodeHeader(
    { layer: 2, type: 0, flags: 0, ttl: 9, stream: 0, source: rootAddress(1), destination, job: 0, sequence: 7 }, 0);
}

suite('router', (test) => {
  test('a frame waits for the link of the overlay that opens; one that keeps to the tree does not', () => {
    const router = new Router(rootAddress(4));
    const sent: Frame[] = [];
    const open: Link[] = [];
    const held: (() => void)[] = [];
    router.keepsToTree = isCommandFrame;
    router.overlay = {
      direct: () => undefined,
      next: () => open[0],
      admits: () => true,
      hold: (_destination, _from, send) => held.push(send) > 0,
    };
    const frame = frameTo(rootAddress(9));
    assert.equal([router.forward(rootAddress(9), 0, [frame]), held.length, sent.length], [true, 1, 0]);
    // The buffer is the link's, which reads the next frame into it.
    frame.fill(0);
    open.push({ role: 'overlay', send: (pieces: readonly Frame[]) => void sent.push(...pieces) } as unknown as Link);
    held[0]?.();
    const expected = frameTo(rootAddress(9));
    assert.equal([sent.length, isByOverlay(sent[0] as Frame), sent[0]?.slice(8)], [1, true, expected.slice(8)]);
    assert.equal([router.forward(CONTROLLER, 0, [frameTo(NEIGHBOUR)]), held.length], [false, 1]);
  });

  test('what has waited goes by the overlay, also over a new parent: the tree knows its source elsewhere', () => {
    const router = new Router(rootAddress(4));
    const sent: Frame[] = [];
    let send: () => void = () => undefined;
    router.overlay = {
      direct: () => undefined, next: () => undefined, admits: () => true,
      hold: (_destination, _from, later) => ((send = later), true),
    };
    const linkTo = (peer: Address): Link => ({
      role: 'parent', peer, job: 0, state: 'up', send: (pieces: readonly Frame[]) => void sent.push(...pieces),
    } as unknown as Link);
    const former = linkTo(rootAddress(1));
    router.addLink(former);
    router.forward(rootAddress(9), 0, [frameTo(rootAddress(9))], former);
    assert.is(sent.length, 0);
    router.removeLink(former);
    router.addLink(linkTo(CONTROLLER));
    send();
    assert.equal(sent.map(isByOverlay), [true]);
  });
});

const [SELF, LEFT, RIGHT, BELOW] = [rootAddress(4), rootAddress(9), rootAddress(10), rootAddress(20)];
const SESSION = sessionAddress(4);

/** Links of an agent; `sent`: to whom. */
function linked(self = SELF) {
  const router = new Router(self);
  const sent: [Link, Frame][] = [];
  const make = (role: string, peer: Address, job: JobId = 0): Link => {
    const send = (pieces: readonly Frame[]): void => void sent.push([link, pieces[0] as Frame]);
    const link = { role, peer, job, state: 'up', send } as unknown as Link;
    return link;
  };
  const add = (role: string, peer: Address, job: JobId = 0): Link => {
    const link = make(role, peer, job);
    router.addLink(link);
    return link;
  };
  /** Over which links a frame left, and whether by the overlay; undefined: none. */
  const forward = (destination: Address, from?: Link, byOverlay = false): [Link, boolean] | false => {
    sent.length = 0;
    const frame = frameTo(destination);
    setByOverlay(frame, byOverlay);
    const isSent = router.forward(destination, 0, [frame], from);
    assert.is(isSent, sent.length === 1);
    const [[link, head]] = sent.length === 0 ? [[]] : sent;
    return link !== undefined && head !== undefined && [link, isByOverlay(head)];
  };
  return { router, make, add, forward };
}

suite('router of the tree', (test) => {
  test('a neighbour is reached over its link, others as the place says, the rest over the parent', () => {
    const { router, add } = linked();
    assert.equal([router.parentLink, router.next(LEFT, 0)], [undefined, undefined]);
    const [parent, left, right] = [add('parent', CONTROLLER), add('child', LEFT), add('child', RIGHT)];
    router.rule = (destination) => (destination === BELOW ? LEFT : undefined);
    assert.is(router.parentLink, parent);
    const ways = [CONTROLLER, LEFT, RIGHT, BELOW, rootAddress(30)].map((to) => router.next(to, 0));
    assert.ok(ways.every((link, i) => link === [parent, left, right, left, parent][i]));
    router.route(BELOW, RIGHT);
    assert.is(router.next(BELOW, 0), right, 'an explicit route comes first');
    router.route(BELOW, undefined);
    assert.is(router.next(BELOW, 0), left);
    router.route(rootAddress(30), rootAddress(31));
    assert.is(router.next(rootAddress(30), 0), undefined, 'towards one that is not linked');
  });

  test('session agents of several jobs have one address, and each its link', () => {
    const { router, add, make } = linked();
    const [one, two] = [add('child', SESSION, 1), add('child', SESSION, 2)];
    add('child', LEFT);
    assert.equal([router.link(SESSION, 1) === one, router.link(SESSION, 2) === two], [true, true]);
    assert.equal([router.link(SESSION), router.link(SESSION, 3)], [undefined, undefined]);
    assert.is(router.link(LEFT, 7)?.peer, LEFT);
    router.removeLink(make('child', SESSION, 2));
    assert.is(router.link(SESSION, 2), two, 'another link to it has closed');
    router.removeLink(two);
    assert.equal([router.link(SESSION, 2), router.link(SESSION, 1) === one, router.linkCount], [undefined, true, 2]);
  });

  test('a link that was replaced says nothing when it closes; the parent\'s leaves no default route', () => {
    const { router, add } = linked();
    const [former, left] = [add('parent', LEFT), add('child', RIGHT)];
    const now = add('parent', LEFT);
    router.removeLink(former);
    assert.equal([router.parentLink === now, router.link(LEFT) === now], [true, true]);
    router.removeLink(left);
    assert.equal([router.link(RIGHT), router.parentLink === now, router.linkCount], [undefined, true, 1]);
    router.removeLink(now);
    assert.equal([router.parentLink, router.link(LEFT), router.links()], [undefined, undefined, []]);
    assert.is(router.describe(), 'links of root:4: none');
  });

  test('links of the overlay are none of the tree', () => {
    const { router, add } = linked();
    const [parent, side] = [add('parent', CONTROLLER), add('overlay', LEFT)];
    add('child', SESSION, 1);
    assert.equal([router.link(LEFT), router.next(LEFT, 0) === parent, router.linkCount], [undefined, true, 3]);
    assert.is(router.describe(), 'links of root:4: controller, session:4, root:9');
    router.removeLink(side);
    assert.equal([router.linkCount, router.parentLink === parent], [2, true]);
  });

  test('a broadcast goes to all below, and to the session agents of its job', () => {
    const { router, add } = linked();
    const peersOf = (job: JobId): string[] => router.childLinks(job).map((link) => `${link.peer} ${link.job}`);
    for (const role of ['parent', 'overlay']) add(role, rootAddress(30 + role.length));
    add('child', LEFT);
    for (const job of [1, 2]) add('child', SESSION, job);
    assert.equal(peersOf(2), [`${LEFT} 0`, `${SESSION} 2`]);
    assert.equal([peersOf(0), peersOf(3)], [[`${LEFT} 0`], [`${LEFT} 0`]]);
  });

  test('an agent is itself; of session agents with its address only the one of its job', () => {
    const root = new Router(SELF);
    assert.equal([root.isSelf(SELF, 0), root.isSelf(SELF, 5), root.isSelf(LEFT, 0)], [true, true, false]);
    const session = new Router(SESSION, 5);
    const are = [session.isSelf(SESSION, 5), session.isSelf(SESSION, 6), session.isSelf(SELF, 5)];
    assert.equal(are, [true, false, false]);
  });

  test('a frame is not sent back where it came from, nor where nothing leads', () => {
    const { router, add, forward } = linked();
    assert.is(forward(LEFT), false);
    const [parent, left] = [add('parent', CONTROLLER), add('child', LEFT)];
    router.rule = (destination) => (destination === BELOW ? LEFT : undefined);
    assert.equal([forward(BELOW, left), forward(rootAddress(30), parent)], [false, false]);
    assert.equal([forward(BELOW, parent), forward(BELOW), forward(rootAddress(30), left)],
      [[left, false], [left, false], [parent, false]]);
  });

  test('beyond a link below are the agents that are reached over it, beyond the parent\'s link all others', () => {
    const { router, add } = linked();
    const [parent, left, right] = [add('parent', CONTROLLER), add('child', LEFT), add('child', RIGHT)];
    const one = add('child', SESSION, 1);
    router.rule = (destination) => (destination === BELOW ? LEFT : undefined);
    const beyond = (agent: Address, job: JobId = 0): boolean[] =>
      [parent, left, right, one].map((link) => router.leadsTo(agent, job, link));
    for (let again = 0; again < 2; again += 1) {
      assert.equal(beyond(BELOW), [false, true, false, false]);
      assert.equal(beyond(LEFT), [false, true, false, false]);
      assert.equal(beyond(CONTROLLER), [true, false, false, false]);
      assert.equal(beyond(rootAddress(30)), [true, false, false, false]);
      assert.equal(beyond(SELF), [false, false, false, false], 'this agent is beyond none');
      assert.equal(beyond(SESSION, 1), [false, false, false, true]);
      assert.equal(beyond(SESSION, 2), [true, false, false, false], 'one of another job');
    }
  });

  test('who is beyond a link changes with the rule, routes and links', () => {
    const { router, add } = linked();
    const [parent, left, right] = [add('parent', CONTROLLER), add('child', LEFT), add('child', RIGHT)];
    const beyond = (): boolean[] => [parent, left, right].map((link) => router.leadsTo(BELOW, 0, link));
    let to: Address | undefined = LEFT;
    router.rule = () => to;
    assert.equal(beyond(), [false, true, false]);
    router.rule = () => (to === undefined ? undefined : RIGHT);
    assert.equal(beyond(), [false, false, true]);
    router.route(BELOW, LEFT);
    assert.equal(beyond(), [false, true, false]);
    router.route(BELOW, undefined);
    assert.equal(beyond(), [false, false, true]);
    to = undefined;
    router.clearReachable();
    assert.equal(beyond(), [true, false, false]);
    router.route(BELOW, RIGHT);
    assert.equal(beyond(), [false, false, true]);
    const direct = add('child', BELOW);
    assert.equal(beyond(), [false, false, false], 'it is linked itself');
    router.removeLink(direct);
    assert.equal(beyond(), [false, false, true]);
    router.removeLink(right);
    assert.equal(beyond(), [true, false, false]);
  });
});

suite('router with links of the overlay', (test) => {
  function overlaid() {
    const all = linked();
    const { router, make, add } = all;
    const side = make('overlay', RIGHT);
    const [parent, left] = [add('parent', CONTROLLER), add('child', LEFT)];
    const far = rootAddress(30);
    let direct: Link | undefined;
    let next: Link | undefined = side;
    router.overlay = {
      direct: (destination) => (destination === far ? direct : undefined),
      next: (_destination, from) => (next === from ? undefined : next),
      hold: () => false, admits: () => true,
    };
    return {
      ...all, side, parent, left, far,
      setDirect: (link: Link | undefined) => void (direct = link),
      setNext: (link: Link | undefined) => void (next = link),
    };
  }

  test('an own frame goes to a neighbour in the overlay at once, to others by the tree', () => {
    const { forward, parent, left, side, far, setDirect } = overlaid();
    assert.equal([forward(far), forward(LEFT)], [[parent, false], [left, false]]);
    setDirect(side);
    assert.equal([forward(far), forward(LEFT)], [[side, true], [left, false]]);
    assert.equal(forward(far, left), [parent, false], 'that of another keeps to the tree');
  });

  test('where the tree does not lead on, a frame goes by the overlay, and stays there', () => {
    const { router, forward, parent, left, side, far } = overlaid();
    assert.equal(forward(far, parent), [side, true], 'the tree leads back');
    assert.equal(forward(far, left, true), [side, true], 'it stays, though the tree leads on');
    assert.equal(forward(LEFT, parent, true), [left, true], 'also over the last link, of the tree');
    assert.equal(forward(far, side, true), [parent, true], 'and where the overlay leads back');
    router.removeLink(parent);
    assert.equal([forward(far), forward(far, left)], [[side, true], [side, true]]);
  });

  test('what keeps to the tree never goes by the overlay', () => {
    const { router, forward, parent, left, side, far, setDirect } = overlaid();
    setDirect(side);
    router.keepsToTree = () => true;
    assert.equal([forward(far), forward(far, parent)], [[parent, false], false]);
    assert.equal(forward(far, left, true), [parent, true]);
    router.removeLink(parent);
    assert.equal([forward(far), forward(far, left)], [false, false]);
  });

  test('a frame that is marked by its own sender is none of the overlay', () => {
    const { forward, parent, far } = overlaid();
    assert.equal(forward(far, undefined, true), [parent, false]);
  });
});
