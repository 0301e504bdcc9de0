/** Error managers, selected and configured by parameters: what follows a failure of a rank, of a job, of a host. */

import { readFileSync } from 'node:fs';
import { bootcomComponents, builtins, createComposition, createRegistry, resolveParams } from '@stci/core';
import { accept, decideOnHost, defineComponent, errmgrFramework, isOver } from '@stci/core/component';
import type { Action, ErrorCode, ErrorManager, FailureKind, SessionContext } from '@stci/interface';
import { launcherLocal } from '@stci/launcher-local';
import { assert, suite } from '@stci/testkit';
import { createTree, topologyTree } from '@stci/topology-tree';
import { Scope } from '../../dist/event/scope.js';
import { HostRecovery } from '../../dist/hosts/host-recovery.js';
import { MembershipTable } from '../../dist/membership/table.js';
import { resolved, composition, type Settings } from '../assembly.js';
import { specOf } from '../membership/specs.js';
import { testPlace } from '../world.js';

const KINDS: readonly FailureKind[] =
  ['tool-status', 'tool-signal', 'tool-start', 'agent-launch', 'agent-lost', 'timeout', 'interrupt', 'output'];

const JOB = { of: 'job', phase: 'running', ranksAlive: 3, failuresBefore: 0, attempt: 1 } as const;

function managerOf(settings: Settings): ErrorManager {
  const { params } = resolved(settings);
  return composition.scope('policy', params, testPlace().platform).errorManager(params);
}

function onJob(settings: Settings, kind: FailureKind): readonly Action[] {
  return managerOf(settings).decide(failure(kind), JOB);
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

  test('continue and notify go on but when time or output is over', () => {
    for (const [errmgr, type] of [['continue', 'go-on'], ['notify', 'notify']] as const) {
      assert.is(managerOf({ errmgr }).policy, errmgr);
      const ending = KINDS.filter((kind) => onJob({ errmgr }, kind)[0]?.type === 'end-job');
      assert.equal(ending, ['timeout', 'interrupt', 'output']);
      assert.equal(onJob({ errmgr }, 'tool-status'), [{ type }]);
    }
  });
});

suite('errmgr: restart, and policies by what failed', (test) => {
  const restart = { errmgr: 'restart', 'errmgr.restart.retries': '3', 'errmgr.restart.pause': '100ms' };
  const local = (settings: Settings, kind: FailureKind, attempt: number, code: ErrorCode = 'STCI_TOOL_STATUS') =>
    managerOf(settings).local?.({ ...failure(kind), error: { code, message: 'test' } }, { of: 'tool', attempt });
  const agent = (settings: Settings, attempt: number) =>
    managerOf(settings).local?.(failure('session-lost'), { of: 'agent', attempt });
  const global = (settings: Settings, kind: FailureKind, attempt: number): string =>
    managerOf(settings).decide(failure(kind), { ...JOB, attempt }).map(({ type }) => type).join();

  test('so many starts, after pauses that double up to the longest; then the controller decides', () => {
    const settings = { ...restart, 'errmgr.restart.pause.max': '300ms' };
    assert.equal([1, 2, 3, 4].map((attempt) => local(settings, 'tool-status', attempt)), [
      { type: 'restart', afterMs: 100 }, { type: 'restart', afterMs: 200 }, { type: 'restart', afterMs: 300 },
      { type: 'report' },
    ]);
    assert.is(global(settings, 'tool-status', 4), 'end-job');
    assert.is(global({ ...settings, 'errmgr.restart.then': 'continue' }, 'tool-status', 4), 'go-on');
  });

  test('a lost session agent is started again at once, then after such pauses, and so often', () => {
    assert.equal([1, 2, 3, 4].map((attempt) => agent(restart, attempt)), [
      { type: 'restart', afterMs: 0 }, { type: 'restart', afterMs: 100 }, { type: 'restart', afterMs: 200 },
      { type: 'report' },
    ]);
  });

  test('a program that does not exist is not started again; one that could not be started is', () => {
    assert.equal(local(restart, 'tool-start', 1, 'STCI_PROGRAM_NOT_FOUND'), { type: 'report' });
    assert.equal(local(restart, 'tool-start', 1, 'STCI_PROGRAM_SPAWN')?.type, 'restart');
  });

  test('ranks of a lost agent are started again; without any the job goes on; time and output end it', () => {
    for (const kind of ['agent-lost', 'session-lost'] as const) {
      const actions = [0, 1, 3, 4].map((attempt) => global(restart, kind, attempt));
      assert.equal(actions, ['go-on', 'restart', 'restart', 'end-job']);
    }
    for (const kind of ['timeout', 'interrupt', 'output'] as const) {
      assert.is(global({ ...restart, 'errmgr.restart.then': 'continue' }, kind, 0), 'end-job', kind);
    }
  });

  test('each kind has its policy; a session agent that of hosts, what has none that of errmgr', () => {
    const settings = { ...restart, errmgr: 'abort', 'errmgr.tool': 'restart', 'errmgr.host': 'continue' };
    assert.is(managerOf(settings).policy, 'tool=restart,host=continue,abort');
    assert.equal([local(settings, 'tool-signal', 1)?.type, managerOf(settings).toleratesFailures], ['restart', true]);
    assert.equal((['agent-lost', 'session-lost', 'tool-survived', 'timeout'] as const)
      .map((kind) => global(settings, kind, 1)), ['go-on', 'go-on', 'end-job', 'end-job']);
    assert.is(global({ ...settings, 'errmgr.agent': 'notify' }, 'session-lost', 1), 'notify');
    const agentsOnly = { ...restart, 'errmgr.tool': 'abort' };
    assert.equal([local(agentsOnly, 'tool-signal', 1), agent(agentsOnly, 1)?.type], [{ type: 'report' }, 'restart']);
    assert.equal([agent(settings, 1), managerOf({ 'errmgr.host': 'continue' }).local], [{ type: 'report' }, undefined]);
    assert.throws(() => managerOf({ 'errmgr.tool': 'resart' }), /unknown component.*resart.*restart/);
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
    const pauses = (pause: string) => [1, 2, 3, 10].map((starts) => onHost({ 'errmgr.launch': 'retry',
      'errmgr.launch.retries': '100', 'errmgr.launch.pause': pause }, { starts }));
    assert.equal(pauses('1s'), [1000, 2000, 4000, 512_000].map((ms) => `start-again ${ms}`));
    assert.equal(pauses('2s').at(-1), 'start-again 600000', 'no longer than ten minutes');
    assert.equal(pauses('0').at(-1), 'start-again 0');
    assert.is(onHost({ 'errmgr.launch': 'retry' }, { starts: 3 }),
      'end-launch h was started 3 times (errmgr.launch.retries)');
  });

  test('spare: as long as there is one', () => {
    assert.equal([2, 1, 0].map((sparesLeft) => onHost({ 'errmgr.launch': 'spare' }, { sparesLeft })),
      ['use-spare', 'use-spare', 'end-launch no spare host is left (--spares)']);
  });

  test('shrink: as long as enough are left', () => {
    const of = (min: string, ...left: number[]) => left.map((hostsLeft) =>
      onHost({ 'errmgr.launch': 'shrink', 'errmgr.launch.min': min }, { hostsLeft }).split(' ')[0]);
    assert.equal(of('1', 9, 1, 0), ['leave-out', 'leave-out', 'end-launch']);
    assert.equal(of('4', 5, 4, 3), ['leave-out', 'leave-out', 'end-launch']);
    assert.throws(() => of('0', 1), /errmgr\.launch\.min/);
  });
});

