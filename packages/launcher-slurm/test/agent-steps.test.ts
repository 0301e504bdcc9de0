/** Agents that are started together, with Slurm played: what comes up, what ends a step, and what follows. */

import { assert, suite } from '@stci/testkit';
import { FakeSlurm } from './fake-slurm.js';

const REFUSED = 'srun: error: Unable to create step for job 9: Requested node configuration is not available';
const CANCELLED = '0: slurmstepd-h1: error: *** STEP 9.4 ON h1 CANCELLED AT 2026-01-01T00:00:00';

suite('slurm: a step that comes up', (test) => {
  test('the secret goes to all, the bundle once if a host needs it, and nobody is told before all wait', () => {
    const slurm = new FakeSlurm();
    slurm.start();
    const { srun } = slurm;
    assert.equal(srun.hosts, ['h1', 'h2', 'h3']);
    assert.match(srun.stdin, /^[0-9a-f]{64}\n$/);
    assert.not.ok(srun.spec.args.some((arg) => arg.includes(srun.stdin.trim())), 'the secret is no argument');
    assert.is(srun.spec.env['SLURM_NTASKS'], undefined);
    for (const [task, host] of [[1, 'h1'], [0, 'h2']] as const) {
      srun.say(task, `host ${host} 9.4`);
      srun.say(task, 'need');
      srun.say(task, `wait tls://${host}:1`);
    }
    assert.match(srun.stdin, /^[0-9a-f]{64}\nBUNDLE$/);
    assert.equal(slurm.told, []);
    srun.comeUp(['h3']);
    assert.equal(slurm.told.map((line) => line.split(' ').slice(0, 3).join(' ')),
      ['place 0 tls://h1:1', 'place 1 tls://h2:1', 'place 2 tls://h3:1']);
    srun.end();
    assert.equal(slurm.told.slice(3), [0, 1, 2].map((i) => `exit ${i} {"status":0}`).concat('over'));
  });

  test('lines are told of their host, and cut lines are put together', () => {
    const slurm = new FakeSlurm();
    slurm.start();
    slurm.srun.comeUp();
    slurm.srun.err('1: stci: a word');
    slurm.srun.err('srun: something else');
    slurm.srun.err('srun: cluster configuration lacks support for cpu binding');
    assert.equal(slurm.told.slice(3), ['line 1 stci: a word', 'line - srun: something else']);
  });

  test('an end is told when its agent says it, and once, though srun says it, too', () => {
    const slurm = new FakeSlurm();
    slurm.start();
    slurm.srun.comeUp();
    slurm.told.length = 0;
    slurm.srun.say(0, 'end 0');
    slurm.srun.say(2, 'end 200');
    slurm.srun.err('srun: error: h3: task 2: Exited with exit code 200');
    assert.equal(slurm.told, ['exit 0 {"status":0}', 'exit 2 {"status":200}']);
  });

  test('a host without a node fails, and the others wait', () => {
    const slurm = new FakeSlurm();
    slurm.start();
    slurm.srun.comeUp(['h1', 'h2']);
    slurm.srun.say(2, 'host h3 9.4');
    slurm.srun.err('srun: error: h3: task 2: Exited with exit code 1');
    slurm.srun.say(2, 'fail node none');
    slurm.pass(1000);
    assert.match(slurm.errorOf(2), /phase node: the host has no node/);
    assert.equal(slurm.told.map((line) => line.slice(0, 8)), ['failed 2', 'place 0 ', 'place 1 ']);
  });

  test('an agent that ends before it waits fails with srun\'s word and its own', () => {
    const slurm = new FakeSlurm();
    slurm.start();
    slurm.srun.comeUp(['h1', 'h2']);
    slurm.srun.say(2, 'host h3 9.4');
    slurm.srun.err('2: stci: no room');
    slurm.srun.err('srun: error: h3: task 2: Killed');
    slurm.pass(1000);
    assert.match(slurm.errorOf(2), /ended before it was reached: Killed\.\n {2}it printed: stci: no room/);
    assert.ok(slurm.told.at(-1)?.startsWith('place 1'));
  });
});

