/** Starts hosts of a set, together, and waits until each is ready: sshd writes its file once it listens. */

import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '@stci/compliance/deadline';
import { tail } from './exec.js';
import { startDaemon } from './holder.js';
import { HostsError, LOGIN, netnsPath, placesOf } from './names.js';
import { enter, netnsNames } from './privilege.js';
import { KEEPER } from './scripts.js';
import type { SetState } from './state.js';

/** Rejects with the host's output if one fails or is not ready in time. */
export async function startPlaces({ set }: SetState, names: readonly string[], deadlineMs: number): Promise<void> {
  const places = placesOf(set);
  for (const name of names) {
    for (const file of ['ready', 'failed']) rmSync(join(places.of(name), file), { force: true });
  }
  keeper(set, names);
  const waiting = new Set(names);
  let failed: string | undefined;
  const what = 'the test hosts to be ready';
  await eventually(() => {
    for (const name of waiting) {
      if (existsSync(join(places.of(name), 'ready'))) waiting.delete(name);
      else if (existsSync(join(places.of(name), 'failed'))) failed = name;
    }
    return waiting.size === 0 || failed !== undefined;
  }, { deadlineMs, what }).catch(() => undefined);
  const first = failed ?? [...waiting][0];
  if (first === undefined) return;
  const words = tail(`${read(join(places.root, 'keeper.log'))}\n${read(join(places.of(first), 'log'))}`);
  throw new HostsError(`the test host ${first} did not come up within ${deadlineMs} ms: ${words || 'no word of it'}`);
}

/** Keeper in the login side's network, with its own mounts. */
function keeper(set: string, names: readonly string[]): void {
  const { root } = placesOf(set);
  const argv = ['unshare', '--mount', 'bash', '-c', KEEPER, 'stci-hosts', set, root, ...names];
  startDaemon(root, 'keeper', enter(root, [...netnsNames(root), `--net=${netnsPath(set, LOGIN)}`], argv));
}

function read(path: string): string {
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
}
