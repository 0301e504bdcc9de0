/** Plugins, as their authors write them: packages of plain JavaScript outside of the workspace. */
// @timeoutMs 120000

import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { assert, suite } from '@stci/testkit';
import { run, sh, type Result } from './e2e.js';

const LINKED = realpathSync(fileURLToPath(new URL('../node_modules/@stci', import.meta.url)));
const HEAD = `import { accept, defineComponent, detectorFramework, errmgrFramework } from '@stci/core/component';
const manager = (more) => ({ framework: errmgrFramework, name: 'own', version: '1.0.0', frameworkVersion: 1, help: 'x',
  params: {}, query: () => accept(1, 'only by name'),
  create: () => ({ policy: 'own', goesOn: true, decide: () => [{ type: 'go-on' }] }), ...more });
`;
const HOSTS = ['--launcher', 'local', '--host', 'a,b', '-n', '2'];

/** A detector that, once told of the start, reports the agent at a position. */
const ACCUSER = `export const accuser = defineComponent({
  framework: detectorFramework, name: 'accuser', version: '1.0.0', frameworkVersion: 1, help: 'x',
  params: { notifier: { type: 'string', default: 'auto', help: 'x' },
    position: { type: 'int', default: 1, min: 1, max: 9, help: 'x' } },
  query: ({ named }) => accept(named ? 1 : 0),
  create: (_deps, { position }) => ({
    watches: 'agents', topology: '', metrics: {},
    promise: () => ({ messagesPerSecond: 0, bytesPerSecond: 0, text: 'It promises nothing.' }),
    open: ({ self, members }) => ({
      dueMs: undefined,
      on: ({ type }, nowMs) => type !== 'start' || self.position !== 0 ? [] : [{ type: 'report', suspectedMs: nowMs,
        failed: members.find((one) => one.position === position), cause: 'silent', evidence: 'accused' }],
    }),
  }),
});`;

suite('plugins', (test) => {
  let place = '';
  test.before(() => {
    place = mkdtempSync(join(tmpdir(), 'stci-plugins-'));
    mkdirSync(join(place, 'node_modules'));
    symlinkSync(LINKED, join(place, 'node_modules/@stci'));
  });
  test.after(() => rmSync(place, { recursive: true, force: true }));

  function write(name: string, text: string): void {
    mkdirSync(join(place, name));
    writeFileSync(join(place, name, 'package.json'), JSON.stringify({ name, type: 'module', main: 'index.js' }));
    writeFileSync(join(place, name, 'index.js'), `${HEAD}${text}`);
  }

  const withPlugin = (name: string, ...args: string[]): Promise<Result> =>
    run([...HOSTS, '--plugin', name, ...args], { cwd: place });

  test('a policy of an agent and a detector with a parameter take part in a job', async () => {
    write('both', `${ACCUSER}
      export default defineComponent(manager({
        create: () => ({ policy: 'own', goesOn: true, decide: () => [{ type: 'go-on' }],
          local: (_failure, { attempt }) => attempt === 1 ? { type: 'restart', afterMs: 0 } : { type: 'report' } }),
      }));`);
    const { exitCode, out, err } = await withPlugin('both', '--on-failure', 'own', '--verbose',
      '--mca', 'detector=accuser', '--mca', 'detector.accuser.position=2', '--mca', 'detector.latency=1s',
      ...sh('echo $STCI_ATTEMPT; exit $STCI_RANK'));
    assert.is(exitCode, 1, err);
    assert.equal(out.split('\n').sort().join(''), '112');
    assert.match(err, /detector accuser: It promises nothing/u);
    assert.match(err, /rank 1 on b: exited, status 1; started again, attempt 2/u);
    // It lives: the controller asks it, and waits for ten times the latency.
    assert.match(err, /host b is suspected by accuser at controller: accused\n[^]*host b answers: it has not failed/u);
  }, { timeoutMs: 30_000 });

  const REFUSED: Readonly<Record<string, readonly [string, RegExp]>> = {
    'no component': ['export const other = 1;', /it exports no component/],
    'a syntax error': ['export const = 1;', /it cannot be loaded: Unexpected token/],
    'an error while it is loaded': ['throw new Error("boom");', /it cannot be loaded: boom\./],
    'a name that exists': ['export default manager({ name: "abort" });', /does not fit: .* abort is registered twice/],
    'another version': ['export default manager({ frameworkVersion: 9 });', /does not fit: .* written for version 9/],
    'a parameter of no type': ['export default manager({ params: { p: {} } });', /does not fit: /],
    'an error in create':
      ['export default manager({ create: () => { throw new Error("boom"); } });', /errmgr:own: boom\./],
  };
  for (const [what, [text, message]] of Object.entries(REFUSED)) {
    test(`refused before anything is started, by its path: ${what}`, async () => {
      const name = what.replaceAll(' ', '-');
      write(name, text);
      const own = what.includes('create') ? ['--on-failure', 'own'] : [];
      const { exitCode, out, err } = await withPlugin(name, ...own, 'true');
      assert.equal([exitCode, out], [194, '']);
      assert.match(err, `plugin ${join(place, name)}: `);
      assert.match(err, message);
      assert.ok(!err.includes('    at '), err);
    }, { timeoutMs: 20_000 });
  }

  test('no such path; a path in the environment; a component without its plugin', async () => {
    assert.match((await withPlugin('nothing', 'true')).err, /nothing: it cannot be loaded: there is no such file/u);
    const env = { STCI_MCA_plugin_paths: join(place, 'both') };
    assert.match((await run([...HOSTS, 'true'], { env })).err, /on the command line only\. Write --plugin PATH\./u);
    assert.match((await run([...HOSTS, '--on-failure', 'own', 'true'])).err, /unknown component "own"/u);
  }, { timeoutMs: 20_000 });

  test('an error manager that throws: abort takes its place', async () => {
    write('throws', `export default manager({
      create: () => ({ policy: "own", goesOn: true, decide: () => { throw new Error("boom"); } }) });`);
    const line = '[ $STCI_RANK = 0 ] && exit 3; sleep 60';
    const { exitCode, err } = await withPlugin('throws', '--on-failure', 'own', ...sh(line));
    assert.is(exitCode, 3);
    assert.match(err, 'error manager own failed, abort takes its place: boom');
    assert.ok(!err.includes('    at '), err);
  }, { timeoutMs: 20_000 });
});
