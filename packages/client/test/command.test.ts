/**
 * stci-client against an agent of the test's own, and alone: bytes in and out, exit codes, errors. Real jobs: stcirun's
 * tests.
 */
// @sameFor user: messages between processes of one user.

import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { assert, suite } from '@stci/testkit';
import { FakeAgent, record, type Head, type Script } from './agent-fake/fake-agent.js';

const COMMAND = fileURLToPath(new URL('../dist/stci-client.cjs', import.meta.url));
const LONG = { timeoutMs: 60_000 };
const WELCOME = record({ type: 'welcome', rank: 1, size: 4, job: 7, attempt: 1, host: 'n1' });
/** Each byte there is, and none that a text has. */
const BINARY = Buffer.from([...Array(256).keys(), 0, 10, 10, 255]);

interface Ended {
  readonly code: number | null;
  readonly out: Buffer;
  readonly err: string;
}

async function call(env: NodeJS.ProcessEnv, args: readonly string[], input: Buffer | string = ''): Promise<Ended> {
  const child = spawn(process.execPath, [COMMAND, ...args], { env, stdio: 'pipe' });
  const out: Buffer[] = [];
  let err = '';
  child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  return { code, out: Buffer.concat(out), err };
}

/** The same to every record but the first: an answer with its id. */
const says = (head: Head, bytes: Buffer | string = ''): Script => ({ head: { type, id } }) =>
  [type === 'hello' ? WELCOME : record({ ...head, id }, bytes)];
const decided = (more: Head, bytes: Buffer | string = ''): Script =>
  says({ type: 'agreed', code: '', parts: [], ...more }, bytes);

