/** Router with an overlay: what nothing leads on for waits for a link that opens, with the bytes that it had. */

import { CONTROLLER, NEIGHBOUR, rootAddress, type Address } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { Router } from '../../dist/am/router.js';
import type { Link } from '../../dist/bootcom/link.js';
import { encodeHeader, isByOverlay, type Frame } from '../../dist/codec/frame.js';
import { isCommandFrame } from '../../dist/overlay/command.js';

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
