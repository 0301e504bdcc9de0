/** Failures at the controller: who is given up for a silence, and what the records say of those who reported it. */

import {
  CONTROLLER, StciError, addressIndex, bootPosition, rootAddress, type Address, type DetectorModule,
  type Evidence, type FailureRecord, type HostIndex,
} from '@stci/interface';
import { createTree } from '@stci/topology-tree';
import { assert, suite } from '@stci/testkit';
import type { AgentScope } from '../../dist/assembly/composition.js';
import { encode } from '../../dist/codec/cbor.js';
import { arbiterCode } from '../../dist/failure/arbiter-code.js';
import { openArbiter } from '../../dist/failure/arbiter.js';
import { ControllerFailures } from '../../dist/failure/controller-failures.js';
import { RECORD_MS } from '../../dist/failure/records.js';
import { MemberView } from '../../dist/members/view.js';
import type { Declared } from '../../dist/membership/mender.js';
import { MembershipTable } from '../../dist/membership/table.js';
import { MetricStore } from '../../dist/metrics/store.js';
import type { AgentNode } from '../../dist/node/node.js';
import type { Overlay } from '../../dist/peers/contracts.js';
import { resolved } from '../assembly.js';
import { specs } from '../membership/specs.js';
import { testPlace } from '../world.js';
import { ScriptedDetector, directNotifier } from './watch-help.js';

arbiterCode.provide(openArbiter);

const HOSTS = 4;
const ROUND_TRIP_MS = 2;

type Handler = (body: unknown, context: { readonly source: Address }) => unknown;

/** Hosts 0 to 3 in a chain, of which these answer the controller; it asks for ten times the latency. */
function play(answering: readonly HostIndex[], latencyMs = 20) {
  const place = testPlace();
  const { clock } = place.platform;
  const handlers = new Map<string, Handler>();
  const { params } = resolved({ 'detector.latency': `${latencyMs}ms` });
  const node = {
    name: 'controller', platform: place.platform, params, fault: (fault: unknown) => { throw fault as Error; },
    metrics: new MetricStore(),
    messages: {
      on: (name: string, handler: Handler) => void handlers.set(name, handler),
      send: () => undefined,
      sendList: () => undefined,
      lazy: { add: (_names: readonly string[], load: (done: () => void) => void) => load(() => undefined) },
      request: (to: Address, _name: string, _body: unknown, done: (error?: Error) => void, options: {
        readonly timeoutMs: number;
      }) => {
        const answers = answering.includes(addressIndex(to));
        clock.after(answers ? ROUND_TRIP_MS : options.timeoutMs, () => done(answers ? undefined : new Error('silent')));
      },
    },
  } as unknown as AgentNode;
  const table = new MembershipTable(createTree(HOSTS + 1, 1), specs(HOSTS));
  for (let host = 0; host < HOSTS; host++) for (const event of ['start', 'up'] as const) table.apply(host, event);
  const self = { position: 0, incarnation: 0 };
  const nothing = (): void => undefined;
  const overlay = {
    self, members: new MemberView(self), topology: undefined, isLinked: () => true, send: nothing,
    sendReliably: nothing, whenOpen: nothing,
  } as unknown as Overlay;
  const module: DetectorModule = {
    watches: 'agents', topology: '', metrics: {}, open: () => new ScriptedDetector(),
    promise: () => ({ messagesPerSecond: 0, bytesPerSecond: 0, text: '' }),
  };
  const scope = {
    detectors: () => [{ name: 'scripted', module, notifier: 'direct', isNamed: true }], notifier: () => directNotifier,
  } as unknown as AgentScope;
  const [events, declared, records] = [[] as string[], [] as string[], [] as FailureRecord[]];
  const failures = new ControllerFailures({
    node, scope, overlay, table: () => table, hostName: (host) => `h${host}`,
    declare: (host, _incarnation, { error, notice }: Declared) => {
      declared.push(`h${host}: ${notice.evidence}`);
      table.apply(host, 'suspect', { evidence: 'e' });
      table.apply(host, 'fence', { evidence: 'e' });
      failures.onHostLost(host, error, undefined, notice);
    },
    onRecord: (record) => void records.push(record),
    emit: ({ host, change }) => void events.push(`${change} h${host}`),
  });
  failures.start();
  handlers.get('failure.interest')?.({}, { source: CONTROLLER });
  /** The agent of host `by` says that this host is silent. */
  const report = (by: HostIndex, host: HostIndex, incarnation = 1): void => {
    const reporter = { position: bootPosition(by), incarnation: 1 };
    const notice: Evidence = {
      reporter, subject: { kind: 'host', host, incarnation }, cause: 'silent', evidence: 'no heartbeat',
      detector: 'scripted', suspectedWallMs: 1, confirmedWallMs: 1,
    };
    const body = { notifier: 'direct', incarnation: 1, body: encode(notice) };
    handlers.get('notifier.message')?.(body, { source: rootAddress(by) });
    place.run(1);
  };
  return { ...place, table, failures, report, events, declared, records };
}

