/** Clock, random numbers, secrets, environment, log, coalescing, sweep. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createNodePlatform } from '@stci/platform-node';
import { assert, eventually, suite } from '@stci/testkit';
import { coalesce } from '../dist/channels/coalesce.js';
import { lineSplitter } from '../dist/channels/lines.js';
import { putBack, setAside } from '../dist/system/environment.js';
import { createLog } from '../dist/system/log.js';
import { createRandom, nextBits } from '../dist/system/random.js';

const { clock, secrets, processes } = createNodePlatform();

suite('platform-node basics', (test) => {
  test('timers never fire early, in the order of their deadlines, and not once cancelled', async () => {
    const fired: string[] = [];
    const startMs = clock.nowMs();
    const early: number[] = [];
    for (let i = 0; i < 50; i++) {
      const delayMs = i / 7;
      clock.after(delayMs, () => early.push(clock.nowMs() - startMs - delayMs));
    }
    clock.after(20, () => fired.push('20'));
    clock.after(5, () => fired.push('5'));
    clock.after(10, () => fired.push('cancelled')).cancel();
    clock.after(Infinity, () => fired.push('never')).cancel();
    let soon = 0;
    clock.soon(() => { soon += 1; });
    assert.equal([fired, soon], [[], 0]);
    await eventually(() => fired.length >= 2 && soon === 1 && early.length === 50, { what: 'the timers' });
    assert.equal(fired, ['5', '20']);
    assert.ok(early.every((lateMs) => lateMs >= 0), `too early by ${Math.min(...early)} ms`);
  });

  test('random numbers are those of xoshiro128**, repeat by seed, and fork by label', () => {
    const state: [number, number, number, number] = [1, 2, 3, 4];
    assert.equal([nextBits(state), nextBits(state), nextBits(state), nextBits(state)], [11520, 0, 5927040, 70819200]);
    const draw = (seed: number) => Array.from({ length: 8 }, ((random) => () => random.uniform())(createRandom(seed)));
    assert.equal(draw(5), draw(5));
    assert.not.equal(draw(5), draw(6));
    const random = createRandom(5);
    const before = random.fork('a').uniform();
    random.uniform();
    assert.is(random.fork('a').uniform(), before);
    assert.is.not(random.fork('b').uniform(), before);
    const counts = [0, 0, 0];
    for (let i = 0; i < 30_000; i++) counts[random.integer(3)]!++;
    assert.ok(counts.every((count) => Math.abs(count - 10_000) < 500), counts.join(' '));
    assert.ok(random.integer(2 ** 32) < 2 ** 32);
    assert.is.not(createRandom().uniform(), createRandom().uniform());
  });

  test('the mac is HMAC-SHA-256 (RFC 4231, case 2)', () => {
    const ascii = (text: string) => new TextEncoder().encode(text);
    const mac = secrets.mac(ascii('Jefe'), ascii('what do ya want for nothing?'));
    assert.is(Buffer.from(mac).toString('hex'), '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843');
    assert.is(secrets.bytes(16).byteLength, 16);
    assert.not.equal(secrets.bytes(16), secrets.bytes(16));
  });

  test('variables that slow agents down are set aside and put back', () => {
    const variables = { NODE_OPTIONS: '--x', NODE_EXTRA_CA_CERTS: '/c', PATH: '/bin' };
    const aside = setAside(variables);
    assert.ok(!('NODE_OPTIONS' in aside) && !('NODE_EXTRA_CA_CERTS' in aside) && aside['PATH'] === '/bin');
    assert.equal(putBack(setAside(aside)), variables);
  });

  test('a log line is one line of bounded length, and its level counts', () => {
    const lines: string[] = [];
    const log = createLog('warn', (line) => lines.push(line));
    log.write('info', 'not this');
    log.write('warn', 'two\nlines');
    log.write('error', 'x'.repeat(100_000));
    assert.is(lines[0], 'stci warn: two\\nlines\n');
    assert.ok(lines.length === 2 && (lines[1] as string).length < 9000);
  });

  test('a log to nobody harms nobody', async () => {
    const main = new URL('../dist/index.js', import.meta.url).href;
    const code = `import { createNodePlatform } from '${main}'; const { log } = createNodePlatform();
      process.stdin.once('data', () => { for (let i = 0; i < 9; i++) log.write('error', 'x'); process.exit(7); });`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: 'pipe' });
    child.stderr.destroy();
    child.stdin.write('go');
    assert.equal(await once(child, 'exit'), [7, null]);
  });

  test('Node before 20.16, which has no getBuiltinModule, will do', async () => {
    const index = new URL('../dist/index.js', import.meta.url).href;
    const code = `delete process.getBuiltinModule;
      if (process.getBuiltinModule !== undefined) throw new Error('it is still there');
      const { processes } = (await import('${index}')).createNodePlatform();
      const ignore = () => {};
      const spec = { program: 'sh', args: ['-c', 'echo x > /dev/stdout'], env: process.env, lifetime: 'guarded' };
      const tool = processes.spawn({ ...spec, stdin: 'null', stdout: 'pipe', stderr: 'inherit' }, {
        onError: (error) => console.log(error.message), onOutput: (_, chunk) => process.stdout.write(chunk),
        onOutputEnd: ignore, onStdinDrain: ignore, onStdinClosed: ignore, onExit: ignore,
      });
      tool.readable(true);`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: ['ignore', 'pipe', 'pipe'] });
    let text = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (text += chunk));
    await once(child, 'close');
    assert.is(text, 'x\n');
  });

  test('chunks are joined and cut, their bytes the same', () => {
    const random = createRandom(3);
    for (let round = 0; round < 50; round++) {
      const length = () => (random.integer(5) === 0 ? random.integer(400_000) : random.integer(3000));
      const chunk = () => new Uint8Array(length()).fill(random.integer(256));
      const chunks = Array.from({ length: random.integer(60) }, chunk);
      const joined = coalesce(chunks, 131_072);
      assert.ok(Buffer.concat(joined).equals(Buffer.concat(chunks)));
      assert.ok(joined.every(({ byteLength }) => byteLength > 0 && byteLength <= 131_072));
      assert.ok(joined.length <= chunks.length + 4 * chunks.filter(({ byteLength }) => byteLength > 131_072).length);
    }
  });

  test('lines are cut whole from any chunks, and long ones in pieces', () => {
    const lines: string[] = [];
    const splitter = lineSplitter((line) => lines.push(line));
    for (const byte of new TextEncoder().encode('a\r\nb é\n\nrest')) splitter.push(Uint8Array.of(byte));
    splitter.end();
    assert.equal(lines.splice(0), ['a', 'b é', '', 'rest']);
    splitter.push(Buffer.from(`${'x'.repeat(40_000)}\n`));
    assert.equal(lines.map((line) => line.length), [16_384, 16_384, 40_000 - 2 * 16_384]);
  });

  test('a sweep ends all that carry the mark, and says how many', async () => {
    const mark = `STCI_TEST_MARK=${process.pid}`;
    const env = { PATH: process.env['PATH'], STCI_TEST_MARK: String(process.pid) };
    const child = spawn('sh', ['-c', 'trap "" TERM; setsid sleep 60 & sleep 60 & echo; wait'], {
      env, stdio: ['ignore', 'pipe', 'ignore'],
    });
    await once(child.stdout, 'data');
    const exited = once(child, 'exit');
    let ended = -1;
    processes.sweep(mark, 3000, (count) => (ended = count));
    assert.is(ended, -1);
    await eventually(() => ended >= 0, { what: 'the end of the sweep' });
    assert.equal([ended, await exited], [3, [null, 'SIGKILL']]);
  });
});
