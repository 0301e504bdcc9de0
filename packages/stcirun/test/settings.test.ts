/** Between command line and job: environment, hosts, directories, forwarded signals, help and its documentation. */

import { readFileSync } from 'node:fs';
import { assert, suite } from '@stci/testkit';
import {
  exportedVariables,
  frontEndRegistry,
  FLAG_NAMES,
  FLAGS,
  FORWARDED,
  helpText,
  makeJobSpec,
  optionSyntax,
  parseCommandLine,
  parseForwardList,
  SECRET_VARIABLES,
  SESSION_VARIABLES,
  toolEnvironment,
  VERSION,
} from '@stci/stcirun/internal';
import { createSelector, resolveParams } from '@stci/core';
import { StciError, type AllocatedJob } from '@stci/interface';
import { SYNONYMS } from '../dist/cli/peers.js';

const registry = frontEndRegistry();
const root = new URL('../../../', import.meta.url);

function code(run: () => unknown): string {
  try {
    run();
  } catch (thrown) {
    if (thrown instanceof StciError) return thrown.code;
    throw thrown;
  }
  return 'none';
}

async function spec(...argv: string[]): Promise<AllocatedJob> {
  return (await made(...argv)).spec;
}

function placeOf(wdir: string, variables: Record<string, string> = {}): Parameters<typeof makeJobSpec>[1] {
  const { catalog, rules } = registry;
  const selector = createSelector(registry, resolveParams(catalog, {}, rules).params, { variables });
  return { wdir, env: { hostname: 'me', cpuCount: 4, variables }, selector };
}

async function made(...argv: string[]): Promise<ReturnType<typeof makeJobSpec>> {
  const line = await parseCommandLine(argv);
  if (line.kind !== 'run') throw new Error('expected a run');
  return makeJobSpec(line.request, placeOf('/here', { A: '1', PATH: '/bin' }));
}

suite('environment of programs', (test) => {
  const caller = {
    PATH: '/bin', HOME: '/h', OMP_A: '1', SSH_AUTH_SOCK: '/s', GITHUB_TOKEN: 't', MAX_TOKENS: '9', PWD: '/p',
    STCI_MCA_launcher: 'flat', STCI_RANK: '3', STCI_SIZE: '4', STCI_DEBUG: '1',
  };
  const given = (exports: string[], unset: string[] = []): string => {
    const environment = toolEnvironment(caller, { exports, unset });
    return Object.entries(environment).map(([name, value]) => `${name}=${value}`).join(' ');
  };

  test('by default all but what is of the session, secret, or speaks to the launcher', () => {
    assert.is(given([]), 'PATH=/bin HOME=/h OMP_A=1 MAX_TOKENS=9 STCI_DEBUG=1');
    assert.is(given(['default', 'PWD', 'B=2']), 'PATH=/bin HOME=/h OMP_A=1 MAX_TOKENS=9 STCI_DEBUG=1 PWD=/p B=2');
  });

  test('--export all, none, or a list; --unset takes away', () => {
    const all = 'PATH=/bin HOME=/h OMP_A=1 SSH_AUTH_SOCK=/s GITHUB_TOKEN=t MAX_TOKENS=9 PWD=/p STCI_DEBUG=1';
    assert.is(given(['all']), all);
    assert.is(given(['none']), '');
    assert.is(given(['NONE', 'A=b=c']), 'A=b=c');
    assert.is(given(['PATH', 'O*', 'X=']), 'PATH=/bin OMP_A=1 X=');
    assert.is(given(['ALL', 'PATH=/x'], ['S*', '*TOKEN*']), 'PATH=/x HOME=/h OMP_A=1 PWD=/p');
    for (const bad of ['NOPE', 'ZZ*', '=v', 'STCI_RANK', 'STCI_SIZE=3', 'STCI_MCA_launcher']) {
      assert.is(code(() => given(['all', bad])), 'STCI_USAGE', bad);
    }
  });

  test('session and secrets by name', () => {
    const kept = ['XDG_SESSION_ID', 'TMUX_PANE', '_', 'AWS_SECRET_ACCESS_KEY', 'PGPASSWORD', 'npm_config_token'];
    for (const name of kept) {
      assert.equal(toolEnvironment({ [name]: '1' }, { exports: [], unset: [] }), {}, name);
    }
    const passed = ['TMPDIR', 'TERM', 'LANG', 'SLURM_JOB_ID', 'TOKENIZERS_PARALLELISM', 'SECRETARY', 'XDG_CONFIG_HOME'];
    for (const name of passed) {
      assert.equal(toolEnvironment({ [name]: '1' }, { exports: [], unset: [] }), { [name]: '1' }, name);
    }
    const text = readFileSync(new URL('docs/environment.md', root), 'utf8');
    for (const name of [...SESSION_VARIABLES, ...SECRET_VARIABLES]) assert.ok(text.includes(`\`${name}\``), name);
  });

  test('a variable called __proto__ is one as any other', () => {
    const own = JSON.parse('{"__proto__":"p","A":"1"}') as Record<string, string>;
    assert.is(JSON.stringify(toolEnvironment(own, { exports: [], unset: [] })), '{"__proto__":"p","A":"1"}');
    assert.is(JSON.stringify(exportedVariables(['__proto__', 'B=2'], own)), '{"__proto__":"p","B":"2"}');
    assert.is(JSON.stringify(exportedVariables(['__proto__=q'], {})), '{"__proto__":"q"}');
    assert.is(code(() => exportedVariables(['constructor'], {})), 'STCI_USAGE');
  });

  test('-x sets, takes from the caller, and knows patterns', () => {
    const caller = { OMP_A: '1', OMP_B: '2', X: '3' };
    assert.equal(exportedVariables(['N=v=w', 'E=', 'X'], caller), { N: 'v=w', E: '', X: '3' });
    assert.equal(exportedVariables(['OMP_*', 'OMP_B=9'], caller), { OMP_A: '1', OMP_B: '9' });
    assert.equal(exportedVariables(['OMP_?'], caller), { OMP_A: '1', OMP_B: '2' });
    assert.is(code(() => exportedVariables(['NOPE'], caller)), 'STCI_USAGE');
    assert.is(code(() => exportedVariables(['ZZ*'], caller)), 'STCI_USAGE');
    assert.is(code(() => exportedVariables(['=v'], caller)), 'STCI_USAGE');
    assert.is(code(() => exportedVariables(['.*'], caller)), 'STCI_USAGE');
    for (const name of ['STCI_RANK=5', 'STCI_RANK', 'STCI_TOOL_MARK=x', 'STCI_GUARD=x']) {
      assert.is(code(() => exportedVariables([name], { STCI_RANK: '1' })), 'STCI_USAGE', name);
    }
    assert.equal(exportedVariables(['STCI_*'], { STCI_RANK: '1', STCI_DEBUG: '1' }), { STCI_DEBUG: '1' });
  });
});

