/** Failures at the controller of a few hosts, which answer its probes or not. */

import {
  CONTROLLER, addressIndex, addressName, bootPosition, rootAddress, type Address, type DetectorModule, type Evidence,
  type FailureRecord, type HostIndex,
} from '@stci/interface';
import { createTree } from '@stci/topology-tree';
import type { AgentScope } from '../../dist/assembly/composition.js';
import { encode } from '../../dist/codec/cbor.js';
import { Scope } from '../../dist/event/scope.js';
import { ControllerFailures } from '../../dist/failure/controller-failures.js';
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

export const HOSTS = 4;
const ROUND_TRIP_MS = 2;

type Handler = (body: unknown, context: { readonly source: Address }) => unknown;

/** Hosts 0 to 3 in a chain, of which these answer the controller; it asks for ten times the latency. */
export function play(answering: readonly HostIndex[], latencyMs = 20) {
  const place = testPlace();
  const { clock } = place.platform;
  const handlers = new Map<string, Handler>();
  const sent: string[] = [];
  const { params } = resolved({ 'detector.latency': `${latencyMs}ms` });
  const node = {
    name: 'controller', platform: place.platform, params, fault: (fault: unknown) => { throw fault as Error; },
    metrics: new MetricStore(),
    messages: {
      on: (name: string, handler: Handler) => void handlers.set(name, handler),
      send: (to: Address, name: string) => void sent.push(`${name} to ${addressName(to)}`),
      sendList: (to: Address, name: string) => void sent.push(`${name} to ${addressName(to)}`),
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
  const holds = new Scope('session');
  const failures = new ControllerFailures({
    node, holds, scope, overlay, table: () => table, hostName: (host) => `h${host}`,
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
  const interest = (): unknown => handlers.get('failure.interest')?.({}, { source: CONTROLLER });
  interest();
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
  return { ...place, table, holds, failures, interest, sent, report, events, declared, records };
}
