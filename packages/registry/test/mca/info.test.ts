/** Contents of `stci info`: data, explanation, text. */

import { assert, suite } from '@stci/testkit';
import { builtins } from '@stci/core';
import { describe, infoOverview, infoText, parseInfoTarget, resolveParams } from '@stci/registry';
import type { DescribeOptions, Info, InfoFramework } from '@stci/registry';
import { accept, decline } from '@stci/interface';
import { component, createRegistry, framework } from './fixtures.js';

const registry = createRegistry(builtins());
const { params } = resolveParams(registry.catalog, {
  commandLine: [{ key: 'launcher', value: '^flat' }],
  environment: { STCI_MCA_tool_grace: '5s' },
  user: { path: '/home/u/.config/stci/stci.conf', text: 'launcher.tree.arity = 4' },
});

function info(options: DescribeOptions = {}): Info {
  return describe(registry, params, options);
}

function launcher(options: DescribeOptions = {}): InfoFramework {
  const found = info(options).frameworks.find(({ name }) => name === 'launcher');
  if (found === undefined) throw new Error('Expected framework launcher');
  return found;
}

suite('info', (test) => {
  test('tells every parameter once', () => {
    const { frameworks, groups } = info();
    const blocks = [...frameworks, ...frameworks.flatMap((each) => each.components), ...groups];
    const names = blocks.flatMap((block) => block.params.map((param) => param.name)).sort();
    assert.equal(names, [...registry.catalog.keys()]);
  });

  test('a parameter has value, text, default, bounds, source and origin', () => {
    const [tree] = launcher().components.filter(({ name }) => name === 'tree');
    const { help, ...arity } = tree?.params[0] ?? { help: '' };
    assert.equal(arity, {
      name: 'launcher.tree.arity',
      type: 'int',
      value: 4,
      text: '4',
      default: 8,
      defaultText: '8',
      bounds: '1..1024',
      scope: 'session',
      source: 'user file',
      origin: '/home/u/.config/stci/stci.conf:1',
    });
    assert.match(help, 'boot tree');
    const [grace] = info().groups.find(({ name }) => name === 'tool')?.params ?? [];
    assert.equal([grace?.value, grace?.text, grace?.defaultText], [5000, '5s', '2s']);
  });

  test('is JSON as it is', () => {
    const all = info({ why: true });
    assert.equal(JSON.parse(JSON.stringify(all)), all);
    assert.is(all.format, 1);
    assert.equal(Object.keys(launcher({ why: true })),
      ['name', 'mode', 'version', 'help', 'params', 'components', 'why']);
  });

  test('one framework, one component, one group', () => {
    const names = (text: string) => {
      const { frameworks, groups } = info({ target: parseInfoTarget(text) });
      return [frameworks.map((each) => [each.name, each.components.map(({ name }) => name)]),
        groups.map(({ name }) => name)];
    };
    assert.equal(names('launcher'), [[['launcher', ['flat', 'tree']]], []]);
    assert.equal(names('launcher:tree'), [[['launcher', ['tree']]], []]);
    assert.equal(names('iof'), [[], ['iof']]);
    assert.equal(launcher({ target: parseInfoTarget('launcher:tree') }).params, []);
  });

  test('unknown targets are told with the nearest; other forms are refused', () => {
    const tell = (text: string) => () => info({ target: parseInfoTarget(text) });
    assert.match(assert.throwsCode('STCI_MCA_FRAMEWORK_UNKNOWN', tell('lancher')).message, 'Did you mean launcher');
    assert.match(assert.throwsCode('STCI_MCA_FRAMEWORK_UNKNOWN', tell('iff')).message, 'Did you mean iof');
    assert.throwsCode('STCI_MCA_FRAMEWORK_UNKNOWN', tell('iof:window'));
    assert.match(assert.throwsCode('STCI_MCA_COMPONENT_UNKNOWN', tell('launcher:tre')).message, 'Did you mean tree?');
    for (const text of ['', ':', 'a:', ':a', 'a:b:c', 'a b']) assert.throwsCode('STCI_USAGE', tell(text));
  });
});

