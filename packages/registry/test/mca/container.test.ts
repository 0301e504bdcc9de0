/** The container, with one test for each of tsyringe's traps that it must avoid. */

import { assert, suite } from '@stci/testkit';
import { Scope } from '@stci/registry/container';
import { token } from '@stci/registry';
import { StciError } from '@stci/interface';

const NAME = token<string>('test.name');
const LOG = token<{ readonly owner: string }>('test.log');
const USER = token<{ readonly log: { readonly owner: string } }>('test.user');

function agents(count: number): Scope[] {
  const container = new Scope('process');
  container.provide(LOG, (resolver) => ({ owner: resolver.get(NAME) }));
  container.provide(USER, (resolver) => ({ log: resolver.get(LOG) }));
  return Array.from({ length: count }, (_, index) => {
    const scope = container.createScope(`agent ${index}`);
    scope.provideValue(NAME, `name ${index}`);
    return scope;
  });
}

suite('container', (test) => {
  test('values and factories; one object an agent', () => {
    const [scope] = agents(1) as [Scope];
    assert.is(scope.get(NAME), 'name 0');
    assert.is(scope.get(USER).log, scope.get(LOG));
    assert.is(scope.get(USER), scope.get(USER));
  });

  test('a factory runs at the first get, once', () => {
    const scope = new Scope('process').createScope('agent');
    let calls = 0;
    scope.provide(LOG, () => ({ owner: String(calls += 1) }));
    assert.is(calls, 0);
    scope.get(LOG);
    assert.is(scope.get(LOG).owner, '1');
  });

  test('values that are false to a condition are values', () => {
    const scope = new Scope('process').createScope('agent');
    scope.provideValue(NAME, '');
    assert.is(scope.get(NAME), '');
    let calls = 0;
    const zero = token<number>('test.zero');
    scope.provide(zero, () => (calls += 1) * 0);
    assert.equal([scope.get(zero), scope.get(zero), calls], [0, 0, 1]);
  });

  test('trap: a shared factory gives each agent its own object, in any order of use', () => {
    const scopes = agents(3);
    for (const index of [2, 0, 1, 0, 2]) assert.is(scopes[index]?.get(USER).log.owner, `name ${index}`);
    assert.is.not(scopes[0]?.get(LOG), scopes[1]?.get(LOG));
  });

  test('trap: a container knows nothing of another', () => {
    const first = new Scope('process');
    first.provideValue(NAME, 'first');
    const second = new Scope('process');
    second.provideValue(NAME, 'second');
    assert.is(second.createScope('b').get(NAME), 'second');
    assert.is(first.createScope('a').get(NAME), 'first');
    assert.throws(() => new Scope('process').createScope('c').get(NAME), /is registered in c/);
  });

  test('trap: what one agent registers, another does not see', () => {
    const container = new Scope('process');
    const [first, second] = [container.createScope('first'), container.createScope('second')];
    first.provideValue(NAME, 'first');
    assert.throws(() => second.get(NAME), /test\.name is registered in second/);
  });

  test('trap: nothing is replaced in silence', () => {
    const container = new Scope('process');
    container.provideValue(NAME, 'first');
    assert.throws(() => container.provideValue(NAME, 'second'), /not registered yet/);
    assert.throws(() => container.provide(NAME, () => 'second'), /not registered yet/);
    const scope = container.createScope('agent');
    assert.throws(() => scope.provideValue(NAME, 'third'), /not registered yet/);
    assert.is(scope.get(NAME), 'first');
  });

  test('trap: a container is closed when it has a scope', () => {
    const container = new Scope('process');
    container.createScope('agent');
    assert.throws(() => container.provideValue(NAME, 'late'), /before its first scope/);
    assert.throws(() => container.provide(NAME, () => 'late'), /before its first scope/);
  });

  test('trap: an unknown token is a mistake that names the way to it', () => {
    const [scope] = agents(1) as [Scope];
    assert.throws(() => scope.get(token('test.unknown')), /test\.unknown is registered in agent 0/);
    const broken = new Scope('process').createScope('broken');
    broken.provide(USER, (resolver) => ({ log: resolver.get(LOG) }));
    assert.throws(() => broken.get(USER), /test\.user → test\.log/);
  });

  test('trap: two tokens of one name are two', () => {
    const scope = new Scope('process').createScope('agent');
    const [a, b] = [token<number>('same'), token<number>('same')];
    scope.provideValue(a, 1);
    scope.provideValue(b, 2);
    assert.equal([scope.get(a), scope.get(b)], [1, 2]);
  });

  test('trap: a cycle is an error with its path, not the end of the stack', () => {
    const scope = new Scope('process').createScope('agent');
    const [a, b, c] = [token<object>('a'), token<object>('b'), token<object>('c')];
    scope.provide(a, (resolver) => ({ b: resolver.get(b) }));
    scope.provide(b, (resolver) => ({ c: resolver.get(c) }));
    scope.provide(c, (resolver) => ({ a: resolver.get(a) }));
    const error = assert.throwsCode('STCI_MCA_CYCLE', () => scope.get(a)) as StciError;
    assert.is(error.data['path'], 'a → b → c → a');
    assert.is((assert.throwsCode('STCI_MCA_CYCLE', () => scope.get(c)) as StciError).data['path'], 'c → a → b → c');
  });

  test('trap: the error of a factory comes through as it is, and the next try starts afresh', () => {
    const scope = new Scope('process').createScope('agent');
    const thrown = new StciError('STCI_TOPOLOGY_INVALID', 'no');
    let isBroken = true;
    scope.provide(LOG, () => {
      if (isBroken) throw thrown;
      return { owner: 'mended' };
    });
    scope.provide(USER, (resolver) => ({ log: resolver.get(LOG) }));
    assert.is(assert.throwsCode('STCI_TOPOLOGY_INVALID', () => scope.get(USER)), thrown);
    isBroken = false;
    assert.is(scope.get(USER).log.owner, 'mended');
  });

  test('trap: a factory that returns nothing would run again each time', () => {
    const scope = new Scope('process').createScope('agent');
    const empty = token<undefined>('empty');
    scope.provide(empty, () => undefined);
    assert.throws(() => scope.get(empty), /returns a value/);
    assert.throws(() => scope.provideValue(token<null>('null'), null), /has a value/);
  });
});
