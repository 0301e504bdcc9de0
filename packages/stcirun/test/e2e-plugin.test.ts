/** Plugins, as their authors write them: packages of plain JavaScript outside of the workspace. */
// @timeoutMs 120000

import {
  chmodSync, existsSync, lchownSync, mkdtempSync, mkdirSync, readdirSync, realpathSync, rmSync, symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { assert, suite } from '@stci/testkit';
import { isPackageName } from '../dist/plugin/locate.js';
import { run, sh, type Result, type RunOptions } from './e2e.js';
import { MANAGER, OWN_MANAGER, writePackage, type PackageText } from './plugin-package.js';

const STCI = fileURLToPath(new URL('../bin/stci.cjs', import.meta.url));
const HOSTS = ['--launcher', 'local', '--host', 'a,b', '-n', '2'];

/** A detector that, once told of the start, reports the agent at a position. */
const ACCUSER = `export const accuser = defineComponent({
  framework: detectorFramework, name: 'accuser', version: '1.0.0', frameworkVersion: 2, help: 'x',
  params: { notifier: { type: 'string', default: 'auto', help: 'x' },
    position: { type: 'int', default: 1, min: 1, max: 9, help: 'x' } },
  query: ({ named }) => accept(named ? 1 : 0),
  create: (_deps, { position }) => ({
    watches: 'agents', topology: '', metrics: {},
    promise: () => ({ messagesPerSecond: 0, bytesPerSecond: 0, text: 'It promises nothing.' }),
    open: ({ self, members }) => ({
      dueMs: undefined,
      on: ({ type }, nowMs) => type !== 'start' || self.position !== 0 ? [] : [{ type: 'report', suspectedMs: nowMs,
        failed: members.at(position), cause: 'silent', evidence: 'accused' }],
    }),
  }),
});`;

const ACCUSER_COMPONENT = {
  framework: 'detector', name: 'accuser', module: './accuser.js', help: 'x',
  params: { notifier: { type: 'string', default: 'auto', help: 'x' },
    position: { type: 'int', default: 1, min: 1, max: 9, help: 'x' } },
};

suite('plugins', (test) => {
  let place = '';
  let env: Record<string, string> = {};
  test.before(() => {
    place = realpathSync(mkdtempSync(join(tmpdir(), 'stci-plugins-')));
    env = {
      XDG_CACHE_HOME: join(place, 'cache'), XDG_CONFIG_HOME: join(place, 'config'),
      STCI_MCA_session_directory: join(place, 'sessions'),
    };
  });
  test.after(() => rmSync(place, { recursive: true, force: true }));

  const write = (name: string, text: string, more: PackageText = {}): void =>
    writePackage(join(place, name), { ...more, files: { 'index.js': `${MANAGER}${text}`, ...more.files } });
  const go = (args: readonly string[], more: RunOptions = {}): Promise<Result> =>
    run(args, { cwd: place, ...more, env: { ...env, ...more.env } });
  const withPlugin = (name: string, ...args: string[]): Promise<Result> => go([...HOSTS, '--plugin', name, ...args]);
  const stci = (...args: string[]): Promise<Result> => go(args, { program: STCI });

  test('a policy of an agent and a detector with a parameter take part in a job', async () => {
    write('both', `export default manager({
        create: () => ({ policy: 'own', toleratesFailures: true, decide: () => [{ type: 'go-on' }],
          local: (_failure, { attempt }) => attempt === 1 ? { type: 'restart', afterMs: 0 } : { type: 'report' } }),
      });`, { components: [OWN_MANAGER, ACCUSER_COMPONENT], files: { 'accuser.js': `${MANAGER}${ACCUSER}` } });
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
    'no component': ['export const other = 1;', /exports no component errmgr:own.* no record made by defineComponent/u],
    'a typo in the record': ['export default manager({ query: undefined, qeury() {} });',
      /index\.js: the record of errmgr:own: query is missing \(there is qeury\)\./u],
    'another typo': ['export default manager({ create: undefined, craete: 1 });',
      /create is missing \(there is craete\)/u],
    'a framework by name': ['export default manager({ framework: "errmgr" });',
      /framework: expected errmgrFramework of @stci\/core\/component; found "errmgr"/u],
    'a typo in the version': ['export default manager({ frameworkVersion: undefined, frameworkVerson: 1 });',
      /frameworkVersion is missing \(there is frameworkVerson\)/u],
    'another name': ['export default manager({ name: "other" });', /no component errmgr:own.* exports errmgr:other/u],
    'a syntax error': ['export const = 1;', /index\.js cannot be loaded: Unexpected token .*\(index\.js:6\)/u],
    'an import of what it lacks': ['import "@some/pad/left";',
      /cannot be loaded: it imports '@some\/pad', .* Run npm install @some\/pad in the/u],
    'an error while it is loaded': ['throw new Error("boom");', /index\.js cannot be loaded: boom \(index\.js:\d+/u],
    'an import that is not there': ['import { nothing } from "@stci/core/component";', /export named 'nothing'/u],
    'another version': ['export default manager({ frameworkVersion: 9 });', /errmgr:own was written for version 9 of/u],
    'another help': ['export default manager({ help: "y" });', /and .* differ in help: "x" there, "y" here/u],
    'another parameter': ['export default manager({ params: { p: {} } });', /in params\.p: nothing there, /u],
    'other members': ['export default manager({ help: "y", params: { p: {} } });',
      /differ in help: "x" there, "y" here; and in params\.p: nothing there, \{\} here\. Make them equal/u],
    'an error in query': ['export default manager({ query() { throw new Error("boom"); } });',
      /own\.query: boom \(index\.js:6\)\./u],
    'no verdict': ['export default manager({ query: () => 5 });', /own\.query: it answered 5: expected accept\(/u],
    'an error in create': ['export default manager({ create() { throw Error("boom"); } });',
      /own\.create: boom \(index\.js:6\)\./u],
    'an async function': ['export default manager({ create: async () => ({}) });',
      /own\.create: .* found a promise: it must not be async/u],
    'no module': ['export default manager({ create: () => ({}) });', /own\.create: .* its policy to be a string/u],
  };
  for (const [what, [text, message]] of Object.entries(REFUSED)) {
    test(`refused before anything is started, by its path: ${what}`, async () => {
      const name = what.replaceAll(' ', '-');
      write(name, text);
      const { exitCode, out, err } = await withPlugin(name, '--on-failure', 'own', 'true');
      assert.equal([exitCode, out], [194, ''], err);
      assert.match(err, `plugin ${join(place, name)}: `);
      assert.match(err, message);
      assert.ok(!err.includes('    at '), err);
      // Listed all the same: its code is not asked.
      assert.match((await withPlugin(name, '--help')).out, `\nPlugin ${join(place, name)}:\n  errmgr:own   `);
      assert.match((await stci('info', 'errmgr:own', '--plugin', name)).out, /component errmgr:own 1\.0\.0: x/u);
    }, { timeoutMs: 30_000 });
  }

  test('two of one name; a built-in\'s name; what is no package', async () => {
    write('one', 'export default manager();');
    write('two', 'export default manager();');
    const two = await withPlugin('one', '--plugin', 'two', 'true');
    assert.match(two.err, `plugin ${place}/two: errmgr:own is the name of a component of plugin ${place}/one, too.`);
    write('abort', '', { components: [{ ...OWN_MANAGER, name: 'abort' }] });
    assert.match((await withPlugin('abort', 'true')).err, 'errmgr:abort is the name of a component of STCI itself');
    assert.match((await withPlugin('./nothing', 'true')).err, /^stcirun: --plugin \.\/nothing: there is no such /u);
    assert.match((await withPlugin('nothing', 'true')).err, 'nothing: there is no such directory, nor a package');
    assert.match((await withPlugin('one/index.js', 'true')).err, 'a plugin is a package, and this is a file. Put it');
    mkdirSync(join(place, 'empty'));
    assert.match((await withPlugin('empty', 'true')).err, 'it has no package.json. Expected one whose field "stci"');
    writePackage(join(place, 'plain'), { more: { stci: undefined } });
    assert.match((await withPlugin('plain', 'true')).err, 'package.json: stci: it is missing: the package');
    write('built', '', { components: [{ ...OWN_MANAGER, module: './dist/x.js' }] });
    assert.match((await withPlugin('built', 'true')).err, '[0].module: there is no ./dist/x.js in the package.');
  }, { timeoutMs: 60_000 });

  test('named by a file, or a package\'s name; not by the environment; the command line adds', async () => {
    write('far/node_modules/named-plugin', 'export default manager({ name: "named" });', {
      components: [{ ...OWN_MANAGER, name: 'named' }],
    });
    write('far/own', 'export default manager();');
    mkdirSync(join(place, 'far/below'));
    writeFileSync(join(place, 'far/stci.conf'), 'plugin.paths = named-plugin\n');
    const far = { cwd: join(place, 'far/below') };
    const both = await go([...HOSTS, '--plugin', '../own', '--on-failure', 'tool=named,host=own', 'true'], far);
    assert.is(both.exitCode, 0, both.err);
    mkdirSync(join(place, 'config/stci'), { recursive: true });
    writeFileSync(join(place, 'config/stci/stci.conf'), 'plugin.paths = ../../far/own\n');
    assert.is((await go([...HOSTS, '--on-failure', 'own', 'true'])).exitCode, 0);
    // The project's file takes the place of the user's.
    assert.match((await go([...HOSTS, '--on-failure', 'own', 'true'], far)).err, /unknown component "own"/u);
    rmSync(join(place, 'config'), { recursive: true });
    const inEnvironment = { env: { STCI_MCA_plugin_paths: join(place, 'far/own') } };
    assert.match((await go([...HOSTS, 'true'], inEnvironment)).err, /not named in the environment\. Write --plugin/u);
    const copies = await go([...HOSTS, '--mca', 'plugin.copies=x', 'true']);
    assert.match(copies.err, /plugin\.copies.* it is made from plugin\.paths, and cannot be set/u);
  }, { timeoutMs: 60_000 });

  test('what others could have written is refused, with the remedy', async () => {
    write('open', 'export default manager();', { files: { 'lib/more.js': '' } });
    const refused = async (path: string, more = ''): Promise<string> => {
      chmodSync(join(place, path), 0o777);
      const { exitCode, err } = await withPlugin(`open${more}`, '--on-failure', 'own', 'true');
      assert.is(exitCode, 194, err);
      chmodSync(join(place, path), 0o755);
      return err;
    };
    for (const path of ['open', 'open/lib', 'open/index.js', 'open/lib/more.js', 'open/package.json']) {
      const err = await refused(path);
      assert.match(err, `${place}/${path} is world-writable; its mode is 0777. If you trust what is in it: chmod -R`);
    }
    writeFileSync(join(place, 'elsewhere.am'), 'plugin.paths = open\n');
    chmodSync(join(place, 'elsewhere.am'), 0o666);
    const am = await go([...HOSTS, '--am', 'elsewhere.am', 'true']);
    assert.match(am.err, /elsewhere\.am names it, and .*elsewhere\.am is world-writable\. To use it: chmod go-w/u);
  }, { timeoutMs: 60_000 });

  test('a cache that others can get at is not used; a directory for all is none for plugins', async () => {
    write('cached', 'export default manager();');
    const above = join(place, 'above');
    mkdirSync(join(above, 'node_modules/more'), { recursive: true });
    const cached = async (): Promise<Result> => go([...HOSTS, '--plugin', 'cached', '--on-failure', 'own', 'true'],
      { env: { XDG_CACHE_HOME: join(above, 'of/mine') } });
    for (const path of [join(above, 'node_modules'), above]) {
      chmodSync(path, 0o777);
      const { exitCode, err } = await cached();
      assert.is(exitCode, 194, err);
      const why = path === above ? `others may rename what is in ${path}` : `${path} is world-writable`;
      assert.match(err, `Plugins need a directory for their copies: ${why}. Name one by XDG_CACHE`);
      chmodSync(path, 0o755);
    }
    const none = await go([...HOSTS, '--plugin', 'cached', 'true'], { env: { XDG_CACHE_HOME: '/proc/none' } });
    assert.match(none.err, 'Plugins need a directory for their copies: /proc/none: no such file or directory. ');
    chmodSync(above, 0o1777);
    const sticky = await cached();
    assert.is(sticky.exitCode, 0, sticky.err);
    const copies = join(above, 'of/mine/stci/plugins');
    const [key = ''] = readdirSync(copies);
    for (const path of [copies, join(copies, key), join(copies, key, 'node_modules/@stci')]) {
      chmodSync(path, 0o777);
      const { exitCode, err } = await cached();
      assert.is(exitCode, 194, err);
      assert.match(err, `${path} is world-writable; if nothing in it is needed, remove it`);
      chmodSync(path, 0o700);
    }
    if (process.getuid?.() === 0) {
      symlinkSync('of', join(above, 'anothers'));
      lchownSync(join(above, 'anothers'), 65_534, 65_534);
      const { exitCode, err } = await go([...HOSTS, '--plugin', 'cached', '--on-failure', 'own', 'true'],
        { env: { XDG_CACHE_HOME: join(above, 'anothers/mine') } });
      assert.equal([exitCode, err.includes(`${above}/anothers belongs to user 65534`)], [194, true], err);
    }
    write('above/stuck', 'export default manager();');
    const stuck = await withPlugin('above/stuck', 'true');
    assert.match(stuck.err, `${above} is world-writable; its mode is 1777. It is a directory for all. Move the`);
  }, { timeoutMs: 30_000 });

  const PLANTED: Readonly<Record<string, string>> = {
    'an import': 'import "planted"; export default manager();',
    'an import of a file': 'import "planted/index.cjs"; export default manager();',
    'a require': 'import { createRequire } from "node:module"; createRequire(import.meta.url)("plan" + "ted");\n'
      + 'export default manager();',
  };
  /** What a plugin of this text does where a package `planted` is above the cache: it is not run. */
  const needy = async (text: string, more: Readonly<Record<string, string>> = {}): Promise<Result> => {
    const above = join(place, 'planted');
    const mark = join(place, 'ran');
    for (const name of ['planted', '@own/planted']) {
      writePackage(join(above, 'node_modules', name), { more: { main: 'index.cjs', type: 'commonjs' }, files: {
        'index.cjs': `require('node:fs').writeFileSync(${JSON.stringify(mark)}, '');`,
      } });
    }
    write('needy', text);
    for (const [name, own] of Object.entries(more)) writeFileSync(join(place, 'needy', name), own);
    const env = { XDG_CACHE_HOME: join(above, 'cache'), NODE_PATH: join(above, 'node_modules') };
    const result = await go([...HOSTS, '--plugin', 'needy', '--on-failure', 'own', 'true'], { env });
    assert.not(existsSync(mark), result.err);
    return result;
  };
  for (const [what, text] of Object.entries(PLANTED)) {
    test(`what lies above the cache is not run: ${what}`, async () => {
      const { exitCode, err } = await needy(text);
      assert.is(exitCode, 194, err);
      assert.match(err, /index\.js cannot be loaded: it imports 'planted[^']*', which is not among what is copied/u);
    }, { timeoutMs: 30_000 });
  }

  test('nor is it for a name that is computed; what no module of the plugin imports is nothing to it', async () => {
    const text = 'for (const name of ["planted", "@own/planted"]) {\n'
      + 'import([name].join()).catch(({ code }) => console.log(name, code)); }\nexport default manager();';
    const { exitCode, err } = await needy(text, { 'program.mjs': 'import "planted";' });
    assert.is(exitCode, 0, err);
    for (const name of ['planted', '@own/planted']) assert.match(err, `${name} ERR_MODULE_NOT_FOUND`);
  }, { timeoutMs: 30_000 });

  test('its dependencies come with it, cycles and links included; one that is missing is named', async () => {
    const dependency = (at: string, needs: string, text: string): void => writePackage(join(place, at), {
      more: { stci: undefined, main: 'index.js', dependencies: { [needs]: '1' } }, files: { 'index.js': text },
    });
    dependency('deep/node_modules/left', 'right', 'import { b } from "right"; export const a = () => b;');
    dependency('store/right', 'left', 'import "left"; export const b = "own";');
    symlinkSync('../../store/right', join(place, 'deep/node_modules/right'));
    symlinkSync('../../deep/node_modules/left', join(place, 'store/left'));
    mkdirSync(join(place, 'store/right/node_modules'));
    symlinkSync('../../../deep/node_modules/left', join(place, 'store/right/node_modules/left'));
    write('deep', 'import { a } from "left"; export default manager({ name: a() });',
      { more: { dependencies: { left: '1' } } });
    const deep = await withPlugin('deep', '--on-failure', 'own', 'true');
    assert.is(deep.exitCode, 0, deep.err);
    write('lacks', 'export default manager();', { more: { dependencies: { 'not-there': '1' } } });
    const lacks = await withPlugin('lacks', '--on-failure', 'own', 'true');
    assert.match(lacks.err, /its dependency not-there is not installed: .* Run npm install there\./u);
    // There is such a package, of somebody else's.
    writePackage(join(place, 'secret'), { files: { 'index.js': 'export const secret = 1;' } });
    for (const field of ['dependencies', 'optionalDependencies']) {
      write('leads-out', 'export default manager();', { more: { [field]: { '../../secret': '1' } } });
      const { exitCode, err } = await withPlugin('leads-out', '--on-failure', 'own', 'true');
      assert.is(exitCode, 194, err);
      assert.match(err, `package.json: ${field} has '../../secret', which is no name of a package. Expected such as`);
    }
    for (const name of ['..', '.', 'a/../../secret', '/etc', '@a/../../x', '@a/', '', 'a/b', '.bin', 'a'.repeat(215)]) {
      assert.is(isPackageName(name), false, name);
    }
    for (const name of ['left', '@a/b.c', 'JSONStream', 'a'.repeat(214)]) assert.is(isPackageName(name), true, name);
  }, { timeoutMs: 60_000 });

  test('CommonJS; a copy that was damaged is made again', async () => {
    writePackage(join(place, 'common'), {
      more: { type: 'commonjs' },
      files: { 'index.js': MANAGER.replace(/import (\{[^}]*\})\s+from ('[^']*')/u, 'const $1 = require($2)')
        + 'module.exports = manager();' },
    });
    assert.is((await withPlugin('common', '--on-failure', 'own', 'true')).exitCode, 0);
    const plugins = join(place, 'cache/stci/plugins');
    for (const key of readdirSync(plugins)) {
      for (const hash of readdirSync(join(plugins, key)).filter((name) => /^[0-9a-f]{64}$/u.test(name))) {
        writeFileSync(join(plugins, key, hash, 'index.js'), 'throw new Error("damaged");');
      }
    }
    const again = await withPlugin('common', '--on-failure', 'own', 'true');
    assert.is(again.exitCode, 0, again.err);
  }, { timeoutMs: 60_000 });

  test('a session has the plugins of its start, and their files of then', async () => {
    write('kept', 'export default manager();');
    const started = await stci('start', '--launcher', 'local', '--host', 'a', '--name', 'kept', '--plugin', 'kept');
    assert.is(started.exitCode, 0, started.err);
    try {
      const job = (...args: string[]): Promise<Result> =>
        go(['--session', 'kept', ...args, '--on-failure', 'own', 'true']);
      const same = await job('--plugin', 'kept');
      assert.is(same.exitCode, 0, same.err);
      write('other', 'export default manager({});');
      assert.match((await job('--plugin', 'other')).err,
        `plugin ${place}/other: the session was started without it. Give it to stci start, too.`);
      writeFileSync(join(place, 'kept/more.js'), '');
      const { exitCode, err } = await job('--plugin', 'kept');
      assert.is(exitCode, 194, err);
      assert.match(err, /kept: the session has version [0-9a-f]{12} of it, and this job names version [0-9a-f]{12}: /u);
    } finally {
      await stci('stop', 'kept');
    }
  }, { timeoutMs: 60_000 });

  test('a session without plugins refuses a job that names one; a job names its session\'s, too', async () => {
    write('late', 'export default manager();');
    const names = ['bare', 'has'];
    try {
      const started = await Promise.all(names.map((name) => stci('start', '--launcher', 'local', '--host', 'a',
        '--name', name, ...(name === 'has' ? ['--plugin', 'late'] : []))));
      for (const { exitCode, err } of started) assert.is(exitCode, 0, err);
      for (const more of [[], ['--on-failure', 'own']]) {
        const { exitCode, err } = await go(['--session', 'bare', '--plugin', 'late', ...more, 'true']);
        assert.is(exitCode, 194, err);
        assert.is(err,
          `stcirun: plugin ${place}/late: the session was started without it. Give it to stci start, too.\n`);
      }
      for (const [more, text] of [
        [['--on-failure', 'own'], 'unknown component "own". There are: abort, '],
        [['--mca', 'service=own'], 'unknown component "own". It has none. '],
      ] as const) {
        const { exitCode, err } = await go(['--session', 'has', ...more, 'true']);
        assert.is(exitCode, 194, err);
        assert.match(err, text);
        assert.match(err, ' One of a plugin needs its --plugin, in a job as well as at the start of its session.');
      }
      const { err } = await go(['--session', 'has', '--mca', 'errmgr.own.x=1', 'true']);
      assert.match(err, 'unknown parameter "errmgr.own.x"');
      assert.match(err, ' with --plugin also those of a plugin.');
    } finally {
      await Promise.all(names.map((name) => stci('stop', name)));
    }
  }, { timeoutMs: 60_000 });

  test('an error manager that throws: abort takes its place', async () => {
    write('throws', `export default manager({
      create: () => ({ policy: "own", toleratesFailures: true, decide: () => { throw new Error("boom"); } }) });`);
    const line = '[ $STCI_RANK = 0 ] && exit 3; sleep 60';
    const { exitCode, err } = await withPlugin('throws', '--on-failure', 'own', ...sh(line));
    assert.is(exitCode, 3);
    assert.match(err, /manager own failed, abort takes its place: plugin .*throws: errmgr:own\.decide failed: boom/u);
    assert.ok(!err.includes('    at '), err);
  }, { timeoutMs: 20_000 });

  test('one whose local part answers wrongly, in an agent: its user is told', async () => {
    write('wrong', `export default manager({
      create: () => ({ policy: "own", toleratesFailures: true, decide: () => [{ type: 'go-on' }],
        local: () => ({ type: 'restrat' }) }) });`);
    const { exitCode, err } = await withPlugin('wrong', '--on-failure', 'own', ...sh('exit $STCI_RANK'));
    assert.is(exitCode, 1, err);
    assert.match(err, new RegExp('manager own failed, what failed is reported to the controller: '
      + `plugin ${place}/wrong: errmgr:own\\.local failed: .*expected `
      + "an action of type report, restart, found type 'restrat'", 'u'));
  }, { timeoutMs: 20_000 });
});
