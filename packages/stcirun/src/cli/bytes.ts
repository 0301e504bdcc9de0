/**
 * Arguments, variables and directories are bytes to the system and text to Node, which puts U+FFFD for each byte that
 * is not UTF-8: a program would act on another name. So what holds such bytes is refused by its name. The bytes
 * themselves are read from /proc only where a U+FFFD is met; a U+FFFD that the user typed is allowed.
 */

import { isUtf8 } from 'node:buffer';
import { readFileSync, readlinkSync } from 'node:fs';
import { StciError, type JobSpec } from '@stci/interface';

const REPLACEMENT = '\ufffd';
const ZERO = 0;

/** Throws STCI_USAGE for the first argument that is not UTF-8. `argv`: the command line behind the program's name. */
export function checkArguments(argv: readonly string[]): void {
  if (!argv.some(isSuspect)) return;
  const raw = pieces(read('/proc/self/cmdline'));
  // Node's own arguments stand before ours.
  const own = raw.slice(Math.max(0, raw.length - argv.length));
  argv.forEach((argument, index) => {
    if (!isSuspect(argument) || isText(own[index])) return;
    const what = `argument ${index + 1}, ${quoted(own[index], argument)},`;
    refuse(what, 'Write it in UTF-8, or let a shell make it: sh -c \'program "$(printf "caf\\351")"\'');
  });
}

/** The same for variables and directories that the job's programs would get. */
export function checkSpec(spec: Pick<JobSpec, 'apps' | 'env' | 'wdir'>): void {
  for (const env of [spec.env, ...spec.apps.map((app) => app.env)]) checkVariables(env);
  const usesCaller = spec.apps.some((app) => app.wdir === undefined || app.wdir.startsWith(spec.wdir));
  if (!usesCaller || !isSuspect(spec.wdir)) return;
  const raw = readlinkSync('/proc/self/cwd', { encoding: 'buffer' });
  if (!isText(raw)) refuse(`the working directory, ${quoted(raw, spec.wdir)},`, 'Name another: --wdir DIR.');
}

function checkVariables(env: Readonly<Record<string, string>>): void {
  const suspects = Object.entries(env).filter(([name, value]) => isSuspect(name + value));
  if (suspects.length === 0) return;
  const raw = pieces(read('/proc/self/environ'));
  for (const [name, value] of suspects) {
    const origin = raw.find((bytes) => bytes.toString() === `${name}=${value}`);
    // A variable that the user gave by -x is an argument, and was checked as such.
    if (origin === undefined || isText(origin)) continue;
    const what = `the variable ${name}, ${quoted(origin.subarray(origin.indexOf('=') + 1), value)},`;
    refuse(what, `Leave it out by --unset '${name.replaceAll(REPLACEMENT, '?')}', or set it in UTF-8.`);
  }
}

function refuse(what: string, remedy: string): never {
  throw new StciError('STCI_USAGE', `Not UTF-8: ${what} cannot be passed on unchanged.\n  ${remedy}`);
}

function isSuspect(text: string): boolean {
  return text.includes(REPLACEMENT);
}

/** What cannot be read is not known to be right. */
function isText(raw: Uint8Array | undefined): boolean {
  return raw !== undefined && isUtf8(raw);
}

function read(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch {
    return Buffer.alloc(0);
  }
}

function pieces(bytes: Buffer): Buffer[] {
  const found: Buffer[] = [];
  for (let from = 0; from < bytes.length; ) {
    const end = bytes.indexOf(ZERO, from);
    const to = end < 0 ? bytes.length : end;
    found.push(bytes.subarray(from, to));
    from = to + 1;
  }
  return found;
}

/** Quoted for bash: `$'caf\xe9'`. */
function quoted(raw: Uint8Array | undefined, text: string): string {
  if (raw === undefined) return `'${text}'`;
  const shown = Array.from(raw, (byte) => {
    const isPlain = byte >= 0x20 && byte < 0x7f && byte !== 0x27 && byte !== 0x5c;
    return isPlain ? String.fromCharCode(byte) : `\\x${byte.toString(16).padStart(2, '0')}`;
  });
  return `$'${shown.join('')}'`;
}
