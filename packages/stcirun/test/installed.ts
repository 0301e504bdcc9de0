/** This program as it is installed: its packages packed as for a registry, and unpacked outside of the workspace. */

import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, realpathSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { assert } from '@stci/testkit';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

interface Manifest {
  readonly name: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

/** A package of the workspace and all that it needs, by their folders; and what is of others, by name. */
function needed(
  name: string, folders = new Map<string, string>(), others = new Map<string, string>(),
): readonly Map<string, string>[] {
  const folder = join(ROOT, 'packages', name.replace('@stci/', ''));
  folders.set(name, folder);
  const { dependencies = {} } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
  for (const each of Object.keys(dependencies)) {
    if (!each.startsWith('@stci/')) others.set(each, realpathSync(join(folder, 'node_modules', each)));
    else if (!folders.has(each)) needed(each, folders, others);
  }
  return [folders, others];
}

/** As npm installs a package: unpacked, not linked. In `place`, a directory that exists. */
export function install(place: string, name = '@stci/stcirun'): void {
  const [own = new Map<string, string>(), others = []] = needed(name);
  const env = { ...process.env, npm_config_cache: join(place, 'cache'), npm_config_update_notifier: 'false' };
  const args = ['pack', '--json', '--offline', '--ignore-scripts', '--pack-destination', place, ...own.values()];
  const text = execFileSync('npm', args, { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  const packed = JSON.parse(text) as readonly { readonly name: string; readonly filename: string }[];
  assert.equal(packed.map(({ name }) => name).sort(), [...own.keys()].sort());
  for (const { name, filename } of packed) {
    const folder = join(place, 'node_modules', name);
    mkdirSync(folder, { recursive: true });
    execFileSync('tar', ['-xzf', join(place, filename), '--strip-components=1', '-C', folder]);
  }
  const types = realpathSync(join(ROOT, 'node_modules/@types/node'));
  for (const [name, folder] of [...others, ['@types/node', types]] as const) {
    const link = join(place, 'node_modules', name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(folder, link);
  }
}
