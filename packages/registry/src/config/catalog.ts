/**
 * The catalogue of parameters: every full name with its spec and its owner. The registry fills it from frameworks,
 * components and groups; the resolver reads it and refuses every name that is not in it.
 */

import type { ParamSpec, ParamSpecs, Params, ResolvedParam } from '@stci/interface';

/** Parts of a full name: small letters and digits, so that `_` can stand for `.` in environment variables. */
const NAME = /^[a-z][a-z0-9]*(\.[a-z][a-z0-9]*)*$/;

export function isParamName(name: string): boolean {
  return NAME.test(name);
}

/** A framework, component or group name: one part. */
export function isPlainName(name: string): boolean {
  return isParamName(name) && !name.includes('.');
}

export interface CatalogEntry {
  readonly name: string;
  readonly spec: ParamSpec;
  /** `launcher` or `launcher:tree`: the framework, component or group that declares it. */
  readonly owner: string;
  /** Names that a selection list may hold; undefined for every other parameter. */
  readonly components?: readonly string[];
  /** … and those that cannot be left out. */
  readonly always?: readonly string[];
}

/** Entries by full name, sorted. */
export type ParamCatalog = ReadonlyMap<string, CatalogEntry>;

/** A rule over several parameters, or one that a type cannot say. */
export interface ParamRule {
  /** The parameter that the message names. */
  readonly param: string;
  /** What is wrong, what is expected and what to do; undefined where all is well. Pure. */
  check(params: Params): string | undefined;
  /** Before all checks: the value of a parameter that was not set and follows another. */
  settle?(values: ReadonlyMap<string, ResolvedParam>): ResolvedParam | undefined;
}

/** Parameters that belong to no framework. */
export interface ParamGroup {
  readonly name: string;
  readonly help: string;
  readonly params: ParamSpecs;
  readonly rules?: readonly ParamRule[];
}
