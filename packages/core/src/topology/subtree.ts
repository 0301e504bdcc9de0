/** The positions of a subtree, for any tree that knows its children. */

import type { Position } from '@stci/interface';

/** The position itself, then what is below each of its children in their order. O(their number). */
export function subtreeOf(
  tree: { children(position: Position): readonly Position[] }, position: Position,
): readonly Position[] {
  const found: Position[] = [];
  const open = [position];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    found.push(at);
    const children = tree.children(at);
    for (let i = children.length - 1; i >= 0; i--) open.push(children[i]!);
  }
  return found;
}
