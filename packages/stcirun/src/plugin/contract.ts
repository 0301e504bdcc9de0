/**
 * What the modules of each framework must have and answer, as far as a look at each answer tells (the contracts are in
 * packages/interface/src; the suites of @stci/compliance check the rest).
 */

import { actionOf, actionsOf, decisionProblem, shown } from './contract-actions.js';

type Answer = (answer: unknown, of: object, second: unknown) => string | undefined;

export interface Contract {
  /** What is wrong with the object itself. */
  problem(value: unknown, of: object): string | undefined;
  /** … with what a method answers; `of`: the object whose method it is; `second`: its second argument. */
  readonly answers?: Readonly<Record<string, Answer>>;
  /** Objects that a member holds, or that a method answers. */
  readonly objects?: Readonly<Record<string, Contract>>;
}

type Members = Readonly<Record<string, 'function' | 'string' | 'number' | 'object'>>;

/** An object with these members. */
function withMembers(members: Members): Contract['problem'] {
  return (value) => {
    const names = Object.keys(members).join(', ');
    if (typeof value !== 'object' || value === null) return `expected an object with ${names}`;
    if (value instanceof Promise) return `expected an object with ${names}, found a promise: it must not be async`;
    for (const [name, type] of Object.entries(members)) {
      const found = typeof (value as Readonly<Record<string, unknown>>)[name];
      if (found !== type) return `expected its ${name} to be a ${type}, found ${found}`;
    }
    return undefined;
  };
}

const sizeOf = (of: object): number => (of as { readonly size?: number }).size ?? Infinity;
const isPosition = (value: unknown, of: object): boolean =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) < sizeOf(of);

const position = (value: unknown, of: object): string | undefined =>
  (value === undefined || isPosition(value, of) ? undefined : `expected a position below ${sizeOf(of)}, or undefined`);
const positions = (value: unknown, of: object): string | undefined => {
  const expected = `expected a list of positions below ${sizeOf(of)}`;
  if (!Array.isArray(value)) return expected;
  const at = value.findIndex((one) => !isPosition(one, of));
  return at < 0 ? undefined : `${expected}, and entry ${at} is ${shown(value[at])}`;
};
const count = (least: number) => (value: unknown): string | undefined =>
  (Number.isSafeInteger(value) && (value as number) >= least ? undefined : `expected an integer, at least ${least}`);
const dueMs = (value: unknown): string | undefined =>
  (value === undefined || (typeof value === 'number' && !Number.isNaN(value)) ? undefined
    : 'expected a time in ms, or undefined');
const name = (value: unknown): string | undefined => (typeof value === 'string' ? undefined : 'expected a name');

const spanningTree: Contract = {
  problem: withMembers({
    root: 'number', parent: 'function', children: 'function', depth: 'function', subtreeSize: 'function',
  }),
  answers: { parent: position, children: positions, depth: count(0), subtreeSize: count(1) },
};

const channel: Contract = {
  problem: withMembers({ kind: 'string', bind: 'function', send: 'function', close: 'function', destroy: 'function' }),
};

const agentProcess: Contract = {
  problem: (value, of) => withMembers({ pid: 'number', channel: 'object', kill: 'function' })(value, of)
    ?? channel.problem((value as { readonly channel: unknown }).channel, of),
  objects: { channel },
};

const machine = (kind: 'detector' | 'notifier' | 'fault'): Contract => ({
  problem: withMembers({ on: 'function' }),
  answers: { on: actionsOf(kind), dueMs },
});

const anObject = (value: unknown): string | undefined =>
  (typeof value === 'object' && value !== null && !(value instanceof Promise) ? undefined
    : `expected an object, found ${shown(value)}`);
const isEnvironment = (env: unknown): boolean =>
  env === undefined || (anObject(env) === undefined
    && Object.values(env as object).every((value) => typeof value === 'string'));
const rankStart = (value: unknown): string | undefined => {
  const { env, socket } = (anObject(value) === undefined ? value : {}) as Readonly<Record<string, unknown>>;
  if (!isEnvironment(env)) return 'expected env to have texts';
  const isSocket = socket === undefined || typeof socket === 'function';
  return isSocket ? anObject(value) : `expected socket to be a function, found ${shown(socket)}`;
};

const CONTRACTS: Readonly<Record<string, Contract>> = {
  topology: {
    problem: withMembers({
      kind: 'string', size: 'number', neighbours: 'function', nextHop: 'function', diameter: 'number',
      spanningTree: 'function',
    }),
    answers: { neighbours: positions, nextHop: position },
    objects: { spanningTree },
  },
  // Core checks the tree itself, and names the policy.
  launcher: { problem: withMembers({ policy: 'string', tree: 'function' }) },
  launcherproc: {
    problem: withMembers({ name: 'string', start: 'function', reach: 'function' }),
    objects: { start: agentProcess, reach: agentProcess },
  },
  detector: {
    problem: withMembers({ watches: 'string', topology: 'string', promise: 'function', open: 'function' }),
    objects: { open: machine('detector') },
  },
  notifier: {
    problem: withMembers({ topology: 'string', promise: 'function', open: 'function' }),
    objects: { open: machine('notifier') },
  },
  errmgr: {
    problem: withMembers({ policy: 'string', decide: 'function' }),
    answers: {
      decide: (answer, _of, context) => decisionProblem(answer, context), local: actionOf('local'), policyOf: name,
    },
  },
  service: {
    problem: withMembers({ atHost: 'function' }),
    objects: {
      atHost: { problem: anObject, answers: { onStart: rankStart } },
      atController: { problem: anObject },
    },
  },
  fault: {
    problem: withMembers({ plan: 'function', open: 'function', problemOf: 'function' }),
    objects: { open: machine('fault') },
  },
};

export function contractOf(framework: string): Contract | undefined {
  return CONTRACTS[framework];
}
