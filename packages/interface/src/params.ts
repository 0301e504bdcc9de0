/**
 * Parameters are data. A component declares them; one resolver reads every source, refuses unknown ones, and records
 * where each value came from. Full names are dotted: `framework.component.name`, or `framework.name` for a framework's
 * own.
 */

export type ParamType = 'int' | 'bool' | 'string' | 'enum' | 'duration' | 'size' | 'list';

/** Value in memory: `duration` in ms, `size` in bytes, `list` as an array of strings. */
export type ParamValue = number | boolean | string | readonly string[];

export interface ParamSpec {
  readonly type: ParamType;
  readonly default: ParamValue;
  /** One or two sentences: formula, unit, trade-off in both directions. */
  readonly help: string;
  /** Bounds of int, duration (ms) and size (bytes), inclusive. */
  readonly min?: number;
  readonly max?: number;
  /** Allowed values of an enum. */
  readonly values?: readonly string[];
  /** Other full names accepted in every source; values are stored and shown under the parameter's own name. */
  readonly aliases?: readonly string[];
  /**
   * `session`, the default: the same for all agents of a session. `job`: of each of its jobs, sent with the launch.
   * `front-end`: used there only.
   */
  readonly scope?: 'session' | 'job' | 'front-end';
  /** A list of components of the framework that declares it; names are checked as those of its selection list. */
  readonly selects?: true;
  /**
   * Of a string: `file:PATH` names a file of hosts and their groups. The front-end reads it, and agents get this text
   * with the groups of the session's hosts behind it, in order, as numbers: `0*32,1*32`.
   */
  readonly hostGroupsAs?: string;
  readonly level?: 'basic' | 'tuner' | 'developer';
}

type Scope = ParamSpec['scope'];
type Bounds = readonly [min: number, max: number];

function spec(type: ParamType, value: ParamValue, help: string, scope?: Scope): ParamSpec {
  return { type, default: value, help, ...(scope !== undefined && { scope }) };
}

function bounded(type: 'int' | 'duration' | 'size') {
  return (value: number, [min, max]: Bounds, help: string, scope?: Scope): ParamSpec =>
    ({ ...spec(type, value, help, scope), min, max });
}

/** Declarations by type: the default, then bounds or values where the type has any. What is rarer is added to them. */
export const param = {
  int: bounded('int'),
  duration: bounded('duration'),
  size: bounded('size'),
  flag: (value: boolean, help: string, scope?: Scope): ParamSpec => spec('bool', value, help, scope),
  text: (value: string, help: string, scope?: Scope): ParamSpec => spec('string', value, help, scope),
  choice: (value: string, values: readonly string[], help: string, scope?: Scope): ParamSpec =>
    ({ ...spec('enum', value, help, scope), values }),
  /** A list, empty by default. */
  names: (help: string, scope?: Scope): ParamSpec => spec('list', [], help, scope),
} as const;

/** Declarations by short name. */
export type ParamSpecs = Readonly<Record<string, ParamSpec>>;

/** Highest precedence first. `override` is the administrator's file, which takes precedence over the command line. */
export const PARAM_SOURCES = [
  'override',
  'command line',
  'am file',
  'environment',
  'project file',
  'user file',
  'system file',
  'default',
] as const;

/** On an agent every value comes from the `boot record`: the front-end has resolved it. */
export type ParamSource = (typeof PARAM_SOURCES)[number] | 'boot record';

export interface ResolvedParam {
  readonly name: string;
  readonly value: ParamValue;
  readonly source: ParamSource;
  /** File and line, variable or option, if the source has one: `/etc/stci/stci.conf:3`. */
  readonly origin?: string;
}

/** Frozen result of the resolver, by full name. Made once by the front-end, sent to the agents. */
export interface Params {
  int(name: string): number;
  bool(name: string): boolean;
  string(name: string): string;
  list(name: string): readonly string[];
  has(name: string): boolean;
  /** All parameters, sorted by name. */
  entries(): readonly ResolvedParam[];
  /** Parameters below `prefix.`, by short name: the argument of a component's `create`. */
  under(prefix: string): Readonly<Record<string, ParamValue>>;
}
