/**
 * Guard: every call into a plugin's code. What it throws becomes an error that names plugin, component and call; an
 * answer of the wrong form is an error as well, there and not where it is used; a marker in shared memory says which
 * call is running, so that a watchdog can tell one that does not return.
 */

import { isErrorCode, StciError, type AnyComponent } from '@stci/interface';
import { placed, pluginError } from './error.js';
import { shown } from './contract-actions.js';
import { contractOf, type Contract } from './contract.js';

/** Thrown to the runtime: no StciError, since that would be taken for a message's or a parameter's fault. */
export class PluginFault extends Error {
  readonly code = 'STCI_PLUGIN_FAILED';
  readonly error: StciError;
  readonly owner: FaultOwner | undefined;

  constructor(error: StciError, owner?: FaultOwner) {
    super(error.message, { cause: error.cause });
    this.name = 'PluginFault';
    this.error = error;
    this.owner = owner;
  }
}

/** Which call is running: its number, 0 for none; and how many have begun. */
export const marker = new Int32Array(new SharedArrayBuffer(8));

interface GuardHooks {
  /** A number has a name: `plugin /p: topology:torus.nextHop`. */
  onCall(id: number, name: string): void;
  /** Nothing in the stack takes care of it: the process is to end in order. */
  onFault(error: StciError): void;
}

let hooks: GuardHooks | undefined;
/** Numbers of calls, from 1 in the order of names: objects that are made again and again have the same ones. */
const numbers = new Map<string, number>();

/** The hooks of this process, or none; names from before are told at once. */
export function watchCalls(own: GuardHooks | undefined): void {
  hooks = own;
  for (const [name, id] of numbers) own?.onCall(id, name);
}

/** Name of the call that is running; undefined: none. */
export function runningCall(): string | undefined {
  return [...numbers.keys()][(marker[0] as number) - 1];
}

/** What a component does is all in its own package: its faults end what it is for, and nothing else. */
const TOLERATED = new Set(['detector', 'errmgr', 'fault']);

/** Takes the faults of its plugin in place of the process. */
export interface FaultOwner {
  onFault?: ((error: StciError) => void) | undefined;
}

interface Guarded {
  readonly path: string;
  readonly component: AnyComponent;
  readonly owner: FaultOwner | undefined;
}

function numberOf(name: string): number {
  const known = numbers.get(name);
  if (known !== undefined) return known;
  const id = numbers.size + 1;
  numbers.set(name, id);
  hooks?.onCall(id, name);
  return id;
}

const nameOf = ({ component }: Guarded, call: string): string =>
  `${component.framework.name}:${component.name}${call === '' ? '' : `.${call}`}`;

/** The component with all its calls guarded. */
export function guardComponent(component: AnyComponent, path: string, owner?: FaultOwner): AnyComponent {
  const own = { path, component, owner };
  const contract = contractOf(component.framework.name);
  const query = guardCall(own, 'query', component, component.query, verdictProblem, refusal);
  const create = guardCall(own, 'create', component, component.create, contract?.problem, refusal);
  return {
    ...component,
    query: query as AnyComponent['query'],
    create: (...args) => guardObject(own, create(...args) as object, '', contract),
  };
}

/** The first run of a module. */
export function guardLoad<T>(path: string, module: string, load: () => T): T {
  return running(numberOf(`plugin ${path}: the load of ${module}`), load);
}

/** Runs a call with the marker on it. */
function running<T>(id: number, call: () => T): T {
  const before = marker[0] as number;
  marker[0] = id;
  marker[1]! += 1;
  try {
    return call();
  } finally {
    marker[0] = before;
  }
}

function verdictProblem(verdict: unknown): string | undefined {
  const { accept, priority, reason } = (verdict ?? {}) as Readonly<Record<string, unknown>>;
  const isVerdict = accept === true ? Number.isFinite(priority) : accept === false && typeof reason === 'string';
  return isVerdict ? undefined : 'expected accept(priority) or decline(reason)';
}

type Call = (...args: never[]) => unknown;
type OnThrown = (own: Guarded, call: string, thrown: unknown) => Error;

/**
 * `call` of `target`, with as many arguments as it is given. `problem`: what is wrong with an answer. Calls of up to
 * three arguments make no list of them, which would cost more than the rest.
 */
function guardCall(
  own: Guarded,
  name: string,
  target: object,
  call: Call,
  problem: Exclude<Contract['answers'], undefined>[string] | undefined,
  onThrown: OnThrown,
): (...args: unknown[]) => unknown {
  const id = numberOf(`plugin ${own.path}: ${nameOf(own, name)}`);
  const plain = call as (...args: readonly unknown[]) => unknown;
  return function guarded(a?: unknown, b?: unknown, c?: unknown): unknown {
    const before = marker[0] as number;
    marker[0] = id;
    marker[1]! += 1;
    try {
      let answer: unknown;
      switch (arguments.length) {
        case 0: answer = plain.call(target); break;
        case 1: answer = plain.call(target, a); break;
        case 2: answer = plain.call(target, a, b); break;
        case 3: answer = plain.call(target, a, b, c); break;
        default: answer = plain.apply(target, [...arguments]);
      }
      const wrong = problem?.(answer, target, b);
      if (wrong === undefined) return answer;
      throw wrongAnswer(answer, [...arguments], wrong);
    } catch (thrown) {
      throw onThrown(own, name, thrown);
    } finally {
      marker[0] = before;
    }
  };
}

