/** PMIx: handshake, frames, requests and replies of both sides; and recorded dialogues of Open MPI. */

import {
  PMIX_COMMAND, PMIX_STATUS, PmixClientEnd, PmixServerEnd, TAG, clientMajor, decodeEvent, decodeJobInfo, decodeReply,
  decodeRequest, decodeValue, encodeEvent, encodeFrame, encodeGroupSince6, encodeHello, encodeJobInfo, encodeReply,
  encodeRequest, encodeStatus, encodeValue, encodeWelcome, helloProblem, jobInfoKvals, lostRank, type PmixHello,
  type PmixReplyName, type PmixReplyOf, type PmixRequest,
} from '@stci/pmi';
import { assert, seededIntegers, suite } from '@stci/testkit';
import { dialogues, hex, sentBy, split, unhex } from './dialogues.js';

const HELLO_HEX = 'ffffffffffffffff37000000 00000000 6e617469766500 00000008 0000000000000000 00'
  + '3132373531393934383900 00000001 342e322e3272633200 76343100 01 6861736800 00';
const HELLO: PmixHello = {
  security: 'native', credential: new Uint8Array(8), processKind: 0, nspace: '1275199489', rank: 1, version: '4.2.2rc2',
  bfrops: 'v41', form: 1, gds: 'hash', rest: new Uint8Array(1),
};
const FORMS = [1, 2] as const;
const PROCS = [{ nspace: 'job', rank: 0xffff_fffe }] as const;
const KVALS = [{ key: 'k', bytes: encodeValue({ type: 'byteObject', data: unhex('00ff') }) }];
const INFOS = [{ key: 'pmix.collect', value: { type: 'bool', data: true } }] as const;
const APP = { command: 'a', args: ['a', 'b'], env: ['X=1'], cwd: '/', processesMax: 2, infos: INFOS };

const REQUESTS: readonly PmixRequest[] = [
  { command: 'jobInfo' },
  { command: 'abort', status: 37, message: 'bad\nworse', procs: [] },
  { command: 'commit', scopes: [{ scope: 1, kvals: KVALS }, { scope: 2, kvals: [...KVALS, ...KVALS] }] },
  { command: 'fence', procs: PROCS, infos: INFOS },
  { command: 'get', nspace: 'job', rank: 3, infos: [], key: 'k' },
  { command: 'get', nspace: 'job', rank: 3, infos: INFOS, key: undefined },
  { command: 'finalize' },
  { command: 'publish', uid: 1000, infos: INFOS },
  { command: 'lookup', uid: 1000, keys: ['a', 'b'], infos: [] },
  { command: 'unpublish', uid: 1000, keys: ['a'], infos: [] },
  { command: 'spawn', infos: INFOS, apps: [APP, APP] },
  { command: 'connect', procs: PROCS, infos: [] },
  { command: 'disconnect', procs: PROCS, infos: [] },
  { command: 'notify', status: -7, range: 5, infos: INFOS },
  { command: 'registerEvents', codes: [-200, -402], infos: INFOS },
  { command: 'registerEvents', codes: [], infos: [] },
  { command: 'deregisterEvents', codes: [-7, -147] },
  { command: 'query', queries: [{ keys: ['pmix.qry'], qualifiers: INFOS }] },
  { command: 'log', timestamp: 0n, data: INFOS, directives: [] },
  { command: 'jobControl', procs: [], infos: INFOS },
  { command: 'monitor', monitor: INFOS[0], error: -1, infos: [] },
  { command: 'groupConstruct', id: 'g', procs: PROCS, infos: INFOS },
  { command: 'groupDestruct', id: 'g', procs: PROCS, infos: [] },
  { command: 'unsupported', code: 31 },
];

const JOB = {
  nspace: 'job', universeSize: 8, directory: '/tmp/d', nspaceDirectory: '/tmp/d/job', server: { nspace: 's', rank: 0 },
  hosts: [{ name: 'h0', ranks: [0, 2] }, { name: 'h1', ranks: [1] }],
  apps: [{ firstRank: 0, size: 2 }, { firstRank: 2, size: 1 }],
  parent: { nspace: 'parent', rank: 4 }, ranks: new Map([[2, { locality: 'NM0:CR1', cpuset: '1', reincarnation: 3 }]]),
};

