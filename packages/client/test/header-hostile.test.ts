/**
 * stci.h against answers that break the protocol: nothing is read or written beyond what came (the sanitizers would
 * tell), nothing hangs, and what is wrong ends the connection, not the program.
 */

// @timeoutMs 300000
// @sameFor user, node: a compiler, and C at a socket.
import { assert, suite } from '@stci/testkit';
import { FakeAgent, record, whyNoCompiler, type Script } from './agent-fake/fake-agent.js';

const LONG = { timeoutMs: 200_000 };
const WELCOME = record({ type: 'welcome', rank: 1, size: 4, job: 7, attempt: 1, host: 'n1' });
const CALLS = ['timeout,3000', 'receive,0,t,100', 'allgather,x', 'shrink', 'neighbours,tree', 'poll,0', 'get,k'];
const noCompiler = whyNoCompiler('cc');

const agreed = (more: string, rest = ''): string =>
  `{"type":"agreed","agreed":{"flag":true,"ranks":[[0,3]],"failed":[],"joined":[]${more}},"code":""${rest}}\n`;

/** What a good agent answers to CALLS; ids are 3, …: the first is that of hello. */
const TRANSCRIPT: readonly string[] = [
  '{"type":"message","id":2,"from":0,"tag":"t","form":"bytes","bytes":5}\nhello',
  '{"type":"failed","lost":[[0,0,"why \\u00e9 \\"x\\"","n"],[2,3,"","m"]]}\n'
    + `${agreed('', ',"parts":[[0,2,"text"],[1,3,"json"]],"bytes":5')}abcde`,
  agreed(''),
  '{"type":"ended","ranks":[[0,0]]}\n{"type":"topology","id":5,"neighbours":[0,2],"parent":-1}\n',
  '{"type":"value","id":6,"found":true,"form":"text","bytes":2}\nok',
];

/** Says WELCOME, then to each record the next of these, and closes after the last. */
function says(answers: readonly (string | Buffer)[], welcome: Buffer = WELCOME): Script {
  let next = 0;
  return ({ head }) => {
    if (head['type'] === 'hello') return [welcome];
    const answer = answers[next++];
    if (answer === undefined) return ['end'];
    return next === answers.length ? [Buffer.from(answer as string), 'end'] : [Buffer.from(answer as string)];
  };
}

/** Every line is a result with a code, and no sanitizer speaks. */
function isSane(lines: readonly string[]): boolean {
  const isResult = (line: string): boolean => /^[a-z]+ \d+( |$)|^ {2}lost \d+: |^exit \d+$/.test(line);
  return lines.every(isResult) && lines.at(-1) !== 'exit 1';
}

