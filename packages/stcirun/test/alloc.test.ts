/** `--alloc` without Slurm: options for salloc, its words, the environment that comes from its command. */
// @sameFor user, node: text.

import {
  EnvironmentReader, parseCommandLine, readSallocOptions, sallocArguments, sallocCommand, SallocLog,
} from '@stci/stcirun/internal';
import { StciError } from '@stci/interface';
import { assert, suite } from '@stci/testkit';

const wordsOf = (text: string): readonly string[] | string => {
  const read = readSallocOptions(text);
  return read.ok ? read.value : read.problem;
};

async function refusal(...argv: string[]): Promise<string> {
  try {
    await parseCommandLine(argv);
  } catch (thrown) {
    assert.ok(thrown instanceof StciError && thrown.code === 'STCI_USAGE', String(thrown));
    return (thrown as StciError).message;
  }
  return 'accepted';
}

suite('--alloc: options of salloc', (test) => {
  test('words are cut as by a shell, without its expansions', () => {
    assert.equal(wordsOf('-N 4  -p debug --time=10'), ['-N', '4', '-p', 'debug', '--time=10']);
    assert.equal(wordsOf('--comment="a b" -C \'x|y\' --mem=\\$A'), ['--comment=a b', '-C', 'x|y', '--mem=$A']);
    assert.equal(wordsOf(''), []);
    assert.is(wordsOf("-C 'x"), "has an open '");
  });

  test('a command is refused, a value and a heterogeneous job are not', () => {
    const command = (word: string): string =>
      `has ${word}: salloc gets options only, since the program is ours to start`;
    assert.is(wordsOf('hostname'), command('hostname'));
    assert.is(wordsOf('-N 4 hostname'), command('hostname'));
    assert.is(wordsOf('-N4 hostname'), command('hostname'));
    assert.is(wordsOf('--exclusive hostname'), command('hostname'));
    assert.is(wordsOf('-OH hostname'), command('hostname'));
    for (const option of ['-I5', '-I', '-Hk', '-K9', '-IN', '-sk']) {
      assert.is(wordsOf(`${option} hostname`), command('hostname'), option);
    }
    assert.is(wordsOf('--nodes=4 -- hostname'), command('--'));
    for (const text of ['--partition debug', '-Ot 10', '-pdebug', '--new-option value', '-N 1 : -N 2 -p high', '-I5']) {
      assert.equal(wordsOf(text), text.split(' '), text);
    }
  });

  test('an option without its value is refused where it is known to take one', () => {
    for (const text of ['-p', '-N 2 -p', '--partition', '-Qt']) {
      assert.is(wordsOf(text), `has ${text.split(' ').at(-1)}, which needs a value`);
    }
    for (const text of ['-I', '-K', '--new-option', '--exclusive', '--partition=']) {
      assert.equal(wordsOf(text), text.split(' '), text);
    }
  });

  test('what would take the allocation from us is refused, also as salloc abbreviates it', () => {
    for (const text of ['--no-shell', '--no-s', '-N 4 --no-shell']) {
      assert.match(String(wordsOf(text)), /is to end with/);
    }
    assert.match(String(wordsOf('-h')), /run 'salloc --help'/);
    assert.match(String(wordsOf('-QV')), /run 'salloc --version'/);
    assert.match(String(wordsOf('--usage')), /run 'salloc --usage'/);
    assert.equal(wordsOf('--no-kill --no-bell'), ['--no-kill', '--no-bell']);
    // `h` is a value.
    assert.equal(wordsOf('-ph -Ih'), ['-ph', '-Ih']);
  });

  test('what the job says comes first, so that salloc follows --alloc', () => {
    const wish = { name: 'solver', nodes: 4, tasks: 8, tasksPerNode: 2 };
    assert.equal(sallocArguments(['-N', '2'], wish, {}),
      ['--job-name=solver', '--nodes=4', '--ntasks=8', '--ntasks-per-node=2', '-N', '2']);
    assert.equal(sallocArguments([], { name: 'a' }, { SALLOC_JOB_NAME: 'mine' }), []);
    assert.is(sallocCommand(['-N', '4', '--comment=a b', "it's"]), "salloc -N 4 '--comment=a b' 'it'\\''s'");
  });

  test('it stands alone or with a value, several times, and not with other hosts', async () => {
    const alloc = async (...argv: string[]): Promise<unknown> => {
      const line = await parseCommandLine(argv);
      return line.kind === 'run' ? [line.request.alloc, line.request.programs[0]?.program] : line.kind;
    };
    assert.equal(await alloc('a'), [undefined, 'a']);
    assert.equal(await alloc('--alloc', 'a'), [[], 'a']);
    assert.equal(await alloc('--alloc=-N 4', '--alloc=-p debug', 'a'), [['-N', '4', '-p', 'debug'], 'a']);
    for (const option of ['--host', '--hostfile', '--exclude']) {
      assert.match(await refusal('--alloc', option, 'x', 'a'), new RegExp(`--alloc and ${option} cannot be combined`));
    }
    assert.match(await refusal('--alloc', '--session', 's', 'a'), /a session has its hosts/);
    const local = await refusal('--alloc', '--launcher', 'local', 'a');
    assert.match(local, /--alloc and --launcher local cannot be combined/);
    assert.equal(await alloc('--alloc', '--launcher', 'ssh', 'a'), [[], 'a']);
    assert.match(await refusal('--alloc=foo', 'a'), /^--alloc: 'foo' has foo: salloc gets options only/);
  });
});

