/** The plugins of examples/ as a user has them: in another place, with the packages that they import. */

import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, realpathSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const EXAMPLES = fileURLToPath(new URL('../../../examples', import.meta.url));
const LINKED = realpathSync(fileURLToPath(new URL('../node_modules/@stci', import.meta.url)));

/** Copies these to a directory of their own, which the caller removes. */
export function copyExamples(...names: readonly string[]): string {
  const place = mkdtempSync(join(tmpdir(), 'stci-examples-'));
  mkdirSync(join(place, 'node_modules'));
  symlinkSync(LINKED, join(place, 'node_modules/@stci'));
  for (const name of names) cpSync(join(EXAMPLES, name), join(place, name), { recursive: true });
  return place;
}

/** Why namespaces cannot be made here; undefined: they can. */
export function whyNoNamespaces(): string | undefined {
  const options = process.getuid?.() === 0 ? [] : ['--user', '--map-current-user', '--keep-caps'];
  const args = [...options, '--fork', '--pid', '--mount-proc', '--uts', 'true'];
  const { error, status, stderr } = spawnSync('unshare', args, { encoding: 'utf8' });
  return status === 0 ? undefined : `namespaces: ${error?.message ?? stderr.trim()}`;
}