suite('stci.h and answers that break the protocol', (test) => {
  const agent = new FakeAgent();
  test.before(async () => {
    if (noCompiler !== undefined) return;
    assert.is(agent.compileProbe(), '');
    await agent.open();
  }, LONG);
  test.after(() => agent.close());
  const needs = (name: string, body: () => unknown): void =>
    test.skipIf(noCompiler !== undefined, noCompiler ?? '', name, body, LONG);

  needs('the transcript is good as it is', async () => {
    const lines = await agent.run(CALLS, says(TRANSCRIPT));
    assert.equal(lines.map((line) => line.split(' ').slice(0, 2).join(' ')), ['connect 0', 'timeout 0', 'receive 0',
      ' ', ' ', ' ', 'allgather 0', 'shrink 0', 'neighbours 0', 'poll 0', 'get 0']);
    assert.equal(lines.slice(3, 6), ['  lost 0: why ? "x"', '  lost 2: ', '  lost 3: ']);
  });

  needs('a first record that is no welcome, or one that cannot be', async () => {
    const places = ['4,"size":4', '0,"size":0', '0,"size":99999999999999999999', '0,"size":16777217', '-1,"size":4',
      '"0","size":4', '0.5,"size":4'];
    const firsts = ['\n', '{}\n', '[1]\n', '{"type":"done","id":1}\n', '{"type":"welcome"}\n', 'HTTP/1.1 400\r\n\r\n',
      ...places.map((text) => `{"type":"welcome","attempt":1,"rank":${text}}\n`)];
    for (const first of firsts) {
      const [line = ''] = await agent.run([], says([], Buffer.from(first)));
      assert.match(line, /^connect 8 Cannot connect to the session agent at .*\.$/, first);
    }
  });

  needs('lengths, ranks and lists that cannot be', async () => {
    const message = (more: string): string => `{"type":"message","id":2,"from":0,"tag":"t","form":"bytes"${more}}\n`;
    const parts = (list: string): string => `${agreed('', `,"parts":${list},"bytes":4`)}xxxx`;
    const lists = ['[[0,5,"x"]]', '[[4,1,"x"]]', '[[-1,1,"x"]]', '[[0]]', '[[0,2],[0,2],[0,1]]', '[["0",1]]',
      '[[0,18446744073709551615]]'];
    const ranges = ['[[0,4]]', '[[3,0]]', '[[0,3],[0,3]]', '["x"]', '[[0,3],[1]]', '7', '[[0,2147483647]]',
      '[[0,3],[3,3]]'];
    const cases: readonly (readonly [string, string])[] = [
      ...['-1', '1073741825', '99999999999999999999', '"5"', '1e3', '[1]', 'true'].map((bytes) =>
        ['receive,0,t,100', message(`,"bytes":${bytes}`)] as const),
      ...[',"from":4', ',"from":-1', ',"from":"0"', ''].map((from) =>
        ['receive,0,t,100', message('').replace(',"from":0', from)] as const),
      ['receive,0,t,100', '{"type":"mess\0age","id":2}\n'],
      ['receive,0,t,100', `{"type":"${'m'.repeat(5000)}"}\n`],
      ['receive,0,t,100', '{"type":"surprise","id":2}\n'],
      ['receive,0,t,100', agreed('')],
      ...lists.map((list) => ['allgather,x', parts(list)] as const),
      ...ranges.map((list) => ['shrink', agreed('').replace('[[0,3]]', list)] as const),
      ['neighbours,tree', '{"type":"topology","id":2,"neighbours":[0,1,2,3,0]}\n'],
      ['neighbours,tree', '{"type":"topology","id":2,"neighbours":[4]}\n'],
      ['neighbours,tree', '{"type":"topology","id":2}\n'],
    ];
    for (const [call, answer] of cases) {
      const lines = await agent.run([call, 'barrier'], says([answer, answer]));
      const ended = new RegExp(`^${call.split(',')[0]} 9 .*(broke the protocol|closed it|does not answer)`);
      assert.match(lines[1] ?? '', ended, answer.slice(0, 200));
      assert.match(lines[2] ?? '', /^barrier 9 /, answer.slice(0, 200));
      assert.is(lines.length, 3, lines.join('\n'));
    }
  });

  needs('a line without an end, and a length of which nothing comes', async () => {
    const [, line] = await agent.run(['barrier'], says([Buffer.alloc(65 << 20, '[')]));
    assert.match(line ?? '', /^barrier 9 .*a line that is too long/);
    const [, deep] = await agent.run(['shrink'], says([agreed(`,"deep":${'['.repeat(9 << 20)}`)]));
    assert.match(deep ?? '', /^shrink [09]/);
    const [, rest] = await agent.run(['receive,0,t,100'], says(['{"type":"message","id":2,"bytes":1073741824}\nfew']));
    assert.match(rest ?? '', /^receive 9 .*the agent closed it/);
  });

  needs('an end after any byte', async () => {
    const whole = TRANSCRIPT.join('');
    for (let at = 0; at < whole.length; at += 3) {
      let left = at;
      const cut = TRANSCRIPT.map((text) => text.slice(0, Math.max(0, (left -= text.length) + text.length)));
      const lines = await agent.run(CALLS, says(cut.filter((text) => text !== '')));
      assert.ok(isSane(lines), `${at}: ${lines.join('\n')}`);
      assert.match(lines.at(-1) ?? '', /^get 9 /);
    }
  });

  needs('bytes that are others than they were', async () => {
    let state = 20_261_122;
    const random = (below: number): number => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
      return (state >>> 8) % below;
    };
    const likely = [...'[]{}",:\\0123456789-\nu', '\0', '99999999999'];
    for (let run = 0; run < 150; run++) {
      const answers = TRANSCRIPT.map((text) => {
        const at = random(text.length);
        const other = likely[random(likely.length)] as string;
        const changes = [text.slice(0, at) + other + text.slice(at + random(2)), text];
        return changes[random(3) === 0 ? 1 : 0] as string;
      });
      const lines = await agent.run(CALLS.map((call) => call.replace('3000', '150')), says(answers));
      assert.ok(isSane(lines), `${JSON.stringify(answers)}\n${lines.join('\n')}`);
    }
  });
});
