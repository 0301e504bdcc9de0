/** `stci doctor` in a Slurm job: Slurm's answers, as 22.05.8 and 24.11.5 gave them, and what is made of them. */

import { assert, suite } from '@stci/testkit';
import { noKillOf } from '../dist/doctor/ask-slurm.js';
import { parseJob, parseNodes, parseSteps, parseVersion, slurmProblem } from '../dist/doctor/slurm-answers.js';
import { judge, type Answer, type SlurmAnswers } from '../dist/doctor/slurm-report.js';

const MUNGE_DOWN = 'squeue: error: If munged is up, restart with --num-threads=10\n'
  + 'squeue: error: Munge encode failed: Failed to access "/run/munge/munge.socket.2": No such file or directory '
  + '(Did you start munged?)\n';

const SQUEUE_22_05 = `${MUNGE_DOWN}squeue: error: slurm_send_node_msg: auth_g_create: REQUEST_JOB_INFO_SINGLE has `
  + 'authentication error\nslurm_load_jobs error: Protocol authentication error\n';

const SQUEUE_24_11 = `${MUNGE_DOWN}squeue: error: slurm_buffers_pack_msg: auth_g_create: REQUEST_FED_INFO has `
  + 'authentication error\nslurm_load_jobs error: Protocol authentication error\n';

const CONTROLLER_DOWN = 'slurm_load_jobs error: Unable to contact slurm controller (connect failure)\n';
const NO_JOB = 'slurm_load_jobs error: Invalid job id specified\n';
const NO_CONF = 'squeue: error: s_p_parse_file: cannot stat file /no/such: No such file or directory, retrying in 1sec '
  + 'up to 60sec\n';

const text = (words: string): Answer => ({ text: words });
const failed = (words: string): Answer => ({ failure: 'failed', words });

/** All well: a job on h1 and h2. */
const WELL: SlurmAnswers = {
  job: '10',
  squeue: text('10|RUNNING|debug|59:59|h[1-2]|None\n'),
  steps: text('10.0|h[1-2]|0:01|nice\n10.batch|h1|0:01|batch\n'),
  sinfo: text('h1|mixed|1/7/0/8|10.77.5.11|22.05.8|none\nh2|mixed|1/7/0/8|10.77.5.12|22.05.8|none\n'),
  srun: text('slurm-wlm 22.05.8\n'),
  noKill: undefined,
};
const HOSTS = ['h1', 'h2'];
const report = (answers: Partial<SlurmAnswers>): ReturnType<typeof judge> => {
  return judge({ ...WELL, ...answers }, HOSTS, HOSTS);
};

suite('stci doctor: Slurm\'s answers', (test) => {
  test('a job, its steps, the version', () => {
    assert.equal(parseJob('12_3|RUNNING|debug|364-23:59:59|h1|None\n'), {
      id: '12_3', state: 'RUNNING', partition: 'debug', left: '364-23:59:59', nodes: ['h1'], reason: undefined,
    });
    assert.is(parseJob('7|PENDING|debug|1:00||(a|b)\n')?.reason, '(a|b)');
    assert.equal(parseJob('7|PENDING|debug|1:00||BeginTime\n')?.nodes, []);
    assert.is(parseJob(''), undefined);
    assert.is(parseJob('10|RUNNING|debug|1:00|h[1-|None')?.nodes, undefined);
    const [step, batch] = parseSteps('11.0|h[1-2]|0:01|nice|or not\n11.batch|h1|0:01|batch\n');
    assert.equal(step, { id: '11.0', nodes: 'h[1-2]', time: '0:01', name: 'nice|or not' });
    assert.is(batch?.id, '11.batch');
    assert.is(parseVersion('slurm-wlm 22.05.8\n'), '22.05.8');
    assert.is(parseVersion('slurm 24.11.5-1\n'), '24.11.5-1');
    assert.is(parseVersion('srun: who knows\n'), undefined);
  });

  test('nodes: one of two partitions once, reasons with any characters', () => {
    const nodes = parseNodes('h1|mixed|1/7/0/8|10.77.5.11|22.05.8|none\nh1|mixed|1/7/0/8|10.77.5.11|22.05.8|none\n'
      + 'h3|drained|0/0/8/8|10.77.5.13|24.11.5|disk is bad: see|ticket \u001b[31m7\n');
    assert.equal([...nodes.keys()], ['h1', 'h3']);
    assert.equal(nodes.get('h1'), {
      name: 'h1', state: 'mixed', cpus: { allocated: 1, idle: 7, total: 8 }, address: '10.77.5.11', version: '22.05.8',
      reason: undefined,
    });
    assert.is(nodes.get('h3')?.reason, 'disk is bad: see|ticket \\u001b[31m7');
  });

  test('errors: the cause in a word, Slurm\'s own words, a remedy', () => {
    for (const [words, cause, remedy] of [
      [SQUEUE_22_05, 'munge does not answer', 'systemctl start munge'],
      [SQUEUE_24_11, 'munge does not answer', 'systemctl start munge'],
      [CONTROLLER_DOWN, "Slurm's controller does not answer", 'scontrol ping'],
      [NO_CONF, 'finds no configuration', 'SLURM_CONF'],
      ['squeue: what else\n', 'squeue failed', 'Run squeue by hand'],
    ] as const) {
      const problem = slurmProblem('squeue', words);
      assert.match(problem, cause);
      assert.match(problem, remedy);
      assert.match(problem, `squeue printed: ${words.trim().split('\n').at(-1)}`);
    }
  });
});

