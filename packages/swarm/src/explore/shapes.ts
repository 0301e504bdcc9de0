/** What the values of a plan that was given as text have to be; what they mean is said by the types of the plans. */

import type { BriefPlan, CallsPlan, EdgeFault, FailureFault, FailurePlan } from '../scenarios/failure-plan.js';
import type { BadHost, ControlPlan, FaultPlan, SwarmOptions } from '../scenarios/options.js';
import type { AppPlan } from '../scenarios/programs.js';
import type { FrontEndPlan, JobPlan, KillPlan, LeavePlan, SessionOptions } from '../scenarios/session-plan.js';
import { encode } from './plan-text.js';

/** Says what is wrong with a value, which it calls `name`; undefined: nothing. */
export type Shape = (value: unknown, name: string) => string | undefined;
type Fields<Value extends object = object> = { readonly [Name in keyof Value]-?: Shape };
type Kinds<Kind extends string> = Readonly<Record<Kind, Readonly<Record<string, Shape>>>>;

const NUMBER = typed('number');
const TEXT = typed('string');
const FLAG = typed('boolean');
const MAYBE_NUMBER = optional(NUMBER);
const PLACE: Shape = (value, name) => (value === 'login' ? undefined : NUMBER(value, name));
/** Any names. */
const SETTINGS: Shape = (value, name) =>
  fields(Object.fromEntries(Object.keys(Object(value)).map((key) => [key, TEXT])))(value, name);
const LINK = fields<SwarmOptions['link']>({
  latencyMs: NUMBER, jitterMs: NUMBER, cutChance: NUMBER, bytesPerMs: NUMBER, timeoutMs: NUMBER,
});
const APP = fields<AppPlan>({ program: TEXT, args: list(TEXT), count: NUMBER, wdir: optional(TEXT) });

const TIME = { atMs: NUMBER, event: MAYBE_NUMBER };
const TARGET = { ...TIME, pick: NUMBER };
const FAULTS: Kinds<FaultPlan['kind']> = {
  'kill-tool': { ...TARGET, signal: TEXT },
  'kill-agent': { ...TARGET, signal: TEXT },
  'kill-front-end': TIME,
  'kill-start': { ...TARGET, start: NUMBER, afterMs: NUMBER },
  'pause-agent': { ...TARGET, lastsMs: NUMBER },
  'pause-tool': { ...TARGET, lastsMs: NUMBER },
  cut: { ...TARGET, lastsMs: NUMBER },
  'crash-host': TARGET,
  'cut-host': { ...TARGET, lastsMs: MAYBE_NUMBER },
  slow: { ...TARGET, latencyMs: NUMBER },
};
const CONTROLS: Kinds<ControlPlan['kind']> = {
  signal: { ...TIME, signal: TEXT },
  interrupt: { ...TIME, kill: FLAG },
  detach: TIME,
  'output-fault': { ...TIME, isClosed: FLAG },
};

export const JOB_SHAPE = fields<SwarmOptions>({
  seed: NUMBER, hosts: NUMBER, remote: FLAG, slots: NUMBER, apps: list(APP), byNode: FLAG, settings: SETTINGS,
  stdin: kinds<SwarmOptions['stdin']['to']>({ none: {}, all: {}, rank: { rank: NUMBER } }, 'to'), stdinBytes: NUMBER,
  releaseMs: NUMBER, timeoutMs: MAYBE_NUMBER, launchTimeoutMs: NUMBER, faults: list(kinds(FAULTS)),
  badHosts: list(fields<BadHost>({
    kind: oneOf<BadHost['kind']>('refuse', 'silent'), host: NUMBER, starts: NUMBER, after: MAYBE_NUMBER,
  })),
  controls: list(kinds(CONTROLS)), link: LINK, spawnMs: list(NUMBER), pipeBytes: NUMBER, clockSkewMs: NUMBER,
});

const LEAVE = fields<LeavePlan>({
  how: oneOf<LeavePlan['how']>('detach', 'kill', 'stop'), afterMs: NUMBER, stoppedMs: NUMBER,
});

