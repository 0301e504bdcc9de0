/** Options of the library: each of the command line's, and what is wrong with one is said by its name. */

import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { launch, type LaunchOptions } from '@stci/stcirun';
import { contextsOf, Feed, FLAG_NAMES, inOptionNames, OPTION_OF_FLAG, parseContexts } from '@stci/stcirun/internal';
import { StciError } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { eventsOf, linesOf, LibraryPlace, rejected, untyped } from './library-help.js';

/** One program with all options of which two can be together, and what stcirun would be given for it. */
const ALL: LaunchOptions = {
  program: 'p', args: ['-n', ':', '--'], np: 3, hosts: ['a:2', 'b[1-2]'], variables: { A: '', 'B C': 'x=y\nz' },
  hostfile: ['h1', 'h2'], exclude: 'b2', nodes: 2, minHosts: 1,
  ppn: 2, oversubscribe: true, bindTo: 'none', reportBindings: true, export: ['all', 'X=1'], unset: 'Y*',
  launcher: 'local', overlay: 'bmg', params: { 'a.b': 3, c: true, d: 'x,y' }, paramFiles: 'f', plugins: ['p1', '/p2'],
  onFailure: 'restart:2', onLaunchFailure: 'shrink', client: true, mpi: 'pmix', timeoutMs: 1500, launchTimeoutMs: 2,
  session: 'none', wait: true, stdin: 'all', forwardSignals: ['USR1', 'USR2'], wdir: '/w',
  env: {}, input: 'x', output: 'discard', signal: new AbortController().signal, handleSignals: true,
};

