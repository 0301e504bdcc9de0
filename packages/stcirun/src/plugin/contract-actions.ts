/** Forms of the actions that machines and error managers answer with, by framework and type (interface/src). */

/** What is wrong with an answer. */
type Problem = (answer: unknown) => string | undefined;

interface Form {
  readonly text: string;
  is(value: unknown): boolean;
}

type Fields = Readonly<Record<string, Form>>;

/** The longest pause that an error manager may ask for, ms. */
const PAUSE_MS_MAX = 3_600_000;

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;
const isIndex = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;
const isMember = (value: unknown): boolean =>
  isObject(value) && isIndex(value['position']) && isIndex(value['incarnation']);
const isIndices = (value: unknown): boolean => Array.isArray(value) && value.every(isIndex);

const text: Form = { text: 'a text', is: (value) => typeof value === 'string' };
const index: Form = { text: 'an integer, at least 0', is: isIndex };
const indices: Form = { text: 'a list of integers, at least 0', is: isIndices };
const time: Form = { text: 'a finite number', is: Number.isFinite };
const maybe = ({ text: what, is }: Form): Form =>
  ({ text: `${what}, or absent`, is: (value) => value === undefined || is(value) });
const member: Form = { text: 'a member, { position, incarnation }', is: isMember };
const failed: Form = {
  text: 'a member, { position, incarnation }, or { rank }',
  is: (value) => isMember(value) || (isObject(value) && isIndex(value['rank'])),
};
const bytes: Form = { text: 'a Uint8Array', is: (value) => value instanceof Uint8Array };
const object: Form = { text: 'an object', is: isObject };
const pause: Form = {
  text: `a pause in ms, at most ${PAUSE_MS_MAX}`,
  is: (value) => Number.isFinite(value) && (value as number) >= 0 && (value as number) <= PAUSE_MS_MAX,
};
const texts: Form = {
  text: 'a list of texts', is: (value) => Array.isArray(value) && value.every((one) => typeof one === 'string'),
};

const RESTART = { afterMs: pause };

/** By type. */
type Forms = Readonly<Record<string, Fields>>;

const ACTIONS: Readonly<Record<'detector' | 'notifier' | 'fault' | 'host' | 'job' | 'local', Forms>> = {
  detector: {
    send: { to: index }, suspect: { member, evidence: text }, trust: { member },
    report: { failed, cause: text, evidence: text, suspectedMs: time, heardMs: maybe(time) },
    count: { metric: text, value: time },
  },
  notifier: { send: { to: index }, deliver: { source: member, payload: bytes } },
  fault: {
    signal: { key: text, ranks: indices, signal: text, whom: text }, exit: { key: text, rank: index, status: index },
    kill: { key: text, what: text }, pause: { key: text, what: text, forMs: time },
    impair: { key: text, peers: indices, how: object }, restore: { key: text, peers: indices },
    close: { key: text, peers: indices }, spawn: { key: text, program: text, args: texts, count: index },
    run: { key: text, program: text, args: texts, apartFrom: maybe(text) },
    end: { key: text }, injected: { text, key: maybe(text) }, undone: {}, failed: { reason: text },
  },
  host: {
    'end-launch': { reason: maybe(text) }, 'start-again': RESTART, 'use-spare': {},
    'leave-out': { reason: maybe(text) },
  },
  job: { 'end-job': {}, 'go-on': {}, notify: {}, restart: RESTART },
  local: { report: {}, restart: RESTART },
};

/** Problem of one action. */
function problemOf(action: unknown, forms: Forms): string | undefined {
  const type = isObject(action) ? action['type'] : undefined;
  const fields = typeof type === 'string' && Object.hasOwn(forms, type) ? forms[type] : undefined;
  if (fields === undefined) {
    const found = typeof type === 'string' ? `type '${type}'` : 'no type';
    return `expected an action of type ${Object.keys(forms).join(', ')}, found ${found}`;
  }
  for (const [name, form] of Object.entries(fields)) {
    const value = (action as Readonly<Record<string, unknown>>)[name];
    if (form.is(value)) continue;
    return `expected ${name} of action '${String(type)}' to be ${form.text}, found ${shown(value)}`;
  }
  return undefined;
}

/** `decide` of an error manager: one action about a host, or at least one about a job; of those that fit its time. */
export function decisionProblem(value: unknown, context: unknown): string | undefined {
  const { of, phase, sparesLeft } = (context ?? {}) as Readonly<Record<string, unknown>>;
  const isHost = of === 'session';
  if (Array.isArray(value) && (isHost ? value.length !== 1 : value.length === 0)) {
    return isHost ? 'expected one action about the host' : 'expected an action about the job';
  }
  const permitted = Object.entries(ACTIONS[isHost ? 'host' : 'job']).filter(([type]) =>
    (type !== 'end-launch' || phase === 'launching') && (type !== 'use-spare' || sparesLeft !== 0));
  return actionsIn(Object.fromEntries(permitted))(value);
}

export function actionsOf(kind: keyof typeof ACTIONS): Problem {
  return actionsIn(ACTIONS[kind]);
}

function actionsIn(forms: Forms): Problem {
  return (value) => {
    if (!Array.isArray(value)) return 'expected a list of actions';
    for (const [at, action] of value.entries()) {
      const problem = problemOf(action, forms);
      if (problem !== undefined) return value.length === 1 ? problem : `entry ${at}: ${problem}`;
    }
    return undefined;
  };
}

export const actionOf = (kind: keyof typeof ACTIONS): Problem => (value) => problemOf(value, ACTIONS[kind]);

/** A value in a message. */
export function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 80));
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === 'function') return 'a function';
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
}
