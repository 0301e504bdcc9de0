/** What the commands of runs are given. */

import type { Experiment, RepeatPlan, TargetShape } from '@stci/finject/experiment';

export interface Given {
  readonly output?: string | undefined;
  readonly quiet: boolean;
  readonly json: boolean;
}

export interface RunSource {
  readonly experiment: Experiment;
  readonly shape: TargetShape;
  readonly plans: readonly RepeatPlan[];
  /** The experiment file's path and text. */
  readonly file: string;
  readonly text: string;
  readonly isGolden: boolean;
}
