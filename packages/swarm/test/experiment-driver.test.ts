/** The environment of simulated experiments: whole sessions by a virtual clock, the same for the same seed. */

import type { LeftBehind, OpenedTarget } from '@stci/finject/experiment';
import type { JobEvent, StciError } from '@stci/interface';
import { SimulatedDriver, type SimulatedTarget } from '@stci/swarm';
import { assert, suite } from '@stci/testkit';

const EVENTS_MAX = 1_000_000;
const ROUNDS_MAX = 20;
const NOTHING = { orphans: 0, left: [], unknown: [] };
const NOBODY = { ranks: [], hosts: [] };

/** A new world ends a round. */
function playAll(driver: SimulatedDriver, isOver: () => boolean): void {
  for (let round = 0; round < ROUNDS_MAX && driver.play(isOver, EVENTS_MAX) === 'busy';) round += 1;
  assert.is(driver.play(isOver, 0), 'over');
}

function targetOf(hosts: number, program: readonly string[], settings = {}): SimulatedTarget {
  const [name = '', ...args] = program;
  return {
    hosts: Array.from({ length: hosts }, (_, i) => ({ name: `c${i}`, slots: 1, slotsBound: true, origin: 'test' })),
    spares: [],
    spec: {
      apps: [{ program: name, args, env: {} }], mapBy: { by: 'ppr', perHost: 1 }, oversubscribe: false,
      env: { PATH: '/bin' }, wdir: '/', stdin: { to: 'none' }, launchTimeoutMs: 60_000,
    },
    label: program.join(' '),
    settings: { errmgr: 'continue', ...settings },
  };
}

interface Seen {
  readonly lines: string[];
  readonly found: LeftBehind[];
  error: StciError | undefined;
}

/** Runs a job in each repeat; `during` once its ranks run. */
function runRepeats(
  driver: SimulatedDriver,
  repeats: number,
  during: (target: OpenedTarget) => void = () => undefined,
): Seen {
  const seen: Seen = { lines: [], found: [], error: undefined };
  const { clock } = driver.platform;
  let isOver = false;
  const note = (text: string): void => void seen.lines.push(`${clock.nowMs()} ${clock.wallMs()} ${text}`);
  const next = (repeat: number): void => {
    if (repeat > repeats) return void (isOver = true);
    driver.open({ repeat, number: repeat, configuration: '', keep: NOBODY, injections: [] }, (error, target) => {
      seen.error = error;
      if (target === undefined) return void (isOver = true);
      follow(target, (event) => {
        note(JSON.stringify(event));
        if (event.type === 'running') during(target);
      }, (found) => {
        seen.found.push(found);
        next(repeat + 1);
      });
    });
  };
  next(1);
  playAll(driver, () => isOver);
  return seen;
}

function follow(target: OpenedTarget, onEvent: (event: JobEvent) => void, done: (found: LeftBehind) => void): void {
  const { client, spec, label } = target;
  client.submit(spec, { wait: false, detach: false, label }, () => undefined, (error) => {
    assert.is(error, undefined);
    const frontEnd = client.follow({
      onJobEvent: (event) => {
        onEvent(event);
        if (event.type === 'ended') frontEnd.stop();
      },
      onOutput: (_rank, _stream, _chunk, _wallMs, release) => release(),
      onStdinDrain: () => undefined,
      onStdinClosed: () => undefined,
      onStopped: () => target.close(true, done),
    }, () => undefined);
    frontEnd.submit(spec);
  });
}

suite('driver of simulated experiments', (test) => {
  const make = (seed: number, target: SimulatedTarget): SimulatedDriver =>
    new SimulatedDriver({ seed, target: () => target, onRecord: () => undefined });

  test('repeats run in worlds of their own, at one clock that goes on', () => {
    const driver = make(3, targetOf(5, ['sleep', '2']));
    const { lines, found } = runRepeats(driver, 3);
    assert.equal(found, [NOTHING, NOTHING, NOTHING]);
    assert.is(lines.filter((line) => line.includes('"type":"ended"')).length, 3);
    const times = lines.map((line) => line.split(' ').slice(0, 2).map(Number) as [number, number]);
    const [firstMs, firstWallMs] = times[0] as [number, number];
    for (const [i, [nowMs, wallMs]] of times.slice(1).entries()) {
      assert.ok(nowMs >= (times[i] as [number, number])[0], 'monotonic time goes on');
      assert.ok(Math.abs(wallMs - nowMs - (firstWallMs - firstMs)) < 0.01, 'and so does the wall clock');
    }
    assert.ok(driver.platform.clock.nowMs() > 6000);
  });

  test('the same seed gives the same events and times, another seed others', () => {
    const target = targetOf(7, ['sleep', '1'], { detector: 'ring' });
    const [a, b, c] = [4, 4, 5].map((seed) => runRepeats(make(seed, target), 2).lines.join('\n'));
    assert.is(a, b);
    assert.not.equal(a, c);
  });

  test('a repeat does not depend on those before it', () => {
    const eventsOf = (repeats: readonly number[]): number => {
      const driver = make(9, targetOf(4, ['sleep', '1']));
      let isOver = false;
      const next = ([repeat, ...more]: readonly number[]): void => {
        if (repeat === undefined) return void (isOver = true);
        driver.open({ repeat, number: repeat, configuration: '', keep: NOBODY, injections: [] }, (_error, target) =>
          follow(target as OpenedTarget, () => undefined, () => next(more)));
      };
      next(repeats);
      playAll(driver, () => isOver);
      return driver.world.scheduler.fired;
    };
    assert.is(eventsOf([2]), eventsOf([1, 2]));
    assert.is.not(eventsOf([2]), eventsOf([2, 1]));
  });

  test('a host that dies is told, and whether something is left there is not known', () => {
    const target = targetOf(6, ['sleep', '20'], { detector: 'ring', 'detector.ring.grace': '0' });
    const driver = make(6, target);
    const { lines, found } = runRepeats(driver, 1, () => driver.world.crashHost('c3'));
    assert.ok(lines.some((line) => line.includes('"failure-record"') && line.includes('"host":3')), 'it is recorded');
    assert.equal(found.map(({ orphans, unknown }) => [orphans, unknown?.map(({ host }) => host)]), [[0, ['c3']]]);
  });

  test('timers of the runner go on in the next world, and not after they were cancelled', () => {
    const driver = make(1, targetOf(2, ['sleep', '1']));
    const { clock } = driver.platform;
    const seen: string[] = [];
    clock.after(1500, () => seen.push(`late ${Math.round(clock.nowMs())}`));
    clock.after(900, () => seen.push('cancelled')).cancel();
    runRepeats(driver, 2);
    assert.equal(seen, ['late 1500']);
  });

  test('a program that the simulation does not have is named, with those that it has', () => {
    const { error } = runRepeats(make(1, targetOf(2, ['./solver'])), 1);
    assert.is(error?.code, 'STCI_EXPERIMENT_INVALID');
    assert.match(error?.message ?? '', /no program \.\/solver.*target\.simulated.*echo.*sleep/su);
  });

  test('parameters that do not exist are refused', () => {
    const { error } = runRepeats(make(1, targetOf(2, ['true'], { 'detector.ring.perod': '1s' })), 1);
    assert.match(error?.message ?? '', /detector\.ring\.perod/u);
  });
});
