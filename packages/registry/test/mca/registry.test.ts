/** The registry: its contents, and every mistake of an assembly that it refuses. */

import { assert, suite } from '@stci/testkit';
import { builtins } from '@stci/core';
import type { RegistryInit } from '@stci/registry';
import type { ErrorCode, ParamSpec } from '@stci/interface';
import { component, createRegistry, framework } from './fixtures.js';

const planner = framework('planner', 'one', { speed: { type: 'int', default: 3, help: 'Speed.' } });
const shape = framework('shape', 'keyed');
const good: RegistryInit = {
  frameworks: [shape, planner],
  components: [component(planner, 'zeta'), component(planner, 'alpha'), component(shape, 'alpha')],
  groups: [{ name: 'misc', help: 'Test.', params: { n: { type: 'int', default: 1, help: 'N.' } } }],
};

const INT: ParamSpec = { type: 'int', default: 1, help: 'Test.' };

function withParam(name: string, spec: ParamSpec): RegistryInit {
  return { ...good, groups: [{ name: 'misc', help: 'Test.', params: { [name]: spec } }] };
}

const REFUSED: readonly (readonly [string, RegistryInit, ErrorCode, string])[] = [
  ['a framework twice', { ...good, frameworks: [planner, shape, framework('shape', 'one')] },
    'STCI_MCA_DUPLICATE', 'shape is registered twice'],
  ['a component twice', { ...good, components: [component(planner, 'a'), component(planner, 'a')] },
    'STCI_MCA_DUPLICATE', 'planner component a'],
  ['a group called like a framework', { ...good, groups: [{ name: 'shape', help: 'Test.', params: {} }] },
    'STCI_MCA_DUPLICATE', 'shape'],
  ['an unknown framework', { ...good, components: [component(framework('plannr', 'one'), 'a')] },
    'STCI_MCA_FRAMEWORK_UNKNOWN', 'Did you mean planner?'],
  ['another framework version', { ...good, components: [component(planner, 'a', undefined, { frameworkVersion: 2 })] },
    'STCI_MCA_VERSION', 'planner:a 1.0.0 was written for version 2 of framework planner, which is at version 1'],
  ['a component name with a capital', { ...good, components: [component(planner, 'Tree')] },
    'STCI_MCA_INVALID', '"Tree"'],
  ['a component name with a dot', { ...good, components: [component(planner, 'a.b')] }, 'STCI_MCA_INVALID', '"a.b"'],
  ['a component name with _', { ...good, components: [component(planner, 'a_b')] }, 'STCI_MCA_INVALID', '"a_b"'],
  ['an empty framework name', { ...good, frameworks: [planner, shape, framework('', 'one')] },
    'STCI_MCA_INVALID', '""'],
  ['a parameter of two owners', {
    ...good,
    frameworks: [shape, framework('planner', 'one', { 'alpha.x': INT })],
    components: [component(planner, 'alpha', undefined, { params: { x: INT } })],
  }, 'STCI_MCA_DUPLICATE', 'planner.alpha.x is declared by planner and by planner:alpha'],
  ['an alias that is a parameter', withParam('x', { ...INT, aliases: ['planner.speed'] }),
    'STCI_MCA_DUPLICATE', '"planner.speed" of parameter misc.x is planner.speed already'],
  ['an alias that is no name', withParam('x', { ...INT, aliases: ['a_b'] }), 'STCI_MCA_INVALID', '"a_b"'],
  ['a parameter name with _', withParam('a_b', INT), 'STCI_MCA_INVALID', 'no valid name'],
  ['a parameter name with an empty part', withParam('a..b', INT), 'STCI_MCA_INVALID', 'no valid name'],
  ['a default of another type', withParam('x', { ...INT, default: 'a' }), 'STCI_MCA_INVALID', 'default'],
  ['a default out of bounds', withParam('x', { ...INT, max: 0 }), 'STCI_MCA_INVALID', 'more than 0'],
  ['bounds the wrong way round', withParam('x', { ...INT, min: 2, max: 1 }), 'STCI_MCA_INVALID', 'min above max'],
  ['no help', withParam('x', { ...INT, help: ' ' }), 'STCI_MCA_INVALID', 'no help'],
  ['an enum without values', withParam('x', { type: 'enum', default: 'a', help: 'Test.' }),
    'STCI_MCA_INVALID', 'enum without values'],
  ['an enum with a value twice', withParam('x', { type: 'enum', default: 'a', values: ['a', 'a'], help: 'Test.' }),
    'STCI_MCA_INVALID', 'duplicate'],
  ['an enum whose default is no value', withParam('x', { type: 'enum', default: 'b', values: ['a'], help: 'Test.' }),
    'STCI_MCA_INVALID', 'not one of the values'],
  ['a rule about nothing', { ...good, rules: [{ param: 'misc.m', check: () => undefined }] },
    'STCI_MCA_INVALID', 'misc.m'],
];

suite('registry', (test) => {
  test('sorts by name, whatever the order of registration', () => {
    const registry = createRegistry(good);
    assert.equal(registry.frameworks.map(({ name }) => name), ['planner', 'shape']);
    assert.equal(registry.components('planner').map(({ name }) => name), ['alpha', 'zeta']);
    assert.equal([...registry.catalog.keys()], ['misc.n', 'planner', 'planner.speed', 'shape']);
    assert.is(registry.framework('shape'), shape);
    assert.is(registry.component('shape', 'alpha').framework, shape);
  });

  test('leaves its input as it was, and is frozen', () => {
    const registry = createRegistry(good);
    assert.equal(good.frameworks, [shape, planner]);
    assert.ok(Object.isFrozen(registry) && Object.isFrozen(registry.frameworks));
    assert.ok(Object.isFrozen(registry.components('planner')));
  });

  for (const [what, init, code, words] of REFUSED) {
    test(`refuses ${what}`, () => {
      assert.match(assert.throwsCode(code, () => createRegistry(init)).message, words);
    });
  }

  test('unknown names are told with the nearest and with all', () => {
    const registry = createRegistry(good);
    const framework = assert.throwsCode('STCI_MCA_FRAMEWORK_UNKNOWN', () => registry.framework('shap'));
    assert.match(framework.message, 'Did you mean shape? There are: planner, shape.');
    assert.throwsCode('STCI_MCA_FRAMEWORK_UNKNOWN', () => registry.components('constructor'));
    const component = assert.throwsCode('STCI_MCA_COMPONENT_UNKNOWN', () => registry.component('planner', 'zetta'));
    assert.match(component.message, 'Did you mean zeta? There are: alpha, zeta.');
  });

  test('what core brings makes a registry, and so does nothing at all', () => {
    const names = createRegistry(builtins()).frameworks.map(({ name }) => name);
    assert.equal(names, ['bootcom', 'detector', 'errmgr', 'fault', 'launcher', 'launcherproc', 'notifier', 'pmi',
      'service', 'topology']);
    assert.is(createRegistry({ frameworks: [], components: [] }).catalog.size, 0);
  });
});
