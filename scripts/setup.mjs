/**
 * `npm run setup`: installs what the lockfile says, builds, and bundles the agent. Safe to repeat: the installation
 * is left out when neither the lockfile nor a package.json has changed since the last one.
 */

import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PNPM, node, root, run } from './lib/run.mjs';

const stampPath = join(root, 'node_modules/.stci-setup');

/** Everything that decides what is installed. */
function fingerprint() {
  const packages = readdirSync(join(root, 'packages')).map((name) => `packages/${name}/package.json`);
  const files = ['package.json', 'lint/package.json', 'pnpm-lock.yaml', 'pnpm-workspace.yaml', ...packages.sort()];
  const hash = createHash('sha256').update(process.version);
  for (const file of files) {
    const path = join(root, file);
    if (existsSync(path)) hash.update(`${file}\0`).update(readFileSync(path)).update('\0');
  }
  return hash.digest('hex');
}

function install() {
  const wanted = fingerprint();
  if (existsSync(stampPath) && readFileSync(stampPath, 'utf8') === wanted) return;
  run('npx', ['-y', PNPM, 'install', '--frozen-lockfile', '--reporter=append-only']);
  writeFileSync(stampPath, wanted);
}

install();
node('node_modules/typescript/bin/tsc', ['-b']);
const bundle = 'packages/stcirun/scripts/bundle.mjs';
if (existsSync(join(root, bundle))) node(bundle, []);
