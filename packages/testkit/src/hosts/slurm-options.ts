/** What can be chosen of Slurm on test hosts. */

import { HostsError } from './names.js';

export interface SlurmOptions {
  /** CPUs that Slurm has on each host, 1 to 4096; default 8, however many this machine has. */
  readonly cpus?: number;
  /** Lines of slurm.conf, as `KillWait=3`: each replaces the line with the same key, or is added. */
  readonly conf?: readonly string[];
}

export const CPUS_DEFAULT = 8;
const CPUS_MAX = 4096;

/** Throws a HostsError if an option is out of range. */
export function checkSlurmOptions({ cpus = CPUS_DEFAULT, conf = [] }: SlurmOptions): void {
  if (!Number.isInteger(cpus) || cpus < 1 || cpus > CPUS_MAX) {
    throw new HostsError(`a host has 1 to ${CPUS_MAX} CPUs, not ${cpus}`);
  }
  const wrong = conf.find((line) => !/^[A-Za-z]+=[^\n]*$/.test(line));
  if (wrong !== undefined) throw new HostsError(`"${wrong}" is no line of slurm.conf: write KillWait=3`);
}
