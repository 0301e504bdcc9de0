/**
 * Slots in messages: the origin of a host that was not named, and the error that lists the slots of each host, so
 * that the entry that is too small is seen at once.
 */

import { StciError } from '@stci/interface';
import type { HostIndex, AllocatedJob } from '@stci/interface';
import { listed } from '@stci/registry';

/** `HostSpec.origin` of this machine where no hosts were named. */
export const THIS_MACHINE = 'this machine';

/** Hosts that a message lists before it says how many more there are. */
const HOSTS_SHOWN = 8;

/**
 * STCI_SLOTS_EXCEEDED over the hosts that could have taken the ranks; `reason` is the first sentence, `most` what can
 * be asked for instead.
 */
export function slotsExceeded(
  spec: AllocatedJob, hosts: readonly HostIndex[], reason: string, most = 'fewer ranks (-n)',
): StciError {
  const slots = hosts.reduce((sum, host) => sum + spec.hosts[host]!.slots, 0);
  const rows = hosts.map((index) => {
    const host = spec.hosts[index]!;
    return `${host.name}: ${host.slots} (${host.origin})`;
  });
  const isSlurm = hosts.some((host) => spec.hosts[host]!.origin.startsWith('SLURM_'));
  const more = isSlurm ? ', or, where Slurm is asked for the job, --ntasks-per-node' : '';
  return new StciError(
    'STCI_SLOTS_EXCEEDED',
    [
      `${reason}.`,
      `Slots of each host (${slots} in all) and where they were named:`,
      ...listed(rows, HOSTS_SHOWN).map((row) => `  ${row}`),
      `Ask for ${most}, give more hosts or slots (--host ${spec.hosts[hosts[0] ?? 0]?.name ?? 'a'}:N${more}), ` +
        'or allow more ranks than slots with --oversubscribe.',
    ].join('\n'),
    { data: { slots } },
  );
}