export const SESSION_SHAPE = fields<SessionOptions>({
  seed: NUMBER, hosts: NUMBER, settings: SETTINGS, jobs: list(fields<JobPlan>({ app: APP, stdinBytes: NUMBER })),
  frontEnds: list(fields<FrontEndPlan>({
    kind: oneOf<FrontEndPlan['kind']>('submit', 'detached', 'attach', 'wait'), job: NUMBER, atMs: NUMBER, all: FLAG,
    releaseMs: NUMBER, leave: optional(LEAVE),
  })),
  kills: list(fields<KillPlan>({ atMs: NUMBER, what: oneOf<KillPlan['what']>('agent', 'link'), pick: NUMBER })),
  spoolBytes: NUMBER, diskBytes: NUMBER,
});

const BETWEEN = { ...TIME, between: list(PLACE) };
const FAILURES: Kinds<FailureFault['kind']> = {
  kill: { ...TIME, host: NUMBER },
  crash: { ...TIME, host: NUMBER, backMs: MAYBE_NUMBER },
  freeze: { ...TIME, host: PLACE, lastsMs: NUMBER },
  part: { ...TIME, hosts: list(NUMBER), lastsMs: MAYBE_NUMBER },
  cut: { ...BETWEEN, lastsMs: NUMBER },
  slow: { ...BETWEEN, latencyMs: NUMBER, lastsMs: MAYBE_NUMBER },
};
const WHEN = { when: oneOf<EdgeFault['when']>('launch', 'end') };
const CALLS = optional(fields<CallsPlan>({ rounds: NUMBER, pauseMs: NUMBER, policy: TEXT }));

export const FAILURE_SHAPE = fields<FailurePlan>({
  seed: NUMBER, hosts: NUMBER, settings: SETTINGS, link: LINK, faults: list(kinds(FAILURES)),
  edges: list(kinds(FAILURES, 'kind', WHEN)), agree: CALLS, talk: CALLS,
  brief: optional(fields<BriefPlan>({ lastsMs: NUMBER, policy: TEXT })), isPatient: FLAG, isTimed: optional(FLAG),
  incarnationMax: MAYBE_NUMBER, linksMax: MAYBE_NUMBER,
});

function typed(type: string): Shape {
  return (value, name) => (typeof value === type ? undefined : expected(`a ${type}`, value, name));
}

function oneOf<Value extends string>(...values: readonly Value[]): Shape {
  const what = values.join(', ');
  return (value, name) => (values.some((each) => each === value) ? undefined : expected(what, value, name));
}

function optional(shape: Shape): Shape {
  return (value, name) => (value === undefined ? undefined : shape(value, name));
}

function list(shape: Shape): Shape {
  return (value, name) => (Array.isArray(value)
    ? firstOf(value.map((each: unknown, index) => shape(each, `${name}[${index}]`)))
    : expected('a list', value, name));
}

function fields<Value extends object>(shapes: Fields<Value>): Shape {
  return (value, name) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return expected('an object', value, name);
    const of = (field: string): string => (name === '' ? field : `${name}.${field}`);
    const known = new Map<string, Shape>(Object.entries(shapes));
    const given = new Map<string, unknown>(Object.entries(value));
    const unknown = [...given.keys()].filter((field) => !known.has(field));
    if (unknown.length > 0) return `${of(unknown.join(', '))}: unknown; known are ${[...known.keys()].join(', ')}`;
    return firstOf([...known].map(([field, shape]) => shape(given.get(field), of(field))));
  };
}

/** Objects of several kinds, each with fields of its own beside those that all have. */
function kinds<Kind extends string>(each: Kinds<Kind>, tag = 'kind', all: Readonly<Record<string, Shape>> = {}): Shape {
  const ofTag = oneOf(...Object.keys(each));
  return (value, name) => {
    const kind = (Object(value) as Readonly<Record<string, unknown>>)[tag];
    return ofTag(kind, `${name}.${tag}`) ?? fields({ [tag]: TEXT, ...all, ...each[kind as Kind] })(value, name);
  };
}

function expected(what: string, value: unknown, name: string): string {
  return `${name}: expected ${what}, got ${encode(value)}`;
}

function firstOf(problems: readonly (string | undefined)[]): string | undefined {
  return problems.find((problem) => problem !== undefined);
}
