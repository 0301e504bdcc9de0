/** Params as read by the runtime, and the snapshot that agents are sent. */

import { assert, suite } from '@stci/testkit';
import { builtins } from '@stci/core';
import { createRegistry, paramsFromSnapshot, paramsSnapshot, resolveParams } from '@stci/registry';
import type { ParamSnapshot } from '@stci/registry';
import { withJobParams } from '../../dist/config/params.js';
import { StciError } from '@stci/interface';

const registry = createRegistry(builtins());
const { params } = resolveParams(registry.catalog, {
  commandLine: [{ key: 'launcher', value: '^flat' }, { key: 'launcher.tree.arity', value: '3' }],
});
const snapshot = paramsSnapshot(registry.catalog, params);

function failure(changed: Record<string, unknown>): StciError {
  try {
    paramsFromSnapshot(registry.catalog, changed as ParamSnapshot);
  } catch (error) {
    if (error instanceof StciError) return error;
    throw error;
  }
  throw new Error('Expected the snapshot to be refused');
}

suite('params', (test) => {
  test('read by type', () => {
    assert.is(params.int('launcher.tree.arity'), 3);
    assert.is(params.int('tool.grace'), 2000);
    assert.is(params.int('iof.window'), 16 * 1024 * 1024);
    assert.is(params.string('launcher.root.method'), 'auto');
    assert.is(params.string('bootcom.ws.ports'), '');
    assert.equal(params.list('launcher'), ['^flat']);
    assert.is(params.has('launcher'), true);
    assert.is(params.has('launchers'), false);
  });

  test('a wrong name or type is a programmer\'s mistake', () => {
    for (const read of [
      () => params.int('no.such'),
      () => params.int('launcher'),
      () => params.string('tool.grace'),
      () => params.bool('tool.grace'),
      () => params.list('launcher.root.method'),
    ]) {
      assert.throws(read, /Assertion failed/);
    }
  });

  test('under: short names of what lies below, and no more', () => {
    assert.equal(params.under('launcher.tree'), { arity: 3 });
    assert.equal(Object.keys(params.under('launcher')).sort(),
      ['handshake', 'root.method', 'session.method', 'stop', 'tree.arity', 'window']);
    assert.equal(params.under('launch'), {});
    assert.ok(Object.isFrozen(params.under('launcher')));
  });
});

suite('params: snapshot', (test) => {
  test('is plain data that comes back equal', () => {
    const rebuilt = paramsFromSnapshot(registry.catalog, JSON.parse(JSON.stringify(snapshot)) as ParamSnapshot);
    const values = (from: typeof params) => from.entries().map(({ name, value }) => [name, value]);
    assert.equal(values(rebuilt), values(params));
    assert.ok(rebuilt.entries().every((param) => param.source === 'boot record'));
    assert.ok(Object.isFrozen(rebuilt.list('launcher')));
  });

  test('what only the front-end uses is not sent', () => {
    const scoped = createRegistry({
      frameworks: [],
      components: [],
      groups: [{
        name: 'g',
        help: 'test',
        params: {
          here: { type: 'int', default: 1, help: 'test', scope: 'front-end' },
          each: { type: 'int', default: 2, help: 'test', scope: 'session' },
          all: { type: 'int', default: 3, help: 'test', scope: 'job' },
        },
      }],
    });
    const sent = paramsSnapshot(scoped.catalog, resolveParams(scoped.catalog, {}).params);
    assert.equal(sent, { 'g.all': 3, 'g.each': 2 });
    assert.is(paramsFromSnapshot(scoped.catalog, sent).has('g.here'), false);
  });

  test("a job's parameters take the place of its session's; others are refused by name", () => {
    const others = ['errmgr', 'errmgr.tool', 'iof.drain', 'tool.grace'].filter((name) =>
      registry.catalog.get(name)?.spec.scope !== 'job');
    assert.equal(others, []);
    const together = withJobParams(registry.catalog, params, { 'tool.grace': 77, errmgr: ['continue'] });
    assert.equal([together.int('tool.grace'), together.list('errmgr')], [77, ['continue']]);
    assert.is(params.int('tool.grace'), 2000, 'the session keeps its own');
    for (const [bad, words] of [
      [{ 'launcher.window': 3 }, /launcher\.window is a parameter of the session/],
      [{ 'tool.grace': 'x' }, /tool\.grace/], [{ nothing: 1 }, /nothing/],
    ] as const) assert.throws(() => withJobParams(registry.catalog, params, bad), words);
  });

  test('an unknown name tells of another version', () => {
    const error = failure({ ...snapshot, 'launcher.tree.arty': 4 });
    assert.is(error.code, 'STCI_PARAM_UNKNOWN');
    for (const part of ['launcher.tree.arty', 'launcher.tree.arity', 'different versions']) {
      assert.match(error.message, part);
    }
  });

  test('a missing name tells of another version', () => {
    const { 'tool.grace': _, ...rest } = snapshot;
    assert.match(failure(rest).message, /tool\.grace.*different versions/);
  });

  for (const [name, value] of [
    ['tool.grace', '2s'], ['tool.grace', -1], ['tool.grace', 1.5], ['tool.grace', null], ['tool.grace', NaN],
    ['launcher.window', 5000], ['launcher', 'tree'], ['launcher', ['mesh']], ['launcher', [1]], ['launcher', ['']],
    ['launcher.root.method', 'fork'], ['bootcom.ws.ports', 7], ['tool.grace', Object.create(null)],
  ] as const) {
    test(`a snapshot with ${name} = ${typeof value === 'object' ? 'an object' : String(value)} is refused`, () => {
      const error = failure({ ...snapshot, [name]: value });
      assert.match(error.message, name);
      assert.match(error.message, 'different versions');
    });
  }
});
