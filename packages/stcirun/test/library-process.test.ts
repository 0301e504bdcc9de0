/** Programs that use the library: they end by themselves, print nothing of ours, and leave nothing however they die. */
// @timeoutMs 180000
// @sameFor user: ends of processes of one user.

import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { assert, eventually, suite } from '@stci/testkit';
import { start, type Run, type RunOptions } from './e2e.js';

const PACKAGES = fileURLToPath(new URL('../../../node_modules/@stci', import.meta.url));
const SLEEPER = `{ program: 'sh', args: ['-c', 'echo up; sleep 100; sleep 100'], np: 2, output: 'inherit' }`;
const LONG = { timeoutMs: 60_000 };

suite('library: programs', (test) => {
  let place = '';
  test.before(() => {
    place = mkdtempSync(join(tmpdir(), 'stci-library-'));
    mkdirSync(join(place, 'node_modules'));
    symlinkSync(PACKAGES, join(place, 'node_modules/@stci'));
  });
  test.after(() => rmSync(place, { recursive: true, force: true }));

  let scripts = 0;
  const program = (text: string, options: RunOptions = {}, type = 'mjs'): Run => {
    scripts += 1;
    const path = join(place, `${scripts}.${type}`);
    writeFileSync(path, type === 'mjs' ? `import { launch, plan } from '@stci/stcirun';\n${text}` : text);
    return start([], { ...options, program: path });
  };
  const gone = (run: Run): Promise<unknown> =>
    eventually(() => run.leftovers().length === 0, { deadlineMs: 20_000, what: 'the end of all that it started' });
  const up = (run: Run): Promise<unknown> =>
    eventually(() => run.out().split('\n').length > 2, { deadlineMs: 20_000, what: 'two ranks' });

  test('one ends by itself when its jobs have ended, also if nobody looks at them', async () => {
    const { exitCode, out, err, ms } = await program(`
      launch({ program: 'sh', args: ['-c', 'exit 3'] });
      launch({ program: 'true', np: 0 });
      await Promise.all([1, 2].map((n) => launch({ program: 'echo', args: [String(n)], output: 'inherit' }).result));
      process.on('exit', () => console.log('end', process.getActiveResourcesInfo().includes('Timeout')));
    `).result;
    assert.equal([exitCode, err], [0, '']);
    assert.equal(out.split('\n').sort(), ['', '1', '2', 'end false']);
    assert.ok(ms < 15_000, `${ms} ms`);
  }, LONG);

  test('output goes through whole lines; nothing else is printed', async () => {
    const { out, err } = await program(`
      const job = launch({
        program: 'sh', args: ['-c', 'for i in 1 2 3; do printf "a$i "; sleep 0.05; echo b; echo e >&2; done; exit 4'],
        np: 2, output: 'inherit', onFailure: 'continue', env: { ...process.env, STCI_MCA_no_such: '1' },
      });
      job.result.then(({ exitCode }) => console.log(exitCode), ({ message }) => console.log(message));
    `).result;
    assert.match(out, /STCI_MCA_no_such/);
    const good = await program(`
      const job = launch({
        program: 'sh', args: ['-c', 'for i in 1 2 3; do printf "a$i "; sleep 0.05; echo b; echo e >&2; done; exit 4'],
        np: 2, output: 'inherit', onFailure: 'continue',
      });
      job.result.then(({ exitCode }) => console.log(exitCode));
    `).result;
    assert.equal(good.out.split('\n').sort(), ['', '4', 'a1 b', 'a1 b', 'a2 b', 'a2 b', 'a3 b', 'a3 b']);
    assert.equal([err, good.err], ['', 'e\n'.repeat(6)]);
  }, LONG);

  test('the reader of its output goes: the job ends, the program does not', async () => {
    const path = join(place, 'head.mjs');
    writeFileSync(path, `import { launch } from '@stci/stcirun';
      const jobs = Array.from({ length: 12 }, () => launch({ program: 'yes', output: 'inherit' }).result);
      const codes = (await Promise.all(jobs)).map(({ exitCode }) => exitCode);
      console.error(new Set(codes), process.stdout.listenerCount('error'), process.stdout.getMaxListeners());`);
    const command = `"${process.execPath}" "${path}" | head -1`;
    const { stdout, stderr } = spawnSync('sh', ['-c', command], { encoding: 'utf8' });
    assert.equal([stdout, stderr], ['y\n', 'Set(1) { 141 } 0 10\n']);
  }, LONG);

  const DEATHS: readonly (readonly [string, string, number | null])[] = [
    ['an uncaught exception', "setTimeout(() => { throw new Error('mine'); }, 300);", 1],
    ['a rejection that is not handled', "setTimeout(() => Promise.reject(new Error('mine')), 300);", 1],
    ['process.exit', 'setTimeout(() => process.exit(5), 300);', 5],
    ['process.abort', 'setTimeout(() => process.abort(), 300);', null],
  ];
  for (const [name, text, status] of DEATHS) {
    test(`nothing is left when it ends by ${name}`, async () => {
      const run = program(`const job = launch(${SLEEPER});
        for await (const { type } of job.events) if (type === 'running') break;
        ${text}`);
      const { exitCode, err } = await run.result;
      assert.is(exitCode, status);
      if (status === 1) assert.match(err, /Error: mine/);
      await gone(run);
    }, LONG);
  }

  for (const signal of ['SIGKILL', 'SIGINT'] as const) {
    test(`nothing is left when it gets ${signal}, of which it knows nothing`, async () => {
      const run = program(`launch(${SLEEPER}); launch(${SLEEPER});`);
      await up(run);
      run.child.kill(signal);
      assert.is((await run.result).exitCode, null);
      await gone(run);
    }, LONG);
  }

  test('with handleSignals it goes on, and its jobs end as those of stcirun', async () => {
    const run = program(`
      const jobs = Array.from({ length: 11 }, () => launch({ ...${SLEEPER}, np: 1, handleSignals: true }));
      const results = await Promise.all(jobs.map((job) => job.result));
      console.log(new Set(results.map(({ exitCode, report }) => exitCode + ' ' + report.cause.code)));
      console.log(process.listenerCount('SIGINT'), process.getMaxListeners());`);
    await eventually(() => run.out().split('\n').length > 11, { deadlineMs: 30_000, what: 'eleven ranks' });
    run.child.kill('SIGINT');
    const { exitCode, out, err } = await run.result;
    assert.equal([exitCode, err], [0, '']);
    assert.match(out, /up\nSet\(1\) { '130 STCI_JOB_INTERRUPTED' }\n0 10\n$/);
    await gone(run);
  }, LONG);

  test('its directory is gone, and it is not changed to another', async () => {
    const cwd = join(place, 'gone');
    mkdirSync(cwd);
    const { out, err } = await program(`
      import { readlinkSync, rmdirSync } from 'node:fs';
      rmdirSync(${JSON.stringify(cwd)});
      const tell = ({ exitCode, report, message = report?.cause?.code }) => console.log(exitCode, message);
      await launch({ program: 'pwd', output: 'inherit', wdir: '/usr' }).result.then(tell);
      await launch({ program: 'pwd', output: 'inherit' }).result.then(tell, tell);
      await launch({ program: 'pwd', output: 'inherit', wdir: 'usr' }).result.then(tell, tell);
      console.log(readlinkSync('/proc/self/cwd'));`, { cwd }).result;
    assert.is(err, '');
    const refused = '196 STCI_PROGRAM_WDIR';
    assert.equal(out.split('\n'), ['/usr', '0 undefined', refused, refused, `${cwd} (deleted)`, '']);
  }, LONG);

  test('from CommonJS', async () => {
    const { exitCode, out, err } = await program(`
      const tell = async ({ launch }) => {
        for await (const { line } of launch({ program: 'echo', args: ['hello'] }).lines()) console.log(line);
      };
      import('@stci/stcirun').then(tell).then(() => process.features.require_module && tell(require('@stci/stcirun')));
    `, {}, 'cjs').result;
    assert.equal([exitCode, err], [0, '']);
    assert.ok(out === 'hello\n' || out === 'hello\nhello\n', out);
  }, LONG);
});
