/** Bootstrap policies, selected and configured by parameters. */

import type { BootstrapDecision, BootstrapPolicy } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { resolved, composition, type Settings } from './assembly.js';
import { testPlace } from './world.js';

function policyOf(settings: Settings): BootstrapPolicy {
  return composition.scope('policy', resolved(settings).params, testPlace().platform).bootstrapPolicy();
}

function decide(settings: Settings, facts: { attempts?: number; hostsLeft?: number; sparesLeft?: number } = {}):
  BootstrapDecision {
  const { attempts = 1, hostsLeft = 5, sparesLeft = 0 } = facts;
  const host = { name: 'h', slots: 1, slotsBound: false, origin: 'test' };
  const error = { code: 'STCI_LAUNCH_FAILED' as const, message: 'no' };
  return policyOf(settings).decide({ host, error, attempts }, { hostsLeft, sparesLeft });
}

suite('bootstrap policies', (test) => {
  test('abort is the default, whatever is left', () => {
    assert.is(policyOf({}).policy, 'abort');
    assert.is(decide({}, { hostsLeft: 1000, sparesLeft: 1000 }), 'abort');
  });

  test('retry: so many further starts of each', () => {
    const of = (count: string | undefined) => [1, 2, 3, 4].map((attempts) =>
      decide({ bootstrap: 'retry', ...(count !== undefined && { 'bootstrap.retry.count': count }) }, { attempts }));
    assert.equal(of(undefined), ['retry', 'retry', 'abort', 'abort']);
    assert.equal(of('1'), ['retry', 'abort', 'abort', 'abort']);
    assert.equal(of('3'), ['retry', 'retry', 'retry', 'abort']);
    assert.throws(() => of('0'), /bootstrap\.retry\.count/);
  });

  test('spare: as long as there is one', () => {
    assert.equal([2, 1, 0].map((sparesLeft) => decide({ bootstrap: 'spare' }, { sparesLeft })),
      ['spare', 'spare', 'abort']);
  });

  test('shrink: as long as enough are left', () => {
    const of = (min: string, ...left: number[]) => left.map((hostsLeft) =>
      decide({ bootstrap: 'shrink', 'bootstrap.shrink.min': min }, { hostsLeft }));
    assert.equal(of('1', 9, 1, 0), ['shrink', 'shrink', 'abort']);
    assert.equal(of('4', 5, 4, 3), ['shrink', 'shrink', 'abort']);
    assert.throws(() => of('0', 1), /bootstrap\.shrink\.min/);
  });
});
