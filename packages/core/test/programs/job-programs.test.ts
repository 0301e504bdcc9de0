/** What the controller tells the programs of a job: who is lost, and not any more; who waits for whom. */

import { Ledger, mapJob } from '@stci/core';
import {
  COLLECTIVES, MARKS_MAX, PROGRAM_PARTS_BYTES_MAX, StciError, addressIndex, agentName, sessionAddress,
  type ErrorCode,
} from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { moveRanks } from '../../dist/job/placement.js';
import type { AgentOfJob } from '../../dist/messages/collected.js';
import type { MessageBody } from '../../dist/messages/messages.js';
import type { AgentNode } from '../../dist/node/node.js';
import { JobPrograms } from '../../dist/programs/job-programs.js';
import type { Collecting } from '../../dist/streams/collects.js';
import { LIMITS, app, hosts, job } from '../job-help.js';
import { testPlace } from '../world.js';

const NONE = new Uint8Array();
const END = { pid: 9, outcome: 'exited', end: { status: 1 }, endWallMs: 1, leftovers: 0 } as const;

/** Of a job of two ranks on one host. */
function programsOf() {
  const place = testPlace();
  const log: string[] = [];
  const decisions: string[] = [];
  let waits = 0;
  const unsent = new Map<string, ErrorCode>();
  const asked: Collecting<'program.wait'>[] = [];
  const send = (to: number, name: string, body: MessageBody<'program.agreed'> & { readonly lost?: unknown }) => {
    const code = unsent.get(name);
    if (code !== undefined) return new StciError(code, 'not sent');
    const { lost, parts, partsAt } = body;
    if (name === 'program.state') log.push(`${name} ${JSON.stringify(lost)}`);
    else log.push(parts?.length > 0 || partsAt !== undefined ? `${name} ${parts.length} parts to ${to}` : name);
    if (name === 'program.agreed') decisions.push(body.code);
    return undefined;
  };
  const node = {
    platform: place.platform,
    params: { int: () => 1 << 24 },
    messages: {
      send: (to: number, name: string, body: never) =>
        (unsent.has('alone') && name === 'program.agreed' ? new StciError(unsent.get('alone') as ErrorCode, 'not sent')
          : send(addressIndex(to), name, body)),
      sendSubtree: (name: string, body: never) => send(-1, name, body),
      sendList: (to: number, name: string, items: unknown[], bodyOf: (items: unknown[]) => never) =>
        send(to, name, bodyOf(items)),
      waits: { begin: () => (waits = 1), end: () => (waits = 0) },
    },
    collects: {
      ask: (name: string, agents: readonly AgentOfJob[], collecting: Collecting<'program.wait'>) => {
        log.push(`${name} of ${agents.map((agent) => agentName(...agent)).join()}`);
        asked.push(collecting);
      },
    },
  } as unknown as AgentNode;
  const spec = job({ apps: [app(2)], hosts: hosts('a') });
  const ledger = new Ledger({ job: 1, spec, map: mapJob(spec, LIMITS), submitWallMs: 0 });
  /** Messages without which programs would wait for ever. */
  const owned: string[] = [];
  const check = (error?: StciError): void => void (error && owned.push(error.code));
  const programs = new JobPrograms(node, 1, ledger, { emit: () => undefined, check }, () => false);
  const vote = (rank: number, sequence: number): void => {
    const kind = COLLECTIVES.indexOf('shrink');
    programs.onVotes({ host: 0, sequence, votes: [[rank, 1, kind, true, 0, 0, 0, new Uint8Array(), []]] });
    place.run(1);
  };
  const told = (): string[] => log.splice(0);
  return { place, ledger, programs, vote, told, asked, decisions, unsent, owned, isAwaited: () => waits > 0 };
}