suite('job spec', (test) => {
  test('this machine without hosts; directories from the caller', async () => {
    const job = await spec('--wdir', 'sub', 'p');
    assert.equal(job.hosts.map(({ name, slots }) => [name, slots]), [['me', 4]]);
    assert.is(job.wdir, '/here');
    assert.is(job.apps[0]?.wdir, '/here/sub');
    assert.is(job.launchTimeoutMs, 60_000);
  });

  test("programs' own hosts are indexes of the job's", async () => {
    const job = await spec('--host', 'a,b', 'p', ':', '--host', 'c,b', 'q', ':', 'r');
    assert.equal(job.hosts.map(({ name }) => name), ['a', 'b', 'c']);
    assert.equal(job.apps.map(({ hosts }) => hosts), [[0, 1], [1, 2], undefined]);
  });

  test('a program whose hosts are all excluded is refused', async () => {
    const line = await parseCommandLine(['--host', 'a,b', '--exclude', 'b', 'p', ':', '--host', 'b', 'q']);
    if (line.kind !== 'run') throw new Error('expected a run');
    const { request } = line;
    const wanted = 'STCI_HOST_UNKNOWN';
    assert.is(code(() => makeJobSpec(request, placeOf('/'))), wanted);
  });

  test('the last hosts are spares; not all may be, and programs may not run there', async () => {
    const { spec: job, spares } = await made('--host', 'n[1-5]', '--spares', '2', 'p');
    assert.equal(job.hosts.map(({ name }) => name), ['n1', 'n2', 'n3']);
    assert.equal(spares.map(({ name }) => name), ['n4', 'n5']);
    assert.equal((await made('--host', 'n[1-5]', 'p')).spares, []);
    const BAD = [['--host a,b --spares 2 p', 'at least one'], ['--host a,b --min-hosts 3 p', '2 hosts'],
      ['--host a p : --host b --spares 1 q', 'kept as spares']] as const;
    for (const [argv, words] of BAD) {
      const message = await spec(...argv.split(' ')).then(() => 'accepted', (thrown: Error) => thrown.message);
      assert.match(message, words);
    }
  });

  test('a host file that is not there is refused', async () => {
    const line = await parseCommandLine(['--hostfile', '/nonexistent/hosts', 'p']);
    if (line.kind !== 'run') throw new Error('expected a run');
    const { request } = line;
    const wanted = 'STCI_HOSTFILE_INVALID';
    assert.is(code(() => makeJobSpec(request, placeOf('/'))), wanted);
  });
});

suite('forwarded signals', (test) => {
  test('the list replaces the usual ones', () => {
    assert.equal(parseForwardList(undefined), FORWARDED);
    assert.equal(parseForwardList('none'), []);
    assert.equal(parseForwardList('usr1,SIGINT'), ['SIGUSR1', 'SIGINT']);
  });

  test('what is no signal, or cannot be caught, is refused', () => {
    for (const bad of ['KILL', 'STOP', 'USR3', '', 'USR1,,USR2', 'all']) {
      assert.is(code(() => parseForwardList(bad)), 'STCI_USAGE', bad);
    }
  });
});

suite('help and documentation', (test) => {
  test('at most 100 columns, every option named', () => {
    const help = helpText();
    for (const line of help.split('\n')) assert.ok(line.length <= 100, line);
    for (const name of FLAG_NAMES) assert.ok(help.includes(optionSyntax(name).trim()), name);
  });

  test('docs/cli.md has every option, and none that is not', () => {
    // Commands of stci have options of their own.
    const [text = ''] = readFileSync(new URL('docs/cli.md', root), 'utf8').split('\n## stci\n');
    const documented = [...text.matchAll(/^### `(?:-\w, )?--([\w-]+)/gmu)].map((match) => match[1]);
    assert.equal([...documented].sort(), [...FLAG_NAMES].sort());
    for (const name of FLAG_NAMES) {
      const char = FLAGS[name].char;
      if (char !== undefined) assert.ok(text.includes(`### \`-${char}, --${name}`), `-${char}`);
    }
    const mentioned = new Set([...text.matchAll(/(?<![\w-])--([a-z][\w-]*)/gu)].map((match) => match[1] as string));
    const isKnown = (name: string): boolean => FLAG_NAMES.some((known) => known === name) || SYNONYMS.has(name);
    for (const name of mentioned) assert.ok(isKnown(name), `--${name} does not exist`);
  });

  test('the version is that of package.json', () => {
    const manifest = JSON.parse(readFileSync(new URL('packages/stcirun/package.json', root), 'utf8'));
    assert.is(manifest.version, VERSION);
  });
});
