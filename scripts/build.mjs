/**
 * `npm run build`: compiles what changed, then bundles the commands and the agent, if something compiled did change.
 */

import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { node, root } from './lib/run.mjs';

/** Packages with a bundle, and what is made last of it. */
const BUNDLES = {
  stcirun: 'dist/bundle/stcirun.cjs',
  'finject-cli': 'dist/bundle/finject.cjs',
  client: 'dist/stci-client.cjs',
};

/** The files of a directory that end so, and below it; what bundles have made is left out. */
function filesOf(directory, ending) {
  if (!existsSync(directory)) return [];
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending) && !name.startsWith('bundle')).sort().map((name) => join(directory, name));
}

/** What bundles are made from: Node (of which they hold compiled code), this place, the lockfile, compiled packages. */
function fingerprint() {
  const packages = readdirSync(join(root, 'packages')).sort().map((name) => join(root, 'packages', name));
  const files = packages.flatMap((path) => [
    ...filesOf(join(path, 'dist'), '.js'), ...filesOf(join(path, 'scripts'), '.mjs'), join(path, 'package.json'),
  ]);
  const hash = createHash('sha256').update(`${process.version} ${process.arch} ${process.execPath} ${root}`);
  for (const path of [join(root, 'pnpm-lock.yaml'), ...files].filter(existsSync)) {
    hash.update(`\0${path}\0`).update(readFileSync(path));
  }
  return hash.digest('hex');
}

node('node_modules/typescript/bin/tsc', ['-b']);
const wanted = fingerprint();
for (const [name, made] of Object.entries(BUNDLES)) {
  const stamp = join(root, `node_modules/.stci-bundle-${name}`);
  const isThere = existsSync(join(root, 'packages', name, made));
  if (isThere && existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) continue;
  rmSync(stamp, { force: true });
  node(`packages/${name}/scripts/bundle.mjs`, []);
  writeFileSync(stamp, wanted);
}
