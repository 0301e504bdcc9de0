/** Command lines: where options end, what they mean, and how bad ones are refused. */

import { assert, suite } from '@stci/testkit';
import { parseCommandLine, type DefaultedName, type OptionDefault, type RunRequest } from '@stci/stcirun/internal';
import { StciError } from '@stci/interface';
import { mcaPairs } from '../dist/cli/param-options.js';

async function request(...argv: string[]): Promise<RunRequest> {
  const line = await parseCommandLine(argv);
  if (line.kind !== 'run') throw new Error(`expected a run, got ${line.kind}`);
  return line.request;
}

async function refusal(...argv: string[]): Promise<string> {
  try {
    await parseCommandLine(argv);
  } catch (thrown) {
    if (thrown instanceof StciError && thrown.code === 'STCI_USAGE') return thrown.message;
    throw thrown;
  }
  return `accepted: ${argv.join(' ')}`;
}

async function commandOf(...argv: string[]): Promise<readonly string[]> {
  const { programs } = await request(...argv);
  return programs.flatMap(({ program, args }) => [program, ...args]);
}

suite('command line, where options end', (test) => {
  test('nothing after the program is an option', async () => {
    const command = ['prog', '-n', '3', '--help', '--', '-x'];
    assert.equal(await commandOf('-n', '2', ...command), command);
    assert.equal(await commandOf('echo', '-e'), ['echo', '-e']);
  });

  test('-- ends options; : begins the next program there too, and \\: is a : for the program', async () => {
    const second = ['-n', '3', '--', '-b', '\\:', '\\\\:', 'c:'];
    const { programs } = await request('-n', '2', '--', '-strange', 'a', ':', ...second);
    assert.equal(programs.map(({ program, args, count }) => [program, args, count]), [
      ['-strange', ['a'], 2],
      ['-b', [':', '\\:', 'c:'], 3],
    ]);
    assert.equal(await commandOf('-'), ['-']);
  });

  test('options take their values in every usual form', async () => {
    for (const form of [['-n', '4'], ['-n4'], ['-n=4'], ['--np', '4'], ['--np=4'], ['-qn', '4'], ['-lqn4']]) {
      const { programs } = await request(...form, 'true');
      assert.is(programs[0]?.count, 4, form.join(' '));
    }
    assert.equal((await request('--mca', 'a.b=c=d', '--mca=e=', 'p')).mca, [
      { key: 'a.b', value: 'c=d', origin: '--mca a.b=c=d' },
      { key: 'e', value: '', origin: '--mca e=' },
    ]);
    assert.equal((await request('-x', 'A=-n', '-xB=1', 'p')).programs[0]?.exports, ['A=-n', 'B=1']);
  });

  test('a value that may be left out never eats the program', async () => {
    const alone = await request('--tag', 'prog');
    assert.is(alone.tag, 'rank');
    assert.is(alone.programs[0]?.program, 'prog');
    assert.is((await request('--tag', '--', 'host', 'a.org')).programs[0]?.program, 'host');
    for (const [word, file] of [['json:r.json', 'r.json'], ['text:r', 'r'], ['json', undefined]] as const) {
      const { exitReport, programs } = await request('--exit-report', word, 'p');
      assert.equal([exitReport?.file, programs[0]?.program], [file, 'p']);
    }
    assert.is((await request('--tag=full', 'p')).tag, 'full');
    assert.is((await request('-l', 'p')).tag, 'rank');
    assert.equal((await request('--exit-report', 'p')).exitReport, { format: 'text' });
    assert.equal((await request('--exit-report=json:a:b', 'p')).exitReport, { format: 'json', file: 'a:b' });
  });

  test('help and version need no program', async () => {
    assert.is((await parseCommandLine(['--help'])).kind, 'help');
    assert.is((await parseCommandLine(['-n', '1', '-h'])).kind, 'help');
    assert.is((await parseCommandLine(['-V'])).kind, 'version');
  });
});

