/** The runner at a virtual clock: what is injected when, what is recorded, and that it ends, whatever happens. */

import { Runner, type Experiment, type HistoryRecord, type RepeatPlan, type RunResult } from '@stci/finject/experiment';
import { assert, suite } from '@stci/testkit';
import { CALM, FakeDriver, injection, type Behaviour } from './fake-session.js';

const PLACE = { file: 'e.yaml', line: 1, column: 1 };
const EXPERIMENT = {
  name: 'e', warmUpMs: 100, timeLimitMs: 60_000, checks: [], outputs: { directory: undefined, outputBytesMax: 1000 },
  allow: [], victimsMax: 10, stop: { failuresMax: 0, timeMs: undefined },
} as unknown as Experiment;

interface Setting {
  readonly experiment?: Partial<Experiment>;
  readonly repeats?: number;
  readonly didPass?: (records: readonly HistoryRecord[]) => boolean;
}

class Trial {
  readonly driver: FakeDriver;
  readonly runner: Runner;
  result: RunResult | undefined;

  constructor(behaviour: Partial<Behaviour>, injections: RepeatPlan['injections'], setting: Setting = {}) {
    this.driver = new FakeDriver({ ...CALM, ...behaviour });
    const experiment = { ...EXPERIMENT, ...setting.experiment };
    const plans = Array.from({ length: setting.repeats ?? 1 }, (_, index) =>
      ({ repeat: index + 1, number: index + 1, configuration: '', keep: { ranks: [], hosts: [] }, injections }));
    this.runner = new Runner({
      experiment, plans, driver: this.driver, observer: { onRecord: () => undefined }, stop: experiment.stop,
      facts: {} as never, ...(setting.didPass !== undefined && { didPass: setting.didPass }),
    }, (result) => (this.result = result));
  }

  /** To its end. */
  run(): RunResult {
    this.runner.start();
    this.driver.clock.run(() => this.result !== undefined);
    if (this.result === undefined) throw new Error('the run has not ended');
    return this.result;
  }

  of<Type extends HistoryRecord['type']>(type: Type): Extract<HistoryRecord, { type: Type }>[] {
    return this.driver.records.filter((record): record is never => record.type === type);
  }

  /** When, after the start of the repeat, each injection was in this state. */
  times(state: string): readonly string[] {
    const start = this.of('start')[0]?.monotonicMs ?? 0;
    return this.of('injection').filter((record) => record.state === state)
      .map(({ id, monotonicMs }) => `${id} ${monotonicMs - start}`);
  }

  problems(): string {
    return this.of('problem').map(({ text }) => text).join('\n');
  }

  /** Nothing is left of any session. */
  checkClosed(): void {
    for (const session of this.driver.sessions) {
      assert.is(session.isClientClosed && session.isClosed, true);
    }
    const begun = this.of('repeat').length;
    assert.is(this.of('repeat-end').length, begun);
    assert.is(this.driver.records.at(-1)?.type, 'run-end');
  }
}

const later = (id: string, state: 'injected' | 'over') => ({ follows: { id, state }, atMs: undefined });