suite('slurm: a step that does not come up', (test) => {
  test('hosts that Slurm has as down fail in its words, and another step starts the rest', () => {
    const slurm = new FakeSlurm();
    slurm.nodes = 'h1|mixed|none\nh2|down*|Not responding\nh2|down*|Not responding\nh3|draining|soon\n';
    slurm.job = 'RUNNING|h[1,3]|None\n';
    slurm.start();
    slurm.srun.err(REFUSED);
    slurm.srun.end({ status: 1 });
    slurm.pass(0);
    assert.match(slurm.errorOf(1), /Slurm has it as down \(it does not respond\), reason: Not responding/);
    assert.equal([slurm.stepCount, slurm.srun.hosts, slurm.srun.option('-n')], [2, ['h1', 'h3'], '2']);
    for (const { spec: { args, env } } of slurm.spawned.slice(1, 3)) {
      assert.ok(args.includes('--all'), 'hidden partitions');
      assert.equal([env['SINFO_PARTITION'], env['SQUEUE_STATES']], [undefined, undefined]);
    }
    assert.is(slurm.spawned[1]?.option('-n'), 'h[1-3]');
    slurm.srun.comeUp();
    assert.equal(slurm.told.filter((line) => line.startsWith('place')).length, 2);
  });

  test('hosts that the job does not have any more fail', () => {
    const slurm = new FakeSlurm();
    slurm.nodes = 'h1|mixed|none\nh2|mixed|none\nh3|idle|none\n';
    slurm.job = 'RUNNING|h[1-2]|None\n';
    slurm.start();
    slurm.srun.err(REFUSED);
    slurm.srun.end({ status: 1 });
    slurm.pass(0);
    assert.match(slurm.errorOf(2), /job 9 does not have it, or not any more/);
    assert.equal(slurm.srun.hosts, ['h1', 'h2']);
  });

  test('a refusal that Slurm does not explain fails all, with its words', () => {
    const slurm = new FakeSlurm();
    [slurm.nodes, slurm.job] = [undefined, undefined];
    slurm.start();
    slurm.srun.err(REFUSED);
    slurm.srun.end({ status: 1 });
    slurm.pass(10_000);
    assert.is(slurm.told.at(-1), 'over');
    assert.is(slurm.errors.size, 3);
    assert.match(slurm.errorOf(0), /Slurm refuses the hosts\.\n {2}srun printed: srun: error: Unable/);
    const killed = slurm.spawned.filter(({ signals }) => signals.includes('SIGKILL'));
    assert.equal(killed.length, 2, 'questions have deadlines');
  });

  test('a host that srun does not reach fails, and the others are started again with another secret', () => {
    const slurm = new FakeSlurm();
    slurm.start();
    slurm.srun.comeUp(['h1', 'h3']);
    const before = slurm.srun.stdin;
    slurm.srun.err('srun: error: Task launch for StepId=9.4 failed on node h2: Communication connection failure');
    slurm.srun.err('srun: error: Application launch failed: Communication connection failure');
    slurm.srun.err('srun: Job step aborted: Waiting up to 7 seconds for job step to finish.');
    slurm.srun.err(`${CANCELLED} ***`);
    slurm.srun.err('srun: error: h1: task 0: Killed');
    slurm.pass(1000);
    slurm.srun.end({ status: 233 });
    slurm.pass(1000);
    assert.match(slurm.errorOf(1), /step 9\.4 cannot have this host: srun says: Communication connection/);
    assert.equal([slurm.srun.hosts, slurm.errors.size], [['h1', 'h3'], 1]);
    assert.is.not(slurm.srun.stdin, before);
    slurm.srun.comeUp();
    assert.equal(slurm.told.filter((line) => /^(place|ending)/.test(line)).map((line) => line.slice(0, 7)),
      ['place 0', 'place 2']);
  });

  test('a host of which nothing is heard is left out after a while; silence is no progress', () => {
    const slurm = new FakeSlurm();
    slurm.nodes = 'h1|mixed|none\nh2|mixed|none\nh3|mixed*|none\n';
    const steps = slurm.start();
    slurm.srun.comeUp(['h1', 'h2']);
    slurm.pass(5000);
    const phase = steps.phase;
    assert.match(phase ?? '', /^step 9\.4: 2 of 3 agents wait$/);
    slurm.pass(1000);
    assert.is(steps.phase, phase);
    slurm.pass(10_000);
    assert.equal(slurm.srun.signals, ['SIGTERM']);
    slurm.srun.end({ status: 137 });
    slurm.pass(0);
    assert.match(slurm.errorOf(2), /mixed \(it does not respond\); nothing was heard of it for 15 s/);
    assert.equal(slurm.srun.hosts, ['h1', 'h2']);
  });

  test('of silent hosts, those that Slurm has as bad are left out first, the others if they are silent again', () => {
    const slurm = new FakeSlurm();
    slurm.nodes = 'h1|mixed|none\nh2|mixed|none\nh3|mixed*|none\n';
    slurm.start();
    for (const [answer, heard] of [['h1,h2', ['h1']], ['h1', ['h1']]] as const) {
      slurm.srun.comeUp(heard);
      slurm.pass(16_000);
      slurm.srun.end({ status: 137 });
      slurm.pass(0);
      slurm.nodes = '';
      assert.is(slurm.srun.hosts.join(), answer);
    }
    assert.match(slurm.errorOf(1), /cannot have this host: nothing was heard of it for 15 s/);
  });

  test('a step of which nothing is heard ends for all, though srun does not', () => {
    const slurm = new FakeSlurm();
    slurm.start();
    slurm.pass(15_500);
    assert.equal(slurm.srun.signals, ['SIGTERM']);
    slurm.pass(2000);
    assert.equal(slurm.srun.signals, ['SIGTERM', 'SIGKILL']);
    slurm.srun.end({ signal: 'SIGKILL' });
    slurm.pass(0);
    assert.equal([slurm.told, slurm.stepCount], [['failed 0', 'failed 1', 'failed 2', 'over'], 1]);
    assert.match(slurm.errorOf(0), /nothing was heard of it for 15 s/);
  });

  test('an allocation that has ended, munge, slurmctld, options and no srun are told apart', () => {
    const sayings = [
      ['srun: error: Slurm job 9 has expired', /the allocation has ended.*\n(.|\n)*unset SLURM_JOB_ID/],
      ['srun: error: Unable to confirm allocation: Protocol authentication error', /authentication fails here/],
      ['srun: error: Unable to confirm allocation for job 9: Unable to contact slurm controller (connect failure)\n'
        + 'srun: Check SLURM_JOB_ID environment variable. Expired or invalid job 9', /controller does not answer/],
      ['srun: unrecognized option \'--bogus\'', /refuses its options/],
      ['srun: error: Unable to create step for job 9: More processors requested than permitted', /refuses the step/],
    ] as const;
    for (const [words, message] of sayings) {
      const slurm = new FakeSlurm();
      slurm.start();
      for (const line of words.split('\n')) slurm.srun.err(line);
      slurm.srun.end({ status: 1 });
      assert.match(slurm.errorOf(0), message);
      assert.equal([slurm.told.at(-1), slurm.spawned.length], ['over', 1]);
    }
    const slurm = new FakeSlurm();
    slurm.start();
    slurm.srun.fails('Program \'srun\' not found.');
    assert.match(slurm.errorOf(0), /not found\.\n.*launcher\.slurm\.client=PATH/);
  });
});

