/** A session agent with fake processes, for its tests: what it sends is told by name, in order. */

import {
  CONTROLLER, addressName, sessionAddress, type ErrorManager, type ProcessEvents, type SpawnSpec,
} from '@stci/interface';
import { assert } from '@stci/testkit';
import { Scope } from '../../dist/event/scope.js';
import type { AgentScope } from '../../dist/assembly/composition.js';
import { decode } from '../../dist/codec/cbor.js';
import { detectorProcess } from '../../dist/detector/process.js';
import { MetricStore } from '../../dist/metrics/store.js';
import type { AgentNode } from '../../dist/node/node.js';
import type { Service } from '../../dist/service/contracts.js';
import type { StreamEvents } from '../../dist/streams/stream-endpoint.js';
import { SessionAgent } from '../../dist/tools/session.js';
import type { ToolEnd } from '../../dist/tools/tool.js';
import { systemOf, type Machine } from '../binding/synthetic.js';
import { testPlace } from '../world.js';
import { fakeProcess, type FakeProcess } from './fake-tool.js';

const JOB = 7;
const INTS: Readonly<Record<string, number>> = {
  'binding.cpus': 0, 'tool.grace': 1000, 'iof.drain': 300, 'job.size.max': 100, 'job.ranks.per.host.max': 18,
};
const ONE_CORE: Machine = { sockets: 1, coresPerCache: 1 };

/** The launch of ranks 1 and 3 of 4 on host 2. */
export const LAUNCH = {
  session: 'ab', owner: CONTROLLER, size: 4, nodes: 2, apps: [{ program: 'p', args: [], env: {} }], env: {}, wdir: '/',
  stdin: { to: 'none' }, creditBytes: 1 << 20, hosts: [[2, 1, [[0, 1, 2, 2]]]],
};

export const restarting = { local: () => ({ type: 'restart', afterMs: 50 }) } as unknown as ErrorManager;

export interface Spawned {
  readonly process: FakeProcess;
  readonly spec: SpawnSpec;
}

export function play(
  errorManager = {} as unknown as ErrorManager, bindTo = 'auto', machine: Machine = ONE_CORE,
  services: readonly Service[] = [],
) {
  const place = testPlace();
  const strings: Readonly<Record<string, string>> = { 'binding.to': bindTo, 'binding.map': 'auto' };
  const params = {
    int: (name: string) => INTS[name], string: (name: string) => strings[name] ?? '', bool: () => false, list: () => [],
  };
  const system = systemOf(machine);
  const told: string[] = [];
  const spawned: Spawned[] = [];
  const out: string[] = [];
  const ends: ToolEnd[] = [];
  const faults: unknown[] = [];
  const swept: ((count: number) => void)[] = [];
  const handlers = new Map<string, (body: unknown, context: { readonly job: number }) => unknown>();
  let resent = 0;
  const stream = {
    upCreditBytes: 1 << 20,
    upPieces(pieces: readonly Uint8Array[]): boolean {
      const [rank, name, , bytes] = decode(Buffer.concat(pieces)) as [number, number, number, Uint8Array];
      told.push('output');
      out.push(`${rank}.${name} ${Buffer.from(bytes).toString()}`);
      this.upCreditBytes -= 64 + bytes.length;
      return true;
    },
  };
  let streamEvents: StreamEvents | undefined;
  const numbersOf = (body: { ranks?: unknown[]; restarts?: number; survivors?: unknown[]; swept?: number }): string =>
    body.ranks === undefined ? `swept ${body.swept}, restarts ${body.restarts}, left ${body.survivors?.length}`
      : body.ranks.map((each) => (Array.isArray(each) ? each[0] : (each as { rank: number }).rank) as number).join();
  const send = (to: number, name: string, body: object): undefined => {
    if (name === 'job.exited') ends.push(...(body as { ranks: ToolEnd[] }).ranks);
    told.push(`${name} ${numbersOf(body)}${to === CONTROLLER ? '' : ` to ${addressName(to)}`}`);
  };
  const processes = {
    ...place.platform.processes,
    spawn: (spec: SpawnSpec, events: ProcessEvents) => {
      const process = fakeProcess(10 + spawned.length, events);
      spawned.push({ process, spec });
      return process;
    },
    sweep: (_mark: string, _ms: number, done: (count: number) => void) => void swept.push(done),
  };
  const node = {
    name: 'session:2', holds: new Scope('agent'), params,
    platform: {
      ...place.platform, processes,
      env: { ...place.platform.env, systemText: (path: string) => system.get(path) },
    },
    identity: { self: sessionAddress(2), incarnation: 1 }, router: { parentLink: {} },
    metrics: new MetricStore(),
    resendUp: () => (resent += 1), fault: (fault: unknown) => void faults.push(fault),
    messages: {
      on: (name: string, handler: (body: unknown) => unknown) => void handlers.set(name, handler),
      send, sendNeighbour: (_link: unknown, name: string) => void told.push(name),
      sendList: (to: number, name: string, items: unknown[], bodyOf: (items: unknown[]) => object) =>
        send(to, name, bodyOf(items)),
    },
    streams: { attach: (_spec: unknown, events: StreamEvents) => ((streamEvents = events), stream) },
  } as unknown as AgentNode;
  const process = detectorProcess.create({}, {}, undefined);
  const scope = {
    jobParams: () => params, errorManager: () => errorManager,
    detectors: () => [{ name: 'process', module: process, notifier: '', isNamed: false }],
  } as unknown as AgentScope;
  const agent = new SessionAgent({ node, scope, hostName: 'c', ownsProcess: true, services });
  const next = (ms = 1): string[] => (place.run(ms), told.splice(0));
  const receive = (name: string, body: unknown): string[] => {
    assert.ok(handlers.has(name), name);
    handlers.get(name)?.(body, { job: JOB });
    return next();
  };
  const exit = (index: number, status = 0): void => {
    const { process } = spawned[index] as Spawned;
    process.group = 0;
    for (const name of ['stdout', 'stderr'] as const) process.events.onOutputEnd(name);
    process.events.onExit({ status });
  };
  const sweep = (count = 0): string[] => (swept.splice(0).forEach((done) => done(count)), next());
  const logs = (): string[] => spawned.map(({ process }) => process.log.filter((what) => what !== 'read').join());
  const isQuiet = (): boolean => place.world.scheduler.queue.pending().length === 0;
  return {
    agent, node, out, ends, faults, spawned, swept, receive, exit, sweep, next, logs, isQuiet, stream,
    resent: () => resent,
    credit: (): string[] => (streamEvents?.onCredit(), next()),
    input: (text: string, release: () => void) => streamEvents?.onDown(Buffer.from(text), release),
  };
}
