/** What every component's record has: a version, texts for users, and a `query` that depends on its input only. */

import { createRegistry, formatValue, resolveParams } from '@stci/core';
import type { Component, ParamSpec, ParamSpecs, ParamValue } from '@stci/interface';
import * as assert from './assert.js';

/** Texts, and the same answer to the same question. `request` of `query`: one that is valid. */
export function checkTexts<Module, Deps, Request>(component: Component<Module, Deps, Request>, request: Request): void {
  assert.match(component.name, /^[a-z][a-z0-9]*$/, 'Expected the name, a letter and then a-z and 0-9,');
  assert.match(component.version, /^\d+\.\d+\.\d+$/, 'Expected the version');
  assert.match(component.help, /^\p{Lu}[^]*\.$/u, 'Expected the help to be sentences:');
  for (const [name, spec] of Object.entries(component.params)) {
    assert.match(spec.help, /^\p{Lu}[^]*\.$/u, `Expected the help of ${name} to be sentences:`);
  }
  for (const [name, spec] of Object.entries(component.args ?? {})) {
    assert.match(spec.help, /^\S[^]*\.$/u, `Expected the help of ${name} to end with a full stop:`);
  }
  const params = Object.freeze(defaultsOf(component.params));
  const ask = () => component.query(Object.freeze({ params, request, facts: Object.freeze({}), named: true }));
  const verdict = ask();
  assert.equal(ask(), verdict, 'the same question has the same answer');
  assert.ok(!verdict.accept || Number.isFinite(verdict.priority), 'the priority is a number');
  assert.ok(verdict.accept || verdict.reason !== '', 'a declining component gives a reason');
}

/** Parameters that nobody has set. */
export function defaultsOf(params: ParamSpecs): Record<string, ParamValue> {
  return Object.fromEntries(Object.entries(params).map(([name, spec]) => [name, spec.default]));
}

/** Parameters as a user sets them, by short name, through the registry. Throws what it throws for a bad record. */
export function paramsOf<Module, Deps, Request>(
  component: Component<Module, Deps, Request>,
  set: Readonly<Record<string, string>> = {},
): Readonly<Record<string, ParamValue>> {
  // The framework's components that always run are not needed here.
  const framework = { ...component.framework, always: [] };
  const registry = createRegistry({ frameworks: [framework], components: [{ ...component, framework }] });
  const prefix = `${framework.name}.${component.name}`;
  const commandLine = Object.entries(set).map(([name, value]) => ({ key: `${prefix}.${name}`, value }));
  return resolveParams(registry.catalog, { commandLine }, registry.rules).params.under(prefix);
}

/** The bounds of a number, the values of an enum, true and false; of other types nothing is implied. */
export function boundsOf({ type, values, min, max }: ParamSpec): readonly ParamValue[] {
  if (type === 'bool') return [false, true];
  if (type === 'enum') return values ?? [];
  return [min, max].filter((one) => one !== undefined);
}

/**
 * Other parameters than those that are set, each by itself: for each value a list, of which the first that suits is to
 * be tried: the least, half and twice as much; the most, or less and less of it.
 */
export function* otherParams<Module, Deps, Request>(
  component: Component<Module, Deps, Request>,
  set: Readonly<Record<string, string>> = {},
): Generator<Readonly<Record<string, string>>[]> {
  const given = paramsOf(component, set);
  const isTaken = (one: Readonly<Record<string, string>>): boolean => component.query({
    params: Object.freeze({ ...paramsOf(component, { ...set, ...one }) }), request: undefined as Request,
    facts: Object.freeze({}), named: true,
  }).accept;
  for (const [name, spec] of Object.entries(component.params)) {
    const now = given[name];
    const { min = 0, max } = spec;
    const isNumber = typeof now === 'number' && max !== undefined;
    const values: (readonly ParamValue[])[] = !isNumber ? boundsOf(spec).map((value) => [value])
      : [[min], [Math.max(min, Math.floor(now / 2))], [Math.min(max, 2 * now)],
        [1, 10, 100, 1000].map((part) => Math.max(min, Math.floor(max / part)))];
    for (const each of values) yield each.map((value) => ({ [name]: formatValue(spec, value) })).filter(isTaken);
  }
}

/** Parameters with which the component can be used: each by itself at its bounds, as a user sets it. */
export function atBounds<Module, Deps, Request>(
  component: Component<Module, Deps, Request>,
  request: Request,
): Readonly<Record<string, string>>[] {
  return Object.entries(component.params).flatMap(([name, spec]) => boundsOf(spec)
    .map((value) => ({ [name]: formatValue(spec, value) }))
    .filter((set) => {
      const params = Object.freeze({ ...paramsOf(component, set) });
      return component.query({ params, request, facts: Object.freeze({}), named: true }).accept;
    }));
}
