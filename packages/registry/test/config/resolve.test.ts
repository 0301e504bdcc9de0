/** The resolver: every source with every kind of mistake, precedence of all pairs, warnings, rules. */

import { assert, suite, seeded } from '@stci/testkit';
import { builtinRelations, builtins } from '@stci/core';
import { createRegistry, environmentName, resolveParams } from '@stci/registry';
import type { ParamInputs } from '@stci/registry';
import { PARAM_SOURCES, StciError } from '@stci/interface';
import type { ParamSource } from '@stci/interface';

const registry = createRegistry(builtins());

type Setter = (name: string, value: string) => ParamInputs;

const file = (path: string) => (name: string, value: string) => ({ path, text: `# head\n${name} = ${value}\n` });

/** One way to set a parameter from each source, and the origin that is reported. */
const SETTERS: readonly (readonly [ParamSource, Setter, (name: string, value: string) => string])[] = [
  ['override', (n, v) => ({ override: file('/etc/o')(n, v) }), () => '/etc/o:2'],
  ['command line', (key, value) => ({ commandLine: [{ key, value }] }), (n, v) => `--mca ${n}=${v}`],
  ['am file', (n, v) => ({ amFiles: [file('am.conf')(n, v)] }), () => 'am.conf:2'],
  ['environment', (n, v) => ({ environment: { [environmentName(n)]: v } }), (n) => environmentName(n)],
  ['project file', (n, v) => ({ project: file('/p/stci.conf')(n, v) }), () => '/p/stci.conf:2'],
  ['user file', (n, v) => ({ user: file('/u/stci.conf')(n, v) }), () => '/u/stci.conf:2'],
  ['system file', (n, v) => ({ system: file('/etc/stci.conf')(n, v) }), () => '/etc/stci.conf:2'],
];

function resolve(inputs: ParamInputs) {
  return resolveParams(registry.catalog, inputs, registry.rules);
}

function failure(inputs: ParamInputs): StciError {
  try {
    resolve(inputs);
  } catch (error) {
    if (error instanceof StciError) return error;
    throw error;
  }
  throw new Error('Expected the resolver to throw');
}

function found(inputs: ParamInputs, name: string) {
  return resolve(inputs).params.entries().find((param) => param.name === name);
}

suite('resolver: every source', (test) => {
  test('all sources but the default have a setter here', () => {
    assert.equal(SETTERS.map(([source]) => source), PARAM_SOURCES.slice(0, -1));
  });

  for (const [source, set, origin] of SETTERS) {
    test(`${source}: a good value, with its origin`, () => {
      const name = 'launcher.tree.arity';
      assert.equal(found(set(name, '4'), name), { name, value: 4, source, origin: origin(name, '4') });
    });

    test(`${source}: an unknown name, with the nearest`, () => {
      const error = failure(set('launcher.tree.arrity', '4'));
      assert.is(error.code, 'STCI_PARAM_UNKNOWN');
      assert.match(error.message, 'arrity');
      assert.match(error.message, source === 'environment' ? 'STCI_MCA_launcher_tree_arity' : 'launcher.tree.arity?');
      assert.match(error.message, source);
      assert.match(error.message, origin('launcher.tree.arrity', '4'));
      assert.is(error.data['source'], source);
    });

    for (const [name, value, words] of [
      ['launcher.tree.arity', 'many', 'an integer, within 1..1024'],
      ['launcher.tree.arity', '0', 'less than 1'],
      ['launcher.tree.arity', '1025', 'more than 1024'],
      ['launcher.root.method', 'fork', 'auto|process|inline|thread'],
      ['tool.grace', '5', '5ms or 5s'],
      ['tool.grace', '2h', 'more than 1h'],
      ['iof.window', '1KiB', 'less than 64KiB'],
      ['launcher', 'tree,', 'empty item'],
      ['launcher', 'tree,^flat', 'one ^ in front'],
      ['launcher', '^tree,^flat', 'one ^ in front'],
      ['launcher', 'tree,tree', 'named twice'],
    ] as const) {
      test(`${source}: ${name} = ${value} is refused`, () => {
        const error = failure(set(name, value));
        assert.is(error.code, 'STCI_PARAM_INVALID');
        for (const part of [name, JSON.stringify(value), source, origin(name, value), words]) {
          assert.match(error.message, part);
        }
        assert.equal([error.data['name'], error.data['value'], error.data['problems']], [name, value, 1]);
      });
    }

    test(`${source}: a component that is not there, with the nearest`, () => {
      for (const value of ['falt', '^falt']) {
        const error = failure(set('launcher', value));
        assert.is(error.code, 'STCI_MCA_COMPONENT_UNKNOWN');
        assert.match(error.message, 'Did you mean flat?');
        assert.match(error.message, 'flat, tree');
      }
    });
  }
});

