/** The star at a root agent: whose programs it tells of a failure. */

import {
  CONTROLLER, addressName, rootAddress, sessionAddress, type Address, type JobId, type MemberId, type Members,
  type NotifierEvent,
} from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import type { AgentScope } from '../../dist/assembly/composition.js';
import { encode } from '../../dist/codec/cbor.js';
import { detectorProcess } from '../../dist/detector/process.js';
import { Scope } from '../../dist/event/scope.js';
import { RootFailures } from '../../dist/failure/root-failures.js';
import { MetricStore } from '../../dist/metrics/store.js';
import type { AgentNode } from '../../dist/node/node.js';
import { TreeOverlay } from '../../dist/peers/tree-overlay.js';
import { testPlace } from '../world.js';

const FOUND = {
  cause: 'signalled', evidence: 'e', detector: 'process', suspectedWallMs: 1, confirmedWallMs: 1,
} as const;

type Handler = (body: unknown, context: { readonly job: JobId; readonly source: Address }) => unknown;

/** Root agent of host 0, with session agents of some jobs. */
function rootAgent(jobs: Set<JobId>) {
  const place = testPlace();
  const handlers = new Map<string, Handler>();
  const told: string[] = [];
  const waits: string[] = [];
  const bodies: unknown[] = [];
  const joined: MemberId[] = [];
  const opened: unknown[] = [];
  const node = {
    name: 'root:0', platform: place.platform, holds: new Scope('agent'),
    identity: { self: rootAddress(0), incarnation: 1 },
    fault: (fault: unknown) => { throw fault as Error; },
    metrics: new MetricStore(),
    params: { string: () => '', int: () => 1, list: () => [] },
    router: {
      parentLink: { peer: rootAddress(4) } as { peer: Address } | undefined,
      links: () => [],
      link: (address: number, job: JobId) => (address === sessionAddress(0) && jobs.has(job) ? { job } : undefined),
    },
    messages: {
      on: (name: string, handler: Handler) => void handlers.set(name, handler),
      send: (to: number, name: string, body: unknown) => {
        told.push(`${name} to ${addressName(to)}`);
        bodies.push(body);
      },
      sendNeighbour: (link: { job: JobId }, name: string) => void told.push(`${name} to job ${link.job}`),
      observeWaits: () => undefined,
      waits: {
        begin: (kind: string, number: string, on: Address | 'all') =>
          waits.push(`${kind} ${number}: ${on === 'all' ? on : addressName(on)}`),
        end: (kind: string, number: string) => waits.push(`${kind} ${number} over`),
      },
      transport: { dropKept: () => undefined },
    },
    collects: { on: (name: string, own: Handler) => void handlers.set(name, own) },
  } as unknown as AgentNode;
  const notifier = {
    topology: '',
    open: ({ members }: { members: Members }) => {
      opened.push(...members.living().map(({ position, incarnation }) => [position, incarnation]));
      const on = (event: NotifierEvent) => (event.type === 'message'
        ? [{ type: 'deliver', source: event.from, payload: event.body }] : []);
      return { dueMs: undefined, on };
    },
  };
  const scope = {
    detectors: () => [{
      name: 'process', module: detectorProcess.create({}, {}, undefined), notifier: 'auto', isNamed: false,
    }],
    notifier: () => notifier,
  } as unknown as AgentScope;
  const overlay = new TreeOverlay(node);
  const { members } = overlay;
  const failures = new RootFailures({
    node, scope, overlay, jobs: () => jobs, fence: () => undefined, cutOff: () => undefined,
    parentGone: () => void told.push('parent gone'),
  });
  const receive = (name: string, body: unknown, job = 0): string[] => {
    told.length = 0;
    handlers.get(name)?.(body, { job, source: CONTROLLER });
    return [...told];
  };
  receive('failure.watch', { members: [[0, 1, 0], [1, 5, 1]] });
  members.observe(({ member, state }) => state === 'alive' && joined.push(member));
  const tool = (job: JobId, rank: number): string[] => {
    told.length = 0;
    failures.onToolsFailed(job, [{ ...FOUND, rank, attempt: 1, failedWallMs: undefined }]);
    return [...told];
  };
  const noticeOf = (position: number) => {
    const subject = { kind: 'host', host: position - 1, incarnation: 1 };
    return { ...FOUND, subject, reporter: { position: 0, incarnation: 0 } };
  };
  const host = (position: number): string[] => verdict(position, 'dead', noticeOf(position));
  /** The controller's detector reports it: nothing is decided. */
  const reported = (position: number): void => {
    receive('notifier.message', { notifier: 'tree', incarnation: 0, body: encode(noticeOf(position)) });
    place.run(1);
  };
  const run = (forMs: number): string[] => {
    told.length = 0;
    place.run(forMs);
    return [...told];
  };
  const verdict = (position: number, verdict: 'dead' | 'refuted', notice?: unknown): string[] =>
    receive('failure.changes', { changes: [{ member: { position, incarnation: 1 }, change: verdict, notice }] });
  const ask = (name: string): unknown => handlers.get(name)?.({}, { job: 0, source: CONTROLLER });
  const isQuiet = (): boolean => place.world.scheduler.queue.pending().length === 0;
  return {
    failures, overlay, node, receive, tool, host, reported, verdict, ask, run, isQuiet, bodies, joined, opened, waits,
  };
}

