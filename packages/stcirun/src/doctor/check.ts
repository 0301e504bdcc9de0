/** A check of a host, and its result. */

export const CHECKS = ['name', 'port', 'login', 'node', 'clock', 'ports', 'cache', 'leftovers'] as const;
export type CheckName = (typeof CHECKS)[number];

/** What a batch system says of the host, in an allocation. */
export const BATCH_CHECKS = ['slurm', 'cpus'] as const;
export type BatchCheckName = (typeof BATCH_CHECKS)[number];

/** What is seen of a host by starting an agent there, where nothing more is known of how that is done. */
export const LAUNCH_CHECKS = ['agent', 'program'] as const;
export type LaunchCheckName = (typeof LAUNCH_CHECKS)[number];

/** Where a program is named. */
export const PROGRAM_CHECKS = ['mpi'] as const;
export type ProgramCheckName = (typeof PROGRAM_CHECKS)[number];

/** `none`: unknown, or does not apply. */
export type CheckState = 'good' | 'warn' | 'bad' | 'none';

export interface Check {
  readonly state: CheckState;
  /** A few words for the table. */
  readonly text: string;
  /** What is wrong or could be better, and what to do about it; undefined where there is nothing to say. */
  readonly problem?: string;
}

export const NONE: Check = { state: 'none', text: '-' };
export const good = (text: string): Check => ({ state: 'good', text });
export const warn = (text: string, problem: string): Check => ({ state: 'warn', text, problem });
export const bad = (text: string, problem: string): Check => ({ state: 'bad', text, problem });
