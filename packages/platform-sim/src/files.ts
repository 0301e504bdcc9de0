/** Files of a simulated host: its programs, which of them are not executable, and which directories are missing. */

import type { ErrorCode, ErrorRecord } from '@stci/interface';
import { PROGRAMS } from './programs.js';
import type { ToolProgram } from './tool.js';

const BINARY_DIRECTORIES = ['/bin', '/usr/bin'];
const PATH_DEFAULT = '/bin:/usr/bin';

export type Found = { readonly run: ToolProgram } | { readonly error: ErrorRecord };

function failure(code: ErrorCode, message: string, data: ErrorRecord['data']): { error: ErrorRecord } {
  return { error: { code, message, ...(data !== undefined && { data }) } };
}

export class Files {
  readonly #programs = new Map<string, ToolProgram>(Object.entries(PROGRAMS));
  /** Programs without execute permission. */
  readonly notExecutable = new Set<string>(['not-executable']);
  /** Missing directories; all others exist. */
  readonly missingDirectories = new Set<string>(['/missing']);

  addProgram(name: string, program: ToolProgram): void {
    this.#programs.set(name, program);
  }

  checkDirectory(wdir: string): ErrorRecord | undefined {
    if (wdir.startsWith('/') && !this.missingDirectories.has(wdir)) return undefined;
    const missing = `Working directory '${wdir}' does not exist on this host`;
    const message = `${missing}; create it there, or give another by --wdir.`;
    return failure('STCI_PROGRAM_WDIR', message, { wdir }).error;
  }

  findProgram(program: string, env: Readonly<Record<string, string>>): Found {
    const slash = program.lastIndexOf('/');
    const name = program.slice(slash + 1);
    const searched = slash < 0 ? (env['PATH'] ?? PATH_DEFAULT) : program.slice(0, slash);
    const directories = slash < 0 ? searched.split(':') : [searched];
    if (directories.some((directory) => BINARY_DIRECTORIES.includes(directory))) {
      if (this.notExecutable.has(name)) {
        const message = `Program '${program}' cannot be started: it is not executable: permission denied.`;
        return failure('STCI_PROGRAM_NOT_EXECUTABLE', message, { program, path: name });
      }
      const run = this.#programs.get(name);
      if (run !== undefined) return { run };
    }
    const where = slash < 0 ? 'it is not on PATH of this host' : `there is no file ${program}`;
    return failure('STCI_PROGRAM_NOT_FOUND', `Program '${program}' not found: ${where}.`, { program, searched });
  }
}
