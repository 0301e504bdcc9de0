/**
 * Between an experiment that runs and the world: real, in packages/finject-cli, or simulated. The runner itself is the
 * same in both.
 */

import type { SessionClient } from '@stci/core/session';
import type { JobSpec, Params, Platform, StciError } from '@stci/interface';
import type { Check, Experiment, RepeatPlan, StopRules } from '../experiment/contracts.js';
import type { HistoryEntry, HistoryRecord, LeftProcess, UnknownHost } from '../history/contracts.js';
import type { Within } from '../judge/within.js';

/** What the runner needs of a session's client. */
export type ExperimentClient = Pick<SessionClient, 'submit' | 'follow' | 'close'> & {
  readonly experiment:
    Pick<SessionClient['experiment'], 'open' | 'inject' | 'undo' | 'clocks'> & {
      onReport: SessionClient['experiment']['onReport'];
    };
};

/** What a repeat left: as a `repeat-end` record has it. */
export interface LeftBehind {
  readonly orphans: number;
  readonly left: readonly LeftProcess[];
  /** undefined: no other host was looked at. */
  readonly unknown: readonly UnknownHost[] | undefined;
}

/** A session in which a repeat's job is to be run. */
export interface OpenedTarget {
  readonly session: string;
  readonly client: ExperimentClient;
  readonly spec: JobSpec;
  readonly label: string;
  readonly hosts: readonly string[];
  readonly ownsSession: boolean;
  /**
   * Once the client is closed: ends the session, unless it stays, and waits until all processes of the repeat are gone.
   * `isSearched`: on all hosts that it used, else on this machine.
   */
  close(isSearched: boolean, done: (found: LeftBehind) => void): void;
}

/** The environment of a run. */
export interface ExperimentDriver {
  readonly platform: Pick<Platform, 'clock' | 'random'>;
  /** Opens the session of a repeat, or connects to the one that is named. */
  open(plan: RepeatPlan, done: (error: StciError | undefined, target: OpenedTarget | undefined) => void): void;
  /** Runs a command of a check; a simulated driver says that it cannot. */
  command(check: Extract<Check, { readonly type: 'command' }>, done: (isPassed: boolean, text: string) => void): void;
  /** Ends those that run; nobody waits for them any more. */
  endCommands?(): void;
  /** For patterns of triggers. */
  readonly within?: Within | undefined;
  write(record: HistoryRecord): void;
  /** SIGKILL for this process: a fault at the front-end itself. */
  killSelf(): void;
}

/** What a watcher sees of a run. */
export interface RunObserver {
  onRecord(record: HistoryRecord): void;
}

/** Facts of the first record. */
export type RunFacts = Omit<Extract<HistoryEntry, { readonly type: 'run' }>, 'type' | 'format' | 'experiment'>;

export interface RunInit {
  readonly experiment: Experiment;
  readonly plans: readonly RepeatPlan[];
  readonly driver: ExperimentDriver;
  readonly observer: RunObserver;
  readonly stop: StopRules;
  readonly facts: RunFacts;
  /** Whether a repeat, by its records and that of the run, has passed; without it no repeat counts as failed. */
  readonly didPass?: ((records: readonly HistoryRecord[]) => boolean) | undefined;
}

export type { Params };
