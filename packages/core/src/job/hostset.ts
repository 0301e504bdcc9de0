/**
 * Host names as a list again, and lists as sets. Folding keeps order and repeats: expanding a folded list gives the
 * same names. Neighbours are folded that differ in one number only: `n01,n02,n03,n07` → `n[01-03,07]`.
 */

/** The shortest list this simple rule finds for `names`, in their order; the empty text for none. */
export function foldHostlist(names: Iterable<string>): string {
  const items: string[] = [];
  let group: Group | undefined;
  for (const name of names) {
    const joined = group && join(group, name);
    if (joined === undefined && group !== undefined) items.push(show(group));
    group = joined ?? { tokens: tokensOf(name), numbers: [] };
  }
  if (group !== undefined) items.push(show(group));
  return items.join(',');
}

/** Folded names for messages: each host once, numbers ascending. */
export function foldSorted(names: Iterable<string>): string {
  const once = [...new Set(names)];
  // A process's first collator takes some milliseconds.
  return foldHostlist(once.length < 2 ? once : once.sort(new Intl.Collator('en', { numeric: true }).compare));
}

/** Names in `a` or `b`, in order of first appearance, each once. */
export function unionHosts(a: Iterable<string>, b: Iterable<string>): string[] {
  return [...new Set([...a, ...b])];
}

/** Names of `a` that are in `b` too. */
export function intersectHosts(a: Iterable<string>, b: Iterable<string>): string[] {
  const second = new Set(b);
  return [...new Set(a)].filter((name) => second.has(name));
}

/** Names of `a` that are not in `b`. */
export function minusHosts(a: Iterable<string>, b: Iterable<string>): string[] {
  const second = new Set(b);
  return [...new Set(a)].filter((name) => !second.has(name));
}

/** Names that are in exactly one of the two. */
export function xorHosts(a: Iterable<string>, b: Iterable<string>): string[] {
  const [first, second] = [[...a], [...b]];
  return [...minusHosts(first, second), ...minusHosts(second, first)];
}

interface Group {
  /** The first name, cut into texts and numbers in turn. */
  readonly tokens: readonly string[];
  /** Which token varies; undefined while the group is one name. */
  readonly varying?: number;
  /** The varying numbers as written, the first name's included. */
  readonly numbers: string[];
}

/** An address is one token: its digits are no running number. */
function tokensOf(name: string): readonly string[] {
  return name.includes(':') ? [name] : (name.match(/\d+|\D+/g) ?? ['']);
}

function join(group: Group, name: string): Group | undefined {
  const tokens = tokensOf(name);
  if (tokens.length !== group.tokens.length) return undefined;
  const differing = tokens.flatMap((token, i) => (token === group.tokens[i] ? [] : [i]));
  const at = group.varying ?? differing[0];
  if (at === undefined || differing.some((i) => i !== at)) return undefined;
  const [before, now] = [group.tokens[at]!, tokens[at]!];
  const numbers = /^\d{1,15}$/.test(before) && /^\d{1,15}$/.test(now);
  if (!numbers) return undefined;
  if (group.varying === undefined) return { tokens: group.tokens, varying: at, numbers: [before, now] };
  group.numbers.push(now);
  return group;
}

function show({ tokens, varying, numbers }: Group): string {
  if (varying === undefined) {
    const name = tokens.join('');
    return name.includes(':') ? `[${name}]` : name;
  }
  return [...tokens.slice(0, varying), `[${showNumbers(numbers)}]`, ...tokens.slice(varying + 1)].join('');
}

/** `01,02,03,07` → `01-03,07`: a range's padding is that of its first number. */
function showNumbers(numbers: readonly string[]): string {
  const ranges: { low: string; high: string }[] = [];
  for (const number of numbers) {
    const last = ranges.at(-1);
    const width = last !== undefined && last.low.length > 1 && last.low.startsWith('0') ? last.low.length : 0;
    const follows = last !== undefined && String(Number(last.high) + 1).padStart(width, '0') === number;
    if (follows) last.high = number;
    else ranges.push({ low: number, high: number });
  }
  return ranges.map(({ low, high }) => (low === high ? low : `${low}-${high}`)).join(',');
}
