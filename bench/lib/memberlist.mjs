/** The peer memberlist (SWIM): one process killed, until the last of the others has learned of it. */

import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endAll, member, monotonicMs, pause } from './members.mjs';
import { cleanEnvironment, script } from './place.mjs';

const SOURCES = '/usr/share/gocode';
const PORT = 27_000;

/** Why it cannot be measured: it comes with Debian's golang-github-hashicorp-memberlist-dev and golang-go. */
export function whyNoMemberlist() {
  if (!existsSync(join(SOURCES, 'src/github.com/hashicorp/memberlist'))) return 'memberlist (Debian) is not installed';
  return spawnSync('go', ['version']).status === 0 ? undefined : 'go is not installed';
}

/** Builds the member; returns its path. */
export function buildMember(directory = mkdtempSync(join(tmpdir(), 'stci-bench-'))) {
  const path = join(directory, 'member');
  const env = { ...cleanEnvironment(), GO111MODULE: 'off', GOPATH: SOURCES, GOCACHE: join(directory, 'cache') };
  const { status, stderr } = spawnSync('go', ['build', '-o', path, script('tools/memberlist/main.go')],
    { env, encoding: 'utf8' });
  if (status !== 0) throw new Error(`go build: ${stderr}`);
  return path;
}

/** ms from a kill to the last survivor's notice, `kills` times; each victim is replaced. `periodMs` 0: its default. */
export async function memberlistKills(program, size, periodMs, kills) {
  let count = 0;
  const start = () => {
    count += 1;
    const [name, port] = [`m${count}`, PORT + count];
    return { name, ...member(program, [name, String(port), String(PORT + 1), String(periodMs)]) };
  };
  const members = [start()];
  await pause(500); // The first one listens before others join it.
  while (members.length < size) members.push(start());
  const knows = (each, name) => each.line(new RegExp(`^joined ${name}$`, 'u'));
  try {
    const all = () => Promise.all(members.flatMap((each) => members.map(({ name }) => knows(each, name))));
    await all();
    const times = [];
    await pause(8 * (periodMs || 1000));
    for (let kill = 0; kill < kills; kill++) {
      // At another moment of a period each time.
      await pause(50 + ((kill * 0.618) % 1) * (periodMs || 1000));
      const at = 1 + (kill * 7) % (members.length - 1);
      const [victim] = members.splice(at, 1);
      const pattern = new RegExp(`^left ${victim.name} (\\d+)$`, 'u');
      const noticed = members.map(({ line }) => line(pattern));
      const sinceMs = monotonicMs();
      victim.child.kill('SIGKILL');
      const atMs = (await Promise.all(noticed)).map(([, ns]) => Number(ns) / 1e6);
      times.push(Math.max(...atMs) - sinceMs);
      members.push(start());
      await all();
    }
    return times;
  } finally {
    await endAll(members);
  }
}