suite('resolver: precedence', (test) => {
  const name = 'launcher.window';
  for (const [high, [highSource, setHigh]] of SETTERS.entries()) {
    for (const [lowSource, setLow] of SETTERS.slice(high + 1)) {
      test(`${highSource} goes over ${lowSource}`, () => {
        const inputs = { ...setLow(name, '3'), ...setHigh(name, '5') };
        const param = found(inputs, name);
        assert.equal([param?.value, param?.source], [5, highSource]);
      });

      test(`a bad value of ${lowSource} is told although ${highSource} goes over it`, () => {
        assert.is(failure({ ...setLow(name, 'bad'), ...setHigh(name, '5') }).code, 'STCI_PARAM_INVALID');
      });
    }
  }

  test('any mixture: the highest source that has a value wins', () => {
    const random = seeded(4);
    for (let round = 0; round < 500; round += 1) {
      const used = SETTERS.filter(() => random.below(2) === 1);
      const inputs = Object.assign({}, ...used.map(([source, set]) => {
        return set(name, String(1 + SETTERS.findIndex(([each]) => each === source)));
      })) as ParamInputs;
      const [best] = used;
      const param = found(inputs, name);
      assert.is(param?.source, best?.[0] ?? 'default');
      assert.is(param?.value, best === undefined ? 8 : 1 + SETTERS.indexOf(best));
    }
  });

  test('nothing set: all defaults, sorted by name, frozen', () => {
    const { params, warnings } = resolve({});
    const names = params.entries().map((param) => param.name);
    assert.equal(names, [...registry.catalog.keys()].sort());
    assert.ok(params.entries().every((param) => param.source === 'default' && Object.isFrozen(param)));
    assert.ok(Object.isFrozen(params) && Object.isFrozen(params.entries()) && Object.isFrozen(params.list('launcher')));
    assert.equal(warnings, []);
  });
});

suite('resolver: the override file', (test) => {
  const override = { path: '/etc/stci/override.conf', text: 'launcher.window = 2' };

  test('warns whoever set another value', () => {
    const { params, warnings } = resolve({ override, commandLine: [{ key: 'launcher.window', value: '9' }] });
    assert.is(params.int('launcher.window'), 2);
    assert.is(warnings.length, 1);
    for (const part of ['launcher.window = 9', 'command line, --mca launcher.window=9', 'override.conf:1', 'sets 2']) {
      assert.match(warnings[0] ?? '', part);
    }
  });

  test('is silent over a default and over the same value', () => {
    assert.equal(resolve({ override }).warnings, []);
    assert.equal(resolve({ override, environment: { STCI_MCA_launcher_window: '2' } }).warnings, []);
  });
});

suite('resolver: aliases', (test) => {
  const group = { name: 'login', help: 'Test.', params: {
    node: { type: 'string', default: '', help: 'Test.', aliases: ['other.node'] },
  } } as const;
  const aliased = createRegistry({ ...builtins(), groups: [...(builtins().groups ?? []), group] });
  const set = (inputs: ParamInputs) =>
    resolveParams(aliased.catalog, inputs).params.entries().find(({ name }) => name === 'login.node');

  test('every source may write either name; the value is kept under the parameter\'s own', () => {
    for (const [source, setter, origin] of SETTERS) {
      const expected = { name: 'login.node', value: '/n', source, origin: origin('other.node', '/n') };
      assert.equal(set(setter('other.node', '/n')), expected);
    }
  });

  test('a higher source wins under whichever name; one source may not set both to two values', () => {
    const environment = { [environmentName('login.node')]: 'low' };
    assert.is(set({ environment, commandLine: [{ key: 'other.node', value: 'high' }] })?.value, 'high');
    const both = (value: string) =>
      ({ commandLine: [{ key: 'other.node', value }, { key: 'login.node', value: 'b' }] });
    assert.is(set(both('b'))?.value, 'b');
    const error = assert.throwsCode('STCI_PARAM_INVALID', () => set(both('a')));
    assert.match(error.message, /set twice by the command line/);
  });
});

