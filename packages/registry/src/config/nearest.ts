/**
 * Nearest names, for "did you mean": optimal string alignment distance (insert, delete, replace, swap of two
 * neighbours each cost 1), so that common typing errors are near. Dotted names are compared as a whole
 * and by their last part, so that `tree.arity` finds `launcher.tree.arity`.
 */

/** Number of edits from `source` to `target`. */
export function editDistance(source: string, target: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: target.length + 1 }, (_, column) => column);
  for (let row = 1; row <= source.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= target.length; column += 1) {
      const same = source[row - 1] === target[column - 1];
      const replaced = at(last, column - 1) + (same ? 0 : 1);
      let best = Math.min(at(last, column) + 1, at(current, column - 1) + 1, replaced);
      const swapped = row > 1 && column > 1 && source[row - 1] === target[column - 2]
        && source[row - 2] === target[column - 1];
      if (swapped) best = Math.min(best, at(beforeLast, column - 2) + 1);
      current.push(best);
    }
    beforeLast = last;
    last = current;
  }
  return at(last, target.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? 0;
}

/** Longer names are not compared: the cost grows with the square of the length. */
const NAME_LENGTH_MAX = 200;

/** At most `countMax` of `names` that `wanted` may have meant, best first; ties by name. */
export function nearest(wanted: string, names: Iterable<string>, countMax = 3): string[] {
  if (wanted.length > NAME_LENGTH_MAX) return [];
  const lower = wanted.toLowerCase();
  const found: { name: string; distance: number }[] = [];
  for (const name of names) {
    const distance = lower.length > 2 && name.endsWith(`.${lower}`) ? 0.5 : editDistance(lower, name);
    if (distance <= Math.max(1, Math.floor(Math.max(name.length, lower.length) / 3))) found.push({ name, distance });
  }
  found.sort((a, b) => a.distance - b.distance || (a.name < b.name ? -1 : 1));
  // Names at a much larger distance than the nearest are not suggested.
  const distanceMax = (found[0]?.distance ?? 0) + 1;
  return found.filter((entry) => entry.distance <= distanceMax).slice(0, countMax).map((entry) => entry.name);
}

/** ` Did you mean a or b?`, or nothing where no name is near. */
export function didYouMean(wanted: string, names: Iterable<string>): string {
  return question(nearest(wanted, names));
}

/** The same for dotted names; where none is near as a whole, those whose last word is: `bootcom.lease`, `x.leese`. */
export function didYouMeanDotted(wanted: string, names: readonly string[], countMax = 3): string {
  const whole = nearest(wanted, names);
  if (whole.length > 0) return question(whole);
  const lastOf = (name: string): string => name.slice(name.lastIndexOf('.') + 1);
  const [last] = nearest(lastOf(wanted), new Set(names.map(lastOf)), 1);
  return question(names.filter((name) => lastOf(name) === last).sort().slice(0, countMax));
}

function question(near: readonly string[]): string {
  return near.length === 0 ? '' : ` Did you mean ${near.join(' or ')}?`;
}