suite('library: options', (test) => {
  let place: LibraryPlace;
  test.before(() => { place = new LibraryPlace(); });
  test.after(() => place.close());

  test('each option of the command line has its own, or a reason to have none', () => {
    assert.equal(Object.keys(OPTION_OF_FLAG).sort(), [...FLAG_NAMES].sort());
    const words = contextsOf(ALL, '/w')[0]?.options ?? [];
    const written = new Set(words.map((word) => word.replace(/^--|=.*$/gsu, '')));
    const expected = FLAG_NAMES.filter((name) => typeof OPTION_OF_FLAG[name] === 'string');
    // Those that cannot be combined with another; the directory is the caller's.
    const others = ['spares', 'map-by', 'cpus-per-rank', 'wdir', 'alloc'];
    assert.equal([...written].sort(), expected.filter((name) => !others.includes(name)).sort());
  });

  test('the document has the same table', () => {
    const text = readFileSync(fileURLToPath(new URL('../../../docs/library.md', import.meta.url)), 'utf8');
    const rows = text.split('\n').filter((line) => line.startsWith('|')).map((line) => line.split('|').slice(1, -1));
    const documented = new Map(rows.flatMap((cells): [string, string][] => {
      const flagsOf = (cell = ''): string[] => cell.match(/(?<=--)[a-z-]+/g) ?? [];
      if (cells.length === 2) return flagsOf(cells[0]).map((flag) => [flag, cells[1]?.trim() ?? '']);
      return flagsOf(cells[2]).map((flag) => [flag, cells[0]?.trim().replaceAll('`', '') ?? '']);
    }));
    for (const name of FLAG_NAMES) {
      const option = OPTION_OF_FLAG[name];
      assert.is(documented.get(name), typeof option === 'string' ? option : option.absent, name);
    }
  });

  test('a plugin may be named by its package, as on the command line', async () => {
    const wdir = mkdtempSync(join(tmpdir(), 'stci-named-'));
    try {
      mkdirSync(join(wdir, 'node_modules/named'), { recursive: true });
      const line = await parseContexts(contextsOf({ program: 'p', plugins: ['named'] }, wdir));
      if (line.kind !== 'run') return assert.unreachable('help');
      assert.is(line.request.mca[0]?.value, join(wdir, 'node_modules/named'));
    } finally {
      rmSync(wdir, { recursive: true, force: true });
    }
  });

  test('the request is that of the same command line', async () => {
    const line = await parseContexts(contextsOf(ALL, '/w'));
    if (line.kind !== 'run') return assert.unreachable('help');
    const { request } = line;
    assert.equal(request.programs, [{
      program: 'p', args: ['-n', ':', '--'], count: 3, hosts: ['a:2', 'b[1-2]'], exports: ['A=', 'B C=x=y\nz'],
    }]);
    assert.equal(request.mca.map(({ key, value }) => `${key}=${value}`), [
      'a.b=3', 'c=true', 'd=x,y', 'launcherproc=local', 'plugin.paths=/w/p1,/p2', 'overlay.topology=bmg',
      'errmgr=restart', 'errmgr.restart.retries=2', 'client.enable=true', 'pmi=pmix', 'binding.to=none',
      'binding.report=true',
      'errmgr.launch=shrink', 'errmgr.launch.min=1',
    ]);
    assert.equal([request.timeoutMs, request.launchTimeoutMs, request.minHosts], [1500, 2, 1]);
    assert.equal([request.stdin, request.forwardSignals, request.session], [{ to: 'all' }, 'USR1,USR2', 'none']);
    assert.equal([request.exports, request.unset, request.hostfiles], [['all', 'X=1'], ['Y*'], ['h1', 'h2']]);
  });

  const WRONG: readonly (readonly [unknown, RegExp, string?])[] = [
    [{ programm: 'x' }, /unknown option programm\. Did you mean program/],
    [{ program: 'x', on_failure: 'abort' }, /unknown option on_failure\. Did you mean onFailure/],
    [{ program: 'x', 'on-failure': 'abort' }, /unknown option on-failure\. Write onFailure\./],
    [{ program: 'x', tag: 'rank' }, /unknown option tag\. Output comes as chunks/],
    [{ program: 'x', nprocs: 4 }, /unknown option nprocs\. Write np\./],
    [{ program: 'x', ntasksPerNode: 4 }, /unknown option ntasksPerNode\. Write ppn\./],
    [{ programs: [{ program: 'x', cwd: '/' }] }, /unknown option programs\[0\]\.cwd\. Write wdir\./],
    [{ program: 'x', np: '4' }, /np: expected an integer of at least 1, got "4"/],
    [{ program: 'x', np: 0 }, /np: expected .*got 0/],
    [{ program: 'x', np: NaN }, /np: expected .*got NaN/],
    [{ program: 'x', np: 1e12 }, /^np: expected an integer from 1 to 268435456/],
    [{ program: 'x', hosts: ['a', 3] }, /hosts: expected a list of hosts.*got \["a",3\]/],
    [{ program: 'x', hosts: 'a:x' }, /^hosts: column 3/, 'STCI_HOSTLIST_INVALID'],
    [{ program: 'x', args: 'a b' }, /args: expected an array of strings, got "a b"/],
    [{ program: 'x', variables: ['A=1'] }, /variables: expected an object of strings/],
    [{ program: 'x', variables: { 'A=B': '1' } }, /variables: expected an object/],
    [{ program: 'x', params: { 'launcher.arty': 3 } }, /^params launcher\.arty=3: unknown/, 'STCI_PARAM_UNKNOWN'],
    [{ program: 'x', params: { a: {} } }, /params: expected an object of strings, numbers and booleans/],
    [{ program: 'x', mapBy: 'core' }, /^mapBy: expected slot, node, ppr:N, socket/],
    [{ program: 'x', mapBy: 'node', ppn: 2 }, /^ppn and mapBy cannot be combined/],
    [{ program: 'x', spares: 3 }, /^spares 3: the job has 1 host/, 'STCI_HOST_UNKNOWN'],
    [{ program: 'x', hostfile: 'absent' }, /^hostfile absent cannot be read/, 'STCI_HOSTFILE_INVALID'],
    [{ program: 'x', hostfile: '-' }, /hostfile: expected a path/],
    [{ program: 'x', session: 'nope' }, /session: there is no session 'nope'/, 'STCI_SESSION_UNKNOWN'],
    [{ program: 'x', session: 's', launcher: 'ssh' }, /^session and launcher cannot be combined/],
    [{ program: 'x', launcher: 'tree' }, /^launcher tree: .*"tree" is one of launcher: params launcher=tree/,
      'STCI_MCA_COMPONENT_UNKNOWN'],
    [{ program: 'x', onFailure: 'hope' }, /onFailure hope.*unknown component/, 'STCI_MCA_COMPONENT_UNKNOWN'],
    [{ program: 'x', stdin: -1 }, /^stdin: expected a rank, all or none, got '-1'/],
    [{ program: 'x', stdin: 7 }, /standard input: expected a rank in 0\.\.0.*got 7/, 'STCI_JOB_INVALID'],
    [{ program: 'x', input: 5 }, /input: expected text, bytes, or an iterable/],
    [{ program: 'x', output: 'file' }, /output: expected 'iterate', 'discard', 'inherit', got "file"/],
    [{ program: 'x', signal: 'INT' }, /signal: expected an AbortSignal/],
    [{ program: 'x', timeoutMs: 1.5 }, /timeoutMs: expected an integer of at least 1, in ms, got 1\.5/],
    [{ program: 'x', wdir: 3 }, /wdir: expected a path, got 3/],
    [{ program: 'x', env: { A: 1 } }, /env: expected an object of strings/],
    [{ program: 'x', client: 'yes' }, /client: expected true or false, got "yes"/],
    [{ program: 'x', plugins: 'absent' }, /plugin .*absent/, 'STCI_PLUGIN_INVALID'],
    [{ program: '' }, /program: expected the name or path/],
    [{}, /program: expected the name or path/],
    [{ programs: [] }, /programs: expected an array of at least one program.*got \[\]/],
    [{ programs: [{ program: 'x' }, { program: 'y', mapBy: 'slot' }] }, /unknown option programs\[1\]\.mapBy/],
    [{ programs: [{ program: 'x', np: 1.5 }] }, /programs\[0\]\.np: expected an integer/],
    [{ programs: [{ program: 'x' }], np: 2 }, /np and programs cannot be combined/],
    [{ program: 'x', programs: [{ program: 'x' }] }, /program and programs cannot be combined/],
    [null, /expected an object, got null/],
    ['stcirun', /expected an object, got "stcirun"/],
    [undefined, /expected an object, got undefined/],
  ];

  for (const [options, message, code = 'STCI_USAGE'] of WRONG) {
    test(`refused before anything is started: ${JSON.stringify(options)}`, async () => {
      const given = typeof options === 'object' && options !== null ? { env: place.env, ...options } : options;
      const error = await rejected(launch(untyped(given)).result);
      assert.match(error.message, message);
      assert.is(error.code, code);
      assert.ok([193, 194, 195].includes(error.exitCode), String(error.exitCode));
    });
  }

  test('whoever reads first gets the error, and nobody is made to look at the result', async () => {
    const job = launch(untyped({ program: 'x', np: 0, env: place.env }));
    assert.match((await rejected(linesOf(job))).message, /np: expected/);
    assert.match((await rejected(eventsOf(job))).message, /np: expected/);
  });

  test('the compiler refuses what is wrong', () => {
    const refused = (): unknown => [
      // @ts-expect-error np is a number
      launch({ program: 'x', np: '4' }),
      // @ts-expect-error no such option
      launch({ program: 'x', nproc: 4 }),
      // @ts-expect-error no program
      launch({ hosts: 'a' }),
      // @ts-expect-error each program has its own
      launch({ programs: [{ program: 'x', timeoutMs: 3 }] }),
    ];
    assert.is(typeof refused, 'function');
  });

  test('messages name options as the library does; commands stay as they are', () => {
    const said = (text: string): string => (inOptionNames(new StciError('STCI_USAGE', text)) as StciError).message;
    assert.is(said('-n/--np: 3, or --map-by ppr:N (--on-failure x)'), 'np: 3, or mapBy ppr:N (onFailure x)');
    assert.is(said("--host a: no; 'stci doctor --host a'"), "hosts a: no; 'stci doctor --host a'");
    assert.is(said('a-n --nothing --np-x'), 'a-n --nothing --np-x');
  });

  test('a feed: one reader, what is left is dropped', async () => {
    const dropped: number[] = [];
    const feed = new Feed<number>('it', (item) => dropped.push(item));
    for (let item = 1; item <= 5000; item += 1) feed.push(item);
    let sum = 0;
    for await (const item of feed.read()) {
      sum += item;
      if (item === 4000) break;
    }
    assert.is(sum, 4000 * 4001 / 2);
    assert.equal([dropped[0], dropped.length, feed.size], [4001, 1000, 0]);
    feed.push(9);
    assert.is(dropped.length, 1001);
    assert.match((await rejected(feed.read().next())).message, /it is read already/);
  });
});