suite('runner', (test) => {
  test('a run of two repeats, recorded from beginning to end', () => {
    const trial = new Trial({}, [injection({ id: '1.f.1' })], { repeats: 2 });
    const result = trial.run();
    assert.equal([result.stopped, result.text, result.repeats], [undefined, '2 of 2 repeats', 2]);
    const types = trial.driver.records.map((record) =>
      (record.type === 'injection' ? `injection ${record.state}`
        : record.type === 'event' ? record.event.type : record.type));
    const repeat = ['repeat', 'target', 'running', 'clock', 'start', 'injection due', 'injection ordered',
      'injection injected', 'ended', 'repeat-end'];
    assert.equal(types, ['run', ...repeat, ...repeat, 'run-end']);
    assert.equal(trial.of('repeat-end').map(({ report, orphans, isTimeOut, stopped }) =>
      [report?.exitCode, orphans, isTimeOut, stopped]), [[0, 0, false, undefined], [0, 0, false, undefined]]);
    trial.checkClosed();
    const left = new Trial({ jobMs: 1000 }, [injection({ id: 'a', kind: 'pause', durationMs: 60_000 })]);
    left.run();
    assert.equal([left.times('undone').length, left.driver.sessions[0]?.inForce.size], [1, 0], 'undone at the end');
    assert.is((trial.driver.sessions[0]?.opened ?? 0) > 2, true, 'the lease is renewed');
  });

  test('other hosts are looked at for check no-orphan, unless the repeat was stopped', () => {
    const checks = [{ name: 'no-orphan', place: PLACE, type: 'no-orphan' as const }];
    const of = (experiment: Partial<Experiment>, isStopped = false): unknown => {
      const trial = new Trial({}, [], { experiment });
      if (isStopped) trial.driver.clock.after(200, () => trial.runner.abort('signal'));
      trial.run();
      return [trial.driver.sessions[0]?.wasSearched, trial.of('repeat-end')[0]?.unknown];
    };
    assert.equal(of({ checks }), [true, []]);
    assert.equal(of({ checks }, true), [false, undefined]);
    assert.equal(of({}), [false, undefined]);
  });

  test('aborted while hosts are looked at: twice, it waits no longer and says what is not known', () => {
    const checks = [{ name: 'no-orphan', place: PLACE, type: 'no-orphan' as const }];
    for (const [times, tookMs] of [[1, 160_000], [2, 20_000]] as const) {
      const trial = new Trial({ jobMs: 1000, closeMs: 160_000 }, [], { experiment: { checks } });
      const { clock } = trial.driver;
      const searching: boolean[] = [];
      for (let time = 1; time <= times; time += 1) {
        clock.after(10_000 * time, () => {
          searching.push(trial.runner.isSearching);
          trial.runner.abort('signal');
        });
      }
      const { stopped } = trial.run();
      const [end] = trial.of('repeat-end');
      assert.equal([stopped, end?.stopped], ['signal', undefined]);
      assert.equal(searching, times === 1 ? [true] : [true, true]);
      assert.ok(Math.abs(clock.nowMs() - tookMs) < 3000, `${times}: took ${clock.nowMs()} ms`);
      const reason = 'the run was ended before it had been looked at';
      assert.equal(end?.unknown, times === 1 ? [] : [{ host: 'a', reason }, { host: 'b', reason }]);
    }
  });

  test('delays, what follows, and cool-down', () => {
    const pause = { fault: 'p', kind: 'pause', durationMs: 500 };
    const trial = new Trial({}, [
      injection({ id: 'a', delayMs: 200 }),
      injection({ id: 'p1', ...pause, delayMs: 1000 }),
      injection({ id: 'p2', ...pause, delayMs: 1200, coolDownMs: 300 }),
      injection({ id: 'b', fault: 'b', ...later('p1', 'injected'), delayMs: 10 }),
      injection({ id: 'c', fault: 'c', ...later('p2', 'over'), delayMs: 20 }),
      injection({ id: 'd', fault: 'd', delayMs: 20_000 }),
    ]);
    trial.run();
    // p2 waits for the end of p1, at 1502, and 300 ms more.
    assert.equal(trial.times('due'), ['a 200', 'p1 1000', 'b 1012', 'p2 1802', 'c 2324']);
    assert.equal(trial.of('injection').filter(({ state }) => state === 'never').map(({ id }) => id), ['d']);
    assert.is(trial.problems(), '');
  });

  test('triggers: output over chunks, marks, events by number and fault', () => {
    const on = (trigger: object) => ({ trigger: trigger as never, delayMs: 0, atMs: undefined });
    const trial = new Trial({ output: [[500, 'step 1\nste'], [600, 'p 2\nx'], [700, 'step']] }, [
      injection({ id: 'line', fault: 'l', ...on({ on: 'output', pattern: '^step \\d$', rank: undefined, nth: 2 }) }),
      injection({ id: 'no', fault: 'n', ...on({ on: 'output', pattern: 'step', rank: 3, nth: 1 }) }),
      injection({ id: 'mark', fault: 'm', ...on({ on: 'mark', name: 'phase', rank: 1, nth: 2 }) }),
      injection({ id: 'found', fault: 'd', ...on({ on: 'event', event: 'detection', nth: 1, fault: 'l' }) }),
      injection({ id: 'other', fault: 'o', ...on({ on: 'event', event: 'detection', nth: 1, fault: 'n' }) }),
      injection({ id: 'hit', fault: 'h', ...on({ on: 'event', event: 'injection', nth: 1, fault: 'm' }) }),
    ]);
    const { clock } = trial.driver;
    const emit = (atMs: number, event: object): void =>
      void clock.after(1000 + atMs, () => trial.driver.sessions[0]?.emit(event as never));
    for (const [atMs, rank] of [[0, 1], [10, 0], [20, 1]] as const) {
      emit(atMs, { type: 'mark', rank, host: 0, name: 'phase', wallMs: 0 });
    }
    emit(500, { type: 'failure', error: { code: 'X', message: 'rank 0', rank: 0 } });
    emit(600, { type: 'failure', error: { code: 'X', message: 'rank 1', rank: 1 } });
    trial.run();
    assert.equal(trial.of('injection').filter(({ state }) => state === 'due').map(({ id }) => id),
      ['line', 'mark', 'hit', 'found']);
    // The second line is whole with the second chunk.
    assert.equal(trial.times('due'), ['line 499', 'mark 847', 'hit 849', 'found 1427']);
    assert.equal(trial.times('never').length, 2);
  });

  test('several victims are orders of their own, over when all are', () => {
    const victims = [{ kind: 'rank', rank: 1 }, { kind: 'rank', rank: 2 }] as const;
    const trial = new Trial({}, [
      injection({ id: 'a', victims, kind: 'pause', durationMs: 100 }),
      injection({ id: 'b', fault: 'b', ...later('a', 'over'), delayMs: 0 }),
    ]);
    trial.run();
    assert.equal(trial.driver.sessions[0]?.orders.map(({ id, job, victim }) => [id, job, victim]),
      [['a~0', 7, victims[0]], ['a~1', 7, victims[1]], ['b', 7, { kind: 'rank', rank: 1 }]]);
    assert.equal(trial.of('injection').filter(({ state }) => state === 'undone').map(({ victim }) => victim), [0, 1]);
    assert.equal(trial.times('due'), ['a 100', 'b 202']);
  });

  test('a target that ends before the first fault, a session that reports nothing, a front-end as victim', () => {
    const early = new Trial({ jobMs: 150 }, [injection({ id: 'a', delayMs: 5000 })]);
    early.run();
    assert.match(early.problems(), 'The target ended before the first of 1 planned injections.');
    const silent = new Trial({ faultMs: 1e9, jobMs: 20_000 }, [
      injection({ id: 'a' }), injection({ id: 'b', fault: 'b', ...later('a', 'over'), delayMs: 0 }),
    ]);
    silent.run();
    assert.equal([silent.times('failed'), silent.times('due')], [['a 11100'], ['a 100', 'b 11100']]);
    const self = new Trial({}, [injection({
      id: 'a', kind: 'agent', victims: [{ kind: 'agent', role: 'front-end', host: 0 }],
    }), injection({
      id: 'b', fault: 'b', kind: 'pause', victims: [{ kind: 'agent', role: 'front-end', host: 0 }], delayMs: 200,
    })], { experiment: { allow: ['front-end'] } });
    self.run();
    assert.is(self.driver.isKilled, true);
    assert.match(self.of('injection').find(({ state }) => state === 'failed')?.text ?? '', 'kind pause cannot be done');
    assert.equal(self.driver.sessions[0]?.orders, []);
    const forbidden = new Trial({}, [injection({
      id: 'a', kind: 'agent', victims: [{ kind: 'agent', role: 'front-end', host: 0 }],
    })]);
    forbidden.run();
    assert.is(forbidden.driver.isKilled, false);
    assert.match(forbidden.of('injection').find(({ state }) => state === 'failed')?.text ?? '', 'allow: front-end');
  });

  test('a time limit ends it: TERM after everything is undone, then KILL; a job that does not end is given up', () => {
    const pause = injection({ id: 'a', kind: 'pause', durationMs: 1e6 });
    const hung = new Trial({ jobMs: 1e9 }, [pause], { experiment: { timeLimitMs: 2000 } });
    hung.run();
    const { inForce, controls, undone } = hung.driver.sessions[0] as NonNullable<typeof hung.driver.sessions[0]>;
    assert.equal([inForce.size, undone > 0, controls.map((one) => one.verb === 'end' && one.kill)], [0, true, [false]]);
    assert.equal(hung.of('repeat-end').map(({ isTimeOut, stopped, report }) => [isTimeOut, stopped, report?.exitCode]),
      [[true, undefined, 143]]);
    assert.match(hung.problems(), 'The target was not over within the time limit, 2 s.');
    const { termMs: _none, ...stubborn } = { ...CALM, jobMs: 1e9 };
    const killed = new Trial({ ...stubborn, termMs: 1e9 }, [], { experiment: { timeLimitMs: 2000 } });
    killed.run();
    assert.is(killed.of('repeat-end')[0]?.report?.exitCode, 137);
    const deaf = new Trial({ jobMs: 1e9, isDeaf: true }, [], { experiment: { timeLimitMs: 2000 } });
    deaf.run();
    assert.match(deaf.problems(), 'The job has not ended within 30 s of SIGKILL.');
    assert.is(deaf.of('repeat-end')[0]?.report, undefined);
    const took = (trial: Trial): number =>
      (trial.of('repeat-end')[0]?.monotonicMs ?? 0) - (trial.of('start')[0]?.monotonicMs ?? 0);
    // 2 s; the way to an end; 15 s after TERM, 30 s after KILL.
    assert.equal([hung, killed, deaf].map((trial) => Math.floor(took(trial) / 1000)), [2, 17, 47]);
    const order = hung.driver.records.filter((record) => record.type === 'event' || record.type === 'injection')
      .map((record) => (record.type === 'event' ? record.event.type : record.type === 'injection' && record.state));
    assert.equal(order.slice(-2), ['undone', 'ended'], 'what is stopped cannot end');
    for (const trial of [hung, killed, deaf]) trial.checkClosed();
  });

  test('what cannot be begun ends the run and says why', () => {
    const WRONG: readonly [Partial<Behaviour>, RegExp][] = [
      [{ openError: 'no host' }, /no host/u],
      [{ experimentError: 'another experiment runs' }, /another experiment/u],
      [{ submitError: 'no slots' }, /no slots/u],
      [{ isMute: true }, /did not begin the experiment within 60 s/u],
      [{ openMs: 1e9 }, /did not come up within 600 s/u],
    ];
    for (const [behaviour, expected] of WRONG) {
      const trial = new Trial(behaviour, [injection({ id: 'a' })], { repeats: 3 });
      const { stopped, error, repeats } = trial.run();
      assert.equal([stopped, repeats], ['error', 1]);
      assert.match(error?.message ?? '', expected);
      assert.match(trial.problems(), expected);
      assert.equal(trial.of('injection').map(({ id, state }) => `${id} ${state}`), ['a never']);
      trial.checkClosed();
    }
  });

  test('a session that comes up when it is not waited for any more is closed', () => {
    const trial = new Trial({ openMs: 700_000 }, []);
    trial.run();
    assert.equal(trial.driver.sessions, []);
    trial.driver.clock.run(() => trial.driver.sessions[0]?.isClosed === true);
    assert.is(trial.driver.sessions[0]?.isClosed, true);
  });

  test('aborted twice it does not wait for a job that does not end', () => {
    const trial = new Trial({ jobMs: 1e9, isDeaf: true }, []);
    for (const atMs of [1000, 1010]) trial.driver.clock.after(atMs, () => trial.runner.abort('signal'));
    trial.run();
    assert.ok(trial.driver.clock.nowMs() < 7000, String(trial.driver.clock.nowMs()));
  });

  test('a connection that ends is a repeat without a report; the next goes on', () => {
    const trial = new Trial({ lossMs: 1000 }, [injection({ id: 'a' })], { repeats: 2 });
    assert.is(trial.run().repeats, 2);
    assert.equal(trial.of('repeat-end').map(({ report, stopped }) => [report, stopped]),
      [[undefined, 'error'], [undefined, 'error']]);
    trial.checkClosed();
    const controller = new Trial({ lossMs: 1000 }, [injection({
      id: 'a', kind: 'agent', victims: [{ kind: 'agent', role: 'controller', host: 0 }],
    })]);
    controller.run();
    assert.is(controller.of('repeat-end')[0]?.stopped, undefined);
  });

  test('commands before, during and after; one that fails before ends the run', () => {
    const checks = (['before', 'during', 'after'] as const).map((phase) =>
      ({ name: phase, place: PLACE, type: 'command' as const, command: ['x'], phase, timeoutMs: 1000 }));
    const trial = new Trial({}, [], { experiment: { checks } });
    trial.run();
    assert.equal(trial.of('check').map(({ name, isPassed }) => `${name} ${isPassed}`),
      ['before true', 'during true', 'after true']);
    const failing = new Trial({}, [], { experiment: { checks } });
    failing.driver.passes = () => false;
    assert.match(failing.run().error?.message ?? '', 'Check before failed before the repeat');
    assert.equal(failing.driver.sessions, []);
    const slow = new Trial({}, [], { experiment: { checks: checks.slice(2) } });
    slow.driver.commandMs = 1e9;
    slow.run();
    assert.match(slow.of('check')[0]?.text ?? '', 'did not end within 1000 ms');
  });

  test('stop rules: time of the run, number of failures', () => {
    const stop = { failuresMax: 2, timeMs: undefined };
    const failures = new Trial({}, [], { repeats: 5, experiment: { stop }, didPass: () => false });
    assert.equal([failures.run().stopped, failures.result?.repeats, failures.result?.failures], ['failures', 2, 2]);
    const time = new Trial({}, [], { repeats: 5, experiment: { stop: { failuresMax: 0, timeMs: 15_000 } } });
    assert.equal([time.run().stopped, time.result?.repeats], ['time', 2]);
    assert.equal(time.of('repeat-end').map(({ stopped }) => stopped), [undefined, 'time']);
  });

  test('output is recorded up to its bound, and characters are whole over chunks', () => {
    const trial = new Trial({ output: [[10, 'ä'.repeat(300)], [20, 'b'.repeat(600)], [30, 'c']] }, []);
    trial.run();
    assert.equal(trial.of('output').map(({ text }) => text.length), [300, 400]);
    assert.is(trial.of('output-full').length, 1);
  });

  test('aborted at any moment, once or twice: undone, ended, closed, recorded', () => {
    const injections = [
      injection({ id: 'a', kind: 'pause', durationMs: 2000 }), injection({ id: 'b', fault: 'b', delayMs: 300 }),
    ];
    const checks = (['before', 'after'] as const).map((phase) =>
      ({ name: phase, place: PLACE, type: 'command' as const, command: ['x'], phase, timeoutMs: 1000 }));
    const BEHAVIOURS: readonly Partial<Behaviour>[] =
      [{ jobMs: 1000 }, { jobMs: 1000, termMs: 1e9 }, { jobMs: 1000, isDeaf: true }, { jobMs: 1000, lossMs: 400 }];
    let seed = 1;
    const random = (below: number): number => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed % below;
    };
    for (let round = 0; round < 600; round += 1) {
      const trial = new Trial(BEHAVIOURS[round % 4] as Behaviour, injections, { repeats: 2, experiment: { checks } });
      const { clock } = trial.driver;
      const firstMs = random(900);
      clock.after(firstMs, () => trial.runner.abort('signal'));
      const isTwice = random(2) === 0;
      if (isTwice) clock.after(firstMs + random(3000), () => trial.runner.abort('signal'));
      const { stopped } = trial.run();
      assert.is(stopped, 'signal');
      trial.checkClosed();
      // Where its connection is lost, the session undoes by itself.
      for (const { inForce } of trial.driver.sessions) assert.is(inForce.size === 0 || round % 4 === 3, true);
      const tookMs = clock.nowMs() - firstMs;
      assert.is(tookMs < (isTwice ? 20_000 : 70_000), true, `round ${round}: took ${tookMs} ms`);
      const end = trial.of('repeat-end').at(-1);
      // One that was only being closed is whole.
      assert.is(end?.stopped === 'signal' || end?.report !== undefined || round % 4 === 3, true);
    }
  });
});
