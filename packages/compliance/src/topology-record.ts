/**
 * The record of a topology component: its registration, selection, parameters and requests. All through core's registry
 * and selector, as in a program. Used by the topology compliance suite.
 */

import { TOPOLOGY_SIZE_MAX, topologyFramework } from '@stci/core/component';
import { createRegistry, createSelector, formatValue, resolveParams } from '@stci/core';
import type { Component, NoDeps, ParamSpec, ParamValue, Topology, TopologyRequest } from '@stci/interface';
import * as assert from './assert.js';

export type TopologyComponent = Component<Topology, NoDeps, TopologyRequest>;
export type TopologyOptions = Readonly<Record<string, unknown>>;
/** Makes a topology through the registry; `params` as if set by the user. */
export type MakeTopology = (
  size: number,
  options?: TopologyOptions,
  params?: Readonly<Record<string, string>>,
) => Topology;

const BAD_SIZES: readonly unknown[] = [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, TOPOLOGY_SIZE_MAX + 1, '4'];
/** Sizes of the topologies that are compared; every valid value of a parameter must suit them. */
const COMPARED_SIZE = 12;

/** Throws what the registry and the selector throw for a bad record. */
export function topologyMaker(component: TopologyComponent): MakeTopology {
  const registry = createRegistry({ frameworks: [topologyFramework], components: [component] });
  const prefix = `${topologyFramework.name}.${component.name}`;
  const kinds = new Map<string, ReturnType<typeof keyed>>();
  const keyed = (params: Readonly<Record<string, string>>) => {
    const commandLine = Object.entries(params).map(([name, value]) => ({ key: `${prefix}.${name}`, value }));
    const resolved = resolveParams(registry.catalog, { commandLine }, registry.rules).params;
    return createSelector(registry, resolved).keyed(topologyFramework);
  };
  return (size, options, params = {}) => {
    const key = JSON.stringify(params);
    const made = kinds.get(key) ?? keyed(params);
    kinds.set(key, made);
    return made.create(component.name, {}, { kind: component.name, size, ...(options !== undefined && { options }) });
  };
}

/** Texts for users, and that the result of a query depends on its input only. */
export function checkRecord(component: TopologyComponent): void {
  assert.match(component.version, /^\d+\.\d+\.\d+$/, 'Expected the version');
  assert.match(component.help, /^\p{Lu}[^]*\.$/u, 'Expected the help to be sentences:');
  const params = Object.freeze(defaults(component));
  const request = Object.freeze({ kind: component.name, size: COMPARED_SIZE });
  const ask = () => component.query(Object.freeze({ params, request, facts: Object.freeze({}) }));
  const verdict = ask();
  assert.equal(ask(), verdict, 'the same question has the same answer');
  assert.ok(!verdict.accept || Number.isFinite(verdict.priority), 'the priority is a number');
  assert.ok(verdict.accept || verdict.reason !== '', 'a declining component gives a reason');
  for (const [name, spec] of Object.entries(component.params)) {
    assert.match(spec.help, /^\p{Lu}[^]*\.$/u, `Expected the help of ${name} to be sentences:`);
  }
}

/** An invalid size or option is refused with STCI_TOPOLOGY_INVALID, which names the kind and the value given. */
export function checkRefusals(component: TopologyComponent, make: MakeTopology): void {
  const refused = (what: string, body: () => unknown): void => {
    assert.match(assert.throwsCode('STCI_TOPOLOGY_INVALID', body).message, `topology ${component.name}: ${what}`);
  };
  for (const size of BAD_SIZES) refused('size', () => make(size as number));
  const unknown = assert.throwsCode('STCI_TOPOLOGY_INVALID', () => make(COMPARED_SIZE, { 'no-such-option': 1 }));
  assert.match(unknown.message, 'no-such-option');
  for (const name of Object.keys(component.params)) {
    refused(`option ${name}`, () => make(COMPARED_SIZE, { [name]: { not: 'a value' } }));
  }
}

/** A parameter is the default of the option of the same name. */
export function checkParams(component: TopologyComponent, make: MakeTopology): void {
  for (const [name, spec] of Object.entries(component.params)) {
    for (const value of someValues(spec)) {
      const given = linksOf(make(COMPARED_SIZE, { [name]: value }));
      const set = { [name]: formatValue(spec, value) };
      assert.equal(linksOf(make(COMPARED_SIZE, undefined, set)), given, `parameter ${name}=${set[name]} counts`);
      for (const other of someValues(spec)) {
        const over = make(COMPARED_SIZE, { [name]: value }, { [name]: formatValue(spec, other) });
        assert.equal(linksOf(over), given, `option ${name} comes before the parameter`);
      }
    }
  }
}

/** All links as text: topologies with the same text are the same. */
function linksOf(topology: Topology): (readonly number[])[] {
  return Array.from({ length: topology.size }, (_, position) => topology.neighbours(position));
}

function defaults({ params }: TopologyComponent): Record<string, ParamValue> {
  return Object.fromEntries(Object.entries(params).map(([name, spec]) => [name, spec.default]));
}

/** The default, and other valid values if the type implies them. */
function someValues(spec: ParamSpec): ParamValue[] {
  if (spec.type === 'bool') return [false, true];
  if (spec.type === 'enum') return [...(spec.values ?? [])];
  if (typeof spec.default !== 'number') return [spec.default];
  return [...new Set([spec.min ?? spec.default, spec.default, spec.default + 1])];
}
