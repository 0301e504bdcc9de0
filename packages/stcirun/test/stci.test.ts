/** The built stci: its commands, help and refusals. */

import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { assert, suite } from '@stci/testkit';

const PROGRAM = fileURLToPath(new URL('../bin/stci.cjs', import.meta.url));

interface Said {
  readonly exitCode: number | null;
  readonly out: string;
  readonly err: string;
}

function stci(...args: string[]): Said {
  return stciWith('', ...args);
}

function stciWith(input: string, ...args: string[]): Said {
  const { NODE_EXTRA_CA_CERTS: _slow, ...env } = process.env;
  const { status, stdout, stderr } = spawnSync(process.execPath, [PROGRAM, ...args], { encoding: 'utf8', env, input });
  return { exitCode: status, out: stdout, err: stderr };
}

/** Both programs by the shell: `redirection` is what it does with standard output. */
function redirected(line: string, redirection: string): readonly (string | number | null)[] {
  const program = PROGRAM.replace(/stci\.cjs$/u, `${line.split(' ')[0]}.cjs`);
  const args = line.split(' ').slice(1);
  const text = `"$@" ${redirection}`;
  const { status, stderr } = spawnSync('sh', ['-c', text, 'sh', program, ...args], { encoding: 'utf8' });
  return [status, stderr];
}

