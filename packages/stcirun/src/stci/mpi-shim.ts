/** `stci mpi-shim build`: the shim that tells when ranks wait in MPI calls, built by the MPI library's compiler. */

import * as Flags from '@oclif/core/flags';
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { StciError } from '@stci/interface';
import { sharedFile } from '@stci/platform-node';
import { printOut } from '../process/print.js';
import { callerDirectory, resolveFrom } from '../files/caller-directory.js';
import { StciCommand } from './base.js';

/** For a compiler that waits for a licence, or for a file system. */
const COMPILE_MS = 300_000;

const OUTPUT = 'libstci-mpi.so';

export class MpiShimBuildCommand extends StciCommand {
  static override readonly summary = 'builds the library that tells agents when ranks wait in MPI calls';
  static override readonly synopsis = '[--mpicc PATH] [-o FILE]';
  static override readonly page = 'mpi.md';
  static override readonly details = `
Detector sporadic then probes the hosts of the ranks that are waited for, and only while they are. The library is of
the MPI library whose mpicc has built it: each has its own. It is preloaded, or linked before -lmpi.

Examples:
  stci mpi-shim build
  stci mpi-shim build --mpicc mpicc.openmpi -o ~/lib/libstci-mpi.so
  stcirun --client --mca detector=sporadic -x LD_PRELOAD=$PWD/libstci-mpi.so -n 4 ./program
`;

  static override flags = {
    mpicc: Flags.string({
      helpValue: 'PATH', default: 'mpicc', description: 'the compiler of the MPI library; default: mpicc',
    }),
    output: Flags.string({
      char: 'o', helpValue: 'FILE', default: OUTPUT, description: `what is written; default: ${OUTPUT}`,
    }),
  };

  async run(): Promise<void> {
    const { flags: { mpicc, output } } = await this.parse(MpiShimBuildCommand);
    const file = checked(resolveFrom(callerDirectory(), output, '-o'));
    // Programs are in dist/bundle of the package.
    const source = join(dirname(dirname(this.config.root)), 'mpi', 'libstci-mpi.c');
    const args = ['-O2', '-fPIC', '-shared', '-pthread', '-o', file, source];
    const { error, status, signal, stdout = '', stderr = '' } =
      spawnSync(mpicc, args, { encoding: 'utf8', timeout: COMPILE_MS, killSignal: 'SIGKILL' });
    if (error !== undefined) throw notRun(mpicc, error);
    if (status !== 0) {
      const end = status === null ? `was ended by ${signal}` : `ended with status ${status}`;
      throw new StciError('STCI_MPI_SHIM', `${mpicc} ${end}: the library was not built.\n${stdout}${stderr}`.trimEnd());
    }
    printOut(`${file}\n`);
  }
}

/** What is preloaded runs as the user: where all may write, others could put theirs in its place. */
function checked(file: string): string {
  try {
    return sharedFile(file);
  } catch (thrown) {
    const { code, message } = thrown as NodeJS.ErrnoException;
    const why = code === 'ENOENT' ? `there is no directory ${dirname(file)}` : message;
    throw new StciError('STCI_MPI_SHIM', `The library is not built as ${file}: ${why}. Name another place by -o.`);
  }
}

function notRun(mpicc: string, { message, ...error }: NodeJS.ErrnoException): StciError {
  const help = 'It comes with the development package of an MPI library; --mpicc names another one';
  if (error.code === 'ENOENT') return new StciError('STCI_MPI_SHIM', `There is no ${mpicc}. ${help}.`);
  if (error.code === 'ETIMEDOUT') {
    return new StciError('STCI_MPI_SHIM', `${mpicc} did not end within ${COMPILE_MS / 1000} s, and was killed.`);
  }
  return new StciError('STCI_MPI_SHIM', `${mpicc} cannot be run: ${message}. ${help}.`);
}
