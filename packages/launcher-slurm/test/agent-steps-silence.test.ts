/** Agents that are started together, with Slurm played: words that are false, and silence. */

import type { AgentStart } from '@stci/interface';
import { createSlurm, slurmParams } from '@stci/launcher-slurm';
import { assert, suite } from '@stci/testkit';
import { FakeSlurm, PARAMS } from './fake-slurm.js';

const CANCELLED = '0: slurmstepd-h1: error: *** STEP 9.4 ON h1 CANCELLED AT 2026-01-01T00:00:00';

suite('slurm: what is not taken at its word', (test) => {
  test('a place that is none fails its host only', () => {
    const many = Array.from({ length: 65 }, (_, i) => `tls://h3:${i}`).join(' ');
    for (const words of ['wait', 'wait ws://h3:1', 'wait tls://h3:1 unix:/x', `wait ${many}`]) {
      const slurm = new FakeSlurm();
      slurm.start();
      slurm.srun.comeUp(['h1', 'h2']);
      slurm.srun.say(2, 'host h3 9.4');
      slurm.srun.say(2, words);
      assert.match(slurm.errorOf(2), /phase agent: expected 1 to 64 addresses tls:/);
      assert.equal(slurm.told.map((line) => line.slice(0, 8)), ['failed 2', 'place 0 ', 'place 1 ']);
    }
  });

  test('lines of srun about hosts that are none of the step\'s are passed on', () => {
    const slurm = new FakeSlurm();
    slurm.start();
    const lines = ['srun: error: login1: task 0: Killed', 'srun: error: Node failure on login1'];
    for (const line of lines) slurm.srun.err(line);
    slurm.srun.err('srun: error: h1,login1: tasks 0-1: Killed');
    slurm.pass(1000);
    assert.equal(slurm.told, [...lines.map((line) => `line - ${line}`), 'failed 0']);
  });

  test('words about the end of another step or job are passed on', () => {
    for (const isHeard of [false, true]) {
      const slurm = new FakeSlurm();
      slurm.start();
      if (isHeard) slurm.srun.comeUp();
      slurm.told.length = 0;
      for (const what of ['STEP 77.7', 'JOB 77', ...(isHeard ? ['STEP 9.5'] : [])]) {
        slurm.srun.err(`0: slurmstepd: error: *** ${what} ON zz CANCELLED AT 2026-01-01T00:00:00 ***`);
      }
      assert.not.ok(slurm.told.some((line) => line.startsWith('ending')), slurm.told.join());
      slurm.srun.comeUp(isHeard ? [] : undefined);
      slurm.srun.err('slurmstepd: error: *** JOB 9 ON h1 CANCELLED AT 2026-01-01T00:00:00 ***');
      assert.ok(slurm.told.some((line) => line.startsWith('ending')));
    }
  });

  test('a host that repeats its words is silent', () => {
    const slurm = new FakeSlurm();
    slurm.start();
    slurm.srun.comeUp(['h1', 'h2']);
    slurm.srun.say(2, 'host h3 9.4');
    for (let i = 0; i < 5; i++) {
      slurm.srun.say(2, i % 2 === 0 ? 'have' : 'need');
      slurm.srun.say(0, 'wait tls://h1:1');
      slurm.pass(4000);
    }
    assert.match(slurm.errorOf(2), /its agent said nothing more for 15 s/);
    assert.ok(slurm.told.at(-1)?.startsWith('place 1'));
  });
});

suite('slurm: steps that nobody needs any more', (test) => {
  test('when the last agent has failed, its step is cancelled, and killed', () => {
    const slurm = new FakeSlurm();
    slurm.start(['h1']);
    slurm.srun.say(0, 'host h1 9.4');
    slurm.srun.say(0, 'need');
    slurm.pass(16_000);
    assert.match(slurm.errorOf(0), /phase bundle: its agent said nothing more for 15 s/);
    assert.equal(slurm.srun.signals, ['SIGTERM']);
    slurm.pass(2000);
    assert.equal(slurm.srun.signals, ['SIGTERM', 'SIGKILL']);
    slurm.srun.end({ signal: 'SIGKILL' });
    assert.equal(slurm.told, ['failed 0', 'over']);
  });

  test('when all agents have ended, a host that was given up keeps the step for a short time only', () => {
    const slurm = new FakeSlurm();
    slurm.start(['h1', 'h2']);
    slurm.srun.comeUp(['h1']);
    slurm.srun.say(1, 'host h2 9.4');
    slurm.pass(16_000);
    slurm.srun.say(0, 'end 0');
    slurm.pass(1000);
    assert.equal(slurm.srun.signals, [], 'srun may end by itself');
    slurm.pass(1000);
    assert.equal(slurm.srun.signals, ['SIGTERM']);
  });
});