suite('stci-client and an agent', (test) => {
  const agent = new FakeAgent();
  test.before(() => agent.open());
  test.after(() => agent.close());

  /** What it wrote, with its exit code and what it said on standard error where that is not 0. */
  async function run(
    args: readonly string[], script: Script, input: Buffer | string = '', piece = 0,
  ): Promise<unknown[]> {
    agent.follow(script, piece);
    const { code, out, err } = await call(agent.env, args, input);
    return code === 0 ? [out.toString('latin1')] : [out.toString('latin1'), code, err];
  }
  const asked = (): unknown => agent.came.at(-1)?.head;

  test('who and where', async () => {
    assert.equal(await run(['rank'], says({})), ['1\n']);
    assert.equal(await run(['size'], says({})), ['4\n']);
    const hosts = says({ type: 'hosts', hosts: [['a', [[0, 1], [3, 3]]], ['b', [[2, 2]]]] });
    assert.equal(await run(['hosts'], hosts), ['a 0-1,3\nb 2\n']);
    const place = says({ type: 'topology', neighbours: [0, 3], parent: 0, children: [], diameter: 2 });
    assert.equal(await run(['neighbours', 'tree:arity=2'], place), ['0 3\n']);
    assert.equal(asked(), { type: 'topology', spec: 'tree:arity=2', size: 4, position: 1, id: 1 });
    const lost: Script = (came) => came.head['type'] === 'hello' ? [WELCOME, record({ type: 'failed',
      lost: [[2, 3, 'its host b is lost', 'b'], [0, 0, 'it was ended by SIGKILL', 'a']] })] : hosts(came);
    assert.equal(await run(['failed'], lost, '', 1),
      ['0 it was ended by SIGKILL\n2 its host b is lost\n3 its host b is lost\n']);
  }, LONG);

  test('bytes go in and come out as they are', async () => {
    assert.equal(await run(['send', '3', '--tag', 'x'], says({ type: 'done' }), BINARY), ['']);
    assert.equal([asked(), agent.came.at(-1)?.bytes],
      [{ type: 'send', to: 3, tag: 'x', form: 'bytes', id: 1, bytes: BINARY.length }, BINARY]);
    assert.equal(await run(['put', 'k', 'é', '--form', 'json'], says({ type: 'done' })), ['']);
    assert.equal([asked(), agent.came.at(-1)?.bytes],
      [{ type: 'put', key: 'k', form: 'json', id: 1, bytes: 2 }, Buffer.from('é')]);
    const message = says({ type: 'message', from: 2, tag: 't', form: 'bytes' }, BINARY);
    const binary = BINARY.toString('latin1');
    assert.equal(await run(['recv', '--from', '2', '--tag', 't', '--timeout', '1.5'], message, '', 7), [binary]);
    assert.equal(asked(), { type: 'receive', from: 2, tag: 't', waitMs: 1500, id: 1 });
    assert.equal(await run(['recv', '--head'], message), [`2 t bytes 260\n${binary}`]);
    assert.equal(await run(['get', 'k'], says({ type: 'value', found: true, form: 'json' }, BINARY)), [binary]);
  }, LONG);

  test('collectives', async () => {
    assert.equal(await run(['barrier'], decided({})), ['']);
    assert.equal(await run(['exchange'], decided({})), ['']);
    assert.equal(await run(['shrink'], decided({ agreed: { ranks: [[0, 1], [3, 3]] } })), ['0 1 3\n']);
    const parts = decided({ parts: [[0, 2, 'text'], [3, 3, 'bytes']] }, 'ab\0c\n');
    assert.equal(await run(['allgather', 'mine'], parts), ['ab\0c\n']);
    assert.equal([asked(), agent.came.at(-1)?.bytes.toString()],
      [{ type: 'vote', kind: 'allgather', form: 'text', bytes: 4 }, 'mine']);
    assert.equal(await run(['gather', '1', '--head', '--lines'], parts, 'x'), ['0 text 2\nab\n3 bytes 3\n\0c\n']);
    assert.equal(asked(), { type: 'vote', kind: 'gather', form: 'bytes', root: 1, bytes: 1 });
    assert.equal(await run(['broadcast', '0'], decided({ parts: [[0, 2, 'text']] }, 'ab'), 'unread'), ['ab']);
    assert.equal(asked(), { type: 'vote', kind: 'broadcast', root: 0 });
    assert.equal(await run(['agree'], decided({ agreed: { flag: true } })), ['']);
    assert.equal(await run(['agree', 'false'], decided({ agreed: { flag: false } })), ['', 1, '']);
  }, LONG);

  test('what cannot be done is an exit code and a sentence', async () => {
    const codes = { TIMEOUT: 1, RANK: 2, TOPOLOGY: 2, LIMIT: 2, RANK_LOST: 3, RANK_ENDED: 3, MISMATCH: 4, STRANGE: 6 };
    for (const [code, exitCode] of Object.entries(codes)) {
      const failed = { type: 'failed-call', code: `STCI_CLIENT_${code}`, reason: 'why not' };
      assert.equal(await run(['recv'], says(failed)), ['', exitCode, 'stci-client: why not\n']);
      const vote = decided({ ...failed, type: 'agreed' });
      assert.equal(await run(['barrier'], vote), ['', exitCode, 'stci-client: barrier: why not\n']);
    }
    assert.equal(await run(['get', 'k', '--wait', '0.1'], says({ type: 'value', found: false, form: 'bytes' })),
      ['', 1, "stci-client: get: there is no key 'k'\n"]);
    assert.ok(agent.came.length > 2, 'it asked again');
  }, LONG);

  test('an agent that refuses, ends, or breaks the protocol', async () => {
    const ended = async (script: Script): Promise<string> => {
      const [, code, err] = await run(['barrier'], script);
      assert.is(code, 5);
      return String(err).replace(/^stci-client: the session agent at .*agent\.sock: /, '');
    };
    assert.is(await ended(() => [record({ type: 'refused', reason: 'not you' }), 'end']), 'not you\n');
    assert.is(await ended(({ head }) => [head['type'] === 'hello' ? WELCOME : 'end']), 'it closed the connection\n');
    assert.match(await ended(() => [Buffer.from('HTTP/1.1 400\n')]), /^it broke the protocol: /);
    const wrong = Buffer.from('{"bytes":-1}\n');
    assert.match(await ended(({ head }) => [head['type'] === 'hello' ? WELCOME : wrong]), /^it broke/);
    const [, status] = await run(['barrier'], ({ head }) =>
      [head['type'] === 'hello' ? WELCOME : record({ type: 'exit', status: 9 })]);
    assert.is(status, 9);
  }, LONG);

  test('usage', async () => {
    const cases: Record<string, RegExp> = {
      'help foo': /unknown call 'foo'/,
      'foo': /unknown call 'foo'; expected one of rank, /,
      'send': /RANK is missing\nUsage: stci-client send RANK/,
      'send x y': /send: 'x' is not an integer/, 'send 4 y': /there is no rank 4; the job has ranks 0 to 3/,
      'barrier now': /'now' is too much/, 'recv --tug t': /recv has no option --tug/,
      'recv --tag': /--tag needs a value/,
      'recv --timeout soon': /'soon' is not a time in s, from 0 to 86400/, 'recv --timeout 86401': /'86401' is not/,
      'put k\tk v': /expected a key of 1 to 256 printable/, 'send 0 x --tag _x': /expected a tag of 1 to 64/,
      'mark é': /expected a name of 1 to 256/, 'put k v --form xml': /'xml' is none of bytes, json, text/,
      'agree maybe': /'maybe' is not true or false/,
    };
    for (const [line, expected] of Object.entries(cases)) {
      const [, code, err] = await run(line.split(' '), says({}));
      assert.is(code, 2, line);
      assert.match(String(err), expected);
    }
    const [, code, err] = await run(['put', 'k'], says({}), Buffer.alloc((1 << 20) + 1));
    assert.equal([code, err], [2, 'stci-client: standard input has more than 1048576 bytes\n']);
    assert.equal(await run(['send', '0', '--', '--text'], says({ type: 'done' })), ['']);
  }, LONG);
});