suite('stci', (test) => {
  const PRINTS = [
    'stci version', 'stci --version', 'stci info', 'stci help', 'stci hosts expand n[1-3]', 'stcirun --version',
    'stcirun --help', 'stcirun --dry-run -n 4 hostname',
  ];
  for (const line of PRINTS) {
    test(`output that cannot be written is an error: ${line}`, () => {
      const [full, fullText] = redirected(line, '>/dev/full');
      assert.is(full, 202);
      assert.match(String(fullText), 'no space is left');
      const [closed, closedText] = redirected(line, '>&-');
      assert.is(closed, 202);
      assert.match(String(closedText), 'Standard output is closed');
    });
  }

  test('a reader that has gone is told by the exit code alone', () => {
    const program = PROGRAM.replaceAll(/'/gu, '');
    // The shell writes until its reader has gone.
    const gone = `trap '' PIPE; while printf x 2>/dev/null; do :; done`;
    const line = `{ { ${gone}; '${program}' info; echo $? >&3; } | exec true; } 3>&1`;
    const { stdout, stderr } = spawnSync('sh', ['-c', line], { encoding: 'utf8' });
    assert.equal([stdout, stderr], ['141\n', '']);
  });

  test('tells its commands, and each its own help', () => {
    const overview = stci();
    assert.is(overview.exitCode, 0);
    assert.is(stci('--help').out, overview.out);
    const commands = ['info', 'doctor', 'version', 'start', 'stop', 'ps', 'top', 'kill', 'wait', 'add-hosts',
      'remove-hosts'];
    for (const command of [...commands, 'hosts expand', 'hosts fold', 'hosts minus', 'hosts count']) {
      assert.match(overview.out, `\n  ${command} `);
      const help = stci('help', ...command.split(' ')).out;
      assert.match(help, `Usage: stci ${command}`);
      assert.is(stci(...command.split(' '), '--help').out, help);
      for (const line of help.split('\n')) assert.ok(line.length <= 100, line);
    }
  }, { timeoutMs: 20_000 });

  test('a word that begins several commands shows them', () => {
    for (const argv of [['hosts'], ['hosts', '--help'], ['help', 'hosts']]) {
      const { exitCode, out } = stci(...argv);
      assert.is(exitCode, 0, argv.join(' '));
      assert.match(out, 'Usage: stci hosts COMMAND');
      assert.match(out, '\n  hosts expand ');
      assert.not.match(out, 'doctor');
    }
  });

  test('info: everything, one component, as JSON, with reasons', () => {
    assert.match(stci('info').out, /\nlauncher +\d+ {2}flat tree/u);
    assert.match(stci('info', '--all').out, 'framework launcher ');
    assert.match(stci('info', 'launcher:tree').out, 'launcher.tree.arity');
    const one = JSON.parse(stci('info', 'launcher.tree.arity', '--json').out);
    assert.equal(one.frameworks.map(({ name, components }: { name: string; components: { name: string }[] }) =>
      [name, components.map((component) => component.name)]), [['launcher', ['tree']]]);
    const params = one.frameworks[0].components[0].params.map(({ name }: { name: string }) => name);
    assert.equal(params, ['launcher.tree.arity']);
    const own = stci('info', 'iof.line.max').out;
    assert.ok(own.includes('iof.line.max') && !own.includes('iof.credit'), own);
    const info = JSON.parse(stci('info', 'errmgr', '--why', '--json', '--mca', 'errmgr=continue').out);
    const [framework] = info.frameworks;
    assert.equal(framework.why.candidates.filter((one: { chosen: boolean }) => one.chosen).length, 1);
    assert.is(framework.why.candidates.find((one: { chosen: boolean }) => one.chosen).name, 'continue');
  });

  test('host lists, there and back', () => {
    assert.is(stci('hosts', 'expand', 'n[08-10],x').out, 'n08\nn09\nn10\nx\n');
    assert.is(stci('hosts', 'fold', 'n1', 'n2', 'n3').out, 'n[1-3]\n');
    assert.is(stci('hosts', 'fold', 'n1', 'n2', 'n3', 'n10', 'n2').out, 'n[1-3,10]\n');
    assert.is(stci('hosts', 'minus', 'n3', 'n[1-3]').out, '');
    const file = '# nodes\nn1 slots=4\r\n\nn[2-3]:2 # good\n';
    assert.is(stciWith(file, 'hosts', 'fold', '-', 'x').out, 'n[1-3],x\n');
    const words = stciWith('n1 n2 n3\n', 'hosts', 'expand', '-');
    assert.equal([words.exitCode, words.out], [195, '']);
    assert.match(words.err, "standard input:1:4: expected slots=N, max_slots=N or user=NAME, got \"n2\"");
    assert.equal(stciWith('# none\n', 'hosts', 'expand', '-'), { exitCode: 0, out: '', err: '' });
  });

  test('host lists as sets', () => {
    for (const [verb, lists, wanted] of [
      ['union', ['n[1-4]', 'n[3-8]'], 'n[1-8]'],
      ['intersect', ['n[1-8]', 'n[3-9]', 'n[1-4]'], 'n[3-4]'],
      ['minus', ['n[1-8]', 'n3', 'n[5-6]'], 'n[1-2,4,7-8]'],
      ['xor', ['n[1-4]', 'n[3-6]'], 'n[1-2,5-6]'],
      ['intersect', ['a', 'b'], ''],
      ['count', ['rack[1-4]n[01-32]', 'rack1n01'], '128'],
    ] as const) {
      const out = wanted === '' ? '' : `${wanted}\n`;
      assert.equal(stci('hosts', verb, ...lists), { exitCode: 0, out, err: '' }, verb);
    }
    assert.is(stciWith('n[2-3]\n', 'hosts', 'minus', 'n[1-4]', '-').out, 'n[1,4]\n');
  });

  const BAD: readonly (readonly [args: string, exitCode: number, ...words: string[]])[] = [
    ['inof', 193, "'stci inof'", 'Did you mean info?'],
    ['hosts expnd x', 193, 'hosts expand'],
    ['hosts expand', 193, 'No host list'],
    ['hosts minus a', 193, 'two or more'],
    ['hosts union - -', 193, 'once'],
    ['hosts union --all a', 193, '--all'],
    ['hosts expand n[1-', 195, 'bracket'],
    ['info launchr', 194, 'launcher'],
    ['info launcher:tre', 194, 'tree'],
    ['info launcher.tree.artiy', 194, 'Did you mean launcher.tree.arity?'],
    ['info launcher.tree.artiy:x', 194, 'Unknown framework or group "launcher.tree.artiy". There are'],
    ['info --jsn', 193, 'Unknown option --jsn. Did you mean --json?'],
    ['start --hots=a', 193, 'Unknown option --hots. Did you mean --host? See stci help start.'],
    ['start --name e --events /', 202, 'Output cannot be written to file /: it is a directory'],
    ['info --mca x', 193, 'KEY=VALUE'],
    ['info --mca x.y=1', 194, 'x.y'],
    ['info --mca option.stdin=x', 194, '--stdin: expected a rank'],
    ['info --held --all', 193, '--held and --all cannot be combined', 'Leave one out.'],
    ['info --held --why', 193, '--held and --why cannot be combined'],
    ['info --held --plugin p', 193, '--held and --plugin cannot be combined'],
    ['info --held launcher:tree', 193, '--held and launcher:tree cannot be combined'],
    ['info --held nosuch', 195, "stci: There is no session 'nosuch'."],
    ['info --held one --session two', 193, 'Two sessions are named: one, and --session two.'],
    ['metrics one --session two', 193, 'Two sessions are named: one, and --session two.'],
    ['metrics nosuch', 195, "stci: There is no session 'nosuch'."],
    ['topology nosuch', 195, "stci: There is no session 'nosuch'."],
    ['metrics --session nosuch', 195, "stci: --session: there is no session 'nosuch'."],
    ['info --session night', 193, '--session is for --held: give that as well'],
    ['version now', 193, 'now'],
    ['kill 1 --signal 64', 193, "unknown signal '64'"],
    ['kill', 193, 'No job is named', 'stci kill night.3'],
    ['wait', 193, 'No job is named', 'stci wait night.3'],
  ];
  for (const [args, exitCode, ...words] of BAD) {
    test(`refused: stci ${args}`, () => {
      const result = stci(...args.split(' '));
      assert.is(result.exitCode, exitCode, result.err);
      for (const word of words) assert.match(result.err, word);
      assert.not.match(result.err, /^\s+at /mu);
    });
  }
});
