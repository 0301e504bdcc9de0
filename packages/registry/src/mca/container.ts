/**
 * Dependency container: the token → factory table, on tsyringe, which no other file imports. A container holds the
 * factories that several agents of one process share; each agent has a scope of its own, in which every factory makes
 * one object. All registrations precede the first scope; none is ever replaced.
 *
 * Of tsyringe only symbols as tokens, values, factories and child containers are used. Its lifecycles, classes as
 * tokens, `resolveAll`, `dispose` and the global container would let agents see each other's objects.
 * Loaded by `import()` after an agent's link is up; nothing on the message path resolves anything.
 */

import 'reflect-metadata/lite';
import { container as globalContainer, instancePerContainerCachingFactory } from 'tsyringe';
import type { DependencyContainer } from 'tsyringe';
import { StciError, assert } from '@stci/interface';
import { tokenName } from './token.js';
import type { Token } from './token.js';

/** Passed to factories. */
export interface Resolver {
  /** The object of this agent, made at the first call. Throws STCI_MCA_CYCLE; an unknown token is an assertion. */
  get<T>(key: Token<T>): T;
}

export type Factory<T> = (resolver: Resolver) => T;

interface Table {
  /** Asserts that the token has no value or factory yet, here or above. */
  provide<T>(key: Token<T>, factory: Factory<T>): void;
  provideValue<T>(key: Token<T>, value: T): void;
}

/** One agent's objects. */
export interface Scope extends Table, Resolver {
  readonly name: string;
}

/** Shared by the agents of one process, or of one simulation. Complete before the first scope is made. */
export interface Container extends Table {
  createScope(name: string): Scope;
}

/** Containers are independent of each other: the global container stays empty. */
export function createContainer(): Container {
  const container = globalContainer.createChildContainer();
  const scopes = new WeakMap<DependencyContainer, Scope>();
  let isOpen = true;
  const assertOpen = (): void => assert(isOpen, 'a container is complete before its first scope is made');
  const table = createTable(container, scopes);
  return Object.freeze({
    provide: <T>(key: Token<T>, factory: Factory<T>) => {
      assertOpen();
      table.provide(key, factory);
    },
    provideValue: <T>(key: Token<T>, value: T) => {
      assertOpen();
      table.provideValue(key, value);
    },
    createScope: (name: string) => {
      isOpen = false;
      const child = container.createChildContainer();
      const scope = createScope(name, child, createTable(child, scopes));
      scopes.set(child, scope);
      return scope;
    },
  });
}

function createTable(container: DependencyContainer, scopes: WeakMap<DependencyContainer, Scope>): Table {
  const assertNew = (key: Token<unknown>): void => {
    assert(!container.isRegistered(key, true), `token ${tokenName(key)} is not registered yet`);
  };
  return {
    provide: <T>(key: Token<T>, factory: Factory<T>) => {
      assertNew(key);
      // The container that is passed in is the one that resolves, also for a factory of the container: one object
      // an agent. `instanceCachingFactory` would give the first agent's object to all.
      const make = (resolving: DependencyContainer): T => instantiate(key, factory, scopes.get(resolving));
      const useFactory = instancePerContainerCachingFactory(make);
      container.register(key, { useFactory });
    },
    provideValue: <T>(key: Token<T>, value: T) => {
      assertNew(key);
      assert(value !== undefined && value !== null, `token ${tokenName(key)} has a value`);
      container.register(key, { useValue: value });
    },
  };
}

function instantiate<T>(key: Token<T>, factory: Factory<T>, scope: Scope | undefined): T {
  assert(scope !== undefined, `token ${tokenName(key)} is resolved by a scope`);
  const value = factory(scope);
  // Nothing would be cached, and the next call would make another object.
  assert(value !== undefined && value !== null, `the factory of token ${tokenName(key)} returns a value`);
  return value;
}

function createScope(name: string, container: DependencyContainer, table: Table): Scope {
  const resolving: symbol[] = [];

  function get<T>(key: Token<T>): T {
    if (resolving.includes(key)) throw cycleError(name, [...resolving, key]);
    const path = [...resolving, key].map(tokenName).join(' → ');
    assert(container.isRegistered(key, true), `token ${tokenName(key)} is registered in ${name} (${path})`);
    resolving.push(key);
    try {
      return container.resolve<T>(key);
    } finally {
      resolving.pop();
    }
  }

  return Object.freeze({ name, get, ...table });
}

function cycleError(scopeName: string, path: readonly symbol[]): StciError {
  const names = path.map(tokenName).join(' → ');
  const message = `Dependency cycle in ${scopeName}: ${names}. Break it: let one of them listen to an event, or depend `
    + 'on a narrower interface.';
  return new StciError('STCI_MCA_CYCLE', message, { data: { path: names } });
}
