/** Between command line and job: environment, hosts, directories, forwarded signals, help and its documentation. */

import { readFileSync } from 'node:fs';
import { assert, suite } from '@stci/testkit';
import {
  exportedVariables,
  FLAG_NAMES,
  FLAGS,
  FORWARDED,
  helpText,
  makeJobSpec,
  optionSyntax,
  parseCommandLine,
  parseForwardList,
  toolEnvironment,
  VERSION,
} from '@stci/stcirun';
import { StciError, type JobSpec } from '@stci/interface';

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

async function spec(...argv: string[]): Promise<JobSpec> {
  const line = await parseCommandLine(argv);
  if (line.kind !== 'run') throw new Error('expected a run');
  return makeJobSpec(line.request, { wdir: '/here', hostname: 'me', cpuCount: 4, variables: { A: '1', PATH: '/bin' } });
}

suite('environment of programs', (test) => {
  test('what speaks to the launcher is not passed on', () => {
    const caller = { A: '1', STCI_MCA_launcher: 'flat', STCI_RANK: '3', STCI_SIZE: '4', STCI_DEBUG: '1' };
    assert.equal(toolEnvironment(caller), { A: '1', STCI_DEBUG: '1' });
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
    assert.is(code(() => makeJobSpec(request, { wdir: '/', hostname: 'me', cpuCount: 1, variables: {} })), wanted);
  });

  test('the last hosts are spares; not all may be, and programs may not run there', async () => {
    const job = await spec('--host', 'n[1-5]', '--spares', '2', 'p');
    assert.equal(job.hosts.map(({ name }) => name), ['n1', 'n2', 'n3']);
    assert.equal(job.spares?.map(({ name }) => name), ['n4', 'n5']);
    assert.is((await spec('--host', 'n[1-5]', 'p')).spares, undefined);
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
    assert.is(code(() => makeJobSpec(request, { wdir: '/', hostname: 'me', cpuCount: 1, variables: {} })), wanted);
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
    const text = readFileSync(new URL('docs/cli.md', root), 'utf8');
    const documented = [...text.matchAll(/^### `(?:-\w, )?--([\w-]+)/gmu)].map((match) => match[1]);
    assert.equal([...documented].sort(), [...FLAG_NAMES].sort());
    for (const name of FLAG_NAMES) {
      const char = FLAGS[name].char;
      if (char !== undefined) assert.ok(text.includes(`### \`-${char}, --${name}`), `-${char}`);
    }
    const mentioned = new Set([...text.matchAll(/(?<![\w-])--([a-z][\w-]*)/gu)].map((match) => match[1] as string));
    for (const name of mentioned) assert.ok(FLAG_NAMES.some((known) => known === name), `--${name} does not exist`);
  });

  test('the version is that of package.json', () => {
    const manifest = JSON.parse(readFileSync(new URL('packages/stcirun/package.json', root), 'utf8'));
    assert.is(manifest.version, VERSION);
  });
});