suite('slurm: ends', (test) => {
  test('Slurm\'s word of an end is told once, with its reason, and then what becomes of the agents', () => {
    const slurm = new FakeSlurm();
    slurm.start();
    slurm.srun.comeUp();
    slurm.told.length = 0;
    slurm.srun.err(`${CANCELLED} DUE TO TIME LIMIT ***`);
    slurm.srun.err('srun: Job step aborted: Waiting up to 7 seconds for job step to finish.');
    slurm.srun.err('srun: error: h[1-2]: tasks 0-1: Terminated');
    slurm.srun.end({ status: 143 });
    assert.equal(slurm.told, [
      'ending STCI_ALLOCATION_ENDED Slurm job 9 reached its time limit.',
      'exit 0 {"signal":"SIGTERM"}', 'exit 1 {"signal":"SIGTERM"}',
      'exit 2 {"status":143,"evidence":"connection"}', 'over',
    ]);
  });

  test('srun\'s own word of an end waits for the reason: until it comes, an agent has ended, or a short time', () => {
    const ABORTED = 'srun: Job step aborted: Waiting up to 7 seconds for job step to finish.';
    const LIMIT = ' reached its time limit.';
    const CANCEL = ', or its step of the agents, was cancelled.';
    for (const { next, expected } of [
      { next: (slurm: FakeSlurm) => slurm.srun.err(`${CANCELLED} DUE TO TIME LIMIT ***`), expected: LIMIT },
      { next: (slurm: FakeSlurm) => slurm.srun.err('srun: error: h1: task 0: Killed'), expected: CANCEL },
      { next: (slurm: FakeSlurm) => slurm.pass(300), expected: CANCEL },
      { next: (slurm: FakeSlurm) => slurm.srun.end({ status: 143 }), expected: CANCEL },
    ]) {
      const slurm = new FakeSlurm();
      slurm.start();
      slurm.srun.comeUp();
      slurm.told.length = 0;
      slurm.srun.err(ABORTED);
      assert.equal(slurm.told, []);
      next(slurm);
      assert.is(slurm.told[0], `ending STCI_ALLOCATION_ENDED Slurm job 9${expected}`);
      slurm.pass(1000);
      assert.is(slurm.told.filter((line) => line.startsWith('ending')).length, 1);
    }
  });

  test('kill cancels the step by srun, kills it if that takes too long, and is no end by Slurm', () => {
    const slurm = new FakeSlurm();
    const steps = slurm.start();
    slurm.srun.comeUp();
    slurm.told.length = 0;
    steps.kill();
    steps.kill();
    slurm.srun.err('srun: forcing job termination');
    slurm.srun.err(`${CANCELLED} ***`);
    assert.equal([slurm.srun.signals, slurm.told], [['SIGTERM'], []]);
    slurm.pass(2000);
    assert.equal(slurm.srun.signals, ['SIGTERM', 'SIGKILL']);
    const { program, args } = slurm.spawned.at(-1)?.spec ?? { program: '', args: [] };
    assert.equal([program, args], ['scancel', ['--signal=KILL', '9.4']]);
    slurm.srun.end({ signal: 'SIGKILL' });
    assert.is(slurm.told.at(-1), 'over');
  });

  test('kill while Slurm is asked, or before anything began, ends too', () => {
    const slurm = new FakeSlurm();
    [slurm.nodes, slurm.job] = [undefined, undefined];
    const steps = slurm.start();
    slurm.srun.err(REFUSED);
    slurm.srun.end({ status: 1 });
    steps.kill();
    slurm.pass(10_000);
    assert.equal([slurm.told.filter((line) => line === 'over').length, slurm.stepCount], [1, 1]);
  });

  test('output that another process holds is not waited for', () => {
    const slurm = new FakeSlurm();
    slurm.start();
    slurm.srun.comeUp();
    slurm.srun.exit({ status: 0 });
    assert.is.not(slurm.told.at(-1), 'over');
    slurm.pass(2000);
    assert.is(slurm.told.at(-1), 'over');
  });
});
