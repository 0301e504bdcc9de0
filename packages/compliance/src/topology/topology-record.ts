/**
 * The record of a topology component: its registration, selection, parameters and requests. All through core's registry
 * and selector, as in a program. Used by the topology compliance suite.
 */

import { TOPOLOGY_SIZE_MAX, topologyFramework } from '@stci/core/component';
import { createRegistry, createSelector, formatValue, resolveParams } from '@stci/core';
import type { Component, NoDeps, ParamSpec, ParamValue, Topology, TopologyRequest } from '@stci/interface';
import * as assert from '../kit/assert.js';
import { frozen } from '../kit/frozen.js';

export type TopologyComponent = Component<Topology, NoDeps, TopologyRequest>;
export type TopologyOptions = Readonly<Record<string, unknown>>;
/** As of a request: what is asked for. */
export interface TopologyRequested {
  readonly size: unknown;
  readonly options?: TopologyOptions;
}
/** Makes a topology through the registry; `params` as if set by the user. */
export type MakeTopology = (
  size: number,
  options?: TopologyOptions,
  params?: Readonly<Record<string, string>>,
) => Topology;

const BAD_SIZES: readonly unknown[] = [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, TOPOLOGY_SIZE_MAX + 1, '4'];
/** Sizes of the topologies that are compared; every valid value of a parameter must suit them. */
export const COMPARED_SIZE = 12;

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
    const request = { kind: component.name, size, ...(options !== undefined && { options: frozen(options) }) };
    return made.create(component.name, {}, Object.freeze(request));
  };
}

/** Requests that are refused: sizes and options. Sizes that JSON lacks are written as text, as all wrong types are. */
export function* badRequests({ params }: TopologyComponent): Generator<TopologyRequested> {
  for (const size of BAD_SIZES) yield { size: Number.isFinite(size) ? size : String(size) };
  yield { size: COMPARED_SIZE, options: { 'no-such-option': 1 } };
  for (const [name, spec] of Object.entries(params)) {
    for (const value of badValues(spec)) yield { size: COMPARED_SIZE, options: { [name]: value } };
  }
}

/** Values of another type, beyond the bounds, between whole numbers, none of those that are named. */
function badValues({ type, min, max }: ParamSpec): unknown[] {
  const beyond = [...(min === undefined ? [] : [min - 1]), ...(max === undefined ? [] : [max + 1])];
  if (type === 'int') beyond.push((min ?? 0) + 0.5);
  return [{ not: 'a value' }, ...beyond, ...(type === 'enum' || type === 'bool' ? ['no-such-value'] : [])];
}

/** The error names the kind, and the size or option. */
export function checkRefusal(make: () => unknown, kind: string, options: TopologyOptions | undefined): void {
  const { message } = assert.throwsCode('STCI_TOPOLOGY_INVALID', make);
  const [option] = Object.keys(options ?? {});
  if (option === 'no-such-option') assert.match(message, option);
  else assert.match(message, `topology ${kind}: ${option === undefined ? 'size' : `option ${option}`}`);
}

/** Each parameter with values that its type implies: as an option, and what is set as a parameter meanwhile. */
export function* optionPairs(
  { params }: TopologyComponent,
): Generator<{ name: string; value: ParamValue; set: string }> {
  for (const [name, spec] of Object.entries(params)) {
    for (const value of someValues(spec)) {
      for (const other of someValues(spec)) yield { name, value, set: formatValue(spec, other) };
    }
  }
}

/** The option counts where it is given, the parameter where it is not. */
export function checkOption(
  { params }: TopologyComponent,
  make: MakeTopology,
  name: string,
  value: ParamValue,
  set: string,
): void {
  const given = answersOf(make(COMPARED_SIZE, { [name]: value }));
  const text = formatValue(params[name] as ParamSpec, value);
  assert.equal(answersOf(make(COMPARED_SIZE, undefined, { [name]: text })), given, `parameter ${name}=${text} counts`);
  assert.equal(answersOf(make(COMPARED_SIZE, { [name]: value }, { [name]: set })), given,
    `option ${name} comes before the parameter`);
  if (text === set) return;
  const answers = someValues(params[name] as ParamSpec)
    .map((one) => JSON.stringify(answersOf(make(COMPARED_SIZE, { [name]: one }))));
  const isUsed = answers.some((one) => one !== answers[0]);
  assert.ok(isUsed, `option ${name} changes nothing in a topology of ${COMPARED_SIZE} positions`);
}

/** All links and hops: topologies with the same ones are the same. */
function answersOf(topology: Topology): unknown {
  const all = Array.from({ length: topology.size }, (_, position) => position);
  return all.map((from) => [topology.neighbours(from), all.map((to) => topology.nextHop(from, to))]);
}

/** Each parameter's values but the default, the largest too, as options. */
export function* otherOptions({ params }: TopologyComponent): Generator<TopologyOptions> {
  for (const [name, spec] of Object.entries(params)) {
    for (const value of new Set([...someValues(spec), ...(spec.max === undefined ? [] : [spec.max])])) {
      if (value !== spec.default) yield { [name]: value };
    }
  }
}

/** The default, and other valid values if the type implies them. */
function someValues(spec: ParamSpec): ParamValue[] {
  if (spec.type === 'bool') return [false, true];
  if (spec.type === 'enum') return [...(spec.values ?? [])];
  if (typeof spec.default !== 'number') return [spec.default];
  return [...new Set([spec.min ?? spec.default, spec.default, Math.min(spec.default + 1, spec.max ?? Infinity)])];
}
