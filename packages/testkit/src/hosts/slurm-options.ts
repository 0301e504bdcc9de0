/** What can be chosen of Slurm on test hosts. */

import { existsSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { HostsError } from './names.js';

export interface SlurmOptions {
  /** CPUs that Slurm has on each host, 1 to 4096; default 8, however many this machine has. */
  readonly cpus?: number;
  /** Lines of slurm.conf, as `KillWait=3`: each replaces the line with the same key, or is added. */
  readonly conf?: readonly string[];
  /**
   * Directory with the root of another Debian, whose /usr the hosts and the login side have instead of this machine's,
   * and so its Slurm. Absolute. Default: STCI_TEST_SLURM_ROOT, so that all tests can be run with it.
   */
  readonly root?: string;
}

export const CPUS_DEFAULT = 8;
const CPUS_MAX = 4096;
const NEEDED_IN_ROOT = [
  'usr/sbin/munged', 'etc/alternatives/slurmctld', 'etc/alternatives/slurmd', 'usr/bin/srun', 'usr/sbin/sshd',
  'usr/bin/ssh', 'usr/bin/ip', 'usr/bin/nsenter', 'usr/bin/hostname', 'usr/bin/bash',
];

/** Throws a HostsError if an option is out of range. */
export function checkSlurmOptions({ cpus = CPUS_DEFAULT, conf = [], root }: SlurmOptions): void {
  if (!Number.isInteger(cpus) || cpus < 1 || cpus > CPUS_MAX) {
    throw new HostsError(`a host has 1 to ${CPUS_MAX} CPUs, not ${cpus}`);
  }
  const wrong = conf.find((line) => !/^[A-Za-z]+=[^\n]*$/.test(line));
  if (wrong !== undefined) throw new HostsError(`"${wrong}" is no line of slurm.conf: write KillWait=3`);
  if (root !== undefined) checkRoot(root);
}

function checkRoot(root: string): void {
  const missing = NEEDED_IN_ROOT.filter((path) => !existsSync(join(root, path)));
  if (missing.length === 0 && isAbsolute(root) && !/[\s'"]/.test(root)) return;
  const lacks = missing.length === 0 ? 'has no plain absolute path' : `lacks ${missing.join(', ')}`;
  throw new HostsError(`the root ${root} ${lacks}: docs/test-hosts.md tells how to make one`);
}
