/**
 * Ranges of versions, as a plugin's manifest writes them: `^1`, `~1.2`, `1.x`, `>=1.1 <3`, `^1 || ^2`; as npm reads
 * them (docs.npmjs.com/cli/v10/using-npm/semver), without pre-releases.
 */

type Version = readonly [number, number, number];

interface Bounds {
  readonly from: Version;
  /** Exclusive. */
  readonly below: Version;
}

const TOP: Version = [Infinity, 0, 0];
const COMPARATOR = /^(\^|~|>=|<=|>|<|=)?v?(\d{1,9}|[x*])(?:\.(\d{1,9}|[x*]))?(?:\.(\d{1,9}|[x*]))?$/u;

export interface Range {
  has(version: string): boolean;
  /** True if the version is below all of the range. */
  isAbove(version: string): boolean;
}

/** undefined: it is no range. */
export function parseRange(text: string): Range | undefined {
  const all = text.split('||').map(parsePart);
  if (all.includes(undefined)) return undefined;
  const parts = all as readonly Bounds[];
  const isIn = (at: Version) => ({ from, below }: Bounds): boolean => compare(from, at) <= 0 && compare(at, below) < 0;
  return {
    has: (version) => parts.some(isIn(versionOf(version))),
    isAbove: (version) => parts.every(({ from }) => compare(versionOf(version), from) < 0),
  };
}

function versionOf(text: string): Version {
  const [major = 0, minor = 0, patch = 0] = text.split('.').map(Number);
  return [major, minor, patch];
}

function compare(a: Version, b: Version): number {
  const at = a.findIndex((part, index) => part !== b[index]);
  return at < 0 ? 0 : (a[at] as number) - (b[at] as number);
}

/** Comparators that all hold; an operator may stand apart from its version. */
function parsePart(text: string): Bounds | undefined {
  const words = text.trim().replaceAll(/(\^|~|>=|<=|>|<|=)\s+/gu, '$1').split(/\s+/u);
  let [from, below]: [Version, Version] = [[0, 0, 0], TOP];
  for (const word of words) {
    const bounds = boundsOf(word);
    if (bounds === undefined) return undefined;
    if (compare(bounds.from, from) > 0) ({ from } = bounds);
    if (compare(bounds.below, below) < 0) ({ below } = bounds);
  }
  return { from, below };
}

function boundsOf(word: string): Bounds | undefined {
  const match = COMPARATOR.exec(word);
  if (match === null) return undefined;
  const [, operator = '', ...written] = match;
  const end = written.findIndex((part) => part === undefined || part === 'x' || part === '*');
  const given = written.slice(0, end < 0 ? 3 : end).map(Number);
  const [major = 0, minor = 0, patch = 0] = given;
  const from: Version = [major, minor, patch];
  if (given.length === 0) return { from, below: TOP };
  /** The first version after those that begin with so many of its parts. */
  const after = (parts: number): Version =>
    parts <= 1 ? [major + 1, 0, 0] : parts === 2 ? [major, minor + 1, 0] : [major, minor, patch + 1];
  const all = after(given.length);
  switch (operator) {
    case '^':
      return { from, below: after(Math.min(given.length, major > 0 ? 1 : minor > 0 ? 2 : 3)) };
    case '~':
      return { from, below: after(Math.min(given.length, 2)) };
    case '>=':
      return { from, below: TOP };
    case '>':
      return { from: all, below: TOP };
    case '<':
      return { from: [0, 0, 0], below: from };
    case '<=':
      return { from: [0, 0, 0], below: all };
    default:
      return { from, below: all };
  }
}