suite('resolver: all problems at once', (test) => {
  test('problems of all sources and kinds come in one error', () => {
    const error = failure({
      commandLine: [{ key: 'launchr', value: 'flat' }, { key: 'tool.grace', value: '5' }],
      environment: { STCI_MCA_luncher_window: '4' },
      user: { path: '/u', text: 'nonsense\nlauncher = mesh' },
      amFiles: [{ path: 'am.conf', text: 'no value' }],
    });
    assert.is(error.code, 'STCI_PARAM_INVALID');
    assert.is(error.data['problems'], 6);
    for (const part of ['launchr', 'tool.grace', 'STCI_MCA_luncher_window', '/u:1', '"mesh"', 'am.conf:1']) {
      assert.match(error.message, part);
    }
  });

  test('problems of one kind keep their code', () => {
    const code = (text: string) => failure({ user: { path: '/u', text } }).code;
    assert.is(code('a\nb'), 'STCI_PARAM_FILE');
    assert.is(code('aa = 1\nbb = 1'), 'STCI_PARAM_UNKNOWN');
  });

  test('very many are counted and not printed', () => {
    const lines = Array.from({ length: 500 }, (_, index) => `q${index} = 1`);
    const error = failure({ user: { path: '/u', text: lines.join('\n') } });
    assert.is(error.data['problems'], 500);
    assert.is(error.message.split('\n').length, 21);
    assert.match(error.message, 'and 480 more');
  });

  test('a long or odd text is shown short and safe, from every source', () => {
    const value = `\u001b[31m\u009b1m${'9'.repeat(5000)}`;
    for (const [, set] of SETTERS) {
      for (const [key, text] of [['launcher.window', value], [`launcher${value}`, '1'], ['launcher', value]] as const) {
        const { message } = failure(set(key, text));
        assert.ok(!message.includes('\u001b') && !message.includes('\u009b'), 'what a terminal may obey is escaped');
        assert.ok(message.length < 1000, `${message.length} characters`);
      }
    }
  });
});

suite('resolver: rules over several parameters', (test) => {
  const set = (pairs: Record<string, string>) => {
    return { commandLine: Object.entries(pairs).map(([key, value]) => ({ key, value })) };
  };

  test('ranges of ports', () => {
    for (const text of ['', '40000-40100', '1-65535', '5-5']) {
      assert.is(resolve(set({ 'bootcom.ws.ports': text })).params.string('bootcom.ws.ports'), text);
    }
    for (const text of ['40000', '5-4', '0-5', '1-65536', 'a-b', '1-2-3', '-']) {
      const error = failure(set({ 'bootcom.ws.ports': text }));
      assert.is(error.code, 'STCI_PARAM_INVALID');
      assert.match(error.message, '--mca bootcom.ws.ports=');
      assert.is(error.data['name'], 'bootcom.ws.ports');
    }
  });

  for (const { lower, upper, follows, times = 1 } of builtinRelations) {
    test(`${times} × ${lower} ≤ ${upper}, at all ends of what may be set`, () => {
      const ends = (name: string): (string | undefined)[] => {
        const { type, min, max } = registry.catalog.get(name)?.spec ?? {};
        assert.ok(min !== undefined && max !== undefined, `${name} has ends`);
        const unit = type === 'duration' ? 'ms' : '';
        return [undefined, `${min}${unit}`, `${max}${unit}`];
      };
      for (const low of ends(lower)) {
        for (const high of ends(upper)) {
          const pairs = {
            ...(low !== undefined && { [lower]: low }), ...(high !== undefined && { [upper]: high }),
          };
          // A frame is at its least, so that it does not bound the queue that is looked at.
          const isFrame = lower === 'bootcom.frame.max';
          const others: Record<string, string> = isFrame ? {} : { 'bootcom.frame.max': '64KiB' };
          const isBoth = low !== undefined && high !== undefined;
          const isStrict = isBoth || !follows;
          const defaults = (name: string): number => registry.catalog.get(name)?.spec.default as number;
          const given = (text: string | undefined, fallback: number): number =>
            (text === undefined ? fallback : Number.parseInt(text, 10));
          const isBad = times * given(low, defaults(lower)) > given(high, defaults(upper));
          if (isBad && isStrict) {
            const { message, code } = failure(set({ ...others, ...pairs }));
            assert.is(code, 'STCI_PARAM_INVALID');
            assert.match(message, upper);
            assert.match(message, lower);
            continue;
          }
          const { params } = resolve(set({ ...others, ...pairs }));
          assert.ok(times * params.int(lower) <= params.int(upper), JSON.stringify(pairs));
          for (const [name, text] of Object.entries(pairs)) assert.is(params.int(name), given(text, 0), 'as set');
        }
      }
    });
  }

  test('what follows another says so', () => {
    const { params } = resolve(set({ 'bootcom.queue.max': '4MiB' }));
    const window = params.entries().find(({ name }) => name === 'iof.window');
    assert.equal(window, { name: 'iof.window', value: 2 << 20, source: 'default', origin: 'as bootcom.queue.max' });
  });

  test('a queue holds at least one frame', () => {
    assert.ok(resolve(set({ 'bootcom.queue.max': '4MiB', 'bootcom.frame.max': '4MiB' })));
    const larger = set({ 'bootcom.queue.max': '4MiB', 'bootcom.frame.max': '5MiB' });
    assert.match(failure(larger).message, 'bootcom.frame.max');
  });
});
