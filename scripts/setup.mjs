/**
 * `npm run setup`: installs the lockfile's packages, builds, and bundles the agent. Can be repeated: the installation
 * is skipped if neither the lockfile nor a package.json has changed since the last one.
 */

import { createHash } from 'node:crypto';
import {
  chmodSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { PNPM, node, root, run } from './lib/run.mjs';

const stampPath = join(root, 'node_modules/.stci-setup');

/** Files that determine the installation. */
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

/** pnpm links commands during the installation, but not those whose file the build makes: they are linked here. */
function linkCommands(folder) {
  const { bin = {} } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
  for (const [name, target] of Object.entries(bin)) {
    const link = join(root, 'node_modules/.bin', name);
    const file = join(root, folder, target);
    if (!existsSync(file)) throw new Error(`${folder}/package.json: bin ${name}: there is no ${target}`);
    chmodSync(file, 0o755);
    if (existsSync(link)) continue;
    rmSync(link, { force: true });
    symlinkSync(join('../..', folder, target), link);
  }
}

/** man searches share/man beside each directory of PATH, so it finds these once node_modules/.bin is in PATH. */
function linkManuals(folder) {
  const { man = [] } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
  for (const page of man) {
    const place = join(root, 'node_modules/share/man', `man${page.slice(-1)}`);
    const link = join(place, basename(page));
    mkdirSync(place, { recursive: true });
    rmSync(link, { force: true });
    symlinkSync(join('../../../..', folder, page), link);
  }
}

install();
node('scripts/build.mjs', []);
for (const folder of ['packages/stcirun', 'packages/finject-cli', 'packages/client']) {
  linkCommands(folder);
  linkManuals(folder);
}