suite('PMIx handshake', (test) => {
  test('the hello of libpmix 4.2.2, byte for byte', () => {
    const server = new PmixServerEnd();
    server.append(unhex(HELLO_HEX));
    const arrival = server.next();
    assert.equal(arrival, { kind: 'hello', hello: HELLO });
    assert.is(hex(encodeHello(HELLO)), hex(unhex(HELLO_HEX)));
    assert.is(hex(encodeWelcome({ status: 0, index: 0 })), '0000000000000000');
    assert.is(clientMajor(HELLO), 4);
  });

  test('others than clients of v4 and v41 with the store hash are refused with a reason', () => {
    assert.is(helloProblem(HELLO), undefined);
    assert.is(helloProblem({ ...HELLO, bfrops: 'v4' }), undefined);
    assert.match(helloProblem({ ...HELLO, bfrops: 'v3' }) ?? '', 'v3');
    assert.match(helloProblem({ ...HELLO, gds: 'shmem2' }) ?? '', 'shmem2');
    assert.match(helloProblem({ ...HELLO, security: 'munge' }) ?? '', 'munge');
    assert.match(helloProblem({ ...HELLO, processKind: 3 }) ?? '', 'kind 3');
  });

  test('a claim of 4 GiB, another tag, or a hello that is cut, ends the connection', () => {
    const refused = (wire: string): void => {
      const server = new PmixServerEnd();
      server.append(unhex(wire));
      assert.throwsCode('STCI_FRAME_INVALID', () => server.next());
    };
    refused('ffffffff ffffffff ffffffff 00000000');
    refused('ffffffff 00000000 00000000 00000000');
    refused('ffffffff ffffffff 04000000 00000000 61626364');
    refused('ffffffff ffffffff 07000000 00000000 6100 ffffffff 00');
  });

  test('a refusal is a status alone, behind which a client takes nothing', () => {
    const client = new PmixClientEnd();
    client.append(encodeWelcome({ status: -47, index: 0 }));
    client.append(new Uint8Array(32));
    assert.is(client.next(), undefined);
    assert.is(client.welcome?.status, -47);
  });
});

suite('PMIx frames', (test) => {
  function greeted(bodyBytesMax?: number): PmixServerEnd {
    const server = new PmixServerEnd(bodyBytesMax);
    server.append(encodeHello(HELLO));
    server.next();
    return server;
  }

  test('half a header waits, a length over the bound does not', () => {
    const server = greeted(100);
    const frame = encodeFrame(101, new Uint8Array(100));
    server.append(frame.subarray(0, 9));
    assert.is(server.next(), undefined);
    server.append(frame.subarray(9));
    assert.is(server.next()?.kind, 'refused');
    server.append(encodeFrame(101, new Uint8Array(101)).subarray(0, 16));
    assert.throwsCode('STCI_FRAME_INVALID', () => server.next());
  });

  test('heartbeats and forwarded input are passed over; a refused body has its tag, and the next one is read', () => {
    const server = greeted();
    server.append(encodeFrame(TAG.heartbeat, unhex('00')));
    server.append(encodeFrame(TAG.forwarded, unhex('00')));
    server.append(encodeFrame(107, unhex('0203')));
    server.append(encodeFrame(108, encodeRequest(1, { command: 'finalize' })));
    const refused = server.next();
    assert.equal([refused?.kind, refused?.kind === 'refused' && refused.tag], ['refused', 107]);
    assert.equal(server.next(), { kind: 'request', tag: 108, request: { command: 'finalize' } });
  });

  test('an empty body, which a client takes for the end, is not sent', () => {
    assert.throws(() => encodeFrame(101, new Uint8Array(0)));
  });
});

suite('PMIx messages', (test) => {
  test('every request is what it was, in both forms', () => {
    for (const form of FORMS) {
      for (const request of REQUESTS) assert.equal(decodeRequest(form, encodeRequest(form, request)), request);
    }
    const named = new Set(REQUESTS.map(({ command }) => command));
    assert.equal(Object.keys(PMIX_COMMAND).filter((command) => !named.has(command as never)), []);
  });

  test('each beginning of a request is refused, or is a shorter one', () => {
    for (const request of REQUESTS) {
      const body = encodeRequest(1, request);
      for (let length = 0; length < body.length; length++) {
        try {
          decodeRequest(1, body.subarray(0, length));
        } catch (fault) {
          assert.is((fault as { code?: string }).code, 'STCI_MESSAGE_INVALID');
        }
      }
    }
  });

  test('every reply is what it was, in both forms', () => {
    const check = <K extends PmixReplyName>(command: K, reply: PmixReplyOf<K>): void => {
      for (const form of FORMS) {
        const decoded = decodeReply(form, command, encodeReply(form, command, reply));
        assert.equal(decoded, { status: 0, reply });
      }
    };
    check('fence', {});
    const [first, second] = [{ nspace: 'job', rank: 1 }, { nspace: 'job', rank: 2 }];
    check('get', { ranks: [{ proc: first, kvals: KVALS }, { proc: second, kvals: [] }] });
    check('lookup', { found: [{ proc: first, key: 'a', value: { type: 'string', data: 'port' } }] });
    check('spawn', { nspace: 'child', kvals: KVALS });
    check('connect', { nspaces: [{ nspace: 'child', kvals: KVALS }] });
    check('query', { infos: INFOS });
    check('jobControl', { infos: undefined });
    check('groupConstruct', { procs: PROCS, context: 7n });
  });

  test('a status alone; a failed get; an event of a lost rank', () => {
    assert.is(hex(encodeStatus(1, PMIX_STATUS.success)), '0200');
    assert.is(hex(encodeStatus(1, PMIX_STATUS.notFound)), '025b');
    assert.is(hex(encodeStatus(1, PMIX_STATUS.notSupported)), '025d');
    assert.equal(decodeReply(1, 'get', encodeStatus(1, -46)), { status: -46, reply: undefined });
    for (const form of FORMS) {
      const event = lostRank({ nspace: 'job', rank: 3 });
      assert.equal(decodeEvent(form, encodeEvent(form, event)), event);
    }
    const wire = hex(encodeEvent(1, lostRank({ nspace: 'j', rank: 3 })));
    assert.is(wire, hex(unhex('020c 020d 02046a0003 0201 0218 706d69782e657670726f6300 00 16 046a0003')));
  });

  test('clients since 6 read more of a group', () => {
    const reply = { procs: PROCS, hasContext: true, context: 7n, infos: [] };
    assert.is(hex(encodeGroupSince6(1, reply)), '0200020102086a6f6200feffffff0f0201 0207 0200'.replaceAll(' ', ''));
  });
});

