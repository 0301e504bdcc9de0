/** An example of each type of message, with all parts that it may have. */

import '../../dist/injection/messages.js';
import '../../dist/programs/messages.js';
import '../../dist/service/messages.js';
import type { BodyKind, MessageName } from '../../dist/messages/messages.js';

/** `kind`: default, a body. */
export type Example = readonly [name: MessageName, value: unknown, kind?: BodyKind];

const ERROR = { code: 'STCI_AGENT_LOST', message: 'gone' };

export const RANK_END = {
  rank: 0, pid: 5, outcome: 'exited', end: { status: 0 }, error: ERROR, startWallMs: 1.5, endWallMs: 2.5, leftovers: 0,
};

const APP = { program: 'p', args: ['a'], env: { A: 'b' } };

const HOST = { name: 'h', slots: 1, slotsBound: false, origin: 'here' };

const SPEC = {
  apps: [APP], mapBy: { by: 'slot' }, oversubscribe: true, env: { PATH: '/bin' }, wdir: '/',
  stdin: { to: 'rank', rank: 0 }, launchTimeoutMs: 1000,
};

const RANK = { rank: 0, host: 'h', app: 0, pid: 5, outcome: 'exited', end: { status: 0 }, leftovers: 0 };

const ATTEMPT = { host: 'h', pid: 4, outcome: 'signalled', end: { signal: 'SIGKILL' }, leftovers: 0 };

export const REPORT = { job: 1, exitCode: 1, failures: [ERROR], ranks: [RANK], daemons: [{ host: 'h', count: 2 }],
  submitWallMs: 1, endWallMs: 2.5 };

const FOUND = {
  cause: 'signalled', evidence: 'e', detector: 'process', failedWallMs: 1, suspectedWallMs: 1.5, confirmedWallMs: 1.5,
};
const TOLD = { ...FOUND, subject: { kind: 'tool', host: 0, job: 1, rank: 3, attempt: 1 } };
const NOTICE = { ...TOLD, reporter: { position: 1, incarnation: 1 }, number: 1, promised: { minMs: 0, maxMs: 5 } };
const RECORD = {
  ...TOLD, hostName: 'h', reporter: 'root:0', confirmers: ['root:1'], notified: 2, notifiedWallMs: 3,
  lostRanks: [{ job: 1, ranks: [3] }], newParents: [{ host: 'h', parent: 'g' }], policy: ['p'], achievedMs: 0.5,
};

const records = (...of: readonly unknown[]): Example =>
  ['client.follow', { records: of, missed: [[1, 2]], unread: true }, 'part'];
const event = (record: object): Example => records(record);

/** Further forms of the same types. */
export const VARIANTS: readonly Example[] = [
  ['client.control', { verb: 'signal', signal: 'SIGUSR1' }],
  event({ type: 'mapped', map: { size: 1, hosts: [{ host: 0, name: 'h', runs: [{ app: 0, first: 0, count: 1,
    stride: 1 }] }] } }),
  event({
    type: 'recovery', phase: 'idle', host: 0, name: 'h', action: 'use-spare', spare: 's', error: ERROR,
  }),
  event({ type: 'started', rank: 0, host: 0, pid: 1, wallMs: 1.5, attempt: 2 }),
  event({ type: 'restarting', attempt: 2, afterMs: 500, report: { ...RANK, earlier: [ATTEMPT] } }),
  event({ type: 'host-up', host: 0, name: 'h', up: 1, total: 2, incarnation: 2 }),
  event({
    type: 'member', change: 'suspected', host: 0, name: 'h', incarnation: 1, wallMs: 1.5, detector: 'ring',
    reporter: 'root:1', evidence: 'e',
  }),
  event({ type: 'member', change: 'refuted', host: 0, name: 'h', incarnation: 1, wallMs: 1.5 }),
  event({ type: 'member', change: 'linked', host: 0, name: 'h', incarnation: 1, wallMs: 1.5, parent: 'p' }),
  event({ type: 'running' }),
  event({ type: 'ended', report: REPORT }),
  event({ type: 'mark', rank: 1, host: 0, name: 'half', wallMs: 1.5 }),
  event({ type: 'exited', report: RANK }),
  event({ type: 'failure', error: { ...ERROR, host: 'h', rank: 1, data: { a: 1, b: 'x', c: true },
    cause: ERROR } }),
  event({ type: 'ending', reason: 'r' }),
  event({ type: 'failure-record', record: RECORD }),
  ['failure.notice', { notice: { ...NOTICE, subject: { kind: 'host', host: 1, incarnation: 2 } } }],
  ['failure.notice', {
    notice: { ...NOTICE, subject: { kind: 'session-agent', host: 1, incarnation: 2, job: 1, attempt: 1 } },
  }],
  event({ type: 'reported', error: ERROR }),
];