suite('command line, several programs', (test) => {
  test('each has its own options; those of the job stand anywhere', async () => {
    const second = ['-n', '2', '--wdir', '/w', '-x', 'A=1', '--host', 'h', '--tag', 'b'];
    const job = await request('-n', '1', 'a', '1', ':', ...second);
    assert.equal(job.programs, [
      { program: 'a', args: ['1'], count: 1, hosts: [], exports: [] },
      { program: 'b', args: [], count: 2, hosts: ['h'], wdir: '/w', exports: ['A=1'] },
    ]);
    assert.is(job.tag, 'rank');
  });

  test('lists of the job are joined, single values must agree', async () => {
    const job = await request('--mca', 'a=1', '--timeout', '5s', 'a', ':', '--mca', 'b=2', '--timeout', '5s', 'b');
    assert.equal(job.mca.map(({ key }) => key), ['a', 'b']);
    assert.is(job.timeoutMs, 5000);
    assert.match(await refusal('--timeout', '5s', 'a', ':', '--timeout', '6s', 'b'), '--timeout is for the whole job');
  });

  test('a program is missing', async () => {
    assert.match(await refusal(':', 'b'), "No program before ':'");
    assert.match(await refusal('a', ':'), "No program after ':'")
    assert.match(await refusal('echo', ':'), "write '\\:'");
    assert.match(await refusal(), 'No program to run');
    assert.match(await refusal(''), 'name is empty');
  });
});