suite('PMIx job info', (test) => {
  test('hosts, programs and ranks as clients look for them', () => {
    for (const form of FORMS) {
      const kvals = jobInfoKvals(form, JOB);
      assert.equal(decodeJobInfo(form, encodeJobInfo(form, { nspace: 'job', kvals })), { nspace: 'job', kvals });
      const values = new Map(kvals.map(({ key, bytes }) => [key, decodeValue(bytes)]));
      assert.equal(values.get('pmix.job.size'), { type: 'uint32', data: 3 });
      assert.equal(values.get('pmix.nlist'), { type: 'string', data: 'h0,h1' });
      assert.equal(values.get('pmix.parent'), { type: 'proc', data: JOB.parent });
      const count = (key: string): number => kvals.filter((kval) => kval.key === key).length;
      assert.equal(['pmix.node.arr', 'pmix.app.arr', 'pmix.pblob'].map(count), [2, 2, 3]);
    }
  });

  test('a rank costs less than 200 bytes', () => {
    const of = (size: number): number => {
      const hosts = [{ name: 'h0', ranks: Array.from({ length: size }, (_, rank) => rank) }];
      return encodeJobInfo(1, { nspace: 'job', kvals: jobInfoKvals(1, { ...JOB, hosts }) }).length;
    };
    assert.ok((of(1000) - of(500)) / 500 < 200, `${of(1000)} bytes`);
  });
});

suite('PMIx dialogues of Open MPI', (test) => {
  for (const { name, pieces } of dialogues('openmpi')) {
    test(`${name}: all is read, and written again byte for byte`, () => {
      const [server, client, next] = [new PmixServerEnd(), new PmixClientEnd(), seededIntegers(name.length)];
      const asked = new Map<number, PmixRequest>();
      let again = '';
      for (const piece of split(sentBy('>', pieces), next)) {
        server.append(piece);
        for (let arrival = server.next(); arrival !== undefined; arrival = server.next()) {
          assert.is.not(arrival.kind, 'refused');
          if (arrival.kind === 'hello') again += hex(encodeHello(arrival.hello));
          if (arrival.kind !== 'request') continue;
          asked.set(arrival.tag, arrival.request);
          again += hex(encodeFrame(arrival.tag, encodeRequest(server.form, arrival.request)));
        }
      }
      assert.is(again, hex(sentBy('>', pieces)));
      client.append(sentBy('<', pieces));
      let replies = 0;
      for (let frame = client.next(); frame !== undefined; frame = client.next()) {
        const request = asked.get(frame.tag);
        replies += 1;
        assert.is(hex(writtenAgain(server.form, request, frame.body)), hex(frame.body));
      }
      assert.ok(replies > 5, `${replies} replies`);
    });
  }
});

/** A reply, read and written. */
function writtenAgain(form: 1 | 2, request: PmixRequest | undefined, body: Uint8Array): Uint8Array {
  assert.ok(request !== undefined && request.command !== 'deregisterEvents', 'nobody asked');
  if (request.command === 'jobInfo') return encodeJobInfo(form, decodeJobInfo(form, body));
  if (request.command === 'unsupported') return encodeStatus(form, PMIX_STATUS.notSupported);
  const { status, reply } = decodeReply(form, request.command, body);
  return reply === undefined ? encodeStatus(form, status) : encodeReply(form, request.command, reply as never);
}