const ORDER = {
  id: '1.kill.1', kind: 'pkill', args: {}, victim: { kind: 'rank', rank: 1 }, job: 1,
  durationMs: 5, timeoutMs: 5000,
};
const FAULT_REPORT = {
  id: '1.kill.1', agent: 'root:3', host: 3, state: 'injected', text: 't', wallMs: 1.5, monotonicMs: 2.5,
};

export const EXAMPLES: Readonly<Record<MessageName, unknown>> = {
  'agent.up': { host: 0, pid: 1, network: 'kernel net:[1]', incarnation: 1, socket: '/run/user/0/stci/a.sock' },
  'agent.stop': { reason: 'r' },
  'agent.ending': { host: 0 },
  'agent.clock': {},
  'client.experiment': {
    terms: {
      leaseMs: 10_000, ownsSession: true, allow: ['controller'], victimsMax: 3, keepRanks: [0], keepHosts: [0],
    },
  },
  'client.inject': { orders: [ORDER] },
  'client.reports': {},
  'client.undo': { id: '1.kill.1' },
  'client.clocks': {},
  'fault.inject': { order: ORDER, number: 0, part: { at: { role: 'root', host: 1 }, body: {} } },
  'fault.undo': { id: '1.kill.1' },
  'fault.report': { host: 3, number: 0, report: FAULT_REPORT, id: '1.kill.1', over: false },
  'service.message': { host: 3, service: 'pmi', body: { a: [1] } },
  'service.told': { service: 'pmi', body: 'x' },
  'program.marked': { host: 3, marks: [[1, 'half', 1.5]] },
  'agent.failed': {
    kind: 'agent-lost', agent: 0x2000_0001, incarnation: 1, evidence: 'closed', error: ERROR, wallMs: 1.5,
    session: { launch: 1, isReplaced: true },
  },
  'tree.adopt': { attempt: 1, login: [3, 'h3', '', 1], socket: '/a.sock', hosts: [3, 4], waitMs: 1 },
  'tree.adopted': { attempt: 1, result: 'busy', parent: 0x2000_0001 },
  'tree.mended': {},
  'tree.orphaned': {},
  'tree.release': { waitMs: 5000 },
  'tree.route': { child: 3, hosts: [3, 4] },
  'session.end': {},
  'session.jobs': { last: 5, running: [4] },
  'agent.leave': {},
  'session.ready': {},
  'detector.message': { detector: 'ring', incarnation: 1, body: [1] },
  'notifier.message': { notifier: 'tree', incarnation: 1, body: [1] },
  'failure.notice': { notice: NOTICE },
  'failure.report': { ranks: [{ ...FOUND, rank: 3, attempt: 1 }] },
  'failure.told': {},
  'failure.seen': { seen: [['tool 1 3#1', 1.5]], members: [{ position: 2, incarnation: 1 }] },
  'failure.verdict': { member: { position: 1, incarnation: 2 }, verdict: 'dead', notice: NOTICE },
  'failure.joined': { member: { position: 1, incarnation: 2 } },
  'failure.watch': { members: [[0, 1, 0], [1, 8, 1]] },
  'failure.interest': {},
  'overlay.open': { kind: 'ws' },
  'overlay.opened': { host: 0, incarnation: 1, addresses: ['ws://h:1'], problem: 'no port' },
  'overlay.links': {
    size: 4, neighbours: [{ position: 1, incarnation: 1, addresses: [], key: Buffer.alloc(0), tls: Buffer.alloc(0) }],
  },
  'overlay.detour': {},
  'links.survey': { survey: 1 },
  'links.report': {
    host: 0, survey: 1,
    links: [{ peer: 'root:1', kind: 'unix', role: 'overlay', state: 'up', inStateMs: 1.5, roundTripMs: 0.5 }],
  },
  'client.topology': { survey: 0 },
  'probe.ask': { probe: 1, agent: 2 },
  'probe.answered': { probe: 1, agent: 2 },
  'agent.echo': ['anything'],
  'job.unread': { host: 3 },
  'tree.start': { subtree: [[3, 'h3', '', 2]], isLate: true },
  'job.launch': {
    session: 'ab', size: 2, nodes: 1, apps: [{ program: 'p', args: [], env: {} }], env: {},
    wdir: '/', stdin: { to: 'none' }, creditBytes: 1, hosts: [[0, 0, [[0, 0, 2, 1]]]],
  },
  'job.started': { host: 0, ranks: [[0, 10, 1.5]] },
  'job.exited': { host: 0, ranks: [RANK_END] },
  'job.restarting': { host: 0, ranks: [{ ...RANK_END, attempt: 1, afterMs: 500 }] },
  'job.drained': { host: 0, swept: 0, survivors: [4711], restarts: 0 },
  'job.restarting.noted': {},
  'job.restart': { ranks: [[3, 0, 2]] },
  'job.signal': { signal: 'SIGUSR1' },
  'job.end': { kill: false, reason: 'r' },
  'host.ending': {},
  'job.close': {},
  'agent.expel': { agent: 0x3000_0001, reason: 'r' },
  'client.submit': { spec: SPEC, wait: true, detach: false, label: 'p a' },
  'client.attach': { job: 1, all: true, input: false },
  'client.follow': {},
  'client.credit': { bytes: 1, shown: 1 },
  'client.input': { data: Buffer.alloc(0) },
  'client.control': {
    verb: 'end', kill: false, reason: 'r', cause: { kind: 'interrupt', error: ERROR, exitCode: 130 },
  },
  'client.status': {},
  'client.ranks': { job: 1, from: 0 },
  'client.signal': { job: 1, signal: 'SIGTERM' },
  'client.add': { hosts: [HOST] },
  'client.remove': { names: ['a'], force: true, timeoutMs: 5 },
  'agent.metrics': {},
  'client.metrics': {},
  'client.stop': {},
  'program.open': { host: 3 },
  'program.state': {
    decided: 2, lost: [[0, 3, 'r', 'a']], ended: [[4, 4]], places: [[0, 'a', [[0, 4]]]], attempts: [[1, 2]],
    pairs: [['k', 1, Buffer.alloc(0)]],
  },
  'program.votes': {
    host: 3, sequence: 1, votes: [[7, 1, 0, true, 0, 0, 3, Buffer.alloc(0), [['k', 1, Buffer.alloc(0)]]]],
  },
  'program.failed': { lost: [[0, 3, 'r', 'a'], [5, 5, 's', 'b']] },
  'program.agreed': {
    sequence: 1, flag: true, isMismatch: false, ranks: [[0, 0], [2, 3]], joined: [[2, 2]], failed: [[1, 1]],
    kind: 2, joins: [[2, 1, 'b']], code: '', reason: '', parts: [[0, 1, Buffer.alloc(0)]], partsTo: 2,
    partsAt: 3, pairs: [['k', 1, Buffer.alloc(0)]],
  },
  'program.ended': { ranks: [[4, 4]] },
  'program.refused': { calls: [[7, 1]], code: 'c', reason: 'r', failed: [[1, 1]], missing: [[1, 1, 'r', 'a']] },
  'program.messages': {
    host: 3, decided: 2, messages: [[1, 2, 3, 1, 't', 0, Buffer.alloc(0)]], asks: [[1, 2, 3, 1, 't', 100_000]],
  },
  'program.taken': { host: 3, batches: 1, calls: [1], credit: [[2, 300]], grants: [1] },
  'program.wait': {},
  'client.wait': { job: 1 },
  'stream.open': { id: 2, members: [0, 1], topology: 'tree:arity=2', reduction: 'sum' },
  'stream.close': { stream: 2 },
};

const ACCEPTED = { job: 1, stdin: { to: 'all' }, map: { size: 1, hosts: [] }, input: true };
const OUTCOMES = [{ name: 'a' }, { name: 'b', error: ERROR }];

/** What answers the calls of a front-end. */
export const ANSWERS: readonly Example[] = [
  ['client.submit', 'it waits', 'part'],
  ['client.submit', ACCEPTED, 'reply'],
  ['client.attach', ACCEPTED, 'reply'],
  records([1, 2.5, Buffer.alloc(0)]),
  ['client.wait', REPORT, 'reply'],
  ['client.add', OUTCOMES, 'reply'],
  ['client.remove', OUTCOMES, 'reply'],
  ['client.metrics', { agent: 'root:1', rows: [['stci_failures', 'counter', 'h', ['kind', 'tool'], [1.5]]] }, 'part'],
  ['client.metrics', ['root:3'], 'reply'],
  ['client.reports', FAULT_REPORT, 'part'],
  ['client.undo', ['root:3'], 'reply'],
  ['client.clocks', [{ host: 1, name: 'h1', offsetMs: -3.5, errorMs: 0.5, samples: 8 }], 'reply'],
];
