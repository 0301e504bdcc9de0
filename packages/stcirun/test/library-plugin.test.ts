/** Plugins whose code fails or hangs in a process that uses the library. */
// @timeoutMs 120000
// @sameFor user: what a plugin's code may do wrong; whose code it is, is e2e-plugin's.

import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { assert, eventually, suite } from '@stci/testkit';
import { start, type Run } from './e2e.js';
import { writePackage } from './plugin-package.js';

const LONG = { timeoutMs: 60_000 };
const LIBRARY = new URL('../dist/index.js', import.meta.url).href;

/** A topology whose `neighbours` does what BAD says in the program, once the job's ranks run, or at once. */
const STAR = `import { accept, defineComponent, topologyFramework } from '@stci/core/component';
import { writeFileSync } from 'node:fs';
const isHere = (process.argv[1] ?? '').endsWith('.mjs');
// Time that it waits for a processor does not count.
function spin(ms) {
  const usedMs = ({ user, system }) => (user + system) / 1000;
  for (const start = process.cpuUsage(); usedMs(process.cpuUsage(start)) < ms;);
}
let calls = 0;
function act() {
  calls += 1;
  if (!isHere) return;
  const later = (call) => void (calls > 1 ? undefined : setTimeout(call, 500));
  if (process.env.BAD === 'throw') throw new Error('boom');
  if (process.env.BAD === 'timer') later(() => { throw new Error('boom'); });
  if (process.env.BAD === 'reject') later(() => void Promise.reject(new Error('boom')));
  if (process.env.BAD === 'late' && calls === 1) spin(2000);
  if (process.env.BAD === 'hang') for (writeFileSync('hangs', '');;);
}
const others = (size) => Array.from({ length: size - 1 }, (_, index) => index + 1);
export default defineComponent({ framework: topologyFramework, name: 'star', version: '1.0.0', frameworkVersion: 1,
  help: 'x', params: {}, query: () => accept(10), create: (_deps, _params, { size }) => ({
    kind: 'star', size, diameter: Math.min(2, size - 1),
    neighbours: (at) => act() ?? (at === 0 ? others(size) : [0]),
    nextHop: (source, target) => (source === target ? undefined : source === 0 ? target : 0),
    spanningTree: (root) => {
      const parent = (at) => (at === root ? undefined : at === 0 ? root : 0);
      return { root, parent, children: (at) => (at === 0 ? others(size).filter((one) => one !== root)
        : at === root ? [0] : []), depth: (at) => (at === root ? 0 : parent(at) === root ? 1 : 2),
        subtreeSize: (at) => (at === root ? size : at === 0 ? size - 1 : 1) };
    } }) });
`;

suite('library: faults of plugins', (test) => {
  let place = '';
  test.before(() => {
    place = realpathSync(mkdtempSync(join(tmpdir(), 'stci-library-plugin-')));
    writePackage(join(place, 'star'), {
      components: [{ framework: 'topology', name: 'star', module: './index.js', help: 'x' }],
      files: { 'index.js': STAR },
    });
  });
  test.after(() => rmSync(place, { recursive: true, force: true }));

  /** `tell` prints how a job ended, and its messages. */
  const program = (bad: string, text: string): Run => {
    const file = join(place, 'program.mjs');
    const options = {
      program: 'sleep', args: ['60'], np: 2, hosts: 'a,b', launcher: 'local', plugins: './star', overlay: 'star',
      params: { 'plugin.timeout': '1s', detector: 'mesh', 'detector.mesh.topology': 'star' },
    };
    writeFileSync(file, `import { launch } from ${JSON.stringify(LIBRARY)};
      const options = ${JSON.stringify(options)};
      async function tell(job) {
        const messages = [];
        for await (const { type, text } of job.events) if (type === 'message') messages.push(text);
        const { exitCode, report } = await job.result;
        console.log(exitCode, report?.cause?.code, messages.join(' | '));
        console.log(process.listenerCount('uncaughtException'));
      }
      ${text}`);
    const env = { XDG_CACHE_HOME: join(place, 'cache'), STCI_MCA_session_directory: join(place, 'sessions'), BAD: bad };
    return start([], { program: file, cwd: place, env });
  };
  const NAME = (): string => `plugin ${place}/star: `;
  const gone = (run: Run): Promise<unknown> =>
    eventually(() => run.leftovers().length === 0, { deadlineMs: 20_000, what: 'the end of all that it started' });

  const CASES: Readonly<Record<string, string>> = {
    throw: 'topology:star.neighbours failed: boom (index.js:14).',
    timer: 'an error outside of any call: boom (index.js:15).',
    reject: 'an error outside of any call: boom (index.js:16).',
    late: 'topology:star.neighbours has not returned for 1000 ms (plugin.timeout).',
  };
  for (const [bad, text] of Object.entries(CASES)) {
    test(`${bad}: its job ends with it, and the program goes on`, async () => {
      const run = program(bad, 'await tell(launch(options));');
      const { exitCode, out, err } = await run.result;
      assert.equal([exitCode, out], [0, `194 STCI_PLUGIN_FAILED ${NAME()}${text}\n0\n`], err);
      const said = bad === 'late' ? `stci: ${NAME()}${text} Jobs with it end when it does.\n` : '';
      assert.is(err, said);
      await gone(run);
    }, LONG);
  }

  test('a call that never returns is told, and the process is not ended', async () => {
    const run = program('hang', 'await tell(launch(options));');
    await eventually(() => run.err().includes('\n'), { deadlineMs: 30_000, what: 'what is told' });
    assert.is(run.err(), `stci: ${NAME()}${CASES['late']} Jobs with it end when it does.\n`);
    assert.is(run.child.exitCode, null);
    run.child.kill('SIGKILL');
    await run.result;
    await gone(run);
  }, LONG);

  test('an error of the program is what it is without plugins', async () => {
    const own = `for await (const { type } of launch(options).events) if (type === 'running') break;
      setTimeout(() => { throw new Error('mine'); }, 10);
      await new Promise(() => setInterval(() => undefined, 1000));`;
    const first = program('', own);
    const alone = await first.result;
    assert.is(alone.exitCode, 1, alone.err);
    assert.match(alone.err, /Error: mine\n {4}at /u);
    await gone(first);
    const handled = program('', `process.on('uncaughtException', ({ message }) => {
      console.log(message);
      process.exit(7);
    });\n${own}`);
    const { exitCode, out } = await handled.result;
    assert.equal([exitCode, out], [7, 'mine\n']);
    await gone(handled);
  }, LONG);
});