suite('slurm: a step of which nothing is heard', (test) => {
  const silence = (words: readonly string[], hasAnswer: boolean): string => {
    const slurm = new FakeSlurm();
    if (!hasAnswer) [slurm.nodes, slurm.job] = [undefined, undefined];
    slurm.start();
    for (const line of words) slurm.srun.err(line);
    slurm.pass(16_000);
    slurm.srun.err('srun: Job step aborted: Waiting up to 7 seconds for job step to finish.');
    slurm.srun.err(`${CANCELLED} ***`);
    slurm.srun.end({ signal: 'SIGTERM' });
    slurm.pass(6000);
    assert.equal([slurm.errors.size, slurm.told.at(-1)], [3, 'over']);
    return slurm.errorOf(2);
  };
  const WAITS = 'srun: Job 9 step creation temporarily disabled, retrying (Requested nodes are busy)';
  const NO_WORD = 'nothing was heard of it for 15 s';

  test('srun\'s word of slurmctld, or slurmctld\'s silence when asked, is the cause', () => {
    const told = silence(['srun: error: Unable to contact slurm controller (connect failure)', WAITS], true);
    assert.match(told, /phase step: Slurm's controller does not answer\.\n {2}srun printed: srun: error: Unable/);
    assert.match(told, `\n  ${NO_WORD}\n  what to do: Wait until "scontrol ping"`);
    assert.match(silence([], false), `Slurm's controller does not answer.\n  ${NO_WORD}\n`);
  });

  test('a step that Slurm keeps waiting is told with what it waits for', () => {
    const told = silence([WAITS], true);
    const cause = 'Slurm keeps the step waiting: Requested nodes are busy.';
    assert.match(told, `${cause}\n  srun printed: ${WAITS}\n  ${NO_WORD}`);
  });

  test('words that keep coming keep nobody waiting for ever; each agent has half of its time left then', () => {
    const slurm = new FakeSlurm();
    const steps = slurm.start();
    assert.equal([slurm.srun.spec.args.at(-1), steps.settleMs > 4 * 30_000], ['60000', true]);
    slurm.srun.comeUp(['h1']);
    for (const words of ['host h2 9.4', 'have', 'wait tls://h2:1']) {
      slurm.pass(9000);
      slurm.srun.say(1, words);
    }
    slurm.srun.say(2, 'host h3 9.4');
    slurm.pass(2000);
    assert.is(slurm.told.some((line) => line.startsWith('place')), false);
    slurm.pass(1500);
    assert.is(slurm.told.filter((line) => line.startsWith('place')).length, 2);
    assert.match(slurm.errorOf(2), /its agent does not wait after 30 s/);
    const patient = slurmParams({
      client: 'srun', options: '', node: '', connect: 100_000, interface: [], ports: '', name: 'stci',
    });
    const other = new FakeSlurm();
    other.start(['h1'], patient);
    assert.is(other.srun.spec.args.at(-1), '130000');
  });

  test('one agent that is started late is told of before its parent gives it up', () => {
    const slurm = new FakeSlurm();
    const errors: string[] = [];
    const launcher = createSlurm({ platform: slurm.platform, inline: undefined } as never, PARAMS);
    const host = { name: 'h1', slots: 1, slotsBound: false, origin: 'test' };
    launcher.start({ address: 'root:0', host, method: 'process', waitMs: 40_000 } as unknown as AgentStart, {
      onError: ({ message }) => errors.push(message), onDiagnostic: () => undefined, onExit: () => undefined,
    });
    slurm.pass(8000);
    assert.equal(slurm.srun.signals, ['SIGTERM']);
    slurm.srun.end({ signal: 'SIGTERM' });
    slurm.pass(1000);
    assert.match(errors.join(), /nothing was heard of it for 8 s/);
  });

  test('else it is the hosts', () => assert.match(silence([], true), `phase step: ${NO_WORD}.\n  what to do: Look at`));
});
