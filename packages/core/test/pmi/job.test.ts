/** What the controller makes of what agents tell of their libraries. */

import type { RankReport } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import type { Answer } from '../../dist/am/answer.js';
import { Scope } from '../../dist/event/scope.js';
import { code, type JobPmi } from '../../dist/pmi/job-pmi.js';
import type { ControllerPlace, JobAtController } from '../../dist/service/contracts.js';

type Told = readonly [name: string, body: object];

/** Ranks 0 and 1 on host 0, rank 2, which rank 0 has spawned, on host 1. */
function played(job: number, policy: string) {
  const told: Told[] = [];
  const aborted: unknown[] = [];
  const spawned: { apps: readonly { env?: object }[] }[] = [];
  const emitted: object[] = [];
  const state = { isPlacing: false, reports: [] as (RankReport | undefined)[] };
  const holds = new Scope('job');
  const map = { size: 3, hosts: [{ host: 0, name: 'a', runs: [{ app: 0, first: 0, count: 2, stride: 1 }] }] };
  const of = {
    job, params: { list: () => [policy] }, holds,
    front: { check: () => undefined, emit: (event: object) => void emitted.push(event) },
    ledger: {
      map, spec: { hosts: [], apps: [{ env: { A: 'user', B: 'user' } }] },
      rankReport: (rank: number) => state.reports[rank],
      spawns: [{ parent: 0, first: 2, count: 1, app: 0 }], placements: { host: (rank: number) => (rank < 2 ? 0 : 1) },
    },
    isPlacing: () => state.isPlacing,
    abort: (by: unknown) => void aborted.push(by),
    spawn: (request: { apps: readonly { env?: object }[] }) => void spawned.push(request),
    node: {
      sessionName: 's', tokenOf: () => `token${job}`,
      messages: {
        send: (_to: number, name: string, body: object) => void told.push([name, body]),
        sendSubtree: (name: string, body: object) => void told.push([name, body]),
      },
    },
  } as unknown as JobAtController;
  return { told, aborted, spawned, emitted, state, holds, of };
}

/** A rank that ended so. */
const ended = (rank: number, status: number): RankReport =>
  ({ rank, outcome: 'exited', end: { status } }) as unknown as RankReport;

/** Jobs of one session, and the controller's handlers. */
function session(policy = 'notify') {
  const handlers = new Map<string, (body: never, context: object) => unknown>();
  const made = new Map<number, ReturnType<typeof played> & { readonly pmi: JobPmi }>();
  const messages = { on: (name: string, handler: never) => handlers.set(name, handler) };
  const jobOf = (job: number) => ({
    service: (_name: string, make: (of: JobAtController) => JobPmi) => {
      if (!made.has(job)) {
        const own = played(job, policy);
        made.set(job, { ...own, pmi: make(own.of) });
      }
      return made.get(job)?.pmi;
    },
  });
  code.controller?.({ node: { messages }, jobOf } as unknown as ControllerPlace);
  const call = (name: string, body: object, job = 1): unknown => handlers.get(name)?.(body as never, { job });
  const answered: unknown[] = [];
  const ask = (name: string, body: object, job = 1): void => {
    const later = call(name, body, job) as { begin(answer: Answer): void };
    later.begin({ done: (reply: unknown) => answered.push(reply) } as unknown as Answer);
  };
  const open = (job: number, host = 0): ReturnType<typeof played> & { readonly pmi: JobPmi } => {
    ask('pmi.open', { host, protocol: 'pmix', version: '5' }, job);
    return made.get(job)!;
  };
  return { call, ask, open, answered };
}

