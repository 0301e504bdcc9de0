/**
 * Finds the program to execute, before the fork. Node reports the same ENOENT for a missing program, a missing working
 * directory and a missing interpreter; the user needs to know which. The rules are the system's: a name with a slash is
 * relative to the child's working directory, any other is searched in the child's PATH.
 */

import type { ErrorCode, ErrorRecord, SpawnSpec } from '@stci/interface';
import { builtin } from './builtin.js';

/** Default of PATH, as in the C library. */
const PATH_DEFAULT = '/bin:/usr/bin';

export type Resolution = { readonly path: string } | { readonly error: ErrorRecord };

/** Type of a path with regard to execution. */
type Finding = 'program' | 'directory' | 'missing' | 'forbidden' | 'not executable';

export function failure(code: ErrorCode, message: string, data?: ErrorRecord['data']): { error: ErrorRecord } {
  return { error: { code, message, ...(data !== undefined && { data }) } };
}

export function errnoOf(thrown: unknown): string {
  return (thrown as NodeJS.ErrnoException).code ?? 'unknown';
}

function absolute(wdir: string, path: string): string {
  return builtin('node:path').resolve(wdir, path);
}

function inspect(path: string): Finding {
  const { statSync, accessSync, constants } = builtin('node:fs');
  try {
    const facts = statSync(path);
    if (facts.isDirectory()) return 'directory';
    if (!facts.isFile()) return 'not executable';
    accessSync(path, constants.X_OK);
    return 'program';
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === 'ENOENT' || errno === 'ENOTDIR') return 'missing';
    return errno === 'EACCES' && exists(path) ? 'not executable' : 'forbidden';
  }
}

function exists(path: string): boolean {
  return builtin('node:fs').existsSync(path);
}

/** undefined if a child can start in `wdir`. */
function checkWdir(wdir: string): ErrorRecord | undefined {
  const { statSync, accessSync, constants } = builtin('node:fs');
  const wrong = (what: string): ErrorRecord =>
    failure('STCI_PROGRAM_WDIR', `Working directory '${wdir}' ${what}.`, { wdir }).error;
  try {
    if (!statSync(wdir).isDirectory()) return wrong('is not a directory');
    accessSync(wdir, constants.X_OK);
    return undefined;
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === 'ENOENT') return wrong('does not exist on this host; create it there, or give another by --wdir');
    if (errno === 'EACCES') return wrong('may not be entered: permission denied');
    if (errno === 'ENOTDIR') return wrong('has a file where a directory was expected');
    return wrong(`cannot be used: ${errno}`);
  }
}

function refuse(program: string, path: string, finding: Finding): { error: ErrorRecord } {
  const data = { program, path };
  if (finding === 'missing') {
    return failure('STCI_PROGRAM_NOT_FOUND', `Program '${program}' not found: there is no file ${path}.`, data);
  }
  const why = {
    directory: 'is a directory',
    forbidden: 'cannot be reached: permission denied on a directory of its path',
    'not executable': 'is not executable: permission denied (chmod +x makes it so)',
    program: 'cannot be executed',
  }[finding];
  return failure('STCI_PROGRAM_NOT_EXECUTABLE', `Program '${program}' cannot be started: ${path} ${why}.`, data);
}

function notInPath(program: string, searched: string, wdir: string): { error: ErrorRecord } {
  const here = inspect(absolute(wdir, program)) === 'program';
  const hint = here
    ? `There is a program of that name in the working directory: did you mean ./${program} ?`
    : 'Give a path, or add its directory to PATH.';
  const message = `Program '${program}' not found: it is not on PATH of this host. ${hint}`;
  return failure('STCI_PROGRAM_NOT_FOUND', message, { program, searched });
}

function searchPath(program: string, wdir: string, searched: string): Resolution {
  let refused: { error: ErrorRecord } | undefined;
  for (const directory of searched.split(':')) {
    const path = `${directory === '' ? '.' : directory}/${program}`;
    const finding = inspect(absolute(wdir, path));
    if (finding === 'program') return { path };
    // As in execvp, a file without execute permission is remembered, and the search continues.
    if (finding === 'not executable') refused ??= refuse(program, path, finding);
  }
  return refused ?? notInPath(program, searched, wdir);
}

