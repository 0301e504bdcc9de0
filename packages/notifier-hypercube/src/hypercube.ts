/**
 * The double hypercube (IJHPCA, 2.3, after Ramanathan and Shin). n agents are labelled from the source, 0. With k =
 * ⌊log2 n⌋, one cube has the labels j, the other n − j mod n, for j = 0..2^k−1; together they have all. In each, labels
 * whose j differ in one bit are linked.
 *
 * Both cubes have only the source in common if n = 2^(k+1) − 1: if it died having told one cube, the other would not
 * hear. So here the same j of both are linked besides. Up to k − 1 dead take at most as many from each cube, which
 * stays connected, with paths of at most k + 1 hops; and of the 2^k − 1 links between both at most 2 (k − 1) < 2^k − 1.
 */

/** Labels linked with `label` among n, in the order of the bits. */
export function linkedLabels(label: number, n: number): number[] {
  const bits = dimensions(n);
  const found = new Set<number>();
  for (const [index, other] of [[label, false], [(n - label) % n, true]] as const) {
    if (index >= 2 ** bits) continue;
    for (let bit = 1; bit < 2 ** bits; bit *= 2) {
      const linked = index ^ bit;
      found.add(other ? (n - linked) % n : linked);
    }
    found.add((n - label) % n);
  }
  found.delete(label);
  return [...found];
}

/** k: dimensions of each cube. */
export function dimensions(n: number): number {
  return 31 - Math.clz32(n);
}