function logOf(...lines: string[]): SallocLog {
  const log = new SallocLog();
  for (const line of lines) log.add(line);
  return log;
}

suite('--alloc: words of salloc', (test) => {
  test('from the queue to the end', () => {
    const log = new SallocLog();
    assert.equal([log.state, log.job], ['asking', undefined]);
    assert.equal(log.add('salloc: Requested partition configuration not available now'), []);
    assert.equal(log.add('salloc: Pending job allocation 12'), ['Requested partition configuration not available now']);
    assert.equal([log.state, log.job], ['queued', '12']);
    log.add('salloc: job 12 queued and waiting for resources');
    log.add('salloc: job 12 has been allocated resources');
    log.add('salloc: Granted job allocation 12');
    assert.equal(log.add('salloc: Nodes h[1-4] are ready for job'), []);
    assert.equal([log.state, log.revoked], ['granted', undefined]);
    assert.equal(log.add('salloc: lua: be kind'), ['lua: be kind']);
    log.add('salloc: Job 12 has exceeded its time limit and its allocation has been revoked.');
    const { code, exitCode, message, data } = log.loss();
    assert.equal([code, exitCode, data], ['STCI_ALLOCATION_ENDED', 143, { job: '12' }]);
    assert.is(message,
      'Slurm job 12 has ended: Job 12 has exceeded its time limit and its allocation has been revoked.');
  });

  test('a refusal has the words, the exit code and what to do', () => {
    const refused = logOf('salloc: error: invalid partition specified: nope',
      'salloc: error: Job submit/allocate failed: Invalid partition name specified');
    refused.exit = 'exit code 1';
    const { code, exitCode, message } = refused.refusal('salloc -p nope');
    assert.equal([code, exitCode], ['STCI_ALLOCATION_REFUSED', 195]);
    assert.is(message, `Slurm gave no allocation: invalid partition specified: nope
  Job submit/allocate failed: Invalid partition name specified
  Asked for by: salloc -p nope (salloc ended with exit code 1)
  'sinfo' lists the partitions.`);
    const remedy = (...lines: string[]): string =>
      logOf(...lines).refusal('').message.split('\n').at(-1) ?? '';
    assert.match(remedy('salloc: error: Unable to allocate resources: Requested nodes are busy'), /--immediate/);
    assert.match(remedy('salloc: error: Job submit/allocate failed: Unable to contact slurm controller'), /ping/);
    const late = logOf('salloc: error: Unable to allocate resources: Connection timed out');
    assert.match(late.refusal('salloc -QI5').message,
      /: not granted within 5 s \(-QI5\)\n[^\n]*\n  Give --immediate more/);
    assert.match(late.refusal('salloc -N 4').message, /: Unable to allocate resources: Connection timed out\n/);
    assert.match(remedy("salloc: unrecognized option '--nope'"), /salloc --help/);
    assert.match(remedy('salloc: error: Job submit/allocate failed: Invalid account or account/partition combination'),
      /sacctmgr/);
    assert.match(remedy('salloc: Pending job allocation 3', 'salloc: Job allocation 3 has been revoked.',
      'salloc: Job has been cancelled'), /cancelled/);
  });

  test('salloc that was killed', () => {
    const log = logOf('salloc: Granted job allocation 7');
    assert.is(log.loss().message, 'Slurm job 7 is given back: salloc, which held it, has ended.');
    log.exit = 'signal SIGKILL';
    assert.is(log.loss().message, 'Slurm job 7 is given back: salloc, which held it, has ended (signal SIGKILL).');
    assert.match(logOf().refusal('salloc').message, /salloc said nothing\n  Asked for by: salloc$/);
  });

  test('any words, of any length, are bounded', () => {
    const log = new SallocLog();
    for (let i = 0; i < 1000; i += 1) log.add(`salloc: error: ${'x'.repeat(10_000)} ${i}`);
    assert.ok(log.refusal('').message.length < 15_000);
  });
});

suite('--alloc: the environment of salloc\'s command', (test) => {
  const read = (text: string, size: number): Readonly<Record<string, string>> | undefined => {
    const reader = new EnvironmentReader();
    const bytes = Buffer.from(text);
    for (let from = 0; from < bytes.length; from += size) {
      const found = reader.add(bytes.subarray(from, from + size));
      if (found !== undefined) return found;
    }
    return undefined;
  };

  test('its SLURM_*, in chunks of any size, behind what else is written', () => {
    const text = 'prolog\nstci-allocation\0HOME=/\0SLURM_JOB_ID=7\0SLURM_X=a=b\nc\0SLURM=1\0\0rest';
    for (const size of [1, 7, 1000]) {
      assert.equal(read(text, size), { SLURM_JOB_ID: '7', SLURM_X: 'a=b\nc' }, `${size}`);
    }
    assert.is(read(text.slice(0, -6), 10), undefined, 'it has not ended');
  });

  test('garbage without an end is refused', () => {
    const reader = new EnvironmentReader();
    assert.throws(() => {
      for (let i = 0; i < 20; i += 1) reader.add(new Uint8Array(1 << 20));
    }, (thrown: unknown) => thrown instanceof RangeError);
  });
});
