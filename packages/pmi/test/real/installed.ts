/**
 * MPI libraries for the tests: those of this machine's Debian packages, or of packages unpacked into a root of their
 * own (`dpkg-deb -x`), which STCI_MPI_ROOT names. The test program is built against each.
 */

import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export type MpiLibrary = 'mpich' | 'openmpi';

const ROOT = process.env['STCI_MPI_ROOT'] ?? '/';
const TRIPLET = process.arch === 'arm64' ? 'aarch64-linux-gnu' : 'x86_64-linux-gnu';
const LIBRARIES = join(ROOT, 'usr/lib', TRIPLET);
/** The root's own, where its packages are of another release than this machine's. */
const LOADER = join(ROOT, 'usr/lib64/ld-linux-x86-64.so.2');
const SOURCE = fileURLToPath(new URL('../../test/real/program.c', import.meta.url));

const FILES: Readonly<Record<MpiLibrary, { readonly library: string; readonly include: string }>> = {
  mpich: { library: join(LIBRARIES, 'libmpich.so.12'), include: join(LIBRARIES, 'mpich/include') },
  openmpi: { library: join(LIBRARIES, 'libmpi.so.40'), include: join(LIBRARIES, 'openmpi/include') },
};

/** Why there is no test of a library here; undefined if there is one. */
export function whyNot(mpi: MpiLibrary): string | undefined {
  const { library, include } = FILES[mpi];
  const missing = [library, join(include, 'mpi.h'), '/usr/bin/gcc'].find((file) => !existsSync(file));
  return missing === undefined ? undefined : `no ${mpi} here: ${basename(missing)} is missing`;
}

/** What a program finds its libraries by where these are in a root of their own. */
export function rootVariables(): Record<string, string> {
  if (ROOT === '/') return {};
  return {
    LD_LIBRARY_PATH: [LIBRARIES, join(ROOT, 'lib', TRIPLET), join(LIBRARIES, 'openmpi/lib')].join(':'),
    OPAL_PREFIX: join(ROOT, 'usr'),
    PMIX_INSTALL_PREFIX: join(LIBRARIES, 'pmix2'),
  };
}

const built = new Map<MpiLibrary, string>();

/** Path of the test program. */
export function mpiProgram(mpi: MpiLibrary): string {
  const known = built.get(mpi);
  if (known !== undefined) return known;
  const program = join(mkdtempSync(join(tmpdir(), 'stci-mpi-')), mpi);
  const { library, include } = FILES[mpi];
  const link = [`-Wl,-rpath-link,${LIBRARIES}`, '-Wl,--allow-shlib-undefined'];
  if (ROOT !== '/' && existsSync(LOADER)) link.push(`-Wl,--dynamic-linker=${LOADER}`);
  execFileSync('/usr/bin/gcc', ['-o', program, SOURCE, `-I${include}`, library, ...link]);
  built.set(mpi, program);
  return program;
}