function wrongAnswer(answer: unknown, args: readonly unknown[], wrong: string): Error {
  const given = args.slice(0, args.findLastIndex((arg) => arg !== undefined) + 1);
  const asked = given.length === 0 || given.some(isObject) ? '' : ` to (${given.map(shown).join(', ')})`;
  return new TypeError(`it answered ${shown(answer)}${asked}: ${wrong}`);
}

function textOf(thrown: unknown): string {
  const message = (thrown as { readonly message?: unknown } | null)?.message;
  return placed(typeof message === 'string' && message !== '' ? message : String(thrown), thrown);
}

function codeOf(thrown: unknown): StciError['code'] | undefined {
  const code = (thrown as { readonly code?: unknown } | null)?.code;
  return typeof code === 'string' && isErrorCode(code) ? code : undefined;
}

/** Errors with codes, such as of an option of a topology, are the user's before anything runs. */
function refusal(own: Guarded, call: string, thrown: unknown): StciError {
  const code = codeOf(thrown);
  const text = `${nameOf(own, call)}: ${textOf(thrown)}`;
  if (code !== undefined) return new StciError(code, `plugin ${own.path}: ${text}`, { cause: thrown });
  return Object.assign(pluginError(own.path, text), { cause: thrown });
}

function fault(own: Guarded, call: string, thrown: unknown): Error {
  const framework = own.component.framework.name;
  // Of a malformed message its sender is at fault, and the driver of notifiers and detectors tells.
  if (thrown instanceof StciError && thrown.code === 'STCI_MESSAGE_INVALID') return thrown;
  if (thrown instanceof PluginFault) return thrown;
  const error = pluginError(own.path, `${nameOf(own, call)} failed: ${textOf(thrown)}`, 'STCI_PLUGIN_FAILED');
  const found = new PluginFault(Object.assign(error, { cause: thrown }), own.owner);
  if (!TOLERATED.has(framework)) (own.owner?.onFault ?? hooks?.onFault)?.(found.error);
  return found;
}

/** One guarded object for each of the plugin's, and for each owner: plugins may answer all of them the same object. */
const guardedObjects = new WeakMap<FaultOwner, WeakMap<object, object>>();
const NO_OWNER: FaultOwner = {};

function guardedOf({ owner = NO_OWNER }: Guarded): WeakMap<object, object> {
  const known = guardedObjects.get(owner) ?? new WeakMap<object, object>();
  guardedObjects.set(owner, known);
  return known;
}

/** The same object with guarded methods; its other members are read when they are asked for. */
function guardObject(own: Guarded, target: object, prefix: string, contract: Contract | undefined): object {
  const objects = guardedOf(own);
  const known = objects.get(target);
  if (known !== undefined) return known;
  const guarded: object = {};
  for (const key of membersOf(target)) {
    const call = prefix === '' ? key : `${prefix}.${key}`;
    const inner = contract?.objects?.[key];
    const value: unknown = isAccessor(target, key) ? undefined : Reflect.get(target, key);
    if (typeof value !== 'function') {
      const read = (): unknown => Reflect.get(target, key);
      const guardedRead = isAccessor(target, key)
        ? guardCall(own, call, target, read, contract?.answers?.[key], fault) : read;
      const get = (): unknown => {
        const found = guardedRead();
        return inner === undefined || !isObject(found) ? found : guardObject(own, found, call, inner);
      };
      Object.defineProperty(guarded, key, { get, enumerable: true });
      continue;
    }
    const method = guardCall(own, call, target, value as Call, contract?.answers?.[key] ?? inner?.problem, fault);
    const guardedMethod = inner === undefined ? method : (...args: unknown[]): unknown => {
      const answer = method(...args);
      return isObject(answer) ? guardObject(own, answer, call, inner) : answer;
    };
    Object.defineProperty(guarded, key, { value: guardedMethod, enumerable: true });
  }
  objects.set(target, guarded);
  return guarded;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function membersOf(target: object): ReadonlySet<string> {
  const keys = new Set<string>();
  let at: object | null = target;
  for (; at !== null && at !== Object.prototype; at = Object.getPrototypeOf(at) as object | null) {
    for (const key of Object.getOwnPropertyNames(at)) if (key !== 'constructor') keys.add(key);
  }
  return keys;
}

function isAccessor(target: object, key: string): boolean {
  for (let at: object | null = target; at !== null; at = Object.getPrototypeOf(at) as object | null) {
    const found = Object.getOwnPropertyDescriptor(at, key);
    if (found !== undefined) return found.get !== undefined;
  }
  return false;
}
