/** Frameworks and components that tests make registries of. */

import { createRegistry, createSelector, resolveParams } from '@stci/registry';
import type { ParamInputs, Registry, Selector } from '@stci/registry';
import { accept, defineComponent, defineFramework } from '@stci/interface';
import type { Component, Facts, Framework, ParamSpecs, SelectionMode, Verdict } from '@stci/interface';

export interface Request {
  readonly size: number;
}

export interface Made {
  readonly name: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly request: Request | undefined;
}

export type TestFramework = Framework<Made, object, Request | undefined>;

export function framework(name: string, mode: SelectionMode, params: ParamSpecs = {}): TestFramework {
  return defineFramework({ name, mode, version: 1, help: `Framework ${name}.`, params });
}

export type Query = Component<Made, object, Request | undefined>['query'];

export function component(
  of: TestFramework,
  name: string,
  query: Verdict | Query = accept(10),
  more: { params?: ParamSpecs; frameworkVersion?: number } = {},
): Component<Made, object, Request | undefined> {
  return defineComponent({
    framework: of,
    name,
    version: '1.0.0',
    frameworkVersion: 1,
    help: `Component ${name}.`,
    params: {},
    query: typeof query === 'function' ? query : () => query,
    create: (_deps, params, request) => ({ name, params, request }),
    ...more,
  });
}

/** A selector whose parameters come from `set`, by the command line. */
export function selector(registry: Registry, set: Readonly<Record<string, string>> = {}, facts: Facts = {}): Selector {
  const commandLine = Object.entries(set).map(([key, value]) => ({ key, value }));
  const inputs: ParamInputs = { commandLine };
  return createSelector(registry, resolveParams(registry.catalog, inputs, registry.rules).params, facts);
}

export { createRegistry };
