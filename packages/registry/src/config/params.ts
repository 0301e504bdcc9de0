/**
 * The frozen result of the resolver. Asking for a parameter that does not exist, or as another type than it has, is
 * a programming error and fails an assertion. A snapshot is what agents are given: values by name, without sources.
 */

import { assert } from '@stci/interface';
import type { ParamType, ParamValue, Params, ResolvedParam } from '@stci/interface';
import type { CatalogEntry, ParamCatalog } from './catalog.js';
import { didYouMean } from './nearest.js';
import { problemsError, quote } from './problems.js';
import type { ParamProblem } from './problems.js';
import { listProblem } from './selection-list.js';
import { expectedForm, valueProblem } from './values.js';

/** Values by full name: plain data that crosses the wire. */
export type ParamSnapshot = Readonly<Record<string, ParamValue>>;

const INT_LIKE: readonly ParamType[] = ['int', 'duration', 'size'];
const STRING_LIKE: readonly ParamType[] = ['string', 'enum'];

/** `resolved` holds at most one entry a name, each of a name in the catalogue. */
export function createParams(catalog: ParamCatalog, resolved: Iterable<ResolvedParam>): Params {
  const byName = new Map([...resolved].map((param) => [param.name, frozenParam(param)]));
  const sorted = Object.freeze([...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1)));

  function read(name: string, types: readonly ParamType[]): ParamValue {
    const param = byName.get(name);
    const type = catalog.get(name)?.spec.type;
    assert(param !== undefined && type !== undefined, `parameter ${name} is declared and known to this agent`);
    assert(types.includes(type), `parameter ${name} is read as ${types.join(' or ')} and is ${type}`);
    return param.value;
  }

  return Object.freeze({
    int: (name: string) => read(name, INT_LIKE) as number,
    bool: (name: string) => read(name, ['bool']) as boolean,
    string: (name: string) => read(name, STRING_LIKE) as string,
    list: (name: string) => read(name, ['list']) as readonly string[],
    has: (name: string) => byName.has(name),
    entries: () => sorted,
    under: (prefix: string) => {
      // Names with this prefix follow each other: `.` is before any letter and digit.
      const start = `${prefix}.`;
      const below: Record<string, ParamValue> = {};
      for (let at = firstFrom(sorted, start); sorted[at]?.name.startsWith(start) === true; at++) {
        const { name, value } = sorted[at] as ResolvedParam;
        below[name.slice(start.length)] = value;
      }
      return Object.freeze(below);
    },
  });
}

/** Index of the first whose name is not before this one; names are sorted. */
function firstFrom(sorted: readonly ResolvedParam[], name: string): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] as ResolvedParam).name < name) low = middle + 1;
    else high = middle;
  }
  return low;
}

function frozenParam(param: ResolvedParam): ResolvedParam {
  const value = typeof param.value === 'object' ? Object.freeze([...param.value]) : param.value;
  return Object.freeze({ ...param, value });
}

/** What agents are given: everything but what only the front-end uses. */
export function paramsSnapshot(catalog: ParamCatalog, params: Params): ParamSnapshot {
  const sent = params.entries().filter(({ name }) => isSent(catalog.get(name)));
  return Object.freeze(Object.fromEntries(sent.map(({ name, value }) => [name, value])));
}

function isSent(entry: CatalogEntry | undefined): boolean {
  return entry !== undefined && entry.spec.scope !== 'front-end';
}

/** A session's parameters with those of one job. Throws StciError for a name of another scope, and for a bad value. */
export function withJobParams(catalog: ParamCatalog, session: Params, job: ParamSnapshot): Params {
  const byName = new Map(session.entries().map((param) => [param.name, param]));
  const problems: ParamProblem[] = [];
  for (const [name, value] of Object.entries(job)) {
    const problem = snapshotProblem(catalog, name, value) ?? scopeProblem(catalog, name);
    if (problem !== undefined) problems.push(problem);
    byName.set(name, { name, value, source: 'boot record' });
  }
  if (problems.length > 0) throw problemsError(problems);
  return createParams(catalog, byName.values());
}

/** Parameters with other texts for these. */
export function withParams(catalog: ParamCatalog, params: Params, texts: ReadonlyMap<string, string>): Params {
  return createParams(catalog, params.entries().map((param) => {
    const value = texts.get(param.name);
    return value === undefined ? param : { ...param, value };
  }));
}

/** Parameters with these in the places of those of the same names. */
export function withResolved(catalog: ParamCatalog, params: Params, own: readonly ResolvedParam[]): Params {
  const byName = new Map(own.map((param) => [param.name, param]));
  return createParams(catalog, params.entries().map((param) => byName.get(param.name) ?? param));
}

function scopeProblem(catalog: ParamCatalog, name: string): ParamProblem | undefined {
  if (catalog.get(name)?.spec.scope === 'job') return undefined;
  const message = `${name} is a parameter of the session, not of a job: give it where the session is started.`;
  return { name, source: 'boot record', code: 'STCI_PARAM_INVALID', message };
}

/**
 * The parameters of an agent. A name that it does not know, or one that is missing, means that the parent runs
 * another version: values must agree everywhere, so neither is passed over. Throws StciError.
 */
export function paramsFromSnapshot(catalog: ParamCatalog, snapshot: ParamSnapshot): Params {
  const problems: ParamProblem[] = [];
  const resolved: ResolvedParam[] = [];
  for (const [name, value] of Object.entries(snapshot)) {
    const problem = snapshotProblem(catalog, name, value);
    if (problem === undefined) resolved.push({ name, value, source: 'boot record' });
    else problems.push(problem);
  }
  for (const entry of catalog.values()) {
    if (isSent(entry) && !Object.hasOwn(snapshot, entry.name)) problems.push(missingProblem(entry.name));
  }
  if (problems.length > 0) throw problemsError(problems);
  return createParams(catalog, resolved);
}

const SKEW = 'The agent and its parent run different versions of STCI, or have different plugins: install the same '
  + 'version on all hosts, and give stci start the plugins of its jobs, too.';

function snapshotProblem(catalog: ParamCatalog, name: string, value: unknown): ParamProblem | undefined {
  const shared = { name, source: 'boot record' };
  const entry = catalog.get(name);
  if (entry === undefined) {
    const near = didYouMean(name, catalog.keys());
    const message = `This agent knows no parameter ${quote(name)} that its parent sent.${near} ${SKEW}`;
    return { ...shared, code: 'STCI_PARAM_UNKNOWN', message };
  }
  const wrong = valueProblem(entry.spec, value);
  if (wrong !== undefined) {
    const message = `${name}: ${shown(value)} that its parent sent ${wrong}; expected ${expectedForm(entry.spec)}. `;
    return { ...shared, value: shown(value), code: 'STCI_PARAM_INVALID', message: message + SKEW };
  }
  const unknown = entry.components && listProblem(entry, value as ParamValue);
  return unknown && { ...shared, code: unknown.code, message: `${name}: ${unknown.message} ${SKEW}` };
}

/** A value that may be anything. */
function shown(value: unknown): string {
  const isPlain = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
  return isPlain ? quote(String(value)) : `a value of type ${Array.isArray(value) ? 'array' : typeof value}`;
}

function missingProblem(name: string): ParamProblem {
  const message = `The agent's parent sent no value for parameter ${name}. ${SKEW}`;
  return { code: 'STCI_PARAM_INVALID', name, source: 'boot record', message };
}
