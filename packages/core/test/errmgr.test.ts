/** Error managers, selected and configured by parameters: what follows a failure of a rank, of a job, of a host. */

import type { Action, ErrorManager, FailureKind, SessionContext } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { resolved, composition, type Settings } from './assembly.js';
import { testPlace } from './world.js';

const KINDS: readonly FailureKind[] =
  ['tool-status', 'tool-signal', 'tool-start', 'agent-launch', 'agent-lost', 'timeout', 'interrupt', 'output'];

function managerOf(settings: Settings): ErrorManager {
  const { params } = resolved(settings);
  return composition.scope('policy', params, testPlace().platform).errorManager(params);
}

function onJob(settings: Settings, kind: FailureKind): readonly Action[] {
  return managerOf(settings).decide(failure(kind), { of: 'job', phase: 'running', ranksAlive: 3, failuresBefore: 0 });
}

/** The action, and its reason if it has one. */
function onHost(settings: Settings, facts: Partial<SessionContext>): string {
  const context = { of: 'session', phase: 'launching', hostName: 'h', starts: 1, hostsLeft: 5, sparesLeft: 0 } as const;
  const [action, ...more] = managerOf(settings).decide(failure('agent-lost'), { ...context, ...facts });
  assert.equal(more, []);
  const { type, ...rest } = action as Action & { reason?: string };
  return [type, ...Object.values(rest)].join(' ');
}

function failure(kind: FailureKind) {
  return { kind, error: { code: 'STCI_INTERNAL' as const, message: 'test' }, wallMs: 0, exitCode: 1 };
}

suite('errmgr: a job', (test) => {
  test('abort, the default, ends the job at every failure', () => {
    assert.is(managerOf({}).policy, 'abort');
    for (const kind of KINDS) assert.equal(onJob({}, kind), [{ type: 'end-job' }], kind);
  });

  test('continue goes on but when time or output is over', () => {
    const settings = { errmgr: 'continue' };
    assert.is(managerOf(settings).policy, 'continue');
    const ending = KINDS.filter((kind) => onJob(settings, kind)[0]?.type === 'end-job');
    assert.equal(ending, ['timeout', 'interrupt', 'output']);
    assert.equal(onJob(settings, 'tool-status'), [{ type: 'go-on' }]);
  });
});

suite('errmgr: a host that does not come up', (test) => {
  test('abort is the default, whatever is left, and of each error manager', () => {
    for (const errmgr of ['abort', 'continue']) {
      assert.is(onHost({ errmgr }, { hostsLeft: 1000, sparesLeft: 1000 }), 'end-launch');
    }
  });

  test('retry: so many further starts of each', () => {
    const of = (retries: string | undefined) => [1, 2, 3, 4].map((starts) => onHost({ 'errmgr.launch': 'retry',
      ...(retries !== undefined && { 'errmgr.launch.retries': retries }) }, { starts }).split(' ')[0]);
    assert.equal(of(undefined), ['start-again', 'start-again', 'end-launch', 'end-launch']);
    assert.equal(of('1'), ['start-again', 'end-launch', 'end-launch', 'end-launch']);
    assert.equal(of('3'), ['start-again', 'start-again', 'start-again', 'end-launch']);
    assert.throws(() => of('0'), /errmgr\.launch\.retries/);
    assert.is(onHost({ 'errmgr.launch': 'retry' }, { starts: 3 }),
      'end-launch h was started 3 times (errmgr.launch.retries)');
  });

  test('spare: as long as there is one', () => {
    assert.equal([2, 1, 0].map((sparesLeft) => onHost({ 'errmgr.launch': 'spare' }, { sparesLeft })),
      ['use-spare 0', 'use-spare 0', 'end-launch no spare host is left (--spares)']);
  });

  test('shrink: as long as enough are left', () => {
    const of = (min: string, ...left: number[]) => left.map((hostsLeft) =>
      onHost({ 'errmgr.launch': 'shrink', 'errmgr.launch.min': min }, { hostsLeft }).split(' ')[0]);
    assert.equal(of('1', 9, 1, 0), ['leave-out', 'leave-out', 'end-launch']);
    assert.equal(of('4', 5, 4, 3), ['leave-out', 'leave-out', 'end-launch']);
    assert.throws(() => of('0', 1), /errmgr\.launch\.min/);
  });
});
