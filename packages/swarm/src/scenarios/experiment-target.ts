/** The target of a simulated experiment: what stcirun's options say, and programs that the simulation has. */

import { StciError, type HostSpec, type JobSpec } from '@stci/interface';
import { PROGRAMS } from '@stci/platform-sim';

/** Of one configuration of an experiment. */
export interface SimulatedTarget {
  readonly hosts: readonly HostSpec[];
  readonly spares: readonly HostSpec[];
  /** Its programs are those of the simulation. */
  readonly spec: JobSpec;
  readonly label: string;
  /** Parameters by full name, as on a command line. */
  readonly settings: Readonly<Record<string, string>>;
}

const BINARIES = /^(?:\/bin\/|\/usr\/bin\/)/;

/** Those that an experiment can name, in order; a shell's is not one: it does nothing of what it is told. */
export function simulatedPrograms(): readonly string[] {
  return Object.keys(PROGRAMS).filter((name) => name !== 'sh').sort();
}

/** Throws STCI_EXPERIMENT_INVALID for programs that the simulation does not have. */
export function checkSimulated({ apps }: Pick<JobSpec, 'apps'>): void {
  const known = simulatedPrograms();
  const unknown = apps.map(({ program }) => program).find((program) => !known.includes(program.replace(BINARIES, '')));
  if (unknown === undefined) return;
  throw new StciError('STCI_EXPERIMENT_INVALID',
    `The simulation has no program ${unknown}. Name one of its own in target.simulated, such as [sleep, 10]; it has `
    + `${known.join(', ')}.`);
}
