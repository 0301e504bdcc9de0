/** What libraries say to their agent, and what comes of it: a client costs its own connection, whatever it sends. */

import { PMIX_STATUS, decodeReply, decodeValue, fromByteText, toByteText } from '@stci/pmi';
import { assert, suite } from '@stci/testkit';
import { FORM, SET, agent, frame, hello, joined, pmi1Client, pmixClient, statusOf, textValue } from './agent-play.js';

suite('PMIx: a client', (test) => {
  test('asks for nothing before it is known', () => {
    const of = agent();
    const client = of.socket();
    const abort = frame({ command: 'abort', status: 1, message: 'x', procs: [] });
    const leave = frame({
      command: 'jobControl', procs: [], infos: [{ key: 'pmix.reg.cleanup', value: textValue('/dev/shm/x') }],
    });
    client.data(joined(hello('guess'), abort, leave));
    of.open();
    client.data(abort);
    of.take('pmi.sets')[2](undefined, { sets: [SET] });
    assert.match(client.closed, /no process that runs on this host/);
    assert.equal(of.asked, []);
    const other = of.socket();
    other.data(joined(hello(), abort));
    assert.is(of.take('pmi.abort')[1]['rank'], 0);
  });

  test('that names what is too long gets an error, and its agent sends nothing that is refused', () => {
    const { of, client, ask } = pmixClient();
    const long = 'k'.repeat(3000);
    const info = { key: long, value: textValue('v') };
    const many = Array.from({ length: 5000 }, (_, i) => `n${i}`);
    const app = { command: 'a', args: ['a'], env: [], cwd: null, processesMax: -1, infos: [] };
    ask({ command: 'publish', uid: 0, infos: [info] });
    ask({ command: 'lookup', uid: 0, keys: [long], infos: [] });
    ask({ command: 'unpublish', uid: 0, keys: [long], infos: [] });
    ask({ command: 'lookup', uid: 0, keys: many, infos: [] });
    ask({ command: 'get', nspace: SET.nspace, rank: 2, infos: [], key: long });
    const procs = [0, 2].map((rank) => ({ nspace: SET.nspace, rank }));
    ask({ command: 'groupConstruct', id: long, procs, infos: [] });
    ask({ command: 'fence', procs: [{ nspace: long, rank: 0 }], infos: [] });
    ask({ command: 'fence', procs: many.map((nspace) => ({ nspace, rank: 0 })), infos: [] });
    ask({ command: 'spawn', infos: [], apps: [app] });
    ask({ command: 'commit', scopes: [{ scope: 2, kvals: [{ key: long, bytes: fromByteText('\x03\x00') }] }] });
    assert.match(of.host.notify(0, -1, new Uint8Array(0x10_0001)) ?? '', /bytes/);
    assert.equal(of.malformed, []);
    assert.is(client.closed, '');
    const frames = client.frames();
    assert.is(frames.length, 10);
    for (const each of frames) assert.ok(statusOf(each) < 0);
  });

  test('names a program, and files, as UTF-8', () => {
    const { of, client, ask } = pmixClient();
    const bytes = (text: string): string => toByteText(Buffer.from(text));
    const infos = [{ key: 'pmix.wdir', value: textValue(bytes('/ä')) }];
    const [command, args, env] = [bytes('./ö'), ['', bytes('ü')], [bytes('A=ß')]];
    const app = { command, args, env, cwd: null, processesMax: 1, infos };
    ask({ command: 'spawn', infos: [], apps: [app] });
    const [, { request }, done] = of.take('pmi.spawn');
    const asked = { program: './ö', args: ['ü'], count: 1, env: { A: 'ß' }, wdir: '/ä' };
    assert.equal(request, { parent: 0, apps: [asked] });
    done(undefined, { problem: 'no — not here', sets: [] });
    assert.equal(client.frames().map(statusOf), [PMIX_STATUS.error]);
    assert.equal(of.said, [bytes('0: MPI_Comm_spawn: no — not here\n')]);
    ask({ command: 'abort', status: 3, message: bytes('größer'), procs: [] });
    assert.is(of.take('pmi.abort')[1]['message'], 'größer');
  });

  test('is told nothing of an event, or a name, that cannot be read', () => {
    const { of, client, ask } = pmixClient();
    ask({ command: 'registerEvents', codes: [], infos: [] });
    client.frames();
    of.host.onEvent({ rank: 2, nspace: SET.nspace, process: 2, status: -7, event: Uint8Array.of(9, 9, 9) });
    assert.equal(client.frames(), []);
    ask({ command: 'lookup', uid: 0, keys: ['name'], infos: [] });
    of.take('pmi.lookup')[2](undefined, { found: [['n', 0, 'name', fromByteText('tag#0')]] });
    assert.equal(client.frames().map(statusOf), [PMIX_STATUS.notFound]);
  });

  test('that does not read is heard no longer, and lost when too much waits for it', () => {
    const { of, client, ask } = pmixClient();
    const bytes = new Uint8Array(0x8_0000 + 4);
    const kval = { key: 'k', bytes: joined(Uint8Array.of(27, 0x80, 0x80, 0x20), bytes.subarray(4)) };
    ask({ command: 'commit', scopes: [{ scope: 1, kvals: [kval] }] });
    assert.equal(client.frames().map(statusOf), [0]);
    client.isSlow = true;
    const get = frame({ command: 'get', nspace: SET.nspace, rank: 0, infos: [], key: 'k' });
    client.data(joined(...Array.from({ length: 100 }, () => get)));
    assert.ok(client.queued < 0x20_0000);
    assert.is(client.isReadable, false);
    for (let turn = 0; turn < 200 && !client.isReadable; turn++) client.drain();
    assert.is(client.frames().length, 100);
    const wait = frame({ command: 'get', nspace: SET.nspace, rank: 0, infos: [], key: 'later' });
    client.data(joined(...Array.from({ length: 200 }, () => wait)));
    const later = { scope: 1, kvals: [{ key: 'later', bytes: fromByteText('\x01\x01') }] };
    ask({ command: 'commit', scopes: [later] });
    assert.match(client.closed, /does not read/);
    assert.ok(client.queued < 0x800_0000);
    assert.is(of.host.isHere(0), true);
  });
});