suite('failures at a root agent', (test) => {
  test('only jobs that want to know are told: of hosts, and of their own ranks', () => {
    const jobs = new Set([1, 2, 3]);
    const { receive, tool, host } = rootAgent(jobs);
    assert.equal([host(2), tool(1, 0)], [[], []], 'nobody wants to know');
    assert.equal(receive('failure.interest', {}, 1), ['failure.interest to controller'], 'all agents are to tell');
    assert.equal(host(3), ['failure.notice to job 1']);
    receive('failure.interest', {}, 3);
    assert.equal(host(4), ['failure.notice to job 1', 'failure.notice to job 3']);
    assert.equal(host(4), [], 'once');
    assert.equal([tool(1, 1), tool(2, 1), tool(3, 1)], [['failure.notice to job 1'], [], ['failure.notice to job 3']]);
  });

  test('the controller is told when this agent was told: after a while, and before if it collects that', () => {
    const { ask, host, run, bodies } = rootAgent(new Set([1]));
    host(2);
    const collected = ask('failure.told') as [string, number][];
    assert.equal(collected.map(([id]) => id), ['host 1#1']);
    assert.equal([run(200), run(100)], [[], ['failure.seen to controller']], 'what was collected may be lost');
    assert.equal(bodies, [{ seen: collected, members: [] }]);
    assert.equal([ask('failure.told'), run(10_000)], [[], []], 'nothing new, nor later');
  });

  test('the interest of a job ends with it', () => {
    const jobs = new Set([1, 2]);
    const { receive, host } = rootAgent(jobs);
    receive('failure.interest', {}, 1);
    jobs.delete(1);
    assert.equal(host(2), []);
    receive('failure.interest', {}, 2);
    jobs.add(1); // Numbers of jobs are not used again: if this one were, it would have to say so itself.
    assert.equal(host(3), ['failure.notice to job 2']);
  });

  test('the controller is told which subjects this one was told of, and of which agents it has decided nothing', () => {
    const { receive, host, reported, tool, verdict, run, bodies, isQuiet } = rootAgent(new Set([1]));
    for (const position of [2, 3, 4]) reported(position);
    tool(1, 7);
    host(5);
    for (const [position, decided] of [[3, 'refuted'], [4, 'dead']] as const) verdict(position, decided);
    run(250);
    const [{ seen, members }] = bodies as [{ seen: [string, number][]; members: MemberId[] }];
    assert.is(seen.length, 5);
    assert.equal(members, [{ position: 2, incarnation: 1 }]);
    assert.is(isQuiet(), true);
    receive('failure.changes', { changes: [{ member: { position: 6, incarnation: 1 }, change: 'joined' }] });
    reported(6);
    run(250);
    assert.is(isQuiet(), true, 'it does not tell again later');
    const [, second] = bodies as { seen: unknown[]; members: MemberId[] }[];
    assert.equal([second?.seen.length, second?.members], [1, [{ position: 6, incarnation: 1 }]]);
  });

  test('what ranks of a job wait for begins and ends a wait for each host, and ends with the session agent', () => {
    const jobs = new Set([1, 2]);
    const { failures, receive, waits } = rootAgent(jobs);
    const after = (job: number, hosts: readonly number[], all = false): string[] => {
      receive('failure.awaited', { hosts, all }, job);
      return waits.splice(0);
    };
    assert.equal(after(1, [3, 4]), ['ranks of job 1 3: root:3', 'ranks of job 1 4: root:4']);
    assert.equal(after(2, [3], true), ['ranks of job 2 3: root:3', 'ranks of job 2 all: all']);
    assert.equal(after(1, [4, 5]), ['ranks of job 1 3 over', 'ranks of job 1 5: root:5']);
    failures.onSessionGone(1);
    failures.onSessionGone(7);
    assert.equal(waits.splice(0), ['ranks of job 1 4 over', 'ranks of job 1 5 over']);
    assert.equal(after(2, []), ['ranks of job 2 3 over', 'ranks of job 2 all over']);
    jobs.delete(2);
    assert.equal(after(2, [3]), [], 'it comes after the end of the job');
  });

  test('the runs of members are each its positions, one behind the other, at its incarnation', () => {
    const { opened } = rootAgent(new Set());
    assert.equal(opened, [[0, 0], ...[1, 2, 3, 4, 5].map((position) => [position, 1])]);
  });

  test('the loss of the parent, and no other, is told at once; it is doubted until that is refuted', () => {
    const { overlay, node, host, verdict } = rootAgent(new Set());
    assert.is(overlay.isParentDoubted, false);
    assert.equal(host(4), []);
    assert.is(overlay.isParentDoubted, false);
    assert.equal(host(5), ['parent gone'], 'root:4 is at position 5');
    assert.is(overlay.isParentDoubted, true);
    const router = node.router as { parentLink: unknown };
    router.parentLink = { peer: rootAddress(2) };
    assert.is(overlay.isParentDoubted, false, 'another parent');
    router.parentLink = { peer: rootAddress(4) };
    verdict(5, 'refuted');
    assert.is(overlay.isParentDoubted, false);
    router.parentLink = undefined;
    assert.is(overlay.isParentDoubted, false, 'nobody doubts the controller');
  });

  test('once it stops, nothing is told any more, and no timer is left', () => {
    const { failures, host, tool, receive, run, isQuiet } = rootAgent(new Set([1]));
    receive('failure.interest', {}, 1);
    host(2);
    failures.stop();
    assert.equal([isQuiet(), run(10_000)], [true, []]);
    assert.equal([host(3), tool(1, 4), host(5)], [[], [], []]);
  });

  test('whoever joins, as the controller says, takes part', () => {
    const { receive, joined } = rootAgent(new Set());
    receive('failure.changes', { changes: [{ member: { position: 3, incarnation: 2 }, change: 'joined' }] });
    receive('failure.changes', { changes: [{ member: { position: 3, incarnation: 1 }, change: 'joined' }] });
    assert.equal(joined, [{ position: 3, incarnation: 2 }]);
  });
});