suite('info: why', (test) => {
  const keyed = framework('shape', 'keyed');
  const one = framework('plan', 'one');
  const own = createRegistry({
    frameworks: [keyed, one],
    components: [
      component(keyed, 'a', ({ request }) => (request?.size === 1 ? accept(2) : decline('too large'))),
      component(keyed, 'b', accept(1)),
      component(one, 'no', decline('not here')),
      component(one, 'yes', accept(1)),
    ],
  });
  const why = (set: Record<string, string>, name: string, options: DescribeOptions = {}) => {
    const commandLine = Object.entries(set).map(([key, value]) => ({ key, value }));
    const resolved = resolveParams(own.catalog, { commandLine }).params;
    const found = describe(own, resolved, { ...options, why: true }).frameworks.find((each) => each.name === name);
    return found?.why?.candidates.map((each) => [each.name, each.verdict, each.chosen]);
  };

  test('every candidate, the list and its place', () => {
    assert.equal(launcher({ why: true }).why, {
      list: { items: ['^flat'], source: 'command line', origin: '--mca launcher=^flat' },
      candidates: [
        { name: 'tree', verdict: 'accepted', priority: 50, chosen: true },
        { name: 'flat', verdict: 'excluded', reason: 'left out by the selection list', chosen: false },
      ],
    });
    assert.is(launcher().why, undefined);
  });

  test('nothing is chosen where the named one declines', () => {
    assert.equal(why({}, 'plan'), [['yes', 'accepted', true], ['no', 'declined', false]]);
    assert.equal(why({ plan: 'no,yes' }, 'plan'), [['yes', 'accepted', false], ['no', 'declined', false]]);
  });

  test('a keyed framework is asked only about an object', () => {
    assert.equal(why({ shape: '^b' }, 'shape'), [['a', 'when made', false], ['b', 'excluded', false]]);
    assert.equal(why({}, 'shape', { requests: { shape: { size: 2 } } }),
      [['b', 'accepted', true], ['a', 'declined', false]]);
  });
});

suite('info: text', (test) => {
  test('lines end, are at most 100 columns, and nothing is lost', () => {
    const all = info({ why: true });
    const text = infoText(all);
    assert.ok(text.endsWith('\n') && !text.includes('\u0000'));
    for (const line of text.split('\n')) {
      assert.ok(line.length <= 100 && line === line.trimEnd(), line);
    }
    const words = text.replace(/\s+/g, ' ');
    for (const { name, spec } of registry.catalog.values()) {
      assert.match(words, ` ${name} `);
      assert.match(words, spec.help.replace(/\s+/g, ' '));
    }
  });

  test('the overview has a page: each framework with its components, and what is set', () => {
    const all = info();
    const text = infoOverview(all);
    const lines = text.split('\n');
    assert.ok(lines.length < 60, `${lines.length} lines`);
    for (const line of lines) assert.ok(line.length <= 100 && line === line.trimEnd(), line);
    const words = text.replace(/\s+/g, ' ');
    for (const { name, components } of all.frameworks) {
      assert.match(words, new RegExp(` ${[name, '\\d+', ...components.map((one) => one.name)].join(' ')} `), name);
    }
    assert.match(words, 'parameters that are set');
    assert.match(words, 'launcher.tree.arity = 4 (int 1..1024; default 8; set by user file, ');
    assert.not.match(words, 'bootcom.lease =');
  });

  test('tells value, bounds, default and place of a parameter', () => {
    const text = infoText(info({ target: parseInfoTarget('launcher:tree') })).replace(/\s+/g, ' ');
    assert.match(text, 'launcher.tree.arity = 4 (int 1..1024; default 8; '
      + 'set by user file, /home/u/.config/stci/stci.conf:1)');
  });

  test('tells why', () => {
    const text = infoText(info({ target: parseInfoTarget('launcher'), why: true }));
    assert.match(text, 'why: selection list launcher is ^flat (command line, --mca launcher=^flat)');
    assert.match(text, /tree accepted, priority 50 {2}<- chosen/);
    assert.match(text, 'flat excluded, left out by the selection list');
  });

  test('a long word is kept whole', () => {
    const path = `/${'long/'.repeat(60)}stci.conf`;
    const resolved = resolveParams(registry.catalog, { user: { path, text: 'tool.grace = 3s' } });
    assert.match(infoText(describe(registry, resolved.params)), path);
  });
});