suite('PMI-1: a client', (test) => {
  test('that asks for a spawn in a barrier is lost, and the others are told', () => {
    const { of, client } = pmi1Client();
    client.write('cmd=barrier_in\n');
    client.write('mcmd=spawn\nnprocs=1\nexecname=a\ntotspawns=1\nspawnssofar=1\nargcnt=0\nendcmd\n');
    assert.match(client.closed, /one request at a time/);
    const { client: other } = pmi1Client(of, 1);
    other.write('cmd=barrier_in\n');
    const { id } = of.take('pmi.enter')[1] as { id: never };
    of.host.onDone({ id, problem: '', context: 0, data: [], sets: [] });
    assert.match(other.text(), /barrier_out/);
  });

  test('that names what is too long gets an error, and its agent sends nothing that is refused', () => {
    const { of, client } = pmi1Client();
    const long = 'k'.repeat(3000);
    client.write(`cmd=publish_name service=${long} port=p\n`);
    client.write(`cmd=lookup_name service=${long}\n`);
    client.write(`cmd=unpublish_name service=${long}\n`);
    assert.equal(of.malformed, []);
    assert.is(client.closed, '');
    assert.match(client.text(), /publish_result.*rc=-1[^]*lookup_result rc=1[^]*unpublish_result.*rc=-1/);
  });

  test('that does not read is heard no longer', () => {
    const { of, client } = pmi1Client();
    client.write(`cmd=put kvsname=${SET.nspace} key=k value=${'v'.repeat(1000)}\n`);
    client.text();
    client.isSlow = true;
    client.write(`cmd=get kvsname=${SET.nspace} key=k\n`.repeat(3000));
    assert.is(client.isReadable, false);
    assert.ok(client.queued < 0x12_0000);
    for (let turn = 0; turn < 200 && !client.isReadable; turn++) client.drain();
    assert.is(client.text().split('\n').length, 3001);
    assert.equal(of.malformed, []);
  });

  test('puts what programs of PMIx can read, which get it with what others have put', () => {
    const { of, client } = pmi1Client();
    client.write(`cmd=put kvsname=${SET.nspace} key=k value=v\n`);
    const { client: other, ask } = pmixClient(of, 1);
    client.write(`cmd=get kvsname=${SET.nspace} key=k\n`);
    assert.match(client.text(), /^cmd=put_result rc=0[^\n]*\ncmd=get_result rc=0 [^\n]*value=v\n$/);
    ask({ command: 'commit', scopes: [{ scope: 1, kvals: [{ key: 'own', bytes: fromByteText('\x01\x01') }] }] });
    ask({ command: 'get', nspace: SET.nspace, rank: 1, infos: [], key: 'own' });
    const ranks = decodeReply(FORM, 'get', other.frames()[1]!.body).reply?.ranks ?? [];
    assert.equal(ranks.map(({ proc, kvals }) => [proc.rank, kvals[0]!.key]), [[1, 'own'], [0, 'k']]);
    assert.equal(decodeValue(ranks[1]!.kvals[0]!.bytes), textValue('v'));
  });

  test('is told no value that would be more than a line', () => {
    const of = agent();
    const { ask } = pmixClient(of);
    ask({ command: 'commit', scopes: [{ scope: 1, kvals: [{ key: 'k', bytes: fromByteText('\x03\x04\ncmd=x\0') }] }] });
    const { client } = pmi1Client(of, 1);
    client.write(`cmd=get kvsname=${SET.nspace} key=k\n`);
    assert.match(client.text(), /^cmd=get_result rc=-1 [^\n]*\n$/);
    client.write('cmd=lookup_name service=s\n');
    of.take('pmi.lookup')[2](undefined, { found: [['n', 0, 's', fromByteText('a\nb')]] });
    assert.match(client.text(), /^cmd=lookup_result rc=1 [^\n]*\n$/);
  });
});
