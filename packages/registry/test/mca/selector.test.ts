/** Selection in its three modes, with lists, ties, declines, and what components see. */

import { assert, suite, seeded } from '@stci/testkit';
import { accept, decline } from '@stci/interface';
import type { ParamSpecs, QueryContext } from '@stci/interface';
import { component, createRegistry, framework, selector } from './fixtures.js';
import type { Query, Request, TestFramework } from './fixtures.js';

const one = framework('plan', 'one');
const many = framework('watch', 'many');
const keyed = framework('shape', 'keyed');

type Listed = readonly [name: string, query?: Parameters<typeof component>[2], more?: Parameters<typeof component>[3]];

function registryOf(of: TestFramework, ...components: readonly Listed[]) {
  return createRegistry({
    frameworks: [of],
    components: components.map(([name, query, more]) => component(of, name, query, more)),
  });
}

suite('selection: one', (test) => {
  const registry = registryOf(one, ['low', accept(1)], ['high', accept(9, 'quick')], ['no', decline('no such host')]);
  const chosen = (set: Record<string, string>) => selector(registry, set).one(one).component.name;

  test('the highest priority of those that accept', () => {
    const selected = selector(registry).one(one);
    assert.equal([selected.component.name, selected.priority, selected.reason], ['high', 9, 'quick']);
  });

  for (const [list, name] of [['low', 'low'], ['low,high', 'high'], ['high,low', 'high'], ['^high', 'low'],
    ['^no', 'high'], ['^no,high', 'low']] as const) {
    test(`list ${list} takes ${name}`, () => assert.is(chosen({ plan: list }), name));
  }

  test('ties break by name, whatever the order of registration', () => {
    const random = seeded(11);
    for (let round = 0; round < 50; round += 1) {
      const names = ['b', 'a', 'c', 'd'].sort(() => random.below(3) - 1);
      const tied = createRegistry({ frameworks: [one], components: names.map((name) => component(one, name)) });
      assert.is(selector(tied).one(one).component.name, 'a', names.join());
    }
  });

  test('a named one that declines is an error with its reason and the place of the list', () => {
    for (const list of ['no', 'no,low', 'high,no']) {
      const error = assert.throwsCode('STCI_MCA_COMPONENT_DECLINED', () => chosen({ plan: list }));
      for (const part of ['plan component no', 'no such host', `--mca plan=${list}`]) assert.match(error.message, part);
    }
  });

  test('none left is an error with every reason', () => {
    const error = assert.throwsCode('STCI_MCA_NONE_AVAILABLE', () => chosen({ plan: '^low,high' }));
    for (const part of ['no: no such host', 'low: left out', 'stci info plan --why']) assert.match(error.message, part);
    assert.throwsCode('STCI_MCA_NONE_AVAILABLE', () => selector(registryOf(one)).one(one));
  });

  test('a request that is wrong is told in its own words and code, unless another component takes it', () => {
    const wrong = decline('a and b cannot be combined', 'STCI_HOSTLIST_INVALID');
    const alone = registryOf(one, ['no', decline('not here')], ['strict', wrong]);
    for (const plan of ['', 'strict']) {
      const select = selector(alone, plan === '' ? {} : { plan });
      const error = assert.throwsCode('STCI_HOSTLIST_INVALID', () => select.one(one));
      assert.is(error.message, 'a and b cannot be combined.');
    }
    assert.is(selector(registryOf(one, ['strict', wrong], ['a', accept(1)])).one(one).component.name, 'a');
  });

  test('a framework is asked in its own mode', () => {
    assert.throws(() => selector(registry).many(one), /mode many/);
    assert.throws(() => selector(registry).keyed(one), /mode keyed/);
    assert.throws(() => selector(registryOf(keyed)).one(keyed), /mode one/);
    assert.throwsCode('STCI_MCA_FRAMEWORK_UNKNOWN', () => selector(registry).one(framework('plans', 'one')));
  });
});

