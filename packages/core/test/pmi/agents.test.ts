/** What libraries of one host get of their agent: fences, keys, losses, events, ends. */

import {
  PMIX_RANK, PMIX_STATUS, decodeEvent, decodeInfos, decodeReply, encodeInfos, fromByteText, toByteText,
} from '@stci/pmi';
import { assert, suite } from '@stci/testkit';
import type { HeldRow } from '../../dist/event/scope.js';
import type { CollectiveId, CollectiveResult } from '../../dist/pmi/contracts.js';
import { FORM, SET, agent, frame, hello, pmi1Client, pmixClient, statusOf, textValue } from './agent-play.js';

const { nspace } = SET;
const procs = (...ranks: readonly number[]) => ranks.map((rank) => ({ nspace, rank }));
const fence = (...ranks: readonly number[]) => ({ command: 'fence', procs: procs(...ranks), infos: [] }) as const;
const put = (scope: number, key: string) =>
  ({ command: 'commit', scopes: [{ scope, kvals: [{ key, bytes: fromByteText('\x01\x01') }] }] }) as const;
const get = (rank: number, key: string | null = null, ...flags: readonly string[]) => ({
  command: 'get', nspace, rank, key,
  infos: flags.map((flag) => ({ key: flag, value: { type: 'bool' as const, data: true } })),
}) as const;
const register = (...codes: readonly number[]) => ({ command: 'registerEvents', codes, infos: [] }) as const;

function ranksGiven(body: Uint8Array): number[] {
  return decodeReply(FORM, 'get', body).reply?.ranks.map(({ proc }) => proc.rank) ?? [];
}

