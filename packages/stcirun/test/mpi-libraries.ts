/**
 * MPI libraries for the tests: those of this machine's Debian packages, and those of a later release that was unpacked
 * into a root of its own, which STCI_MPI_ROOT names. The test program is built against each.
 */

import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface MpiLibrary {
  /** For the names of tests. */
  readonly title: string;
  readonly protocol: 'pmi1' | 'pmix';
  /** Why there is none here; undefined: there is. */
  readonly why: string | undefined;
  /** Not of this machine's packages. */
  readonly isOfRoot: boolean;
  /** It has MPI-4's sessions, and goes on after failures. */
  readonly isFive: boolean;
  /** The test program; builds it at the first call. */
  program(): string;
  /** Builds another one; returns its path. */
  build(source: string, program: string): string;
  /** Text of a script that compiles and links as its mpicc does. */
  readonly mpicc: string;
  /** Options of stcirun by which its programs find it. */
  readonly options: readonly string[];
}

const TRIPLET = process.arch === 'arm64' ? 'aarch64-linux-gnu' : 'x86_64-linux-gnu';
const SOURCE = fileURLToPath(new URL('../test/mpi/program.c', import.meta.url));
const CLIENT = fileURLToPath(new URL('../test/mpi/client.c', import.meta.url));
const PLACE = join(tmpdir(), 'stci-mpi-');

/** For programs that the tests of a file build: removed when its process ends. */
function newPlace(): string {
  const directory = mkdtempSync(PLACE);
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

function library(name: 'mpich' | 'openmpi', root: string | undefined): MpiLibrary {
  const directory = directoryOf(root);
  const file = join(directory, name === 'mpich' ? 'libmpich.so.12' : 'libmpi.so.40');
  const include = join(directory, `${name}/include`);
  const missing = [file, join(include, 'mpi.h'), '/usr/bin/gcc'].find((path) => !existsSync(path));
  const isFive = name === 'openmpi' && root !== undefined;
  let built: string | undefined;
  const build = (source: string, program: string): string =>
    compile(root, [source, `-I${include}`, ...(isFive ? ['-DWITH_FT'] : []), file], program);
  return {
    title: `${name === 'mpich' ? 'MPICH' : 'Open MPI'}${root === undefined ? '' : ' of the root'}`,
    protocol: name === 'mpich' ? 'pmi1' : 'pmix',
    why: missing === undefined ? undefined : `no ${name} in ${root ?? '/'}: ${basename(missing)} is missing`,
    isOfRoot: root !== undefined,
    isFive,
    program: () => (built ??= build(SOURCE, join(newPlace(), 'program'))),
    build,
    mpicc: `#!/bin/sh\nexec /usr/bin/gcc "$@" -I${include} ${file} ${linkWords(root).join(' ')}\n`,
    options: root === undefined ? [] : rootOptions(root, directory),
  };
}

function compile(root: string | undefined, words: readonly string[], program: string): string {
  execFileSync('/usr/bin/gcc', ['-o', program, ...words, ...linkWords(root)]);
  return program;
}

function linkWords(root: string | undefined): string[] {
  const loader = join(root ?? '/', 'usr/lib64/ld-linux-x86-64.so.2');
  const isOwn = root !== undefined && existsSync(loader);
  return [
    `-Wl,-rpath-link,${directoryOf(root)}`, '-Wl,--allow-shlib-undefined',
    ...(isOwn ? [`-Wl,--dynamic-linker=${loader}`] : []),
  ];
}

function directoryOf(root: string | undefined): string {
  return join(root ?? '/', 'usr/lib', TRIPLET);
}

/** PMIx without MPI. */
export interface PmixLibrary extends Pick<MpiLibrary, 'title' | 'why' | 'program' | 'options'> {
  readonly major: number;
}

function pmixLibrary(root: string | undefined): PmixLibrary {
  const directory = directoryOf(root);
  const [file, header] = [join(directory, 'libpmix.so.2'), join(directory, 'pmix2/include/pmix_version.h')];
  const missing = [file, header, '/usr/bin/gcc'].find((path) => !existsSync(path));
  const major = missing === undefined ? Number(/VERSION_MAJOR (\d+)/u.exec(readFileSync(header, 'utf8'))?.[1]) : 0;
  let built: string | undefined;
  const build = (): string =>
    compile(root, [CLIENT, `-I${join(directory, 'pmix2/include')}`, file], join(newPlace(), 'client'));
  return {
    title: `PMIx ${major === 0 ? 'library' : major} of ${root === undefined ? 'this machine' : 'a root'}`, major,
    why: missing === undefined ? undefined : `no libpmix in ${root ?? '/'}: ${basename(missing)} is missing`,
    program: () => (built ??= build()),
    options: root === undefined ? [] : rootOptions(root, directory),
  };
}

function rootOptions(root: string, directory: string): string[] {
  const variables = {
    LD_LIBRARY_PATH: [directory, join(root, 'lib', TRIPLET), join(directory, 'openmpi/lib')].join(':'),
    OPAL_PREFIX: join(root, 'usr'),
    PMIX_INSTALL_PREFIX: join(directory, 'pmix2'),
    PMIX_MCA_pcompress_base_silence_warning: '1',
  };
  return Object.entries(variables).flatMap(([name, value]) => ['-x', `${name}=${value}`]);
}

const root = process.env['STCI_MPI_ROOT'] || undefined;
const pmixRoot = process.env['STCI_PMIX_ROOT'] || undefined;

export const MPI_LIBRARIES: readonly MpiLibrary[] = [
  library('mpich', undefined), library('openmpi', undefined),
  ...(root === undefined ? [] : [library('mpich', root), library('openmpi', root)]),
];

/** A still later PMIx may be in a root that STCI_PMIX_ROOT names. */
export const PMIX_LIBRARIES: readonly PmixLibrary[] = [
  pmixLibrary(undefined), ...[root, pmixRoot].flatMap((each) => (each === undefined ? [] : [pmixLibrary(each)])),
];

/** Reachable by the loopback interface alone, which Open MPI leaves out where there are others. */
export const LOOPBACK = ['-x', 'OMPI_MCA_btl_tcp_if_include=lo'];
