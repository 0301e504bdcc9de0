/** `stci plugin check --fix`: help and parameters that the code declares, written into the package's package.json. */

import {
  closeSync, fchmodSync, fchownSync, fsyncSync, openSync, readFileSync, realpathSync, renameSync, rmSync, statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { readReason } from '../../files/read-file.js';
import { pluginError } from '../error.js';
import { MANIFEST_FILE } from '../find.js';
import { DECLARED, type CodeDeclaration } from '../manifest.js';
import { editJson } from './edit-json.js';

/** Returns what was written, for each component: `topology:ring: help, params`. Throws STCI_PLUGIN_INVALID. */
export function fixManifest(path: string, declared: readonly CodeDeclaration[]): readonly string[] {
  const file = realpathSync(join(path, MANIFEST_FILE));
  const text = readFileSync(file, 'utf8');
  const { stci } = JSON.parse(text) as { stci: { components: Readonly<Record<string, unknown>>[] } };
  const changes = declared.map((code, index) => {
    const own = stci.components[index] ?? {};
    const names = code === undefined ? [] : DECLARED.filter((name) =>
      !isDeepStrictEqual(own[name] ?? {}, code[name] ?? {}));
    const members = Object.fromEntries(names.map((name) => [name, code?.[name] ?? {}]));
    const told = `${own['framework']}:${own['name']}: ${names.join(', ')}`;
    return { at: ['stci', 'components', index], members, told };
  }).filter(({ members }) => Object.keys(members).length > 0);
  if (changes.length > 0) replaceFile(path, file, text, editJson(text, changes));
  return changes.map(({ told }) => told);
}

/** Another file in its place, at once, of the same owner and mode; the caller's own only. */
function replaceFile(path: string, file: string, before: string, after: string): void {
  const { uid, gid, mode } = statSync(file);
  if (uid !== process.getuid?.()) {
    throw pluginError(path, `${file} is another user's, and --fix changes only what is yours. Let its owner do it`);
  }
  const next = join(dirname(file), `.${MANIFEST_FILE}.${process.pid}`);
  try {
    const fd = openSync(next, 'wx', 0o600);
    try {
      writeFileSync(fd, after);
      fchownSync(fd, uid, gid);
      fchmodSync(fd, mode & 0o7777);
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    if (readFileSync(file, 'utf8') !== before) throw new Error('it was changed meanwhile');
    renameSync(next, file);
  } catch (thrown) {
    rmSync(next, { force: true });
    throw pluginError(path, `${file} cannot be written: ${readReason(thrown)}`);
  }
}
