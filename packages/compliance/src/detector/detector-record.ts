/** The record of a detector component: texts for users, and how it is selected. Used by the compliance suite. */

import { detectorFramework } from '@stci/core/component';
import type { Component, DetectorModule, NoDeps, ParamValue } from '@stci/interface';
import * as assert from '../kit/assert.js';

export function checkComponent(component: Component<DetectorModule, NoDeps>): void {
  const { name, params } = component;
  assert.match(component.version, /^\d+\.\d+\.\d+$/, 'Expected the version');
  assert.match(component.help, /^\p{Lu}[^]*\.$/u, 'Expected the help to be sentences:');
  for (const [param, spec] of Object.entries(params)) {
    assert.match(spec.help, /^\p{Lu}[^]*\.$/u, `Expected the help of ${param} to be sentences:`);
  }
  assert.equal([params['notifier']?.type, params['notifier']?.default], ['string', 'auto'], 'it has a notifier');
  const defaults = Object.freeze(
    Object.fromEntries(Object.entries(params).map(([param, spec]): [string, ParamValue] => [param, spec.default])),
  );
  const ask = (named: boolean) => {
    return component.query(Object.freeze({ params: defaults, request: undefined, facts: Object.freeze({}), named }));
  };
  assert.ok(ask(true).accept, 'it can be named');
  assert.is(ask(false).accept, detectorFramework.always?.includes(name) === true, 'what costs something runs by name');
  const module = component.create({}, defaults, undefined);
  for (const [metric, { help }] of Object.entries(module.metrics)) {
    assert.match(metric, /^[a-z][a-z0-9_]*$/, 'Expected a metric to be named in snake case:');
    assert.match(help, /^\p{Lu}[^]*\.$/u, `Expected the help of ${metric} to be sentences:`);
  }
}
