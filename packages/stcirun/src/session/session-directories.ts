/**
 * Directories of this user's sessions. By default that is one in /tmp: there sessions outlive the login, as they do not
 * in XDG_RUNTIME_DIR. But its name can be taken by others, and then new sessions are in XDG_RUNTIME_DIR, else in a
 * directory whose name is random. Whoever looks for sessions looks in all of them, whatever its environment.
 */

import { isAbsolute, join } from 'node:path';
import { StciError } from '@stci/interface';
import {
  privateDirectory, runtimeDirectory, spareDirectories, UntrustedPath, usualDirectory,
} from '@stci/platform-node';
import { readReason } from '../files/read-file.js';

const ABSENT = ['ENOENT', 'ENOTDIR'];
const NAME = 'sessions';

export class SessionDirectories {
  readonly #given: string;
  #made: string | undefined;

  /** `given`: parameter session.directory. Throws STCI_PARAM_INVALID for a relative path. */
  constructor(given: string) {
    if (given !== '' && !isAbsolute(given)) {
      throw new StciError('STCI_PARAM_INVALID', `session.directory: expected an absolute path, got '${given}'.`);
    }
    this.#given = given;
  }

  /** Those that are there, by paths without links. Throws STCI_SESSION_REFUSED for one that others could enter. */
  found(): readonly string[] {
    if (this.#given !== '') return this.#present(this.#given);
    const spare = spareDirectories(false).map((directory) => join(directory, NAME));
    const all = [...usual(), ...spare].flatMap((path) => this.#ifOwn(() => this.#present(path)) ?? []);
    return [...new Set(all)];
  }

  /** The one for new sessions, made where it is missing. Throws STCI_SESSION_REFUSED. */
  make(): string {
    this.#made ??= this.#given === '' ? this.#makeUsual() : this.#checked(this.#given, true);
    return this.#made;
  }

  #makeUsual(): string {
    for (const path of usual()) {
      const made = this.#ifOwn(() => this.#checked(path, true));
      if (made !== undefined) return made;
    }
    return this.#checked(join(spareDirectories(true)[0] ?? '', NAME), true);
  }

  #present(path: string): readonly string[] {
    try {
      return [this.#checked(path, false)];
    } catch (thrown) {
      const { code } = ((thrown as Error).cause ?? {}) as NodeJS.ErrnoException;
      if (ABSENT.includes(code ?? '')) return [];
      throw thrown;
    }
  }

  /** undefined: the place is taken by somebody else. */
  #ifOwn<T>(call: () => T): T | undefined {
    try {
      return call();
    } catch (thrown) {
      const { cause } = thrown as Error;
      if (cause instanceof UntrustedPath && cause.isForeign) return undefined;
      throw thrown;
    }
  }

  #checked(path: string, makes: boolean): string {
    try {
      return privateDirectory(path, makes);
    } catch (thrown) {
      throw unusable(path, thrown);
    }
  }
}

function usual(): readonly string[] {
  const runtime = [undefined, `/run/user/${process.geteuid?.() ?? 0}`].flatMap((path) => runtimeDirectory(path) ?? []);
  return [usualDirectory(), ...new Set(runtime)].map((directory) => join(directory, NAME));
}

export function unusable(directory: string, thrown: unknown): StciError {
  const remedy = 'Mend that, or choose another directory: --mca session.directory=PATH.';
  const text = `Sessions cannot be kept in ${directory}: ${readReason(thrown)}. ${remedy}`;
  return new StciError('STCI_SESSION_REFUSED', text, { cause: thrown });
}
