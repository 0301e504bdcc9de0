/**
 * Frameworks and components (the Modular Component Architecture; STCI paper, III-A). A framework is an interface and a
 * way of selection; a component is a plain record that creates modules with this interface.
 */

import type { ErrorCode } from './error-codes.js';
import type { ParamSpecs, ParamValue } from './params.js';

/**
 * `one`: the accepting component with the highest priority. `many`: all that accept, highest first. `keyed`: by name,
 * whenever an object is created (the paper's dynamic selection).
 */
export type SelectionMode = 'one' | 'many' | 'keyed';

export interface Framework<Module, Deps, Request = undefined> {
  readonly name: string;
  readonly mode: SelectionMode;
  /** Version of the interface; a component for another version is refused. */
  readonly version: number;
  readonly help: string;
  /** Of mode many: components that the selection list neither leaves out nor needs to name. */
  readonly always?: readonly string[];
  /**
   * Scope of its selection list: `job` where each job has a module of its own, `front-end` where agents have none;
   * default: `session`.
   */
  readonly scope?: 'session' | 'job' | 'front-end';
  /** Parameters of the framework itself. */
  readonly params: ParamSpecs;
  /** Never read: ties the types of module, deps and request to the record. */
  readonly __types?: { module: Module; deps: Deps; request: Request };
}

/** Dependencies of pure modules: none. */
export type NoDeps = Readonly<Record<string, never>>;

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- the registry holds frameworks of every type
export type AnyFramework = Framework<any, any, any>;

export type Verdict =
  | { readonly accept: true; readonly priority: number; readonly reason?: string }
  /** With `code`, the request itself is wrong: if no other component accepts it, `reason` is the error's message. */
  | { readonly accept: false; readonly reason: string; readonly code?: ErrorCode };

/** Facts of this host: `hostname`, `user`; `variables`, the environment of the process that asks. */
export type Facts = Readonly<Record<string, FactValue>>;

export type FactValue = string | number | boolean | readonly string[] | Readonly<Record<string, string>>;

/** The input of `query`, which has no side effects. */
export interface QueryContext<Request = undefined> {
  readonly params: Readonly<Record<string, ParamValue>>;
  readonly request: Request;
  /** True if the user, or the code that creates an object, named this component. */
  readonly named?: boolean;
  readonly facts: Facts;
}

export interface Component<Module = unknown, Deps = unknown, Request = undefined> {
  readonly framework: Framework<Module, Deps, Request>;
  readonly name: string;
  /** The component's own version, as shown: `1.0.0`. */
  readonly version: string;
  /** The framework's version it was written for. */
  readonly frameworkVersion: number;
  readonly help: string;
  readonly params: ParamSpecs;
  /** What its requests take, for people: the arguments of a kind of fault. */
  readonly args?: ParamSpecs;
  query(context: QueryContext<Request>): Verdict;
  create(
    deps: Deps,
    params: Readonly<Record<string, ParamValue>>,
    request: Request,
  ): Module;
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- and components of every framework
export type AnyComponent = Component<any, any, any>;

export function accept(priority: number, reason?: string): Verdict {
  return reason === undefined ? { accept: true, priority } : { accept: true, priority, reason };
}

export function decline(reason: string, code?: ErrorCode): Verdict {
  return { accept: false, reason, ...(code !== undefined && { code }) };
}

export function defineFramework<Module, Deps, Request = undefined>(
  framework: Framework<Module, Deps, Request>,
): Framework<Module, Deps, Request> {
  return Object.freeze(framework);
}

/** Checks the record's type against its framework; the registry checks its values. */
export function defineComponent<Module, Deps, Request>(
  component: Component<Module, Deps, Request>,
): Component<Module, Deps, Request> {
  return Object.freeze(component);
}

type Builtin<Module, Deps, Request> = Pick<Component<Module, Deps, Request>, 'framework' | 'name' | 'help' | 'query'
  | 'create'> & { readonly params?: ParamSpecs };

/** A component that stands beside its framework, and is always of the version that this has. */
export function builtinComponent<Module, Deps, Request>(
  own: Builtin<Module, Deps, Request>,
): Component<Module, Deps, Request> {
  return defineComponent({ version: '1.0.0', frameworkVersion: own.framework.version, params: {}, ...own });
}