suite('command line, values', (test) => {
  test('short forms are parameters', async () => {
    const { mca } = await request('--launcher', 'local', '--on-failure', 'continue', 'p');
    assert.equal(mca, [
      { key: 'launcherproc', value: 'local', origin: '--launcher local' },
      { key: 'errmgr', value: 'continue', origin: '--on-failure continue' },
    ]);
  });

  test('failures: a policy, or one for each kind, with its number of retries', async () => {
    const pairs = async (value: string): Promise<string[]> =>
      (await request('--on-failure', value, 'p')).mca.map(({ key, value: of }) => `${key}=${of}`);
    assert.equal(await pairs('notify'), ['errmgr=notify']);
    assert.equal(await pairs('restart:4'), ['errmgr=restart', 'errmgr.restart.retries=4']);
    assert.equal(await pairs('tool=restart:3,host=continue'),
      ['errmgr.tool=restart', 'errmgr.restart.retries=3', 'errmgr.host=continue']);
    assert.equal(await pairs('continue,tool=restart:2,agent=restart:2'),
      ['errmgr=continue', 'errmgr.tool=restart', 'errmgr.restart.retries=2', 'errmgr.agent=restart']);
    const refused = (value: string): Promise<string> => refusal('--on-failure', value, 'p');
    assert.match(await refused('tol=restart'), "unknown kind of failure 'tol'. Did you mean tool? There are: tool");
    assert.match(await refused('tool=restart:3,host=restart:2'), 'expected one number of retries for restart');
    assert.match(await refused('tool=abort,tool=continue'), 'expected one policy for each kind of failure');
    for (const value of ['', 'tool=', 'restart:', 'restart:x', 'a=b=c', 'abort,']) {
      assert.match(await refused(value), 'expected POLICY, POLICY:N, or KIND=POLICY');
    }
  });

  test('launch failures: the policy, its parameters, and what other options mean by themselves', async () => {
    const pairs = async (...argv: string[]): Promise<string[]> => {
      return (await request(...argv, 'p')).mca.map(({ key, value, origin }) => `${key}=${value} by ${origin}`);
    };
    const policy = '--on-launch-failure';
    assert.equal(await pairs(policy, 'abort'), [`errmgr.launch=abort by ${policy} abort`]);
    assert.equal(await pairs(policy, 'retry'), [`errmgr.launch=retry by ${policy} retry`]);
    assert.equal(await pairs(policy, 'retry:5'), [
      `errmgr.launch=retry by ${policy} retry:5`,
      `errmgr.launch.retries=5 by ${policy} retry:5`,
    ]);
    const loss = 'errmgr.loss=use-spare by --spares 2';
    assert.equal(await pairs('--spares', '2'), ['errmgr.launch=spare by --spares 2', loss]);
    for (const other of ['spare', 'retry']) {
      assert.equal(await pairs('--spares', '2', policy, other), [`errmgr.launch=${other} by ${policy} ${other}`, loss]);
    }
    const own = ['errmgr.launch=retry', 'errmgr.loss=leave-out'];
    assert.equal(await pairs('--spares', '2', ...own.flatMap((pair) => ['--mca', pair])),
      own.map((pair) => `${pair} by --mca ${pair}`));
    assert.equal(await pairs('--min-hosts', '3'), [
      'errmgr.launch=shrink by --min-hosts 3',
      'errmgr.launch.min=3 by --min-hosts 3',
    ]);
    assert.is((await request('--spares', '2', 'p')).spares, 2);
    assert.is((await request('--min-hosts', '3', 'p')).minHosts, 3);
    assert.is((await request('p')).spares, 0);
  });

  test('mapping, input, times', async () => {
    assert.equal((await request('--ppn', '3', 'p')).mapBy, { by: 'ppr', perHost: 3 });
    const spread = await request('--ppn', '3', '--map-by', 'numa', 'p');
    assert.equal([spread.mapBy, spread.mca], [{ by: 'ppr', perHost: 3 }, (await request('--map-by', 'numa', 'p')).mca]);
    assert.equal((await request('--map-by', 'ppr:2', 'p')).mapBy, { by: 'ppr', perHost: 2 });
    assert.equal((await request('--map-by', 'node', 'p')).mapBy, { by: 'node' });
    assert.equal((await request('p')).mapBy, { by: 'slot' });
    const bound = await request('--map-by', 'socket', '--cpus-per-rank', '2', '--bind-to', 'core', 'p');
    assert.equal([bound.mapBy, bound.mca.map(({ key, value }) => `${key}=${value}`)],
      [{ by: 'slot' }, ['binding.map=socket', 'binding.to=core', 'binding.cpus=2']]);
    assert.equal((await request('--oversubscribe', '--bind-to', 'none', 'p')).mca.map(({ value }) => value), ['none']);
    assert.equal((await request('p')).stdin, { to: 'rank', rank: 0 });
    assert.equal((await request('--stdin', '7', 'p')).stdin, { to: 'rank', rank: 7 });
    assert.equal((await request('--stdin=none', 'p')).stdin, { to: 'none' });
    assert.is((await request('--timeout', '2m', 'p')).timeoutMs, 120_000);
    assert.is((await request('--launch-timeout', '250ms', 'p')).launchTimeoutMs, 250);
  });

  const BAD: readonly (readonly [argv: string, ...words: string[]])[] = [
    ['-n 0 p', '-n', 'from 1 to', "'0'"],
    ['-n 1e9 p', '-n', 'in digits', "'1e9'"],
    ['-n 1000000000 p', '-n', "'1000000000'"],
    ['-n x p', '-n', "'x'"],
    ['-n -1 p', '-n', "'-1'"],
    ['-n', '-n/--np needs a value: -n N'],
    ['--ppn 0 p', '--ppn'],
    ['--map-by core p', 'slot, node, ppr:N, socket, numa, l3cache', "'core'"],
    ['--map-by socket:PE=2 p', '--cpus-per-rank N'],
    ['--bind-to auto p', 'none, hwthread, core, l3cache, numa, socket', "'auto'"],
    ['--cpus-per-rank 0 p', '--cpus-per-rank', "'0'"],
    ['--cpus-per-rank 2 --bind-to socket p', '--cpus-per-rank and --bind-to socket cannot be combined'],
    ['--cpus-per-rank 2 --bind-to none p', '--cpus-per-rank and --bind-to none cannot be combined'],
    ['--oversubscribe --bind-to core p', '--oversubscribe and --bind-to core', 'share processors'],
    ['--oversubscribe --cpus-per-rank 2 p', '--oversubscribe and --cpus-per-rank'],
    ['--oversubscribe --map-by numa p', '--oversubscribe and --map-by numa'],
    ['--map-by ppr: p', '--map-by ppr:N'],
    ['--stdin x p', 'a rank, all or none'],
    ['--tag=maybe p', 'none, rank, host, full', "'maybe'"],
    ['--display tree p', 'map, plan or all'],
    ['--timeout 30x p', '--timeout', 'such as 10, 250ms or 5m'],
    ['--timeout 0 p', "--timeout: expected a time of more than 0, got '0'."],
    ['--timeout 0ms p', 'more than 0'],
    ['--timeout 597h p', '--timeout: expected at most 596h'],
    ['--exit-report=xml p', 'text, json'],
    ['--mca noequals', 'KEY=VALUE'],
    ['--mca =v p', 'KEY=VALUE'],
    ['--wdir= p', '--wdir', 'a value'],
    ['--tagg p', 'Unknown option --tagg', 'Did you mean --tag?'],
    ['--alloc --time=1 p', 'Unknown option --time.', "--alloc='--time=MIN'"],
    ['--exclusive p', 'Unknown option --exclusive.', 'sbatch or salloc'],
    ['--gres=gpu:1 p', 'Unknown option --gres.', '--alloc='],
    ['--overlap p', 'Unknown option --overlap.', 'leave it out'],
    ['-m cyclic p', 'Unknown option -m. Ranks are placed by --host'],
    ['--hostfil x p', 'Did you mean --hostfile'],
    ['--host-fil=x p', 'Unknown option --host-fil', 'Did you mean --hostfile'],
    ['-z p', 'Unknown option -z'],
    ['--mpi pmi2 p', 'auto, pmi1, pmix, none'],
    ['--with-ft mpirun p', 'ulfm'],
    ['--pmi p', 'MPI programs find PMI-1 and PMIx as they are started'],
    ['-nolocal p', 'Unknown option -nolocal. Write --exclude LIST'],
    ['-npersocket 1 p', 'Unknown option -npersocket.', '--map-by socket'],
    ['-usize 8 p', 'Unknown option -usize.', '--host a:8'],
    ['-gpus-per-proc 1 p', 'Unknown option -gpus-per-proc.', 'STCI_LOCAL_RANK'],
    ['-membind local p', 'Unknown option -membind.', '--bind-to'],
    ['-rmk slurm p', 'Unknown option -rmk.', 'leave it out'],
    ['--prefix /opt/ompi p', 'Unknown option --prefix.', '-x LD_LIBRARY_PATH='],
    ['--omca btl tcp p', 'Unknown option --omca.', '-x OMPI_MCA_NAME=VALUE'],
    ['--cpu-set 0 p', 'Unknown option --cpu-set.', '--bind-to'],
    ['--ompi-server x p', 'Unknown option --ompi-server.', '--session NAME'],
    ['--configfile f p', 'Unknown option --configfile.', "with ':' between"],
    ['--merge-stderr-to-stdout p', 'Unknown option --merge-stderr-to-stdout.', '2>&1'],
    ['--max-restarts 2 p', 'Unknown option --max-restarts.', '--on-failure restart:N'],
    ['--preload-binary p', 'Unknown option --preload-binary.', 'put them where each host finds them'],
    ['-np2 p', 'Unknown option -np2. Write -np 2.'],
    ['-nx p', 'Unknown option -nx.'],
    ['-qnx p', 'Unknown option -qnx.'],
    ['-n=x p', "-n: expected an integer", "'x'"],
    ['-n 2 -np 3 p', '-n and -np are the same option. Give it once.'],
    ['-n 2 -n3 p', '-n is given twice. Give it once.'],
    ['--ntasks 2 --np 2 p', '--ntasks and --np are the same option'],
    ['--pernode -ppn 2 p', '--pernode and -ppn are the same option'],
    ['--exit-report json: true', "text:FILE or json:FILE, got 'json:'"],
    ['--exit-report xml true', "got 'xml'"],
    ['--exit-report table true', "got 'table'"],
    ['--exit-report jsn:f true', "got 'jsn:f'"],
    ['--tag host a.org', '--tag host can be read in two ways. Write --tag=host, or --tag -- host'],
    ['-l host a.org', '-l host can be read in two ways. Write --tag=host, or -l -- host'],
    ['-ql full p', '-l full can be read in two ways. Write --tag=full'],
    ['--color never p', '--color never can be read in two ways. Write --color=never'],
    ['-color always p', '-color always can be read in two ways. Write --color=always'],
    ['-hosts= p', '--host'],
    ['-hostz h p', 'Unknown option -hostz', 'Did you mean --host'],
    ['-N x p', '-N: expected'],
    ['-N 2-4 p', '-N: expected'],
    ['-bind-to-core p', 'Unknown option -bind-to-core', '--bind-to core'],
    ['-c 2 p', 'Unknown option -c', '--cpus-per-rank N'],
    ['--rankfile f p', 'Unknown option --rankfile', '--map-by'],
    ['--prtemca a b p', 'Unknown option --prtemca', '--mca KEY=VALUE'],
    ['--dvm d p', 'Unknown option --dvm', '--session NAME'],
    ['-envlist A,B p', '--export'],
    ['-outfile-pattern x p', "--output 'out/%r.%s'"],
    ['-env A', 'needs a name and a value'],
    ['-vv p', '-v/--verbose is given twice', 'STCI_DEBUG=1'],
    ['--gather --tag p', '--gather and --tag cannot be combined'],
    ['--gather --timestamp p', '--gather and --timestamp cannot be combined'],
    ['--export A,,B p', '--export', 'separated by commas'],
    ['--json=yes p', '--json takes no value'],
    ['--wdir a --wdir b p', '--wdir', 'once'],
    ['--ppn 2 --map-by node p', '--ppn and --map-by cannot be combined'],
    ['--ppn 2 --map-by slot p', '--ppn and --map-by cannot be combined'],
    ['--map-by ppr:2:node:pe=4 p', '--cpus-per-rank N'],
    ['--map-by ppr:2:socket p', 'ppr:N:node', '--ppn N with --map-by socket'],
    ['--json --tag p', '--json and --tag'],
    ['--json --gather p', '--json and --gather'],
    ['--output x --gather p', '--output and --gather'],
    ['-v -q p', '--verbose and --quiet cannot be combined.'],
    ['--on-launch-failure again p', 'abort, retry, retry:N, spare or shrink', "'again'"],
    ['--on-launch-failure shrink:2 p', "'shrink:2'"],
    ['--on-launch-failure spare p', '--spares N'],
    ['--on-launch-failure abort --min-hosts 1 p', '--min-hosts and --on-launch-failure abort'],
    ['--spares 1 --min-hosts 1 p', '--spares and --min-hosts'],
    ['--spares 0 p', '--spares', "'0'"],
    ['--min-hosts x p', '--min-hosts', "'x'"],
    ['--session s --spares 1 p', '--session and --spares', 'decided by stci start'],
    ['--session s --launcher ssh p', '--session and --launcher'],
    ['--detach --json p', '--detach and --json', 'for stci attach'],
    ['--detach --color=always p', '--detach and --color', 'for stci attach'],
    ['--detach --forward-signals USR1 p', '--detach and --forward-signals', 'for stci attach'],
    ['--detach --strict p', '--detach and --strict', 'which leaves before'],
    ['--detach --stdin all p', '--detach and --stdin', 'has no input'],
  ];
  for (const [argv, ...words] of BAD) {
    test(`refused: ${argv}`, async () => {
      const message = await refusal(...argv.split(' '));
      for (const word of words) assert.match(message, word);
      assert.not.match(message, 'at async');
    });
  }

  const PEERS: readonly (readonly [theirs: string, ours: string])[] = [
    ['-np 4 p', '-n 4 p'],
    ['--ntasks=4 p', '-n 4 p'],
    ['-H a:2,b p', '--host a:2,b p'],
    ['-host a p', '--host a p'],
    ['-hosts a,b p', '--host a,b p'],
    ['-w n[1-2] p', '--host n[1-2] p'],
    ['-machinefile f p', '--hostfile f p'],
    ['-f f p', '--hostfile f p'],
    ['-ppn 2 p', '--ppn 2 p'],
    ['--npernode 2 p', '--ppn 2 p'],
    ['-wdir /x p', '--wdir /x p'],
    ['-wd /x p', '--wdir /x p'],
    ['-env A 1 p', '-x A=1 p'],
    ['-genv A 1 a : -n 2 b', '-x A=1 a : -n 2 -x A=1 b'],
    ['-genv A=1 p', '-x A=1 p'],
    ['-genvnone p', '--export none p'],
    ['-genvlist A,B p', '--export A,B p'],
    ['--mca launcher flat p', '--mca launcher=flat p'],
    ['--map-by ppr:2:node p', '--ppn 2 p'],
    ['--bynode p', '--map-by node p'],
    ['-timeout 10 p', '--timeout 10s p'],
    ['--launch-timeout 5 p', '--launch-timeout 5s p'],
    ['-prepend-rank p', '--tag p'],
    ['--oversubscribe -q p', '-oversubscribe -quiet p'],
  ];
  for (const [theirs, ours] of PEERS) {
    test(`${theirs} is ${ours}`, async () => {
      const [found, wanted] = await Promise.all([theirs, ours].map((line) => request(...line.split(' '))));
      assert.equal(found, wanted);
    });
  }

  test('defaults count where the command line says nothing else', async () => {
    const line = await parseCommandLine(['--gather', '--host', 'a', '--timeout', '5', 'p']);
    if (line.kind !== 'run') throw new Error('expected a run');
    const defaults = ([['tag', 'host'], ['hostfile', 'h'], ['timeout', '9'], ['export', 'all,A=1']] as const)
      .map(([name, value]) => ({ name, word: `--${name}=${value}`, origin: 'user file (f:1)' }));
    const last = { name: 'oversubscribe', word: '--oversubscribe', origin: '' } as const;
    const found = await line.withDefaults([...defaults, last]);
    assert.equal([found.tag, found.hostfiles, found.timeoutMs], ['none', [], 5000]);
    assert.equal([found.exports, found.oversubscribe], [['all', 'A=1'], true]);
    const wrong = { name: 'stdin', word: '--stdin=x', origin: 'user file (f:2)' } as const;
    const code = await line.withDefaults([wrong]).catch((thrown: StciError) => `${thrown.code} ${thrown.message}`);
    assert.match(String(code), 'STCI_PARAM_INVALID user file (f:2): --stdin: expected a rank');
  });

  test('two defaults that cannot be combined are refused, with both origins', async () => {
    const option = (name: DefaultedName, word: string, at: number): OptionDefault => {
      return { name, word, origin: `user file (f:${at})` };
    };
    const tag = option('tag', '--tag=host', 1);
    const gather = option('gather', '--gather', 2);
    const output = option('output', '--output=o', 3);
    const verbose = option('verbose', '--verbose', 4);
    const quiet = option('quiet', '--quiet', 5);
    const outcome = async (argv: string, ...defaults: OptionDefault[]): Promise<string> => {
      const line = await parseCommandLine(argv.split(' '));
      if (line.kind !== 'run') throw new Error('expected a run');
      const refusal = (thrown: StciError): string => `${thrown.code} ${thrown.message}`;
      return line.withDefaults(defaults).then(JSON.stringify, refusal);
    };
    const words = 'STCI_PARAM_INVALID Defaults --tag=host, user file (f:1), and --gather, user file (f:2), cannot be';
    assert.match(await outcome('p', tag, gather), words);
    assert.match(await outcome('p', output, gather), '(f:3), and --gather, user file (f:2), cannot be combined');
    assert.match(await outcome('p', verbose, quiet), '(f:4), and --quiet, user file (f:5), cannot be combined.');
    // What the command line says leaves no more than one of them.
    assert.match(await outcome('-q p', verbose, quiet), '"quiet":true');
    assert.match(await outcome('--json p', tag, gather), '"tag":"none"');
    assert.match(await outcome('--tag=none p', tag, gather), '"gather":true');
  });

  test('abbreviations are not accepted', async () => {
    assert.match(await refusal('--verb', 'p'), 'Unknown option --verb');
    assert.match(await refusal('--time', '5s', 'p'), 'Unknown option --time');
  });
});