suite('programs of a job', (test) => {
  test('ranks that have voted wait for the others, until it is decided', () => {
    const { vote, told, isAwaited } = programsOf();
    vote(0, 1);
    assert.equal([isAwaited(), told()], [true, []]);
    vote(1, 1);
    assert.equal([isAwaited(), told()], [false, ['program.agreed']]);
  });

  test('a rank that was started again is lost until it takes part', () => {
    const { place, ledger, programs, vote, told } = programsOf();
    const report = ledger.again({ rank: 1, ...END });
    assert.ok(report !== undefined);
    programs.onRestarting(report);
    place.run(1);
    programs.onOpen(0);
    assert.equal(told(), ['program.failed', 'program.state [[1,1,"it ended with status 1","a"]]']);
    vote(1, 1);
    vote(0, 1);
    programs.onOpen(0);
    assert.equal(told(), ['program.agreed', 'program.state []']);
  });

  test('a refusal for a session agent that is gone is no fault of the controller', () => {
    const { place, ledger, programs, vote, told, unsent } = programsOf();
    unsent.set('program.refused', 'STCI_MESSAGE_UNROUTABLE');
    const barrier = COLLECTIVES.indexOf('barrier');
    programs.onVotes({ host: 0, sequence: 1, votes: [[0, 1, barrier, true, 0, 0, 0, NONE, []]] });
    const report = ledger.again({ rank: 1, ...END });
    assert.ok(report !== undefined);
    programs.onRestarting(report);
    place.run(1);
    assert.equal(told(), ['program.failed']);
    vote(0, 1);
    assert.equal(told(), ['program.agreed'], 'it goes on');
  });

  test('a strict call is refused to those that are in it when another rank is lost', () => {
    const { place, ledger, programs, told } = programsOf();
    const barrier = COLLECTIVES.indexOf('barrier');
    programs.onVotes({ host: 0, sequence: 1, votes: [[0, 1, barrier, true, 0, 0, 0, NONE, []]] });
    const report = ledger.again({ rank: 1, ...END });
    assert.ok(report !== undefined);
    programs.onRestarting(report);
    place.run(1);
    assert.equal(told(), ['program.failed', 'program.refused']);
  });

  test('where the parts of a gather, or a decision, cannot be told, it fails for all', () => {
    const { place, programs, decisions, told, unsent } = programsOf();
    const part = Uint8Array.of(1);
    const gather = (sequence: number): void => {
      const kind = COLLECTIVES.indexOf('gather');
      programs.onVotes({
        host: 0, sequence, votes: [0, 1].map((rank) => [rank, sequence, kind, true, 0, 0, 1, part, []]),
      });
      place.run(1);
    };
    gather(1);
    assert.equal([told(), decisions], [['program.agreed 2 parts to 0', 'program.agreed 0 parts to -1'], ['', '']]);
    for (const [i, code] of (['STCI_MESSAGE_TOO_LARGE', 'STCI_MESSAGE_WINDOW'] as const).entries()) {
      unsent.set('alone', code);
      gather(i + 2);
      assert.equal([told(), decisions.pop()], [['program.agreed'], 'STCI_CLIENT_LIMIT']);
    }
    unsent.set('alone', 'STCI_MESSAGE_UNROUTABLE');
    gather(4);
    const rest = [['program.agreed 0 parts to -1'], ''];
    assert.equal([told(), decisions.pop()], rest, 'the root is about to be lost');
  });

  test('what programs wait for, and cannot be told at all, ends their job', () => {
    const { place, programs, vote, told, owned, unsent } = programsOf();
    for (const name of ['program.state', 'program.refused', 'program.agreed']) {
      unsent.set(name, 'STCI_MESSAGE_TOO_LARGE');
    }
    programs.onOpen(0);
    assert.equal(owned.splice(0), ['STCI_MESSAGE_TOO_LARGE']);
    vote(0, 1);
    vote(1, 1);
    assert.equal([told(), owned.splice(0)], [[], ['STCI_MESSAGE_TOO_LARGE']]);
    const barrier = COLLECTIVES.indexOf('barrier');
    programs.onEnded({ rank: 1, app: 0, host: 'a', ...END });
    programs.onVotes({ host: 0, sequence: 2, votes: [[0, 2, barrier, true, 0, 0, 0, NONE, []]] });
    place.run(1);
    assert.equal([told(), owned], [['program.failed'], ['STCI_MESSAGE_TOO_LARGE']]);
  });

  test('a host that is lost is not asked what its programs wait for, until one of them opens again', () => {
    const { programs, told, asked } = programsOf();
    const texts: string[] = [];
    const ask = (): void => programs.askWaits((text) => texts.push(text));
    programs.onOpen(0);
    programs.onHostLost(0);
    ask();
    asked.shift()?.onDone([]);
    assert.equal([texts, told()], [[''], ['program.state []', 'program.wait of ']]);
    programs.onOpen(0);
    ask();
    const waits = [7, 1].map((rank) => [rank, 0, 0, '', 1000] as const);
    asked[0]?.onEach({ count: 1, waits }, [sessionAddress(0), 1]);
    assert.is(texts.length, 1);
    asked[0]?.onDone([]);
    assert.is(texts.at(-1), 'rank 1 waits in receive() since 1.0 s', 'it has no say about ranks elsewhere');
    assert.equal([asked[0]?.job, told()], [1, ['program.state []', 'program.wait of session:0 of job 1']]);
  });

  test('what a vote says of its length counts no less than what it has', () => {
    const { place, programs, decisions } = programsOf();
    const gather = COLLECTIVES.indexOf('allgather');
    const half = new Uint8Array(PROGRAM_PARTS_BYTES_MAX / 2 + 1);
    programs.onVotes({ host: 0, sequence: 1, votes: [0, 1].map((rank) => [rank, 1, gather, true, 0, 0, 0, half, []]) });
    place.run(1);
    const exchange = COLLECTIVES.indexOf('exchange');
    const pairs = [['k', 0, half] as const];
    programs.onVotes({
      host: 0, sequence: 2, votes: [0, 1].map((rank) => [rank, 2, exchange, true, 0, 0, 0, NONE, pairs]),
    });
    place.run(1);
    assert.equal(decisions, ['STCI_CLIENT_LIMIT', 'STCI_CLIENT_LIMIT']);
  });

  test('marks of its session agent have the bound that it has for its programs', () => {
    const { programs, ledger } = programsOf();
    const many = Array.from({ length: MARKS_MAX }, (): [number, string, number] => [1, 'm', 1]);
    const mark = (): void => programs.onMarked({ host: 0, marks: many });
    mark();
    mark(); // The next attempt, before the end of this one is known.
    assert.throws(mark, /at most 10000 marks of rank 1/u);
    ledger.again({ rank: 1, ...END });
    mark();
    assert.throws(mark, /at most 10000 marks of rank 1/u);
    assert.throws(() => programs.onMarked({ host: 1, marks: [[1, 'm', 1]] }), /Expected ranks of host 1, got rank 1/u);
  });

  test('a program is told who is where, in order, also where ranks have moved, and who has ended', () => {
    const states: { places: unknown; ended: unknown; attempts: unknown }[] = [];
    const node = {
      platform: testPlace().platform, params: { int: () => 1 << 24 },
      messages: { send: (_to: number, _name: string, body: never) => void states.push(body) },
    } as unknown as AgentNode;
    const spec = job({ apps: [app(14)], hosts: hosts('a:7 b:7'), mapBy: { by: 'node' } });
    const ledger = new Ledger({ job: 1, spec, map: mapJob(spec, LIMITS), submitWallMs: 0 });
    for (const rank of [11, 2]) {
      ledger.exited({ rank, pid: 1, outcome: 'exited', end: { status: 0 }, endWallMs: 1, leftovers: 0 }, 1);
    }
    ledger.remap(moveRanks(ledger.map, new Map([[3, 0], [1, 0]])));
    new JobPrograms(node, 1, ledger, { emit: () => undefined, check: () => undefined }, () => false).onOpen(1);
    const evens = [6, 8, 10, 12].map((rank) => [rank, rank]);
    const odds = [5, 7, 9, 11, 13].map((rank) => [rank, rank]);
    assert.equal(states[0]?.places, [[0, 'a', [[0, 4], ...evens]], [1, 'b', odds]]);
    assert.equal([states[0]?.ended, states[0]?.attempts], [[[2, 2], [11, 11]], []]);
  });

  test('ranks that others have spawned take no part', () => {
    const states: { places?: unknown; ended?: unknown; lost?: unknown }[] = [];
    const { place, ledger } = programsOf();
    const node = {
      platform: place.platform, params: { int: () => 1 << 24 },
      messages: {
        send: (_to: number, _name: string, body: never) => void states.push(body),
        sendList: (...given: unknown[]) => void states.push({ lost: given[1] }), waits: { end: () => undefined },
      },
    } as unknown as AgentNode;
    const { map } = ledger;
    const runs = [...map.hosts[0]!.runs, { app: 1, first: 2, count: 2, stride: 1 }];
    ledger.grow({ parent: 0, first: 2, count: 2, app: 1 }, [app(2)], { size: 4, hosts: [{ ...map.hosts[0]!, runs }] });
    const programs = new JobPrograms(node, 1, ledger, { emit: () => undefined, check: () => undefined }, () => false);
    ledger.exited({ rank: 2, ...END }, 1);
    programs.onEnded(ledger.rankReport(2)!);
    programs.onRestarting({ ...ledger.rankReport(2)!, rank: 3 });
    programs.onOpen(0);
    place.run(1);
    assert.equal(states.map(({ places, ended, lost }) => [places, ended, lost]), [[[[0, 'a', [[0, 1]]]], [], []]]);
    assert.throws(() => programs.onMarked({ host: 0, marks: [[2, 'm', 1]] }), /Expected ranks of host 0, got rank 2/u);
  });

  test('nobody is told where ranks are while some are to run elsewhere than planned', () => {
    const told: number[] = [];
    const node = {
      platform: testPlace().platform, params: { int: () => 1 << 24 },
      messages: {
        send: (to: number) => void told.push(addressIndex(to)), sendList: () => undefined,
        waits: { end: () => undefined },
      },
    } as unknown as AgentNode;
    const spec = job({ apps: [app(3)], hosts: hosts('a b c'), mapBy: { by: 'node' } });
    const ledger = new Ledger({ job: 1, spec, map: mapJob(spec, LIMITS), submitWallMs: 0 });
    let isPlacing = true;
    const owner = { emit: () => undefined, check: () => undefined };
    const programs = new JobPrograms(node, 1, ledger, owner, () => isPlacing);
    for (const host of [0, 1]) programs.onOpen(host);
    programs.onHostLost(0);
    programs.onStarted();
    assert.equal(told.splice(0), [], 'one of several runs');
    isPlacing = false;
    programs.onStarted();
    programs.onStarted();
    assert.equal(told.splice(0), [1], 'once, and not the host that is lost');
    isPlacing = true;
    programs.onOpen(2);
    isPlacing = false;
    ledger.exited({ rank: 2, pid: 1, outcome: 'exited', end: { status: 1 }, endWallMs: 1, leftovers: 0 }, 1);
    programs.onEnded(ledger.rankReport(2)!);
    assert.equal(told, [2], 'it has ended before it was known to run');
  });
});