suite('selection: many', (test) => {
  const registry = registryOf(many, ['b', accept(5)], ['c', accept(7)], ['a', accept(5)], ['no', decline('not here')]);
  const names = (set: Record<string, string> = {}) => {
    return selector(registry, set).many(many).map((selected) => selected.component.name);
  };

  test('all that accept, highest first, ties by name', () => assert.equal(names(), ['c', 'a', 'b']));
  test('of a list only its own', () => assert.equal(names({ watch: 'b,c' }), ['c', 'b']));
  test('without those left out', () => assert.equal(names({ watch: '^c' }), ['a', 'b']));
  test('may be none', () => assert.equal(names({ watch: '^a,b,c' }), []));
  test('what runs always need not be named, and cannot be left out', () => {
    const always = { ...many, always: ['a'] };
    const own = registryOf(always, ['a', accept(1)], ['b', accept(2)], ['c', accept(3)]);
    const chosen = (watch: string) => selector(own, { watch }).many(always).map(({ component: { name } }) => name);
    assert.equal([chosen('b'), chosen('a'), chosen('^b')], [['b', 'a'], ['a'], ['c', 'a']]);
    assert.match(assert.throwsCode('STCI_PARAM_INVALID', () => chosen('^a')).message, 'cannot be left out');
  });
  test('a named one that declines is an error', () => {
    assert.throwsCode('STCI_MCA_COMPONENT_DECLINED', () => names({ watch: 'a,no' }));
  });
});

suite('selection: keyed', (test) => {
  const upTo = (sizeMax: number, priority: number) => ({ request }: QueryContext<Request | undefined>) => {
    if (request === undefined) throw new TypeError('Expected a request');
    return request.size <= sizeMax ? accept(priority) : decline(`more than ${sizeMax}`);
  };
  const registry = registryOf(keyed, ['small', upTo(4, 9)], ['large', upTo(100, 1)]);
  const shapes = (set: Record<string, string> = {}) => selector(registry, set).keyed(keyed);

  test('makes the kind that is named, a new module each time', () => {
    const made = shapes().create('large', {}, { size: 3 });
    assert.equal(made, { name: 'large', params: {}, request: { size: 3 } });
    assert.is.not(shapes().create('large', {}, { size: 3 }), made);
  });

  test('asks only the named kind', () => {
    const asked: string[] = [];
    const spy = (name: string) => () => {
      asked.push(name);
      return accept(1);
    };
    const spied = registryOf(keyed, ['a', spy('a')], ['b', spy('b')]);
    selector(spied).keyed(keyed).create('b', {}, { size: 1 });
    assert.equal(asked, ['b']);
  });

  test('a kind that declines the object is an error', () => {
    const error = assert.throwsCode('STCI_MCA_COMPONENT_DECLINED', () => shapes().create('small', {}, { size: 5 }));
    assert.match(error.message, 'more than 4');
  });

  test('a kind that the list leaves out is an error that shows the list', () => {
    for (const list of ['^large', 'small']) {
      const make = () => shapes({ shape: list }).create('large', {}, { size: 5 });
      assert.match(assert.throwsCode('STCI_MCA_COMPONENT_DECLINED', make).message, `--mca shape=${list}`);
    }
  });

  test('an unknown kind is told with the nearest', () => {
    const error = assert.throwsCode('STCI_MCA_COMPONENT_UNKNOWN', () => shapes().create('smal', {}, { size: 1 }));
    assert.match(error.message, 'Did you mean small?');
  });

  test('kinds are known without asking', () => {
    assert.equal(shapes().kinds, ['large', 'small']);
    assert.equal(shapes({ shape: '^small' }).kinds, ['large']);
  });

  test('the best depends on the object', () => {
    assert.is(shapes().best({ size: 4 }).component.name, 'small');
    assert.is(shapes().best({ size: 5 }).component.name, 'large');
    assert.is(shapes({ shape: 'small,large' }).best({ size: 5 }).component.name, 'large');
    assert.throwsCode('STCI_MCA_NONE_AVAILABLE', () => shapes().best({ size: 101 }));
    assert.throwsCode('STCI_MCA_COMPONENT_DECLINED', () => shapes({ shape: 'small' }).best({ size: 5 }));
  });
});

