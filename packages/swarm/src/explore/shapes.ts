/**
 * What the values of a plan that was given as text have to be; what they mean is said by the types of the plans. Unlike
 * the shapes of messages (core) they refuse unknown fields, and take Infinity.
 */

import type { BriefPlan, CallsPlan, FailurePlan } from '../scenarios/failure-plan.js';
import type { ControlPlan, SwarmOptions } from '../scenarios/options.js';
import type { AppPlan } from '../scenarios/programs.js';
import type { AgentVictim, Chosen, PhasedStep, SideVictim, Step } from '../scenarios/scenario.js';
import type { FrontEndPlan, JobPlan, LeavePlan, SessionOptions } from '../scenarios/session-plan.js';
import { encode } from './plan-text.js';

/** Says what is wrong with a value, which it calls `name`; undefined: nothing. */
export type Shape = (value: unknown, name: string) => string | undefined;
type Fields<Value extends object = object> = { readonly [Name in keyof Value]-?: Shape };
type Kinds<Kind extends string> = Readonly<Record<Kind, Readonly<Record<string, Shape>>>>;

const NUMBER = typed('number');
const TEXT = typed('string');
const FLAG = typed('boolean');
const MAYBE_NUMBER = optional(NUMBER);
/** Any names. */
const SETTINGS: Shape = (value, name) =>
  fields(Object.fromEntries(Object.keys(Object(value)).map((key) => [key, TEXT])))(value, name);
const LINK = fields<SwarmOptions['link']>({
  latencyMs: NUMBER, jitterMs: NUMBER, cutChance: NUMBER, bytesPerMs: NUMBER, timeoutMs: NUMBER,
});
const APP = fields<AppPlan>({ program: TEXT, args: list(TEXT), count: NUMBER, wdir: optional(TEXT) });

const HOST = fields({ kind: oneOf('host'), host: NUMBER });
const LINK_ENDS = fields({ kind: oneOf('link'), ends: pair(NUMBER) });
const CHOSEN = fields<Chosen>({ of: oneOf<Chosen['of']>('ranks', 'agents', 'roots', 'links'), pick: NUMBER });
const AGENT = fields<AgentVictim>({
  kind: oneOf('agent'), role: oneOf<AgentVictim['role']>('root', 'controller', 'front-end'), host: NUMBER,
});
const PROCESS: Shape = (value, name) => ('of' in (Object(value) as object) ? CHOSEN : AGENT)(value, name);
const SCHEDULED: Kinds<Exclude<Step['kind'], 'refuse-login'>> = {
  kill: { victim: PROCESS, signal: optional(TEXT), start: MAYBE_NUMBER },
  pause: { victim: PROCESS, durationMs: NUMBER },
  crash: { victim: HOST, durationMs: MAYBE_NUMBER },
  part: { victim: fields<SideVictim>({ kind: oneOf('side'), hosts: list(NUMBER) }), durationMs: MAYBE_NUMBER },
  cut: { victim: LINK_ENDS, durationMs: NUMBER },
  slow: { victim: LINK_ENDS, latencyMs: NUMBER, durationMs: MAYBE_NUMBER },
};
const MOMENT = { atMs: NUMBER, event: MAYBE_NUMBER };
const REFUSAL = { victim: HOST, starts: NUMBER, start: MAYBE_NUMBER, isSilent: optional(FLAG) };
const AT = { atMs: NUMBER };
const CONTROLS: Kinds<ControlPlan['kind']> = {
  signal: { ...AT, signal: TEXT },
  interrupt: { ...AT, kill: FLAG },
  detach: AT,
  'output-fault': { ...AT, isClosed: FLAG },
};

export const JOB_SHAPE = fields<SwarmOptions>({
  seed: NUMBER, hosts: NUMBER, remote: FLAG, slots: NUMBER, apps: list(APP), byNode: FLAG, settings: SETTINGS,
  stdin: kinds<SwarmOptions['stdin']['to']>({ none: {}, all: {}, rank: { rank: NUMBER } }, 'to'), stdinBytes: NUMBER,
  releaseMs: NUMBER, timeoutMs: MAYBE_NUMBER, launchTimeoutMs: NUMBER,
  faults: list(kinds<Step['kind']>({ ...SCHEDULED, 'refuse-login': REFUSAL }, 'kind', MOMENT)),
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
  faults: list(kinds(SCHEDULED, 'kind', MOMENT)), spoolBytes: NUMBER, diskBytes: NUMBER,
});

const DURING = { during: optional(oneOf<NonNullable<PhasedStep['during']>>('launch', 'end')) };
/** Starts that are refused are those of the launch, and later ones. */
const LAUNCH = { during: oneOf<NonNullable<PhasedStep['during']>>('launch') };
const CALLS = optional(fields<CallsPlan>({ rounds: NUMBER, pauseMs: NUMBER, policy: TEXT }));

export const FAILURE_SHAPE = fields<FailurePlan>({
  seed: NUMBER, hosts: NUMBER, settings: SETTINGS, link: LINK,
  faults: list(kinds<Step['kind']>(
    { ...SCHEDULED, 'refuse-login': { ...REFUSAL, ...LAUNCH } }, 'kind', { ...MOMENT, ...DURING })),
  agree: CALLS, talk: CALLS,
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

/** A list of two. */
function pair(shape: Shape): Shape {
  return (value, name) => (Array.isArray(value) && value.length === 2 ? list(shape)(value, name)
    : expected('a list of two', value, name));
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