suite('stci-client in a job of one', (test) => {
  const { STCI_RANK: _rank, STCI_CLIENT_SOCKET: _socket, STCI_CLIENT_TOKEN: _token, ...env } = process.env;

  test('does what one rank can do, and says what it cannot', async () => {
    const done: Record<string, string> = {
      'rank': '0\n', 'size': '1\n', 'barrier': '', 'exchange': '', 'agree': '', 'shrink': '0\n', 'failed': '',
      'allgather x --lines': 'x\n', 'gather 0 x': 'x', 'broadcast 0 x': 'x', 'neighbours tree': '\n', 'mark x': '',
    };
    for (const [line, out] of Object.entries(done)) {
      const ended = await call(env, line.split(' '));
      assert.equal([ended.code, ended.out.toString(), ended.err], [0, out, ''], line);
    }
    for (const line of ['put k v', 'get k', 'send 0 x', 'recv']) {
      const { code, err } = await call(env, line.split(' '));
      assert.is(code, 5, line);
      assert.match(err, /in a job of one nobody .*\. Write: stcirun --client -n N program\n$/);
    }
    assert.equal((await call(env, ['agree', 'false'])).code, 1);
    const wrong = { 'nonsense': /topology nonsense is none of/, 'mesh:dimensions=5x5': /option dimensions/,
      'tree --size 4': /known to agents only/, 'tree --position 1': /position 1 is not below its size, 1/ };
    for (const [words, said] of Object.entries(wrong)) {
      const ended = await call(env, ['neighbours', ...words.split(' ')]);
      assert.equal([ended.code, ended.out.toString()], [2, ''], words);
      assert.match(ended.err, said);
    }
    const { code, err } = await call({ ...env, STCI_RANK: '0' }, ['barrier']);
    assert.equal([code, err], [5, 'stci-client: the job was started without --client, so its programs cannot connect. '
      + 'Write: stcirun --client program\n']);
  }, LONG);

  test('help, and where stci.h is', async () => {
    const { out } = await call(env, ['include-dir']);
    assert.ok(existsSync(join(out.toString().trim(), 'stci.h')));
    const none = await call(env, []);
    assert.equal([none.code, none.err], [2, 'stci-client: a call is missing; stci-client --help lists them\n']);
    for (const args of [['help'], ['--help']]) {
      assert.match((await call(env, args)).out.toString(), /^Usage: stci-client CALL/);
    }
    const one = await call(env, ['put', 'k', '--help']);
    assert.equal([one, one.code], [await call(env, ['help', 'put']), 0]);
    assert.match(one.out.toString(), /^Usage: stci-client put KEY \[VALUE\] \[--form FORM\]\n\nputs .*\n\n {2}--form/);
    assert.is((await call(env, ['broadcast', '0', '--', '--help'])).out.toString(), '--help');
  }, LONG);
});