suite('errmgr: a host that is lost after the launch', (test) => {
  const onLoss = (settings: Settings, facts: Partial<SessionContext> = {}): string =>
    onHost(settings, { phase: 'idle', ...facts });

  test('is left out by default, whatever the launch policy, and whether a job runs there or not', () => {
    for (const launch of ['abort', 'retry', 'shrink', 'spare']) {
      for (const phase of ['idle', 'running'] as const) {
        assert.is(onLoss({ 'errmgr.launch': launch }, { phase, sparesLeft: 3 }), 'leave-out');
      }
    }
  });

  test('start-again: so many starts, each after a pause that is twice as long, up to ten minutes', () => {
    const of = (more: Settings, ...counts: number[]) => counts.map((starts) =>
      onLoss({ 'errmgr.loss': 'start-again', ...more }, { starts }));
    assert.equal(of({}, 1, 2, 5, 6), [
      'start-again 1000', 'start-again 2000', 'start-again 16000',
      'leave-out its agent was started 5 more times (errmgr.loss.retries)',
    ]);
    assert.equal(of({ 'errmgr.loss.retries': '1', 'errmgr.loss.pause': '0' }, 1, 2),
      ['start-again 0', 'leave-out its agent was started 1 more time (errmgr.loss.retries)']);
    assert.equal(of({ 'errmgr.loss.retries': '100' }, 10, 11, 100),
      ['start-again 512000', 'start-again 600000', 'start-again 600000']);
  });

  test('use-spare: as long as there is one', () => {
    assert.equal([2, 1, 0].map((sparesLeft) => onLoss({ 'errmgr.loss': 'use-spare' }, { sparesLeft })),
      ['use-spare', 'use-spare', 'leave-out no spare host is left (--spares)']);
  });
});

/** A recovery of two hosts, a and b, with spares; what it has carried out, with times. */
function recoveryOf(settings: Settings, spares: readonly string[] = []) {
  const place = testPlace();
  const { clock } = place.platform;
  const table = new MembershipTable(createTree(3, 2), ['a', 'b'].map(specOf));
  for (const event of ['start', 'up'] as const) table.apply(1, event);
  const done: string[] = [];
  const startMs = clock.nowMs();
  const add = (text: string): number => done.push(`${Math.round(clock.nowMs() - startMs)} ${text}`);
  const holds = new Scope('controller');
  const errorManager = managerOf(settings);
  const recovery = new HostRecovery({ clock, holds, errorManager, table, spares: spares.map(specOf) }, {
    emit: ({ action, name, starts }) => add([action, name, starts].filter(Boolean).join(' ')),
    start: (host, spec) => {
      table.assign(host, spec);
      add(`start ${spec.name}`);
    },
    leaveOut: (host) => add(`left ${host}`),
    endLaunch: (_host, reason) => add(`end ${reason}`),
  });
  const lose = (): void => recovery.onFailed('idle', { ...failure('agent-lost'), host: 1 });
  const up = (): void => table.note(1, { upMs: clock.nowMs() });
  return { place, recovery, table, up, lose, take: () => done.splice(0) };
}