suite("command lines of mpiexec and mpirun", (test) => {
  test('their common options are taken as they are', async () => {
    for (const line of [
      '-np 4 -ppn 2 -hosts a,b -genv A 1 -l p', '-n 2 -f hosts -print-rank-map p', '-machinefile hosts -np 2 p',
      '-bind-to core -map-by socket p', '--oversubscribe --report-bindings --map-by node p', '-x A=1 -x B p',
      '--timeout 10 --with-ft ulfm p', '-genvall p', '-prepend-rank p', '--hostfile hosts --npernode 1 p',
    ]) assert.equal(await commandOf(...line.split(' ')), ['p'], line);
  });

  test("parameters of Open MPI's library are told apart, and how they are passed; those of ours are ours", () => {
    for (const key of ['btl', 'pml', 'btl_tcp_if_include', 'osc_rdma_acc_single_intrinsic', 'mpi_abort_delay']) {
      const text = `--mca ${key}=v: It is Open MPI's: write -x OMPI_MCA_${key}=v.`;
      assert.throws(() => mcaPairs([{ key, value: 'v' }]), text);
    }
    for (const key of ['pmi', 'mpi.singletons', 'errmgr', 'topology', 'bootcom.ws.ports']) {
      assert.is(mcaPairs([{ key, value: 'v' }]).length, 1);
    }
  });
});
