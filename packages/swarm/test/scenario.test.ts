// @sameFor user, node: pure computation
/** Scenarios: whom a step hits, when, and that what ends is as before. */

import type { World } from '@stci/platform-sim';
import { assert, suite } from '@stci/testkit';
import { PLAIN, makeWorld, refuseLogin, rootAgent, type Step } from '@stci/swarm';
import { refusedStarts, scheduleSteps } from '../dist/scenarios/faults.js';

const HOSTS = 3;

interface Played {
  readonly world: World;
  readonly targets: readonly string[];
}

type Look = readonly [atMs: number, look: (world: World) => void];

/** On hosts with an agent each. */
function play(steps: readonly Step[], ...looks: readonly Look[]): Played {
  const world = makeWorld({ ...PLAIN, hosts: HOSTS, remote: true });
  for (let host = 0; host < HOSTS; host++) world.start(`n${host}`, ['stci-agent'], () => undefined);
  for (const [atMs, look] of looks) world.at(atMs, () => look(world));
  const done = scheduleSteps(world, steps, PLAIN.link);
  world.run({ untilMs: 1000 });
  return { world, targets: done.map(({ target, timeMs }) => `${timeMs} ${target.replace(/\/\d+/, '')}`) };
}

const isCut = (world: World): readonly boolean[] => [['n0', 'n1'], ['n0', 'login'], ['n1', 'n2']]
  .map(([a = '', b = '']) => world.link(a, b).isCut);

suite('scenarios', (test) => {
  test('a victim that is chosen is one of those that there are then, and the last root agent is left', () => {
    const kill = (atMs: number, pick: number): Step => ({ kind: 'kill', atMs, victim: { of: 'roots', pick } });
    const { targets, world } = play([kill(10, 0.5), kill(20, 0.99), kill(30, 0)]);
    assert.equal(targets, ['10 n1 stci-agent', '20 n2 stci-agent']);
    assert.equal(world.livingProcesses().map(({ host }) => host), ['n0']);
    assert.equal(play([{ kind: 'kill', atMs: 10, victim: { of: 'ranks', pick: 0 } }]).targets, [], 'there are none');
  });

  test('what lasts for a while is reverted after it', () => {
    const slow: Step =
      { kind: 'slow', atMs: 10, victim: { kind: 'link', ends: [1, 0] }, latencyMs: 50, durationMs: 20 };
    const latencyIs = (ms: number) => (world: World) => assert.is(world.link('n0', 'login').params.latencyMs, ms);
    play([slow], [15, latencyIs(50)], [35, latencyIs(PLAIN.link.latencyMs)]);
    const cut: Step = { kind: 'cut', atMs: 10, victim: { kind: 'link', ends: [1, 2] }, durationMs: 20 };
    play([cut], [15, (world) => assert.equal(isCut(world), [true, false, false])],
      [35, (world) => assert.equal(isCut(world), [false, false, false])]);
    const part: Step = { kind: 'part', atMs: 10, victim: { kind: 'side', hosts: [0] }, durationMs: 20 };
    play([part], [15, (world) => assert.equal(isCut(world), [true, true, false])],
      [35, (world) => assert.equal(isCut(world), [false, false, false])]);
    const pause: Step = { kind: 'pause', atMs: 10, victim: rootAgent(1), durationMs: 20 };
    const isStopped = (is: boolean) => (world: World) =>
      assert.is(world.livingProcesses().find(({ host }) => host === 'n1')?.isStopped, is);
    play([pause], [15, isStopped(true)], [35, isStopped(false)]);
    const crash: Step = { kind: 'crash', atMs: 10, victim: { kind: 'host', host: 2 }, durationMs: 20 };
    const isCrashed = (is: boolean) => (world: World) => assert.is(world.host('n2').isCrashed, is);
    play([crash], [15, isCrashed(true)], [35, isCrashed(false)]);
  });

  test('starts that are refused: from a number on, so many, those of each program by themselves', () => {
    const world = makeWorld(PLAIN);
    const next = refusedStarts(world, [refuseLogin(1, 2, { start: 2 }), refuseLogin(2, 1, { isSilent: true })]);
    const starts = (host: string, program: string): readonly (string | undefined)[] =>
      [1, 2, 3, 4].map(() => next(host, program));
    assert.equal(starts('n1', 'agent'), [undefined, 'refused', 'refused', undefined]);
    assert.equal(starts('n1', 'join'), [undefined, 'refused', 'refused', undefined]);
    assert.equal(starts('n2', 'agent'), ['silent', undefined, undefined, undefined]);
    assert.is(next('n0', 'agent'), undefined);
    const late = refusedStarts(world, [{ ...refuseLogin(1, 1), atMs: 5 }]);
    assert.is(late('n1', 'agent'), undefined);
    let later: string | undefined;
    world.at(5, () => (later = late('n1', 'agent')));
    world.run();
    assert.is(later, 'refused');
  });
});
