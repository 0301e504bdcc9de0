/** Paths: the repository's root, the built programs, a directory for files that a bench writes. */

import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const bench = dirname(dirname(fileURLToPath(import.meta.url)));

export const root = dirname(bench);
/** Target of node_modules/.bin/stcirun: the command as users run it. */
export const stcirun = join(root, 'packages/stcirun/bin/stcirun.cjs');
export const stci = join(root, 'packages/stcirun/bin/stci.cjs');
export const agentMain = join(root, 'packages/stcirun/dist/bundle/agent.cjs');

/** A script of the bench folder. */
export const script = (name) => join(bench, name);

/** A built module of a package: `built('core', 'codec/frame.js')`. */
export const built = (name, path) => import(join(root, 'packages', name, 'dist', path));

/** The package ws, resolved from platform-node. */
export const requireWs = () => createRequire(join(root, 'packages/platform-node/package.json'))('ws');

/**
 * The environment of everything that is measured, floors included: NODE_EXTRA_CA_CERTS costs each start of Node 28 ms,
 * which would make every ratio look better than it is.
 */
export function cleanEnvironment() {
  const env = { ...process.env };
  for (const name of ['NODE_EXTRA_CA_CERTS', 'NODE_OPTIONS']) delete env[name];
  // stcirun's first line finds Node there.
  env.PATH = `${dirname(process.execPath)}:${env.PATH}`;
  return env;
}

/** A new directory, removed after `use` has settled. */
export async function withDirectory(use) {
  const path = mkdtempSync(join(tmpdir(), 'stci-bench-'));
  try {
    return await use(path);
  } finally {
    rmSync(path, { recursive: true, force: true });
  }
}
