/** Cycles among faults that depend on others, by name: in time that grows as their number, and without recursion. */

/** Names on which a name depends; some may be unknown. */
export type Dependencies = ReadonlyMap<string, readonly string[]>;

/** Names from which, and to which, a cycle leads: without cycles none, else a few more than those on one. */
export function onCycles(dependencies: Dependencies): ReadonlySet<string> {
  const users = new Map<string, string[]>();
  for (const [name, others] of dependencies) {
    for (const other of others) {
      const all = users.get(other);
      if (all === undefined) users.set(other, [name]);
      else all.push(name);
    }
  }
  return without(without(new Set(dependencies.keys()), dependencies, users), users, dependencies);
}

/** Names that remain when each that needs no other one is taken away, again and again. */
function without(names: ReadonlySet<string>, needs: Dependencies, users: Dependencies): ReadonlySet<string> {
  const left = new Set(names);
  const among = (name: string): number => needs.get(name)?.filter((other) => left.has(other)).length ?? 0;
  const counts = new Map([...names].map((name) => [name, among(name)]));
  const free = [...names].filter((name) => counts.get(name) === 0);
  for (let name = free.pop(); name !== undefined; name = free.pop()) {
    left.delete(name);
    for (const user of users.get(name) ?? []) {
      const count = (counts.get(user) ?? 0) - 1;
      counts.set(user, count);
      if (count === 0 && left.has(user)) free.push(user);
    }
  }
  return left;
}

/** The shortest way from a name back to itself. */
export function cycleFrom(start: string, dependencies: Dependencies): readonly string[] | undefined {
  const before = new Map<string, string>();
  const found = [start];
  for (const name of found) {
    for (const other of dependencies.get(name) ?? []) {
      if (other === start) return wayTo(name, start, before);
      if (before.has(other)) continue;
      before.set(other, name);
      found.push(other);
    }
  }
  return undefined;
}

function wayTo(end: string, start: string, before: ReadonlyMap<string, string>): readonly string[] {
  const way = [start];
  for (let name = end; name !== start; name = before.get(name) ?? start) way.push(name);
  return [...way, start].reverse();
}
