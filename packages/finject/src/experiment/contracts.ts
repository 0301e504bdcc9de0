/**
 * An experiment: what its file says, checked and complete, and the schedule that is drawn from its seed. Both are plain
 * data. The file's form is the JSON schema in schema.ts; docs/finject.md has it for people.
 *
 * Everything random is decided by the plan, from the seed, the repeat and the fault's name alone: which victims, which
 * times. So a seed gives the same schedule on each machine, also for injections whose moment is not known before: their
 * victims and delays are drawn all the same, in the order in which they will be made.
 */

import type {
  AgentRole, FaultImpact, FaultModule, FaultVictim, HostIndex, ParamValue, Position, Rank,
} from '@stci/interface';

/** Where in the file something stands, for messages: lines and columns from 1. */
export interface SourcePlace {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

export interface Target {
  /** Options of stcirun, as on its command line. */
  readonly options: readonly string[];
  /** Program and arguments; several programs are separated by `:`, as on stcirun's command line. */
  readonly program: readonly string[];
  /** A session that stays, in which the job is to run; undefined: each repeat has a session of its own. */
  readonly session: string | undefined;
  /** What stands for the program where the experiment is simulated. */
  readonly simulated: readonly string[] | undefined;
}

/** Random variables, in ms. */
export type Distribution =
  | { readonly type: 'fixed'; readonly valueMs: number }
  | { readonly type: 'uniform'; readonly minMs: number; readonly maxMs: number }
  | { readonly type: 'exponential'; readonly meanMs: number }
  | { readonly type: 'weibull'; readonly shape: number; readonly scaleMs: number }
  /** Cut off at 0. */
  | { readonly type: 'normal'; readonly meanMs: number; readonly deviationMs: number }
  /** Times of a file, one a line, in order, ms from the start. */
  | { readonly type: 'trace'; readonly timesMs: readonly number[] };

/** Events after which a fault may be injected; `start`: all ranks run, and the warm-up is over. */
export const TRIGGER_EVENTS = ['start', 'launch', 'detection', 'suspicion', 'recovery', 'exit', 'injection'] as const;

export type Trigger =
  | { readonly on: 'event'; readonly event: (typeof TRIGGER_EVENTS)[number]; readonly nth: number;
      /** Of events that belong to an injection: of this fault. */ readonly fault: string | undefined }
  /** A line of output that matches; JavaScript's syntax, without flags. */
  | { readonly on: 'output'; readonly pattern: string; readonly rank: Rank | undefined; readonly nth: number }
  /** A rank's own call of the client library: `mark(name)`. A phase is a mark, too. */
  | { readonly on: 'mark'; readonly name: string; readonly rank: Rank | undefined; readonly nth: number };

export interface When {
  readonly after: Trigger;
  /** From the trigger to the first injection. */
  readonly delay: Distribution;
  /** From one injection to the next, where there are several. */
  readonly every: Distribution;
}

export type Choice =
  | { readonly pick: 'all' }
  | { readonly pick: 'random'; readonly count: number }
  | { readonly pick: 'percent'; readonly percent: number }
  /** Neighbours in the order of ranks or hosts, which is a ring; where it begins is random. */
  | { readonly pick: 'contiguous'; readonly count: number };

/** A host by its name or its number, from 0; the plan finds names in the target's shape. */
export type HostRef = string | HostIndex;

/** One end of a link. */
export type EndRef = 'controller' | { readonly host: HostRef };

/** Who may be a victim. Of each injection the choice is drawn anew. */
export type Who =
  | ({ readonly of: 'ranks'; readonly ranks: readonly Rank[] | 'all' } & Filter)
  | ({ readonly of: 'hosts'; readonly hosts: readonly HostRef[] | 'all' } & Filter)
  | ({ readonly of: 'agents'; readonly role: AgentRole } & Filter)
  /** Links of the boot tree, or between named agents. */
  | ({ readonly of: 'links'; readonly links: readonly (readonly [EndRef, EndRef])[] | 'all' } & Filter)
  | { readonly of: 'partition'; readonly shape: 'halves' | 'ring' | 'bridge' | 'isolate' }
  | { readonly of: 'sets'; readonly sets: readonly (readonly EndRef[])[] }
  /** Of `compose` and `sequence`, whose parts have victims. */
  | { readonly of: 'nobody' };

export interface Filter {
  readonly choice: Choice;
  /** Only those on these hosts; a link is on the host of its lower end. */
  readonly on: readonly HostRef[] | 'all';
  /** Hops from the controller in the boot tree, of root agents and of a link's lower end; undefined: any. */
  readonly depth: number | undefined;
  /** Ranks or hosts that are left out. */
  readonly not: readonly HostRef[];
  /** Only those on the host of a victim of this fault's injection with the same number. */
  readonly sameHostAs: string | undefined;
  /** None that an injection of these faults has; its own name: none of an earlier one, not the same twice. */
  readonly notOf: readonly string[];
}

export interface FaultEntry {
  /** Unique in the experiment. */
  readonly name: string;
  /** Injected in these configurations alone; undefined: in all. Not of parts. */
  readonly configurations?: readonly string[] | undefined;
  /** A component of framework `fault`, or `compose` or `sequence`, whose parts are in `parts`. */
  readonly kind: string;
  readonly args: Readonly<Record<string, ParamValue>>;
  readonly who: Who;
  readonly when: When;
  /** Injections; each has all victims that `who` chooses. */
  readonly count: number;
  /** At least so long between the end of one injection and the next. */
  readonly coolDownMs: number;
  readonly durationMs: number | undefined;
  readonly timeoutMs: number;
  /** As its kind says, of these arguments; of wholes: none. */
  readonly impact: FaultImpact;
  /** `compose`: all at once; `sequence`: each when the one before is over. Their `when` is relative to that. */
  readonly parts: readonly FaultEntry[];
  readonly place: SourcePlace;
  /** In the file: `['faults', 0]`. Undefined: of no file. */
  readonly path?: readonly (string | number)[] | undefined;
}

export type Check = {
  readonly name: string;
  readonly place: SourcePlace;
  /** In the file: `['checks', 0]`. Undefined: of no file. */
  readonly path?: readonly (string | number)[] | undefined;
} & (
  | { readonly type: 'exit-code'; readonly anyOf: readonly number[] }
  /** Matches a line of output, or none. */
  | { readonly type: 'output'; readonly pattern: string; readonly expect: 'some' | 'none';
      readonly rank: Rank | undefined }
  /** Ends with 0; run on the machine of finject. */
  | { readonly type: 'command'; readonly command: readonly string[]; readonly phase: 'before' | 'during' | 'after';
      readonly timeoutMs: number }
  | { readonly type: 'time-limit'; readonly limitMs: number }
  /** Ranks that have failed at the end: exactly the victims, or these. */
  | { readonly type: 'failed-ranks'; readonly ranks: readonly Rank[] | 'victims' }
  /** Each injection that ends something is detected within this time. */
  | { readonly type: 'detected'; readonly withinMs: number }
  /** At least so many victims were hit; `all`: each, but those that an earlier fault has ended. */
  | { readonly type: 'injected'; readonly least: number | 'all' }
  | { readonly type: 'no-false-detection' }
  | { readonly type: 'no-orphan' }
);

export interface StopRules {
  /** Stop after so many repeats that did not pass; 0: never. */
  readonly failuresMax: number;
  /** Of the whole run. */
  readonly timeMs: number | undefined;
}

export interface Outputs {
  /** Directory of the run; undefined: finject-runs/NAME-TIME. */
  readonly directory: string | undefined;
  /** Output of the target that is kept in the history, bytes a repeat. */
  readonly outputBytesMax: number;
}

export interface Experiment {
  readonly name: string;
  readonly description: string;
  readonly target: Target;
  /** Names, in order; empty: as stcirun decides, this machine. */
  readonly hosts: readonly string[];
  readonly repeats: number;
  readonly seed: number;
  readonly warmUpMs: number;
  /** A repeat that takes longer is ended, and has hung; ms. */
  readonly timeLimitMs: number;
  readonly faults: readonly FaultEntry[];
  readonly checks: readonly Check[];
  readonly stop: StopRules;
  readonly outputs: Outputs;
  /** Never victims; for the session `RepeatPlan.keep` has them by number. */
  readonly keepAlive: { readonly ranks: readonly Rank[]; readonly hosts: readonly HostRef[] };
  readonly allow: readonly ('controller' | 'front-end')[];
  readonly victimsMax: number;
  /** The same experiment with other parameters, or on other hosts, to be compared. */
  readonly configurations: readonly Configuration[];
}

export interface Configuration {
  readonly name: string;
  /** Added to the target's. */
  readonly options: readonly string[];
  /** In place of the experiment's hosts; undefined: those. */
  readonly hosts?: readonly string[] | undefined;
  /** In place of the target's program and its arguments; undefined: those. */
  readonly program?: readonly string[] | undefined;
}

/** What the plan knows of the target: from stcirun's own options, without a launch. */
export interface TargetShape {
  readonly hosts: readonly string[];
  /** Index of each rank's host. */
  readonly hostOfRank: readonly HostIndex[];
  /** Children per agent of the boot tree, if it is k-ary. */
  readonly arity?: number | undefined;
  /** Of each host, if it is another tree: the position of the agent above, 0 for the controller. */
  readonly parents?: readonly Position[] | undefined;
  /** Of the configurations that have other hosts or ranks, by name. */
  readonly configurations?: Readonly<Record<string, TargetShape>> | undefined;
}

export interface PlannedInjection {
  /** `1.kill.2`: repeat, fault, number; a part has the name of its whole before its own: `1.storm/cut.2`. */
  readonly id: string;
  /** Name of the entry. */
  readonly fault: string;
  readonly kind: string;
  readonly args: Readonly<Record<string, ParamValue>>;
  readonly victims: readonly FaultVictim[];
  /** The injection that this one follows: `injected` or over. Undefined: the entry's trigger. */
  readonly follows: { readonly id: string; readonly state: 'injected' | 'over' } | undefined;
  readonly trigger: Trigger;
  /** After the trigger, or after what it follows; ms. */
  readonly delayMs: number;
  /** After the start of the repeat, where that is decided by the seed alone; ms. */
  readonly atMs: number | undefined;
  readonly durationMs: number | undefined;
  readonly coolDownMs: number;
  readonly timeoutMs: number;
  /** As its kind has said: what the judgement expects of the victim. */
  readonly impact: FaultImpact;
}

export interface RepeatPlan {
  /** From 1; through all configurations: names it in the record. */
  readonly repeat: number;
  /** From 1; within its configuration: names it for people. */
  readonly number: number;
  /** Name of the configuration; empty: there is one only. */
  readonly configuration: string;
  /** What no fault may harm, by number in this configuration: for the terms of the session. */
  readonly keep: { readonly ranks: readonly Rank[]; readonly hosts: readonly HostIndex[] };
  /** In the order of their numbers within each fault, faults in the order of the file. */
  readonly injections: readonly PlannedInjection[];
}

/** One thing that is wrong in a file. */
export interface Problem {
  readonly place: SourcePlace;
  /** What was wrong, what was expected, what to do. */
  readonly text: string;
}

/** What the reader needs of the world. */
export interface ReadContext {
  /** Components of framework `fault` by name. */
  readonly kinds: ReadonlyMap<string, FaultModule>;
  /** Cuts a command line of stcirun, without its own name, where the first program begins. Throws StciError. */
  splitTarget(words: readonly string[]): { readonly options: readonly string[]; readonly program: readonly string[] };
  /** A trace file's text; its path is relative to the experiment file. Throws StciError. */
  readTrace(path: string): string;
}

/** A file as it was read. */
export interface ExperimentFile {
  /**
   * Complete if there is no problem. With problems: without the faults and checks that have some, for further checks
   * only. Undefined: nothing can be said.
   */
  readonly experiment: Experiment | undefined;
  /** In the order of the file. */
  readonly problems: readonly Problem[];
  /** Where a value stands, as `place('target', 'options')`; the nearest that is there. */
  place(...path: readonly (string | number)[]): SourcePlace;
}
