/** Pure parts: command line, environment, Slurm's words, its answers, the choice of this component. */

import {
  LineReader, askEnvironment, badNodes, jobState, launcherSlurm, optionsProblem, readLine, relativeFile, slurmProgram,
  srunCommand, stepEnvironment,
} from '@stci/launcher-slurm';
import { assert, suite } from '@stci/testkit';
import { PARAMS } from './fake-slurm.js';

suite('slurm: command and environment', (test) => {
  const bundle = { hash: 'b'.repeat(64), bytes: new Uint8Array(9), node: '/usr/bin/node', holder: '' };
  const start = { hosts: ['h1', 'h2'], nonce: 'feed', bundle, waitMs: 1000 };

  test('the user\'s options come first, ours after: srun uses the last of each', () => {
    const command = srunCommand({ ...PARAMS, options: ['--exact', '-N9'], name: 'stci:a' }, start);
    assert.equal(command.slice(0, 3), ['srun', '--exact', '-N9']);
    for (const option of ['--overlap', '--mpi=none', '--no-kill', '--label', '--nodelist=h[1-2]',
      '--job-name=stci:a']) {
      assert.ok(command.includes(option), option);
    }
    assert.ok(command.indexOf('-N') > 2);
  });

  test('variables that would change the step are left out, those of job, cluster and tools stay', () => {
    const out = ['SLURM_NTASKS', 'SLURM_NPROCS', 'SLURM_NTASKS_PER_NODE', 'SLURM_EXACT', 'SLURM_CPU_BIND_TYPE',
      'SLURM_DISTRIBUTION', 'SLURM_LABELIO', 'SLURM_STDOUTMODE', 'SLURM_UNBUFFEREDIO', 'SLURM_TASK_PROLOG',
      'SLURM_WAIT', 'SLURM_NO_KILL', 'SLURM_THREADS_PER_CORE',
      'SLURM_GPUS', 'SLURM_GPUS_PER_NODE', 'SRUN_CPUS_PER_TASK',
      'SRUN_EXPORT_ENV', 'SLURM_EXPORT_ENV', 'SLURM_MEM_PER_CPU', 'SLURM_IMMEDIATE', 'SRUN_CONTAINER',
      'SLURM_HOSTFILE'];
    const kept = ['SLURM_JOB_ID', 'SLURM_JOBID', 'SLURM_CONF', 'SLURM_JOB_NODELIST', 'SLURM_CLUSTER_NAME',
      'SLURM_WORKING_CLUSTER', 'SLURM_SUBMIT_DIR', 'PATH', 'SLURM_UMASK', 'SLURM_CPU_FREQ_REQ', 'SLURM_JOB_ACCOUNT'];
    const all = Object.fromEntries([...out, ...kept].map((name) => [name, '1']));
    assert.equal(Object.keys(stepEnvironment(all)), kept);
  });

  test('options that are none, or would take the agents\' place, are refused; relative files are found', () => {
    for (const words of ['', '--qos=debug -pdebug --exact', '-n 4'.replace(' ', ''), '--overcommit -I10']) {
      assert.is(optionsProblem(words.split(' ').filter((word) => word !== '')), undefined, words);
    }
    for (const words of ['x', '--exact ./x', '--qos debug', '--', '-', '-1']) {
      assert.match(optionsProblem(words.split(' ')) ?? '', / is no option of srun\. Expected/, words);
    }
    for (const word of ['--output=x', '--outp=x', '-ox', '-e', '--pty', '--multi-prog', '--input=none', '--version']) {
      assert.match(optionsProblem(['--exact', word]) ?? '', `'${word}' cannot be given`);
    }
    for (const word of ['--prolog=./x', '--task-prolog=x', '--task-pro=x', '--epilog=a/b', '--bcast=x']) {
      assert.is(relativeFile(['--exact', '--qos=a', word]), word);
    }
    assert.is(relativeFile(['--prolog=/bin/x', '--epilog=none', '--qos=a', '--exact', '--bcast', '-pa/b']), undefined);
  });

  test('many hosts are one short argument, and Slurm\'s refusal comes before its silence counts', () => {
    const hosts = Array.from({ length: 50_000 }, (_, i) => `node${String(i).padStart(5, '0')}`);
    const command = srunCommand(PARAMS, { ...start, hosts });
    assert.ok(command.includes('--nodelist=node[00000-49999]'));
    for (const connectMs of [2000, 15_000, 3_600_000]) {
      const option = srunCommand({ ...PARAMS, connectMs }, start).find((word) => word.startsWith('--immediate='));
      const seconds = Number(option?.split('=')[1]);
      assert.ok(Number.isInteger(seconds) && seconds >= 1 && seconds * 1000 < connectMs, option);
    }
  });

  test('questions have no options of the user\'s', () => {
    const out = ['SINFO_PARTITION', 'SINFO_FORMAT', 'SQUEUE_PARTITION', 'SQUEUE_STATES', 'SQUEUE_USERS', 'SCANCEL_NAME',
      'SLURM_TIME_FORMAT', 'SLURM_BITSTR_LEN', 'SLURM_DEBUG_FLAGS'];
    const kept = ['SLURM_CONF', 'SLURM_CLUSTERS', 'SLURM_JOB_ID', 'PATH'];
    assert.equal(Object.keys(askEnvironment(Object.fromEntries([...out, ...kept].map((name) => [name, '1'])))), kept);
  });

  test('Slurm\'s other programs are beside srun', () => {
    const programs = ['srun', '/opt/s/bin/srun'].map((client) => slurmProgram(client, 'sinfo'));
    assert.equal(programs, ['sinfo', '/opt/s/bin/sinfo']);
  });
});