suite('an agent of MPI libraries', (test) => {
  test('welcomes libraries of its own ranks alone', () => {
    const of = agent();
    pmixClient(of);
    of.host.learn([], () => undefined);
    const other = { ...SET, nspace: 'other', job: 2 };
    of.take('pmi.sets')[2](undefined, { sets: [other] });
    of.host.add(3); // Of another set, which has been spawned.
    for (const [name, rank] of [[nspace, 2], [nspace, 3], [nspace, 0xffff_fffe], ['other', 0]] as const) {
      const client = of.socket();
      client.data(hello(name, rank));
      assert.match(client.closed, /no process that runs on this host/);
    }
  });

  test('has asked before a library speaks, whose version it tells then, once', () => {
    const of = agent();
    of.prepare();
    assert.equal(of.take('pmi.open')[1], { host: 0, protocol: 'pmix', version: '' });
    of.prepare();
    assert.equal(of.asked, []);
    const early = of.socket();
    early.data(hello());
    assert.equal([of.asked.map(([, body]) => body['version']), early.bytes], [['5.0.7'], []]);
    of.open();
    assert.equal(early.bytes.length, 1);
    for (const rank of [0, 1]) {
      const client = of.socket();
      client.data(hello(nspace, rank));
      assert.equal([of.asked, client.bytes.length], [[], 1]);
    }
  });

  test('has fences of its own ranks, and tells of others once', () => {
    const { of, client, ask } = pmixClient();
    const second = pmixClient(of, 1);
    ask(fence(0, 1));
    assert.equal(client.frames(), []);
    second.ask(fence(0, 1));
    assert.equal([client.frames().map(statusOf), second.client.frames().map(statusOf)], [[0], [0]]);
    ask(fence(1));
    assert.is(statusOf(client.frames()[0]!), PMIX_STATUS.error);
    ask(put(2, 'far'));
    client.frames();
    const connect = { ...fence(0, 1, 2), command: 'connect' } as const;
    ask(connect);
    second.ask(connect);
    const [, first] = of.take('pmi.enter');
    const told = (first['data'] as [number, unknown[]][]).map(([rank, pairs]) => [rank, pairs.length]);
    assert.equal(told, [[0, 1], [1, 0]]);
    ask(connect);
    second.ask(connect);
    const next = of.take('pmi.enter')[1]['id'] as { sequence: number };
    assert.equal([(first['id'] as { sequence: number }).sequence, next.sequence], [1, 2]);
    for (const id of [first['id'], next]) {
      const data = [[1, 0, []], [1, 2, [['c', fromByteText('\x01\x01')]]]] as const;
      of.host.onDone({ id: id as never, problem: '', context: 0, sets: [], data });
    }
    assert.equal(client.frames().map(statusOf), [0, 0]);
    assert.equal(of.host.keys.far(0).length, 1);
    ask(connect);
    second.ask(connect);
    assert.is((of.take('pmi.enter')[1]['id'] as { sequence: number }).sequence, 3);
  });

  test('goes on without who has ended, or is lost', () => {
    const { of, client, ask } = pmixClient();
    const child = pmixClient(of, 1);
    for (const each of [ask, child.ask]) each(register());
    assert.equal([...client.frames(), ...child.client.frames()].map(statusOf), [0, 0]);
    ask(fence(0, 1));
    ask(get(1, 'never'));
    of.host.remove(1, true); // As it should: it is not lost.
    assert.equal(client.frames().map(statusOf), [PMIX_STATUS.notFound, 0]);
    of.host.onEvent({ rank: 2, nspace, process: 2, status: -5, event: Uint8Array.of(2, 0) });
    assert.equal([client.frames().length, child.client.frames().length], [1, 0]);
    ask(get(2, 'k'));
    of.take('pmi.get');
    of.host.onLost([2]);
    assert.is(client.frames().length, 2); // The event, and the answer.
    ask(get(2, 'k'));
    assert.equal([client.frames().map(statusOf), of.asked], [[PMIX_STATUS.notFound], []]);
  });

  test('waits no longer for who has gone, or whose time is over', () => {
    for (const how of ['gone', 'timeout']) {
      const { of, client, ask } = pmixClient();
      const second = pmixClient(of, 1);
      const own = of.holds.rows();
      const waits = [{ key: 'pmix.wait', value: { type: 'bool', data: true } }] as const;
      const inTime = [{ key: 'pmix.timeout', value: { type: 'int', data: 1 } }] as const;
      ask({ ...fence(0, 1), infos: inTime });
      ask({ ...get(1, 'never'), infos: inTime });
      ask({ ...get(2, 'never'), infos: inTime });
      ask({ command: 'lookup', uid: 0, keys: ['never'], infos: [...waits, ...inTime] });
      const asked = [of.take('pmi.get'), of.take('pmi.lookup')];
      assert.is(of.timers.size, 4);
      if (how === 'gone') client.end();
      else for (const fire of of.timers) fire();
      if (how === 'gone') assert.is(of.timers.size, 0);
      const forgotten = [of.take('pmi.forget'), of.take('pmi.forget')].map(([, { number }]) => number);
      assert.equal(forgotten, asked.map(([, { number }]) => number));
      const isOwn = ([, label]: HeldRow): boolean => how === 'timeout' || label !== 'MPI library of rank 0';
      assert.equal(of.holds.rows(), own.filter(isOwn));
      const nothing = { isFound: false, pairs: [], found: [] };
      for (const [, , done] of asked) done(undefined, nothing);
      assert.equal(client.frames().map(statusOf), how === 'gone' ? [] : Array(4).fill(PMIX_STATUS.timeout));
      second.ask(fence(0, 1));
      assert.equal(second.client.frames(), []);
      assert.equal(of.malformed, []);
    }
  });

  test('ends what another agent waits for once that forgets it', () => {
    const { of } = pmixClient();
    const told: boolean[] = [];
    for (const number of [1, 2]) {
      of.host.requests.onGet({ host: 1, number, rank: 0, key: 'never' }, ({ isFound }) => told.push(isFound));
    }
    of.host.requests.onForget({ host: 1, number: 1 });
    of.host.requests.onForget({ host: 0, number: 2 });
    of.host.requests.onForget({ host: 1, number: 1 });
    assert.equal([told, of.host.keys.waiting], [[false], 1]);
  });

  test('has no client of a closed connection, so that the rank itself can still finalize', () => {
    const { of, ask } = pmixClient();
    const child = pmixClient(of);
    child.client.end();
    ask({ command: 'finalize' });
    assert.is(of.host.complaintOf(0), undefined);
    const { client } = pmi1Client(of, 1);
    client.write('cmd=barrier_in\n');
    client.end();
    assert.equal(of.holds.rows(), []);
  });

  test('names the lost with a collective that goes on without them', () => {
    const { of, ask } = pmixClient();
    of.host.remove(1, false);
    for (const lost of [[1], []]) {
      ask({ ...fence(...lost, 0, 2), command: 'connect' });
      assert.equal(of.take('pmi.enter')[1]['lost'], lost);
    }
  });

  test('tells each loss once, to who wants it and may know of it', () => {
    const of = agent();
    const { client, ask } = pmixClient(of);
    of.host.onLost([2]);
    assert.equal(client.frames(), []);
    ask(register(PMIX_STATUS.procAborted));
    const [, event] = client.frames();
    assert.is(decodeEvent(FORM, event!.body).infos[0]?.key, 'pmix.evproc');
    ask(register(PMIX_STATUS.procAborted));
    of.host.onLost([2]);
    assert.is(client.frames().length, 1);
    const late = pmixClient(of, 1);
    late.ask(register(PMIX_STATUS.procAborted));
    assert.is(late.client.frames().length, 2);
    of.host.learn([], () => undefined);
    of.take('pmi.sets')[2](undefined, { sets: [{ ...SET, nspace: 'spawned', first: 3, size: 2 }] });
    of.host.onLost([3]);
    assert.equal([client.frames(), late.client.frames()], [[], []]);
    late.ask({ command: 'finalize' });
    late.client.frames();
    assert.ok(late.client.unwritten > 0, 'answers wait for the end of the turn');
    of.host.onLost([0]);
    assert.equal([late.client.frames(), client.unwritten], [[], 0]);
  });

  test('removes what was left to it when the last process has ended, also of ranks that were told lost before', () => {
    const { of } = pmixClient();
    of.host.leave(['/dev/shm/x']);
    of.host.onLost([1]);
    of.host.remove(0, true);
    assert.equal(of.removed, []);
    of.host.remove(1, false);
    assert.ok(of.removed.includes('/dev/shm/x'));
  });

  test('lets nobody go on as if all had come where losses are no news', () => {
    const of = agent('abort', false);
    const { client, ask } = pmixClient(of);
    const other = pmixClient(of, 1);
    ask(fence(0, 1));
    other.client.end();
    of.host.remove(1, false);
    assert.equal(client.frames(), []);
  });

  test('answers no get of a rank that had ended well, and whose agent is lost', () => {
    const { of, client, ask } = pmixClient();
    ask(get(2, 'k'));
    of.take('pmi.get');
    of.host.onLost([], [2]);
    ask(get(2, 'k'));
    const { notFound } = PMIX_STATUS;
    assert.equal([client.frames().map(statusOf), of.asked], [[notFound, notFound], []]);
  });

  test('forgets a library that has gone before it is welcomed', () => {
    const of = agent();
    const client = of.socket();
    client.data(hello(SET.nspace, 0, '5'.repeat(100)));
    assert.is((of.asked[0]![1]['version'] as string).length, 64);
    client.end();
    of.open();
    assert.equal([of.holds.rows(), of.host.complaintOf(0)], [[], undefined]);
  });

  test('tells events of others, of the codes that a library wants', () => {
    const { of, client, ask } = pmixClient();
    const event = (rank: number, status: number): number => {
      of.host.onEvent({ rank, nspace, process: rank, status, event: Uint8Array.of(2, 0) });
      return client.frames().length;
    };
    ask(register(-5, -8));
    client.frames();
    assert.equal([event(2, -5), event(2, -6), event(0, -5)], [1, 0, 0]);
    ask({ command: 'deregisterEvents', codes: [-5] });
    assert.equal([event(2, -5), event(2, -8)], [0, 1]);
    for (const codes of [[], [-5]]) ask(register(...codes));
    client.frames();
    assert.is(event(2, -6), 1, 'all');
  });

  test('gives what others have put with the first answer, once, and so much', () => {
    const { of, client, ask } = pmixClient();
    const second = pmixClient(of, 1);
    second.ask(put(1, 'k'));
    ask(put(1, 'own'));
    of.host.keys.tell(1, 2, [['big', new Uint8Array(0x5_0000)]]);
    client.frames();
    ask(get(0));
    assert.equal(ranksGiven(client.frames()[0]!.body), [0, 1]);
    ask(get(0));
    assert.equal(ranksGiven(client.frames()[0]!.body), [0]);
    ask(get(1, 'later', 'pmix.immediate'));
    assert.equal(client.frames().map(statusOf), [PMIX_STATUS.notFound]);
  });

  test('tells members of a group what they have said of themselves, and nothing else', () => {
    const { of } = pmixClient();
    const client = of.socket();
    client.data(hello(nspace, 1, '6.0.2'));
    const infos = ['pmix.grp.info', 'pmix.other'].map((key) => ({ key, value: textValue(`of 1: ${key}`) }));
    client.data(frame({ command: 'groupConstruct', id: 'g', procs: procs(1, 2), infos }));
    const { id, data } = of.take('pmi.enter')[1] as unknown as Pick<CollectiveResult, 'id'>
      & { data: [number, [string, Uint8Array][]][] };
    assert.equal(data.map(([rank, pairs]) => [rank, pairs.map(([key, bytes]) => [key, decodeInfos(bytes)])]),
      [[1, [['pmix.grp.info', infos.slice(0, 1)]]]]);
    client.frames();
    const others = encodeInfos([{ key: 'pmix.grp.info', value: textValue('of 2') }]);
    of.host.onDone({ id, problem: '', context: 4, data: [[1, 2, [['pmix.grp.info', others]]]], sets: [] });
    assert.match(toByteText(client.frames()[0]!.body), /pmix\.grp\.info.*of 2/s);
  });

  test('bounds what waits, and what is open', () => {
    const { of, client, ask } = pmixClient();
    for (let i = 0; i < 5000; i++) ask({ command: 'deregisterEvents', codes: [] });
    for (let i = 0; i < 1024; i++) ask({ ...fence(0, 1), command: 'groupConstruct', id: `g${i}` });
    assert.equal(client.frames(), []);
    ask({ ...fence(0, 1), command: 'groupConstruct', id: 'more' });
    assert.equal(client.frames().map(statusOf), [PMIX_STATUS.error]);
    for (let i = 1024; i < 4096; i++) ask(get(1, 'never'));
    assert.is(client.closed, '');
    client.data(frame(get(1, 'never')));
    assert.match(client.closed, /more than 4096 requests/);
    assert.is(of.host.isHere(0), true);
  });

  test('removes so many files of a job, whose names are so long', () => {
    const of = agent();
    of.host.leave([`/${'x'.repeat(4096)}`, ...Array.from({ length: 65_537 }, (_, i) => `/dev/shm/${i}`)]);
    of.host.remove(0, true);
    assert.equal(of.removed, []);
    of.host.remove(1, true);
    assert.equal([of.removed.length, of.removed[0], of.removed.at(-1)], [65_536, '/dev/shm/0', '/dev/shm/65535']);
  });

  test('names no more than 2^20 processes in a collective, but whole sets', () => {
    const of = agent();
    const client = of.socket();
    client.data(hello());
    of.take('pmi.open')[2](undefined, { sets: [{ ...SET, size: 0x10_0000 }], lost: [] });
    of.host.remove(1, true);
    const all = PMIX_RANK.wildcard;
    client.data(frame({ ...fence(all, 0), command: 'connect' }));
    assert.equal(client.frames().map(statusOf), [PMIX_STATUS.error]);
    for (const ranks of [[all], [0, 2]]) client.data(frame({ ...fence(...ranks), command: 'connect' }));
    const named = [of.take('pmi.enter'), of.take('pmi.enter')].map(([, { id }]) => (id as CollectiveId).members);
    assert.equal(named, [[[1, 0, 0xf_ffff]], [[1, 0, 0], [1, 2, 2]]]);
  });

  test('removes what a library leaves, when the last rank has ended', () => {
    const { of, client, ask } = pmixClient();
    ask({ command: 'jobInfo' });
    const value = textValue(`/dev/shm/a,/dev/shm/${'b'.repeat(5000)}`);
    ask({ command: 'jobControl', procs: [], infos: [{ key: 'pmix.reg.cleanup', value }] });
    client.frames();
    assert.match(of.host.complaintOf(0)?.message ?? '', /between MPI_Init and MPI_Finalize/);
    of.host.remove(1, true);
    assert.equal(of.removed, []);
    of.host.remove(0, false);
    assert.equal(of.removed, ['/dev/shm/a', '*']);
    of.host.add(0);
    const again = pmixClient(of);
    again.ask({ command: 'finalize' });
    of.host.remove(0, true);
    assert.equal(of.removed, ['/dev/shm/a', '*']);
    of.holds.close();
    assert.is(of.removed.at(-1), '/tmp/x');
  });

  test('takes a rank for finalized when its last library is', () => {
    const { of, ask } = pmixClient();
    const child = pmixClient(of);
    ask({ command: 'finalize' });
    assert.ok(of.host.complaintOf(0));
    child.ask({ command: 'finalize' });
    assert.is(of.host.complaintOf(0), undefined);
    pmixClient(of);
    assert.ok(of.host.complaintOf(0));
  });

  test('ends a job whose policy is restart', () => {
    const { of } = pmixClient(agent('restart'));
    assert.is(of.take('pmi.abort')[1]['cause'], 'restart');
  });

  test('has PMI-1 read of losses while it runs', () => {
    const { of, client } = pmi1Client();
    for (const each of [client, pmi1Client(of, 1).client]) each.write('cmd=barrier_in\n');
    const { id } = of.take('pmi.enter')[1] as { id: CollectiveResult['id'] };
    of.host.onDone({ id, problem: '', context: 0, data: [], sets: [] });
    assert.is(client.text(), 'cmd=barrier_out\n');
    of.host.onLost([2]);
    client.write(`cmd=get kvsname=${nspace} key=PMI_dead_processes\n`);
    assert.match(client.text(), /value=2\n/);
    assert.equal(of.signals, [0, 1]);
    client.write('cmd=finalize\n');
    of.host.onLost([1]);
    assert.equal(of.signals, [0, 1, 1]);
  });

  test('ends a job whose MPI_Init cannot end: a rank of the host is gone, or has another library', () => {
    const { of, client } = pmi1Client();
    client.write('cmd=barrier_in\n');
    of.host.remove(1, true);
    assert.equal(of.take('pmi.split')[1], { host: 0, rank: 0, absent: 1 });
    assert.is(client.text(), '');
    const mixed = pmi1Client();
    mixed.client.write('cmd=barrier_in\n');
    const other = pmixClient(mixed.of, 1);
    other.ask(fence(0, 1, 2));
    assert.equal(mixed.of.take('pmi.split')[1], { host: 0, rank: 1 });
    assert.equal(other.client.frames(), []);
  });

  test('asks of a rank that has been spawned since', () => {
    const { of } = pmi1Client();
    of.host.add(3);
    const spawned = of.line(3);
    of.take('pmi.sets')[2](undefined, { sets: [{ ...SET, nspace: 'spawned', first: 3, size: 1 }] });
    spawned.write('cmd=init pmi_version=1 pmi_subversion=1\ncmd=get_my_kvsname\n');
    assert.match(spawned.text(), /kvsname=spawned\n/);
    of.host.add(7);
    const nobody = of.line(7);
    of.take('pmi.sets')[2](undefined, { sets: [] });
    assert.match(nobody.closed, /not known/);
  });
});
