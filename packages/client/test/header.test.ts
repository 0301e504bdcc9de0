/**
 * stci.h against an agent of the test's own: answers in pieces of any size, late ones, wrong ones, and connections that
 * end anywhere, under the compiler's sanitizers where they are installed. Real jobs: stcirun's tests.
 */

// @timeoutMs 300000
// @sameFor user, node: a compiler, and C at a socket.
import { join } from 'node:path';
import { assert, suite } from '@stci/testkit';
import {
  FakeAgent, PROBE, compile, record, whyNoCompiler, type Came, type Head, type Script,
} from './agent-fake/fake-agent.js';

const LONG = { timeoutMs: 100_000 };
const WELCOME = { type: 'welcome', rank: 1, size: 4, job: 7, attempt: 1, host: 'n1' };
const AGREED = { flag: true, isMismatch: false, ranks: [[0, 3]], joined: [], failed: [], missing: [] };
const decided = (more: Head = {}, top: Head = {}, bytes = ''): Buffer =>
  record({ type: 'agreed', agreed: { ...AGREED, ...more }, code: '', reason: '', parts: [], ...top }, bytes);
const HEADS = [[0, 2, 'bytes'], [1, 0, 'json'], [3, 3, 'text']];
const PARTS = decided({ news: { is: [{}, '}'] } }, { parts: HEADS }, 'abcde');
const LOST = record({ type: 'failed', lost: [[2, 2, 'it was \\ ended by "SIGKILL"', 'n2']] });

/** What a well-behaved agent answers. */
function answer({ head, bytes }: Came): Buffer[] {
  const id = head['id'];
  switch (head['type']) {
    case 'hello': return [record(WELCOME), LOST];
    case 'send': case 'put': return [record({ type: 'done', id, extra: [1, { a: ']' }] })];
    case 'receive': return [record({ type: 'message', id, from: 3, tag: 'a"b\\c', form: 'text' }, 'line\nnul\0end')];
    case 'get': return [record({ type: 'value', id, found: head['key'] === 'k', form: 'json' }, 'v1')];
    case 'topology':
      return [record({ type: 'topology', id, neighbours: [0, 3], parent: 0, children: [3], diameter: 2 })];
    case 'vote': return [['allgather', 'gather'].includes(String(head['kind'])) ? PARTS
      : head['kind'] !== 'broadcast' ? decided()
        : decided({}, { parts: [[1, bytes.length, 'bytes']] }, bytes.toString('latin1'))];
    default: return [];
  }
}

const CALLS = [
  'send,0,x,hello', 'fill,3,300000', 'receive,-1,.,-1', 'put,k,v', 'get,k', 'get,no', 'exchange', 'barrier', 'agree,1',
  'shrink', 'gather,0,ab', 'allgather,abc', 'broadcast,1,xyz', 'neighbours,tree:arity=2', 'poll,0', 'lost,2',
  'lost,1', 'mark,here',
];
/** What the probe prints of bytes. */
const sum = (text: string): string => {
  const total = [...Buffer.from(text)].reduce((so, byte) => ((so * 31) % 1_000_003) + byte, 0);
  return `${Buffer.from(text).length} #${total}`;
};
const GATHERED = `[0  bytes ${sum('ab')}] [1  json 0 #0] [3  text ${sum('cde')}]`;

const RESULTS = [
  'connect 0 1 4 1 n1', '  lost 2: it was \\ ended by "SIGKILL"', 'send 0', 'fill 0',
  `receive 0 [3 a"b\\c text ${sum('line\nnul\0end')}]`,
  'put 0', `get 0 [-1  json ${sum('v1')}]`, 'get 1 get: there is no key no', 'exchange 0', 'barrier 0', '1 agree 0',
  'shrink 0 0 1 2 3',
  `gather 0 ${GATHERED}`, `allgather 0 ${GATHERED}`, `broadcast 0 [1  bytes ${sum('xyz')}]`,
  'neighbours 0 0 3', 'poll 0', '1 lost 0', '0 lost 0', 'mark 0',
];

