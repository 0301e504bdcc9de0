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

/** The table of one process, or of one simulation; and, below it, that of each of its agents. */
export class Scope {
  readonly name: string;
  readonly #container: DependencyContainer;
  readonly #scopes: WeakMap<DependencyContainer, Scope>;
  readonly #resolving: symbol[] = [];
  /** It has scopes of its own. */
  #isComplete = false;

  /** Such tables are independent of each other: the global container stays empty. */
  constructor(
    name: string, container = globalContainer.createChildContainer(),
    scopes = new WeakMap<DependencyContainer, Scope>(),
  ) {
    this.name = name;
    this.#container = container;
    this.#scopes = scopes.set(container, this);
  }

  /** Of one agent. */
  createScope(name: string): Scope {
    this.#isComplete = true;
    return new Scope(name, this.#container.createChildContainer(), this.#scopes);
  }

  /** Asserts that the token has no value or factory yet, here or above. */
  provide<T>(key: Token<T>, factory: (scope: Scope) => T): void {
    this.#assertNew(key);
    // The container that is passed in is the one that resolves, also for a factory from above: one object an agent.
    // `instanceCachingFactory` would give the first agent's object to all.
    this.#container.register(key, { useFactory: instancePerContainerCachingFactory((resolving) => {
      const value = factory(this.#scopes.get(resolving) as Scope);
      // Nothing would be cached, and the next call would make another object.
      assert(value !== undefined && value !== null, `the factory of token ${tokenName(key)} returns a value`);
      return value;
    }) });
  }

  provideValue<T>(key: Token<T>, value: T): void {
    this.#assertNew(key);
    assert(value !== undefined && value !== null, `token ${tokenName(key)} has a value`);
    this.#container.register(key, { useValue: value });
  }

  /** The object of this agent, made at the first call. Throws STCI_MCA_CYCLE; an unknown token is an assertion. */
  get<T>(key: Token<T>): T {
    const path = [...this.#resolving, key];
    if (this.#resolving.includes(key)) throw cycleError(this.name, path);
    const isKnown = this.#container.isRegistered(key, true);
    assert(isKnown, `token ${tokenName(key)} is registered in ${this.name} (${path.map(tokenName).join(' → ')})`);
    this.#resolving.push(key);
    try {
      return this.#container.resolve<T>(key);
    } finally {
      this.#resolving.pop();
    }
  }

  #assertNew(key: Token<unknown>): void {
    assert(!this.#isComplete, 'a container is complete before its first scope is made');
    assert(!this.#container.isRegistered(key, true), `token ${tokenName(key)} is not registered yet`);
  }
}

function cycleError(scopeName: string, path: readonly symbol[]): StciError {
  const names = path.map(tokenName).join(' → ');
  const message = `Dependency cycle in ${scopeName}: ${names}. Break it: let one of them listen to an event, or depend `
    + 'on a narrower interface.';
  return new StciError('STCI_MCA_CYCLE', message, { data: { path: names } });
}