suite('stci doctor: a Slurm job, judged', (test) => {
  test('all well', () => {
    const { allocation, nodes } = report({});
    const { problems, usable, state, left, version, noKill } = allocation;
    assert.equal([problems, usable, state, left], [[], true, 'RUNNING', '59:59']);
    assert.equal([version, noKill, allocation.nodes], ['22.05.8', undefined, 'h[1-2]']);
    assert.equal(allocation.steps.map(({ name }) => name), ['nice', 'batch']);
    assert.equal(nodes.get('h2'), {
      slurm: { state: 'good', text: 'mixed' }, cpus: { state: 'good', text: '1 of 8 busy' },
      name: { state: 'good', text: '10.77.5.12' },
    });
  });

  test('the job is not there, or gives nothing: one problem, with a remedy', () => {
    const leftOver = 'the SLURM_. variables are left over.\n  what to do: run .unset ';
    for (const [squeue, words] of [
      [failed(NO_JOB), `no such job any more: ${leftOver}`],
      [text(''), `no such job any more: ${leftOver}`],
      [text('10|COMPLETED|debug|INVALID|h[1-2]|None\n'), `it has ended .COMPLETED.: ${leftOver}`],
      [text('10|NODE_FAIL|debug|1:00|h[1-2]|None\n'), 'it has ended .NODE_FAIL.'],
      [text('10|COMPLETING|debug|1:00|h[1-2]|None\n'), 'it has ended .COMPLETING.'],
      [text('10|PENDING|debug|1:00||BeginTime\n'), 'waits in the queue .BeginTime.: it was requeued'],
      [text('10|SUSPENDED|debug|1:00|h[1-2]|None\n'), 'suspended.\n  what to do: scontrol resume 10'],
      [failed(CONTROLLER_DOWN), 'controller does not answer'],
      [{ failure: 'late', words: '' }, 'controller does not answer'],
      [{ failure: 'absent', words: '' }, 'squeue is not found here'],
    ] as readonly [Answer, string][]) {
      const { allocation: { usable, problems } } = report({ squeue });
      assert.is(usable, false, words);
      assert.is(problems.length, 1);
      assert.match(problems[0] ?? '', new RegExp(words, 'u'));
    }
  });

  test('what is missing for steps: srun', () => {
    const { allocation: { usable, problems } } = report({ srun: { failure: 'absent', words: '' } });
    assert.equal([usable, problems.length], [false, 1]);
    assert.match(problems[0] ?? '', 'srun is not found here');
  });

  test('nodes: which of Slurm\'s states a step starts in', () => {
    for (const [state, judged] of [
      ['mixed', 'good'], ['allocated', 'good'], ['idle', 'good'], ['mixed-', 'good'], ['completing', 'good'],
      ['allocated$', 'good'], ['draining', 'warn'], ['drained', 'bad'], ['draining@', 'warn'], ['failing', 'warn'],
      ['down', 'bad'], ['down*', 'bad'], ['idle*', 'bad'], ['mixed*', 'bad'], ['draining*', 'bad'], ['fail', 'bad'],
      ['powered_down~', 'bad'], ['powering_up#', 'bad'], ['rebooting@', 'bad'], ['unknown', 'bad'],
    ]) {
      const sinfo = text(`h1|${state}|1/7/0/8|10.77.5.11|22.05.8|it burns\n`);
      const found = report({ sinfo }).nodes.get('h1')?.slurm;
      assert.equal([state, found?.state, found?.text], [state, judged, state]);
      if (judged !== 'good') assert.match(found?.problem ?? '', '(it burns)');
    }
    const { nodes } = report({ sinfo: text('') });
    assert.equal([nodes.get('h1')?.slurm.state, nodes.get('h1')?.cpus.text], ['bad', '-']);
    assert.is(report({ sinfo: failed(CONTROLLER_DOWN) }).nodes.get('h1')?.slurm.text, '?');
  });

  test('a node that the job has lost: told, and that the job outlives it', () => {
    const { allocation, nodes } = report({
      squeue: text('10|RUNNING|debug|1:00|h2|None\n'),
      sinfo: text('h1|down*|0/0/8/8|10.77.5.11|22.05.8|Not responding\nh2|mixed|1/7/0/8|10.77.5.12|22.05.8|none\n'),
    });
    assert.equal([allocation.usable, allocation.nodes], [true, 'h2']);
    assert.match(allocation.noKill ?? '', 'outlived the loss of h1');
    assert.match(nodes.get('h1')?.slurm.problem ?? '', /^job 10 does not have this node any more \(Not responding\)/u);
    assert.is(nodes.get('h2')?.slurm.state, 'good');
  });

  test('--no-kill is seen in command lines and scripts', () => {
    const never = (): string => '';
    for (const [line, isSeen] of [
      ['salloc --no-kill -N 2', true], ['/usr/bin/salloc -N 2 -t 10 -k bash', true], ['salloc -N2 -k', true],
      ['salloc -N2', false], ['salloc -N 2 bash -k', false], ['salloc --no-kill=off', false], ['bash --no-kill', false],
    ] as const) {
      assert.is(noKillOf(line.split(' '), never) !== undefined, isSeen, line);
    }
    const script = ['/bin/bash', '/var/spool/slurmd/job00020/slurm_script'];
    const of = (words: string): string | undefined => {
      return noKillOf(script, () => `#!/bin/bash\n#SBATCH ${words}\nsrun -k\n`);
    };
    assert.is(of('--nodes=4 --no-kill'), 'in the batch script');
    assert.is(of('--nodes=4'), undefined);
  });
});