/** Answers the first record with a welcome, the next with these bytes, and closes. */
const once = (text: string | Buffer): Script => ({ head }) =>
  head['type'] === 'hello' ? [record(WELCOME)] : [Buffer.from(text), 'end'];

const noCompiler = whyNoCompiler('cc');

suite('stci.h', (test) => {
  const agent = new FakeAgent();
  test.before(async () => {
    if (noCompiler !== undefined) return;
    assert.is(agent.compileProbe(), '');
    await agent.open();
  }, LONG);
  test.after(() => agent.close());
  const needs = (name: string, body: () => unknown): void =>
    test.skipIf(noCompiler !== undefined, noCompiler ?? '', name, body, LONG);

  const standards = [['cc', 'c99'], ['cc', 'c11'], ['cc', 'gnu11'], ['c++', 'c++11'], ['c++', 'c++17']];
  for (const [compiler, standard] of standards) {
    const why = whyNoCompiler(compiler as string);
    test.skipIf(why !== undefined, why ?? '', `compiles without a warning as ${standard}`, () => {
      assert.is(compile(compiler as string, standard as string, PROBE, join(agent.directory, 'other')), '');
    }, LONG);
  }

  needs('what it says and hears, whatever pieces answers come in, with signals meanwhile', async () => {
    for (const [piece, storm] of [[0, []], [1, []], [1, ['storm']], [7, ['storm']], [70_000, ['storm']]] as const) {
      assert.equal(await agent.run([...storm, ...CALLS], answer, piece), RESULTS);
      const heads = agent.came.map(({ head: { id: _, ...head } }) => head);
      assert.equal(heads.slice(0, 4), [
        { type: 'hello', version: 2, token: 'ab12' },
        { bytes: 5, form: 'bytes', type: 'send', to: 0, tag: 'x' },
        { bytes: 300_000, form: 'bytes', type: 'send', to: 3, tag: 'big' },
        { type: 'receive' },
      ]);
      assert.equal(heads.at(-2), { type: 'topology', spec: 'tree:arity=2', size: 4, position: 1, root: 0 });
      assert.equal(agent.came[2]?.bytes, Buffer.alloc(300_000, 'x'));
    }
  });

  needs('8 MiB there and back, while the agent sends at the same time', async () => {
    const big = Buffer.alloc(8 << 20, 'y');
    const script: Script = ({ head }) => {
      if (head['type'] === 'hello') return [record(WELCOME)];
      const late = record({ type: 'message', id: 99 }, big.subarray(0, 9999));
      if (head['type'] === 'alive') return Array.from({ length: 200 }, () => late);
      if (head['type'] === 'send') return [record({ type: 'done', id: head['id'] })];
      return [record({ type: 'message', id: head['id'], from: 0, tag: 't', form: 'bytes' }, big)];
    };
    const lines = await agent.run(['alive,1000', `fill,0,${8 << 20}`, 'receive,0,t,1000'], script);
    assert.equal(lines.slice(1, 3), ['alive 0', 'fill 0']);
    assert.match(lines[3] ?? '', /^receive 0 \[0 t bytes 8388608 #/);
  });

  needs('errors of calls are codes; what is wrong is said', async () => {
    const failing = (code: string): Script => ({ head }) => {
      if (head['type'] === 'hello') return [record(WELCOME)];
      const says = { code: `STCI_CLIENT_${code}`, reason: 'why\u00e9 not' };
      return [head['type'] === 'vote' ? decided({}, says) : record({ type: 'failed-call', id: head['id'], ...says })];
    };
    for (const [code, value] of Object.entries({ TIMEOUT: 1, RANK_LOST: 3, RANK_ENDED: 12, MISMATCH: 4, RANK: 5,
      TOPOLOGY: 5, LIMIT: 6, STRANGE: 11 })) {
      const [, ...lines] = await agent.run(['receive,0,.,9', 'barrier', 'shrink', 'allgather,x'], failing(code));
      const said = `${value} why? not (STCI_CLIENT_${code})`;
      assert.equal(lines, ['receive', 'barrier', 'shrink', 'allgather'].map((call) => `${call} ${said}`));
    }
  });

  needs('what is not allowed is not sent', async () => {
    const wrong = ['send,4,x,y', 'send,-1,x,y', `send,0,${'t'.repeat(65)},y`, 'receive,4', 'receive,0,t t', 'put,é,v',
      'get,', 'gather,4,x', 'neighbours,', 'mark,', 'put,k k,v', 'alive,-1', 'fill,0,8388609'];
    const [, ...lines] = await agent.run(wrong, answer);
    const codes = lines.filter((line) => !line.startsWith('  ')).map((line) => line.split(' ')[1]);
    assert.equal(codes, [...Array(12).fill('5'), '6']);
    assert.is(agent.came.length, 1);
    const [, size, position] = await agent.run(['neighbours,tree,1048577,0', 'neighbours,tree,4,-1'], answer);
    assert.is(size, 'neighbours 5 neighbours: the size is 1 to 1048576, not 1048577');
    assert.is(position, 'neighbours 5 neighbours: there is no position -1 of 4');
    const more: Script = (came) => came.head['type'] !== 'topology' ? answer(came)
      : [record({ type: 'topology', id: came.head['id'], neighbours: [0, 3, 6], parent: 0 })];
    const said = async (call: string): Promise<string | undefined> =>
      (await agent.run([call], more)).find((line) => line.startsWith('neighbours'));
    assert.is(await said('neighbours,tree,7,1'), 'neighbours 0 0 3 6');
    assert.match(await said('neighbours,tree,6,1') ?? '', /broke the protocol/);
  });

  needs('late: a call ends in time, and a collective is waited for again', async () => {
    const held: Buffer[] = [];
    const script: Script = ({ head }) => {
      if (head['type'] === 'hello') return [record(WELCOME)];
      if (head['type'] === 'vote') held.push(decided({ ranks: [[1, 1], [3, 3]], failed: [[0, 0]] }));
      const value = { type: 'value', id: head['id'], found: true, form: 'text' };
      if (head['type'] === 'get') held.push(record(value, 'late'));
      if (head['type'] === 'mark') return held.splice(0);
      return head['type'] === 'put' ? [record({ type: 'done', id: head['id'] })] : [];
    };
    const lines = await agent.run(
      ['timeout,50', 'shrink', 'barrier', 'get,k', 'mark,go', 'timeout,5000', 'put,a,b', 'lost,0', 'shrink'], script);
    assert.equal(lines.slice(2), [
      'shrink 2 shrink: not all ranks have called it in time',
      'barrier 5 barrier: shrink ran out of time, and is to be called again first',
      'get 2 No answer of the session agent in time', 'mark 0', 'timeout 0', '  lost 0: it is lost', 'put 0',
      '1 lost 0', 'shrink 0 1 3',
    ]);
    assert.is(agent.came.filter(({ head }) => head['type'] === 'vote').length, 1);
  });

  needs('told to exit, it exits; refused, it says why', async () => {
    assert.is((await agent.run(['barrier'], once('{"type":"exit","status":9}\n'))).at(-1), 'exit 9');
    const [refused] = await agent.run([], () => [record({ type: 'refused', reason: 'rank 1 is connected' }), 'end']);
    assert.match(refused ?? '', /^connect 8 Cannot connect to the session agent at .*: rank 1 is connected\.$/);
    const later = await agent.run(['barrier', 'barrier'], once(record({ type: 'refused', reason: 'go' })));
    const ended = 'barrier 9 The connection to the session agent has ended: go.';
    assert.equal(later.slice(1), [ended, ended]);
  });
});