suite('slurm: its words', (test) => {
  test('ends, losses and refusals', () => {
    const cancelled = 'slurmstepd-h1: error: *** STEP 5.0 ON h1 CANCELLED AT 2026-11-23T01:08:35';
    assert.equal(readLine(`${cancelled} ***`), { kind: 'cancelled', step: '5.0' });
    assert.equal(readLine(`${cancelled} DUE TO PREEMPTION ***`),
      { kind: 'cancelled', step: '5.0', reason: 'preemption' });
    assert.equal(readLine(`${cancelled} DUE TO NODE FAILURE, SEE SLURMCTLD LOG FOR DETAILS ***`),
      { kind: 'cancelled', step: '5.0', reason: 'node failure' });
    assert.equal(readLine('slurmstepd: error: *** JOB 15 ON h1 CANCELLED AT 2026-01-01T01:01 DUE TO JOB REQUEUE ***'),
      { kind: 'cancelled', step: '15', reason: 'job requeue' });
    assert.equal(readLine('srun: error: Node failure on h[3,5]'), { kind: 'lost', hosts: ['h3', 'h5'] });
    assert.equal(readLine('srun: error: h[1-2],x7: tasks 0-1,4: Out Of Memory'),
      { kind: 'ended', hosts: ['h1', 'h2', 'x7'], end: { signal: 'SIGKILL' }, what: 'Out Of Memory' });
    assert.equal(readLine('srun: error: h3: task 2: Exited with exit code 200'),
      { kind: 'ended', hosts: ['h3'], end: { status: 200 }, what: 'Exited with exit code 200' });
    assert.equal(readLine('srun: Job 9 step creation temporarily disabled, retrying (Requested nodes are busy)'),
      { kind: 'waits', what: 'Requested nodes are busy' });
    assert.equal(readLine('srun: error: h[1: task 2: Killed').kind, 'ended');
    assert.is(readLine('srun: error: something new').kind, 'other');
  });

  test('answers about hosts and jobs', () => {
    const nodes = 'h1|mixed|none\nh2|drained|bad disk\nh3|idle*|none\nh4|draining|soon\nh5|allocated$|none\n'
      + 'h6|failing|none\nh7|mixed~*|none\n\n';
    assert.equal([...badNodes(nodes)],
      [['h2', 'Slurm has it as drained, reason: bad disk'], ['h3', 'Slurm has it as idle (it does not respond)'],
        ['h7', 'Slurm has it as mixed~ (it does not respond)']]);
    assert.equal(jobState('RUNNING|h[1-2,4]|None\n'), { state: 'RUNNING', hosts: ['h1', 'h2', 'h4'] });
    assert.is(jobState(''), undefined);
  });

  test('lines are labelled by task, cut anywhere, and bounded', () => {
    const text = ' 3: a ö b\n12: c\r\nsrun: 4: d\n3: last';
    const bytes = Buffer.from(text);
    for (let cut = 0; cut <= bytes.length; cut++) {
      const lines: string[] = [];
      const reader = new LineReader(({ task, text: line }) => lines.push(`${task ?? '-'}|${line}`));
      reader.push(bytes.subarray(0, cut));
      reader.push(bytes.subarray(cut));
      reader.end();
      assert.equal(lines, ['3|a ö b', '12|c', '-|srun: 4: d', '3|last']);
    }
    let length = 0;
    const reader = new LineReader(({ text: line }) => (length += line.length));
    for (let i = 0; i < 100; i++) reader.push(Buffer.from('x'.repeat(1000)));
    assert.ok(length > 80_000, 'a line without end is not kept');
  });
});

suite('slurm: choice', (test) => {
  const hosts = (...names: string[]) => names.map((name) => ({ name, slots: 1, slotsBound: false, origin: 'test' }));
  const verdict = (names: string[], variables: Record<string, string>) =>
    launcherSlurm.query({ params: {}, request: { hosts: hosts(...names) }, facts: { variables } });

  test('inside of an allocation for its hosts; else it says why not', () => {
    const job = { SLURM_JOB_ID: '7', SLURM_JOB_NODELIST: 'h[1-2]' };
    assert.ok(verdict(['h1', 'h2'], job).accept);
    assert.match(JSON.stringify(verdict(['h1', 'h3'], job)), /h3 is not of job 7/);
    assert.match(JSON.stringify(verdict(['h1'], {})), /SLURM_JOB_ID is not set/);
    assert.not.ok(verdict(['h1'], { SLURM_JOB_ID: '7' }).accept);
    assert.not.ok(verdict(['h1'], { SLURM_JOB_ID: '7', SLURM_JOB_NODELIST: 'h[1-' }).accept);
  });
});