function resolveProgram(spec: Pick<SpawnSpec, 'program' | 'env' | 'wdir'>): Resolution {
  const wdir = spec.wdir ?? process.cwd();
  if (spec.program === '') {
    return failure('STCI_PROGRAM_NOT_FOUND', 'The name of the program is empty; expected a name or a path.');
  }
  if (!spec.program.includes('/')) return searchPath(spec.program, wdir, spec.env['PATH'] ?? PATH_DEFAULT);
  const path = absolute(wdir, spec.program);
  const finding = inspect(path);
  return finding === 'program' ? { path: spec.program } : refuse(spec.program, path, finding);
}

/**
 * Checks directory and program before a start. The path returned is for exec and always contains a slash: relative to
 * the child's working directory, or absolute.
 */
export function checkProgram(spec: Pick<SpawnSpec, 'program' | 'env' | 'wdir'>): Resolution {
  const wrong = spec.wdir === undefined ? undefined : checkWdir(spec.wdir);
  return wrong === undefined ? resolveProgram(spec) : { error: wrong };
}

function interpreterOf(path: string): string | undefined {
  const { openSync, readSync, closeSync } = builtin('node:fs');
  const fd = openSync(path, 'r');
  try {
    const head = Buffer.alloc(256);
    const text = head.toString('latin1', 0, readSync(fd, head, 0, head.length, 0));
    return text.startsWith('#!') ? /^#![ \t]*([^ \t\n]*)/.exec(text)?.[1] : undefined;
  } finally {
    closeSync(fd);
  }
}

function badInterpreter(program: string, path: string): ErrorRecord {
  let interpreter: string | undefined;
  try {
    interpreter = interpreterOf(path);
  } catch {
    // Executable but not readable: only the general error can be given.
  }
  const message =
    interpreter === undefined
      ? `Program '${program}' cannot be started: ${path} exists, but the loader that it names does not: ` +
        'it was built for another system.'
      : `Program '${program}' cannot be started: the first line of ${path} names the interpreter ` +
        `'${interpreter.replaceAll('\r', '\\r')}', which does not exist here.`;
  return failure('STCI_PROGRAM_NOT_EXECUTABLE', message, { program, path }).error;
}

const FEWER = ', or use fewer ranks per host';

/** The error record of a failed spawn for which `resolveProgram` found no cause. */
export function spawnError(spec: SpawnSpec, path: string, thrown: unknown): ErrorRecord {
  const errno = errnoOf(thrown);
  const full = absolute(spec.wdir ?? process.cwd(), path);
  const data = { program: spec.program, path: full, errno };
  if (errno === 'ENOENT' && inspect(full) === 'program') return badInterpreter(spec.program, full);
  if (errno === 'ENOENT') return refuse(spec.program, full, 'missing').error;
  const make = (code: ErrorCode, why: string): ErrorRecord =>
    failure(code, `Program '${spec.program}' cannot be started: ${why}.`, data).error;
  switch (errno) {
    case 'EACCES':
    case 'EPERM':
      return make('STCI_PROGRAM_NOT_EXECUTABLE', `${full} may not be executed here (${errno})`);
    case 'ENOEXEC':
      return make('STCI_PROGRAM_NOT_EXECUTABLE', `${full} has no format that this machine can execute`);
    case 'E2BIG':
      return make('STCI_PROGRAM_NOT_EXECUTABLE', 'its arguments and environment together are too long (E2BIG)');
    case 'EAGAIN':
      return make('STCI_PROGRAM_SPAWN', `the limit of processes is reached (EAGAIN): raise it (ulimit -u)${FEWER}`);
    case 'EMFILE':
    case 'ENFILE':
      return make('STCI_PROGRAM_SPAWN', `the limit of open files is reached (${errno}): raise it (ulimit -n)${FEWER}`);
    case 'ENOMEM':
      return make('STCI_PROGRAM_SPAWN', 'this host is out of memory (ENOMEM)');
    case 'ERR_INVALID_ARG_VALUE':
      return make('STCI_PROGRAM_NOT_EXECUTABLE', 'its arguments or environment contain a zero byte');
    default:
      return make('STCI_PROGRAM_SPAWN', thrown instanceof Error ? thrown.message : errno);
  }
}
