/** Result of a run, for the checkers: the world, and what the front-end received. */

import type { SimProcess, World } from '@stci/platform-sim';
import type { InjectedFault } from '../scenarios/faults.js';
import type { SwarmOptions } from '../scenarios/options.js';
import type { JobRecord } from './record.js';
import type { Wire } from './wire.js';

export interface Run {
  readonly options: SwarmOptions;
  readonly world: World;
  readonly record: JobRecord;
  readonly frontEnd: SimProcess;
  readonly faults: readonly InjectedFault[];
  /** The front-end was over by itself or by a fault before the bound. */
  readonly isOver: boolean;
  /** Processes that were alive some seconds after the front-end's end. */
  readonly orphans: readonly SimProcess[];
  /** Tools, and what they left behind, that were alive when the job was reported as ended. */
  readonly toolsAtReport: readonly string[];
  /** Timers and calls that the front-end's process still had after its run. */
  readonly leftEvents: number;
  /** What is wrong with the bytes between agents. */
  readonly wire: Wire;
  /** False where the world did not become idle. */
  readonly isQuiet: boolean;
}