suite('failures at the controller', (test) => {
  test('a host that is silent alone is given up; its record names who else reported it, and when it is decided', () => {
    const { report, run, events, declared, records } = play([0, 1, 2]);
    for (const by of [0, 1, 1, 2]) report(by, 3);
    assert.equal([events, declared, records], [['suspected h3'], [], []]);
    run(1000);
    assert.equal([events, declared], [['suspected h3'], ['h3: no heartbeat']]);
    run(RECORD_MS);
    assert.equal(records.map(({ hostName, reporter, confirmers }) => [hostName, reporter, confirmers]),
      [['h3', 'root:0', ['root:1', 'root:2']]]);
  });

  test('no record is told before it is decided, however long that takes', () => {
    const { report, run, declared, records } = play([0, 1, 2], 200);
    report(0, 3);
    run(RECORD_MS + 500);
    assert.equal([declared, records], [[], []]);
    run(500);
    assert.equal([declared.length, records], [1, []]);
    run(RECORD_MS);
    assert.equal(records.map(({ hostName }) => hostName), ['h3']);
  });

  test('of hosts that are silent together, the one above is given up, and the report of those below is refuted', () => {
    const { report, run, events, declared, records } = play([0]);
    report(0, 3);
    run(1000);
    assert.equal(declared, ['h1: no answer, and silence below it (no heartbeat)']);
    assert.equal(events, ['suspected h3', 'refuted h3']);
    run(RECORD_MS);
    assert.equal(records.map(({ hostName }) => hostName), ['h1']);
  });

  test('an agent above that is just being linked to another is not given up for a silence below it', () => {
    const { table, report, run, events, declared } = play([0]);
    report(0, 3);
    table.apply(1, 'suspect', { evidence: 'its link closed' });
    run(60_000);
    assert.equal([declared, events], [[], ['suspected h3', 'refuted h3']]);
  });

  test('a host that answers is refuted, without a record; what is said of it soon after is asked, not told', () => {
    const { report, run, events, declared, records } = play([0, 1, 2, 3]);
    report(0, 3);
    run(1000);
    report(1, 3);
    run(60_000);
    assert.equal([events.filter((event) => event === 'suspected h3').length, events.slice(0, 2)],
      [1, ['suspected h3', 'refuted h3']]);
    assert.equal([declared, records], [[], []]);
  });

  test('a host that does not come up, and ends the launch, has a record that says so', () => {
    const { failures, records } = play([]);
    const error = new StciError('STCI_LAUNCH_FAILED', 'no route\nto it');
    for (const [host, reason] of [[1, 'no host is left'], [2, undefined]] as const) {
      failures.onStartFailed({ host, reporter: 0, cause: 'not-started', error });
      failures.onLaunchEnding(host, reason);
    }
    failures.stop();
    assert.equal(records.map(({ hostName, reporter, cause, evidence, policy }) =>
      [hostName, reporter, cause, evidence, policy]), [
      ['h1', 'root:0', 'not-started', 'no route', ['the launch is ended: no host is left']],
      ['h2', 'root:0', 'not-started', 'no route', ['the launch is ended']],
    ]);
  });

  test('a host that is given up for its link while it is asked has its record at once', () => {
    const { failures, report, records, table } = play([0, 1, 2]);
    report(0, 3);
    for (const event of ['suspect', 'fence'] as const) table.apply(3, event, { evidence: 'its link closed' });
    failures.onHostLost(3, new StciError('STCI_AGENT_LOST', 'its link closed'), undefined, undefined);
    assert.equal(records, []);
    failures.stop();
    assert.equal(records.map(({ hostName }) => hostName), ['h3']);
  });

  test('what is said of an agent that was given up, or is not there yet, says nothing of the one there', () => {
    const { failures, report, run, events, declared, table } = play([0, 1, 2]);
    report(0, 3);
    run(1000);
    for (const event of ['plan', 'start', 'up'] as const) table.apply(3, event);
    failures.onUp(3);
    for (const incarnation of [1, 3]) report(1, 3, incarnation);
    run(60_000);
    assert.equal([declared.length, events.filter((event) => event === 'suspected h3').length], [1, 1]);
    assert.is(table.get(3).state, 'up');
  });

  test('after the end of the session nothing is given up', () => {
    const { failures, report, run, declared } = play([]);
    report(0, 3);
    failures.stop();
    run(60_000);
    assert.equal(declared, []);
  });
});