suite('selection: what components see', (test) => {
  test('their own parameters and the facts, frozen, when asked and when made', () => {
    const contexts: QueryContext<Request | undefined>[] = [];
    const params: ParamSpecs = {
      arity: { type: 'int', default: 8, help: 'Arity.' },
      hosts: { type: 'list', default: [], help: 'Hosts.' },
    };
    const registry = registryOf(one, ['tree', (context) => {
      contexts.push(context);
      return accept(1);
    }, { params }]);
    const facts = { hostname: 'n1' };
    const selected = selector(registry, { 'plan.tree.arity': '3', 'plan.tree.hosts': 'a,b' }, facts).one(one);
    const made = selected.create({}, undefined);
    assert.equal(contexts[0]?.params, { arity: 3, hosts: ['a', 'b'] });
    assert.equal(contexts[0]?.facts, facts);
    assert.ok(Object.isFrozen(contexts[0]?.params) && Object.isFrozen(contexts[0]?.facts));
    assert.ok(Object.isFrozen(contexts[0]?.params['hosts']));
    assert.ok(!Object.isFrozen(facts), 'the caller\'s record is left alone');
    assert.equal(made.params, { arity: 3, hosts: ['a', 'b'] });
  });

  test('selectors of one registry do not see each other\'s values', () => {
    const registry = registryOf(one, ['a', ({ params }) => accept(params['p'] as number),
      { params: { p: { type: 'int', default: 5, help: 'P.' } } }], ['b', accept(6)]);
    const first = selector(registry, { 'plan.a.p': '9' });
    const second = selector(registry, { plan: 'b' });
    const third = selector(registry);
    const names = [first, second, third].map((each) => each.one(one).component.name);
    assert.equal(names, ['a', 'b', 'b']);
    assert.is(first.one(one).create({}, undefined).params['p'], 9);
    assert.is(first.one(one).component.name, 'a');
  });

  test('whether they were asked for by name: by the list, or as the kind of an object', () => {
    const asked: (readonly [string, boolean | undefined])[] = [];
    const spy = (name: string): [string, Query] => [name, ({ named }) => {
      asked.push([name, named]);
      return accept(1);
    }];
    const ask = (run: () => unknown) => {
      asked.length = 0;
      run();
      return [...asked];
    };
    const plans = registryOf(one, spy('a'), spy('b'));
    assert.equal(ask(() => selector(plans).one(one)), [['a', false], ['b', false]]);
    assert.equal(ask(() => selector(plans, { plan: 'b' }).one(one)), [['b', true]]);
    assert.equal(ask(() => selector(plans, { plan: '^b' }).one(one)), [['a', false]]);
    const shapes = selector(registryOf(keyed, spy('a'), spy('b'))).keyed(keyed);
    assert.equal(ask(() => shapes.create('b', {}, { size: 1 })), [['b', true]]);
    assert.equal(ask(() => shapes.best({ size: 1 })), [['a', false], ['b', false]]);
  });

  test('explain keeps every verdict and never throws for one', () => {
    const registry = registryOf(one, ['no', decline('not here')], ['a', accept(1)], ['z', accept(3, 'quick')], ['x']);
    const { list, candidates } = selector(registry, { plan: 'no,a,z' }).explain('plan');
    const verdicts = candidates.map(({ component: { name }, verdict, priority, reason, named }) => {
      return [name, verdict, priority, reason, named];
    });
    assert.equal(verdicts, [
      ['z', 'accepted', 3, 'quick', true],
      ['a', 'accepted', 1, undefined, true],
      ['no', 'declined', undefined, 'not here', true],
      ['x', 'excluded', undefined, 'not in the selection list', false],
    ]);
    assert.equal(list, { items: ['no', 'a', 'z'], source: 'command line', origin: '--mca plan=no,a,z' });
  });
});