suite('a job of MPI programs', (test) => {
  test('has events in the name of ranks by their own agents alone', () => {
    const { call, open } = session();
    const { told } = open(1);
    const event = new Uint8Array(0);
    call('pmi.notify', { host: 1, rank: 2, status: -1, event });
    assert.equal(told, [['pmi.event', { rank: 2, nspace: 's-1-token1-2', process: 0, status: -1, event }]]);
    for (const rank of [0, 3]) {
      assert.throws(() => call('pmi.notify', { host: 1, rank, status: -1, event }), /Expected ranks of host 1/);
    }
    assert.is(told.length, 1);
  });

  test('is ended, grows, and has names by ranks of the agent that asks alone', () => {
    const { call, open } = session();
    const { aborted, spawned } = open(1);
    const abort = { cause: 'abort', exitCode: 300, message: 'N/A' };
    const request = { parent: 0, apps: [{ program: 'a', args: [], count: 1, env: { B: 'own' } }] };
    const named = { persistence: 3, pairs: [['k', new Uint8Array(1)]] };
    for (const wrong of [
      () => call('pmi.abort', { host: 1, rank: 0, ...abort }), () => call('pmi.spawn', { host: 1, request }),
      () => call('pmi.publish', { host: 1, rank: 0, ...named }),
      () => call('pmi.unpublish', { host: 1, rank: 0, keys: ['k'] }),
    ]) assert.throws(wrong, /Expected ranks of host 1/);
    assert.equal([aborted, spawned], [[], []]);
    call('pmi.abort', { host: 0, rank: 0, ...abort });
    assert.equal(aborted, [
      { rank: 0, host: 0, code: 'STCI_MPI_ABORT', exitCode: 255, message: 'called MPI_Abort: exit code 255' },
    ]);
    call('pmi.spawn', { host: 0, request });
    assert.equal(spawned[0]?.apps[0]?.env, { A: 'user', B: 'own' });
    assert.equal(call('pmi.publish', { host: 0, rank: 0, ...named }), { taken: [] });
    assert.equal(call('pmi.publish', { host: 0, rank: 1, ...named }), { taken: ['k'] });
  });

  test('knows of other jobs what it can name', () => {
    const { call, open } = session();
    open(1);
    open(2);
    const told = (...nspaces: readonly string[]): string[] =>
      (call('pmi.sets', { nspaces }) as { sets: { nspace: string }[] }).sets.map(({ nspace }) => nspace);
    assert.equal(told(), ['s-1-token1', 's-1-token1-2']);
    assert.equal(told('s-2-token2'), ['s-1-token1', 's-1-token1-2', 's-2-token2']);
  });

  test('tells agents which processes there are once all have a place, and the user of each protocol once', () => {
    const { ask, open, answered } = session();
    const { state, pmi, emitted } = open(1);
    assert.is(answered.length, 1);
    state.isPlacing = true;
    open(1, 1);
    assert.is(answered.length, 1);
    state.isPlacing = false;
    pmi.onStarted();
    assert.is(answered.length, 2);
    assert.equal(emitted, [{ type: 'mpi', protocol: 'pmix', version: '5' }]);
    // An agent expects a library: none has spoken.
    ask('pmi.open', { host: 0, protocol: 'pmi1', version: '' });
    assert.is(emitted.length, 1);
    ask('pmi.open', { host: 0, protocol: 'pmi1', version: '1.1' });
    assert.is(emitted.length, 2);
  });

  test('tells other agents of the ranks of a lost host that had ended well', () => {
    const { open } = session();
    const { pmi, told, state } = open(1, 1);
    state.reports.push(undefined, ended(1, 0));
    pmi.onHostLost(0);
    assert.equal(told, [['pmi.lost', { ranks: [], silent: [1] }]]);
  });

  test('tells of losses as long as an agent is open, where they are news', () => {
    for (const [policy, count] of [['notify', 1], ['abort', 0]] as const) {
      const { open } = session(policy);
      const { pmi, told } = open(1);
      pmi.onEnded(ended(1, 0));
      pmi.onEnded(ended(2, 1));
      assert.equal(told, Array(count).fill(['pmi.lost', { ranks: [2], silent: [] }]));
      assert.equal([0, 1, 2].map((rank) => pmi.awaitedAt(rank)), [0, undefined, count === 1 ? undefined : 1]);
      pmi.onHostLost(0);
      pmi.onEnded(ended(0, 1));
      assert.is(told.length, count);
    }
  });

  test('tells of losses before a collective goes on without them, once, and of ranks of the agent alone', () => {
    const { call, open } = session();
    const { pmi, told } = open(1);
    open(1, 1);
    const id = { kind: 'connect', name: '', members: [[1, 0, 2]], sequence: 1 };
    assert.throws(() => call('pmi.enter', { host: 0, id, data: [], lost: [2] }), /Expected ranks of host 0/);
    call('pmi.enter', { host: 1, id, data: [], lost: [] });
    call('pmi.enter', { host: 0, id, data: [], lost: [1] });
    assert.equal(told.map(([name]) => name), ['pmi.lost', 'pmi.done']);
    pmi.onEnded(ended(1, 1));
    assert.equal([told.length, told[0]![1]], [2, { ranks: [1], silent: [] }]);
  });

  test('leaves nothing behind when it has ended', () => {
    const { call, ask, open, answered } = session();
    const { holds } = open(1);
    const { told } = open(2);
    answered.length = 0;
    call('pmi.publish', { host: 0, rank: 0, persistence: 3, pairs: [['k', new Uint8Array(1)]] });
    const id = { kind: 'connect', name: '', members: [[1, 0, 0], [2, 0, 0]], sequence: 1 };
    call('pmi.enter', { host: 0, id, data: [], lost: [] }, 2);
    assert.equal(told, []);
    holds.close();
    assert.equal(told.map(([name]) => name), ['pmi.done']);
    ask('pmi.lookup', { host: 0, number: 0, keys: ['k'], waits: false }, 2);
    assert.equal(answered, [{ found: [] }]);
  });
});
