/**
 * Removes sets: a named one, and those that a crashed run left. All parts of a set are found by its name, so no record
 * is needed. To be called under the lock.
 */

import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { endHolder } from './holder.js';
import { NETNS_DIRECTORY, netnsDirectory, placesOf, setOfNetns } from './names.js';
import { removeNetns } from './network.js';
import { killAllIn, netnsInode } from './procs.js';
import { entries, isLeftover, readStates } from './state.js';

const END_DEADLINE_MS = 10_000;

/** Ends every process of the set, removes its namespaces and files. No error if there are none. */
export async function removeSet(set: string): Promise<void> {
  const directory = netnsDirectory(set);
  const names = entries(directory).filter((name) => setOfNetns(name) === set);
  const inodes = names.map((name) => netnsInode(join(directory, name))).filter((inode) => inode !== undefined);
  await killAllIn(new Set(inodes), END_DEADLINE_MS);
  await removeNetns(set, names);
  const left = names.filter((name) => existsSync(join(directory, name)));
  if (left.length > 0) throw new Error(`cannot remove the network namespaces ${left.join(', ')}`);
  await endHolder(set, END_DEADLINE_MS);
  rmSync(placesOf(set).root, { recursive: true, force: true });
}

/** Removes sets whose owner has ended; returns their names. */
export async function removeLeftovers(): Promise<string[]> {
  const states = readStates();
  const unwritten = entries(NETNS_DIRECTORY).map(setOfNetns).filter((set) => set !== undefined && !states.has(set));
  const broken = [...states].filter(([, state]) => isLeftover(state)).map(([set]) => set);
  const sets = [...new Set([...broken, ...unwritten])].filter((set) => set !== undefined);
  for (const set of sets) await removeSet(set);
  return sets;
}
