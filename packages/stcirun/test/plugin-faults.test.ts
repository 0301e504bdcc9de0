/** Plugins whose code fails or hangs while it runs, and their way to hosts that lack them: real processes. */
// @timeoutMs 120000
// @sameFor user: what a plugin's code may do wrong; whose code it is, is e2e-plugin's.

import { chmodSync, existsSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { assert, eventually, suite } from '@stci/testkit';
import { run, sh, start, type Result, type RunOptions } from './e2e.js';
import { soon, withPlace } from './e2e-place.js';
import { writePackage } from './plugin-package.js';

const CLIENT = new URL('../../client/dist/index.js', import.meta.url).href;
const HOSTS = ['--launcher', 'local', '--host', 'a,b,c', '-n', '3'];
const WAY = ['--overlay', 'star', '--mca', 'detector=mesh', '--mca', 'detector.mesh.topology=star'];

/** A topology whose `neighbours` does what BAD says, in agents or in the front-end. */
const STAR = `import { accept, defineComponent, topologyFramework } from '@stci/core/component';
import { existsSync, writeFileSync } from 'node:fs';
const [place, bad, mark] = (process.env.BAD ?? '::').split(':');
const [, program = '', word] = process.argv;
const other = word === '--session-process' ? 'session' : 'agent';
const isHere = place === (program.includes('stcirun.cjs') ? 'front-end' : other);
const later = (call) => void setTimeout(call, 300);
const spin = (ms) => { for (const end = performance.now() + ms; performance.now() < end;); };
let calls = 0;
function act() {
  calls += 1;
  if (!isHere || (place === 'session' && !existsSync(mark))) return;
  if (bad === 'throw') throw new Error('boom');
  if (bad === 'number') return 5;
  if (bad === 'hang') for (;;);
  if (bad === 'block') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  if (bad === 'timer') later(() => { throw new Error('boom'); });
  if (bad === 'reject') later(() => Promise.reject(new Error('boom')));
  if (bad === 'exit') process.exit(3);
  if (bad === 'print') { console.log('said'); console.error('told'); process.stderr.write('writ\\nten\\n'); }
  if (bad === 'print' && place === 'agent') process.stdout.write('out\\n');
  if (bad === 'many') for (let i = 0; i < 1000; i += 1) if (i === 999) throw new Error('boom');
  if (bad === 'slow' && calls === 1) { writeFileSync(mark, ''); spin(600); }
}
function createStar(size) {
  const others = Array.from({ length: size - 1 }, (_, index) => index + 1);
  const spanningTree = (root) => {
    const parent = (at) => (at === root ? undefined : at === 0 ? root : 0);
    const children = (at) => (at === 0 ? others.filter((one) => one !== root) : at === root ? [0] : []);
    return { root, parent, children, depth: (at) => (at === root ? 0 : parent(at) === root ? 1 : 2),
      subtreeSize: (at) => (at === root ? size : at === 0 ? size - 1 : 1) };
  };
  return { kind: 'star', size, diameter: Math.min(2, size - 1), spanningTree,
    neighbours: (at) => act() ?? (at === 0 ? others : [0]),
    nextHop: (source, target) => (source === target ? undefined : source === 0 ? target : 0) };
}
export default defineComponent({ framework: topologyFramework, name: 'star', version: '1.0.0', frameworkVersion: 1,
  help: 'x', params: {}, query: () => accept(10), create: (_deps, _params, { size }) => createStar(size) });
`;

suite('faults of plugins', (test) => {
  let place = '';
  let env: Record<string, string> = {};
  test.before(() => {
    place = realpathSync(mkdtempSync(join(tmpdir(), 'stci-plugin-faults-')));
    env = { XDG_CACHE_HOME: join(place, 'cache'), STCI_MCA_session_directory: join(place, 'sessions') };
    writePackage(join(place, 'star'), {
      components: [{ framework: 'topology', name: 'star', module: './index.js', help: 'x' }],
      files: { 'index.js': STAR },
    });
  });
  test.after(() => rmSync(place, { recursive: true, force: true }));

  const options = (bad: string): RunOptions => ({ cwd: place, env: { ...env, BAD: bad } });
  const args = (timeout: string, ...more: string[]): string[] =>
    [...HOSTS, ...WAY, '--plugin', 'star', '--mca', `plugin.timeout=${timeout}`, ...more];
  const go = (bad: string, timeout = '500ms'): Promise<Result> => run(args(timeout, 'sleep', '30'), options(bad));

  const FAILED = 'topology:star\\.neighbours failed: boom \\(index\\.js:\\d+\\)\\.';
  const HUNG = 'topology:star\\.neighbours has not returned for 500 ms \\(plugin\\.timeout\\)';
  const OUTSIDE = 'an error outside of any call: boom \\(index\\.js:\\d+\\)\\.';
  const CASES: Readonly<Record<string, string>> = {
    throw: FAILED, many: FAILED, hang: HUNG, block: HUNG, timer: OUTSIDE, reject: OUTSIDE,
    exit: 'topology:star\\.neighbours has ended this process \\(exit code 3\\)',
    number: 'topology:star\\.neighbours failed: it answered 5 to \\(\\d\\): expected a list of positions below \\d',
  };
  for (const [bad, what] of Object.entries(CASES)) {
    test(`in the front-end: ${bad}`, async () => {
      const { exitCode, err } = await go(`front-end:${bad}`);
      assert.is(exitCode, 194, err);
      assert.match(err, new RegExp(`^stcirun: plugin ${place}/star: ${what}`, 'mu'));
      assert.ok(!err.includes('    at '), err);
    }, { timeoutMs: 30_000 });

    test(`in agents, which the report names: ${bad}`, async () => {
      const { exitCode, err } = await go(`agent:${bad}`);
      assert.is(exitCode, 194, err);
      // Three hosts with one cause are one line.
      const agent = '(?:Agent root:\\d on host [abc] [^]*|a,b,c: exited: )';
      assert.match(err, new RegExp(`${agent}plugin ${place}/star: ${what}`, 'u'));
      assert.ok(!err.includes('    at '), err);
    }, { timeoutMs: 30_000 });
  }

  for (const bad of ['hang', 'block', 'throw', 'timer']) {
    test(`in an agent that is a thread, which alone ends: ${bad}`, async () => {
      const thread = ['--mca', 'launcher.root.method=thread'];
      const { exitCode, err } = await run(args('500ms', ...thread, 'sleep', '30'), options(`agent:${bad}`));
      assert.is(exitCode, 194, err);
      assert.match(err, new RegExp(`Agent root:\\d on host [abc] [^]*plugin ${place}/star: ${CASES[bad]}`, 'u'));
    }, { timeoutMs: 30_000 });
  }

  const PROGRAM = ['node', '--input-type=module', '-e', `import { connect } from '${CLIENT}';
    const stci = await connect(); try { await stci.topology('star'); } finally { stci.close(); }`];
  const WAYS: Readonly<Record<string, readonly string[]>> = {
    'one host': ['-n', '1', '--mca', 'launcher.root.method=process'],
    'two ranks': ['-n', '2', '--on-failure', 'continue', '--mca', 'launcher.root.method=process'],
    'a thread': ['-n', '1', '--mca', 'launcher.root.method=thread'],
    'two hosts': ['-n', '2', '--launcher', 'local', '--host', 'a,b'],
  };
  for (const [name, way] of Object.entries(WAYS)) {
    for (const bad of ['throw', 'number', 'hang']) {
      test(`asked by a program, it is the failure, and not what its agent ended: ${name}, ${bad}`, async () => {
        const plugin = ['--client', '--plugin', 'star', '--mca', 'plugin.timeout=500ms'];
        const { exitCode, err } = await run([...plugin, ...way, ...PROGRAM], options(`agent:${bad}`));
        assert.is(exitCode, 194, err);
        // In its first line, which is all that summaries have.
        assert.match(err, new RegExp(`^stcirun: Agent root:\\d on host .*plugin ${place}/star: ${CASES[bad]}`, 'mu'));
      }, { timeoutMs: 30_000 });
    }
  }

  test('what it prints is told, with its name, and is no output', async () => {
    const chain = ['--mca', 'launcher.tree.arity=1', 'echo', 'result'];
    const inAgent = await run(args('5s', ...chain), options('agent:print'));
    assert.is(inAgent.exitCode, 0, inAgent.err);
    assert.is(inAgent.out, 'result\n'.repeat(3));
    // By the agents above, which are one below the other, once.
    const who = `output of plugin ${place}/star: topology:star\\.neighbours: `;
    for (const word of ['said', 'told', 'writ', 'ten', 'out']) {
      assert.match(inAgent.err, new RegExp(`^stci warn: root:2 on host c: ${who}${word}\n`, 'mu'));
    }
    const here = await run(args('5s', 'echo', 'result'), options('front-end:print'));
    assert.is(here.exitCode, 0, here.err);
    assert.is(here.out, 'result\n'.repeat(3));
    assert.match(here.err, `stcirun: plugin ${place}/star: topology:star.neighbours: said\n`);
  }, { timeoutMs: 30_000 });

  const IN_SESSION = [['throw', FAILED, 194], ['timer', OUTSIDE, 194], ['hang', HUNG, 200]] as const;
  for (const [bad, what, code] of IN_SESSION) {
    test(`in a session's process: ${bad}: its jobs and the next command are told`, withPlace(async (session) => {
      const mark = join(session.directory, 'mark');
      Object.assign(session.env, { XDG_CACHE_HOME: join(place, 'cache'), BAD: `session:${bad}:${mark}` });
      session.start('night', ...WAY, '--mca', 'plugin.timeout=500ms', '--plugin', join(place, 'star'));
      const first = session.run('night', ['-n', '1', ...sh('echo up; sleep 60')]);
      await soon(() => first.out() === 'up\n', 'the first job');
      writeFileSync(mark, '');
      const added = session.later('add-hosts', 'c', '--session', 'night');
      const { exitCode, err } = await first.result;
      assert.is(exitCode, code, err);
      assert.match(err, new RegExp(`plugin ${place}/star: ${what}`, 'u'));
      await added;
      const next: { said?: ReturnType<typeof session.stci> } = {};
      await soon(() => (next.said = session.stci('topology')).err.includes('is gone'), 'the end of its process');
      assert.match(next.said?.err ?? '', new RegExp(`Session night is gone: .*plugin ${place}/star: ${what}`, 'u'));
    }), { timeoutMs: 60_000 });
  }

  test('a call during which the process is stopped is not taken for one that hangs', async () => {
    const mark = join(place, 'mark');
    const { child, result } = start(args('1s', 'true'), options(`front-end:slow:${mark}`));
    await eventually(() => existsSync(mark), { what: 'the call', deadlineMs: 10_000 });
    child.kill('SIGSTOP');
    // Longer than a call may take.
    setTimeout(() => child.kill('SIGCONT'), 2000);
    const { exitCode, err } = await result;
    assert.is(exitCode, 0, err);
  }, { timeoutMs: 30_000 });

  test('hosts that lack the copy get it over ssh, once; what they cannot keep is told', async () => {
    const client = join(place, 'ssh');
    // The last words are `-- HOST COMMAND`; each host has a cache of its own.
    writeFileSync(client, `#!/bin/sh
for word; do host=$before; before=$word; done
echo "Authenticated to $host" >&2
XDG_CACHE_HOME='${place}/far/'$host exec sh -c "$word"
`);
    chmodSync(client, 0o755);
    const far = (cache: string, ...hosts: string[]): Promise<Result> => run([
      '--launcher', 'ssh', '--mca', `launcherproc.ssh.client=${client}`, '--host', hosts.join(','), ...WAY,
      '--mca', 'bootcom.ws.interface=lo',
      '--plugin', 'star', '-n', String(hosts.length), '--mca', 'launcher.tree.arity=1', 'true',
    ], { cwd: place, env: { ...env, ...(cache !== '' && { XDG_CACHE_HOME: cache }) } });
    const first = await far('', 'h1', 'h2', 'h3');
    assert.is(first.exitCode, 0, first.err);
    const copies = (host: string): string[] => {
      const plugins = join(place, 'far', host, 'stci/plugins');
      const names = readdirSync(plugins).flatMap((key) => readdirSync(join(plugins, key)));
      return names.filter((name) => name.length === 64);
    };
    for (const host of ['h1', 'h2', 'h3']) assert.is(copies(host).length, 1, host);
    assert.is(new Set(['h1', 'h2', 'h3'].flatMap(copies)).size, 1);
    assert.is((await far('', 'h1', 'h2', 'h3')).exitCode, 0);
    writeFileSync(join(place, 'far/full'), '');
    const full = await far('', 'full');
    assert.is(full.exitCode, 197, full.err);
    assert.match(full.err, /root:0 on host full did not come up: [^]*plugin .*star: .*Name one by XDG_CACHE_HOME/u);
  }, { timeoutMs: 60_000 });
});