suite('errmgr: carried out', (test) => {
  test('a lost host is started after growing pauses, then left out; anew when it has run well', () => {
    const { place, up, lose, take } = recoveryOf({ 'errmgr.loss': 'start-again', 'errmgr.loss.retries': '2' });
    lose();
    place.run(999);
    assert.equal(take(), ['0 start-again b 2']);
    place.run(1);
    assert.equal(take(), ['1000 start b']);
    lose();
    place.run(2000);
    assert.equal(take(), ['1000 start-again b 3', '3000 start b']);
    up();
    place.run(59_999);
    lose();
    assert.equal(take(), ['62999 leave-out b', '62999 left 1']);
    up();
    place.run(60_000);
    lose();
    place.run(1000);
    assert.equal(take(), ['122999 start-again b 2', '123999 start b']);
  });

  test('what is done about a host meanwhile, or the end of the session, ends its pause', () => {
    const { place, recovery, table, lose, take } = recoveryOf({ 'errmgr.loss': 'start-again' });
    lose();
    table.apply(1, 'fail');
    place.run(5000);
    assert.equal(take(), ['0 start-again b 2']);
    lose();
    recovery.close();
    lose();
    place.run(60_000);
    assert.equal(take(), ['5000 start-again b 3']);
  });

  test('a spare takes the index, and the next one that of a spare that does not come up', () => {
    const { recovery, lose, take } = recoveryOf({ 'errmgr.loss': 'use-spare' }, ['s1', 's2']);
    for (let count = 0; count < 3; count++) lose();
    assert.equal(take(), ['0 use-spare b', '0 start s1', '0 use-spare s1', '0 start s2', '0 leave-out s2', '0 left 1']);
    assert.equal(recovery.spares, []);
  });
});

/** The example of CONTRIBUTING.md. */
const errmgrOnce = defineComponent({
  framework: errmgrFramework,
  name: 'once',
  version: '1.0.0',
  frameworkVersion: 1,
  help: 'A rank that a signal ended is started again once; the others go on.',
  params: {},
  query: () => accept(1, 'only by name'),
  create: ({ hosts }): ErrorManager => ({
    policy: 'once',
    toleratesFailures: true,
    decide: (failure, context) => {
      if (context.of === 'session') return [decideOnHost(hosts, context)];
      return [{ type: isOver(failure) ? 'end-job' : 'go-on' }];
    },
    local: (failure, { attempt }) => {
      const again = failure.kind === 'tool-signal' && attempt === 1;
      return again ? { type: 'restart', afterMs: 100 } : { type: 'report' };
    },
  }),
});

suite('errmgr: a policy of a plugin', (test) => {
  const registry = createRegistry(builtins([errmgrOnce, topologyTree, launcherLocal, ...bootcomComponents]));
  const managerWith = (settings: Settings): ErrorManager => {
    const commandLine = Object.entries(settings).map(([key, value]) => ({ key, value }));
    const { params } = resolveParams(registry.catalog, { commandLine }, registry.rules);
    return createComposition(registry).scope('policy', params, testPlace().platform).errorManager(params);
  };

  test('is chosen by name, for all that fails or for some, and never else', () => {
    assert.is(managerWith({}).policy, 'abort');
    assert.is(managerWith({ errmgr: 'once' }).policy, 'once');
    const mixed = managerWith({ 'errmgr.tool': 'once' });
    assert.equal(mixed.local?.(failure('tool-signal'), { of: 'tool', attempt: 1 }), { type: 'restart', afterMs: 100 });
    assert.equal(mixed.decide(failure('tool-status'), JOB), [{ type: 'go-on' }]);
    assert.equal(mixed.decide(failure('agent-lost'), JOB), [{ type: 'end-job' }]);
    const listed = registry.components('errmgr').map(({ name }) => name);
    assert.equal(listed, ['abort', 'continue', 'notify', 'once', 'restart']);
  });

  test('is the one that the guide shows', () => {
    const words = (text: string): string => text.replace(/\s+/g, ' ');
    const at = (path: string): string => words(readFileSync(new URL(`../../../../${path}`, import.meta.url), 'utf8'));
    const [, example = ''] = /(const errmgrOnce = .*?\}\), \}\);)/.exec(at('CONTRIBUTING.md')) ?? [];
    assert.ok(example.length > 500 && at('packages/core/test/errmgr/errmgr.test.ts').includes(example));
  });
});
