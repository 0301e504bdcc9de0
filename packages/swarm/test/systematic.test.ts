// @timeoutMs 300000
// @sameFor user, node: pure computation and simulated jobs
/** Single faults at moments of good runs: a share of them, by the commit; and a bug at one narrow moment is found. */

import { assert, suite } from '@stci/testkit';
import {
  afterEvents, configurations, decode, explore, parseArguments, systematic, type Configuration, type ExploreIo,
  type Kind, type KindHooks, type KindRun, type Recorded, type SeededPlan,
} from '@stci/swarm';
import { firstSeed, isFull } from './first-seed.js';

function io(lines: string[]): ExploreIo {
  return { print: (line) => void lines.push(line), nowMs: () => performance.now() };
}

/** A process that stays is left behind if n1's agent dies right after its event with that number. */
function planted(bug: number, died: { events?: number } = {}): KindHooks {
  return {
    onWorld: (world) => {
      let events = 0;
      afterEvents(world, (owner) => {
        const agent = world.host('n1').table.all.find(({ command }) => command[0] === 'stci-agent');
        if (agent?.main === owner) events++;
        if (died.events !== undefined || agent?.isAlive !== false) return;
        died.events = events;
        if (events === bug) world.start('n1', ['planted'], () => undefined);
      });
    },
  };
}

/** How many events n1's agent had handled at its death. */
function eventsAtDeath(kind: Kind, plan: SeededPlan): number {
  const died: { events?: number } = {};
  assert.equal(kind.run(plan, planted(-1, died)).problems, []);
  return died.events ?? 0;
}

/** With that bug, and with the faults that can show it: n1's agent dies of no other. */
function withBug({ kind, record, ...more }: Configuration, bug: number): Configuration {
  return {
    ...more, kind: { ...kind, run: (plan) => kind.run(plan, planted(bug)) },
    record: () => {
      const { moments, cases } = record();
      return { moments, cases: new Map([['kill', cases.get('kill') ?? []]]) };
    },
  };
}

suite('systematic single faults', (test) => {
  test('a share of all moments, this commit\'s', () => {
    const lines: string[] = [];
    const every = isFull ? 200 : 3000;
    const args = ['--systematic', '--hosts', '4', '--every', `${every}`, '--from', `${1 + (firstSeed() % every)}`];
    const { runs, failedSeeds } = explore({ ...parseArguments(args), shrinkMs: 20_000 }, io(lines));
    assert.equal(failedSeeds, [], lines.join('\n'));
    assert.ok(runs >= 60, lines.join('\n'));
  }, { timeoutMs: 240_000 });

  test('a bug in one event of one agent, while a session ends, is found, and its plan shows it again', () => {
    const end = configurations(3).find(({ name }) => name === 'session, an end') as Configuration;
    // The rarest of the moments at which a kill finds n1's agent before its own end.
    const all = eventsAtDeath(end.kind, end.plan);
    const early = (end.record().cases.get('kill') ?? []).map((make) => eventsAtDeath(end.kind, make()))
      .filter((events) => events < all);
    const times = (bug: number): number => early.filter((events) => events === bug).length;
    const bug = early.reduce((rarest, events) => times(events) < times(rarest) ? events : rarest);
    const broken = withBug(end, bug);
    const lines: string[] = [];
    const whole = { every: 1, offset: 0, part: [1, 1] as const, minutes: Infinity, shrinkMs: 0 };
    const { runs, red, classes } = systematic([broken], whole, io(lines));
    assert.equal(classes, ['left on n#: planted']);
    assert.ok(red >= 1 && red <= runs / 4, `${red} of ${runs}\n${lines.join('\n')}`);
    const [, plan = ''] = /--plan '(.*)'/.exec(lines.join('\n')) ?? [];
    const given = { ...end.kind.plain, ...decode(plan) as object };
    assert.equal([broken.kind.run(given).problems, end.kind.run(given).problems], [['left on n1: planted'], []]);
    // It computes: 190 runs.
  }, { timeoutMs: 120_000 });

  test('shares are disjoint, and all of them are all cases', () => {
    const runOf = (...args: string[]): number[] => {
      const plan = parseArguments(['--systematic', ...args]);
      if (plan.systematic === undefined) throw new Error('--systematic makes no plan');
      const seeds: number[] = [];
      const [kind] = plan.kinds as [Kind];
      const run = ({ seed }: SeededPlan): KindRun => {
        seeds.push(seed);
        return { problems: [], traceHash: '', summary: () => [] };
      };
      const cases = Array.from({ length: 25 }, (_, seed) => () => ({ ...kind.plain, seed }));
      const record = (): Recorded => ({ moments: 25, cases: new Map([['kill', cases]]) });
      const made = { name: 'made', kind: { ...kind, run }, plan: kind.plain, record };
      const more = { offset: plan.from - 1, minutes: Infinity, shrinkMs: 0 };
      assert.is(systematic([made], { ...plan.systematic, ...more }, io([])).runs, seeds.length);
      return seeds;
    };
    const shares = [...['1/3', '2/3', '3/3'].map((part) => runOf('--part', part, '--every', '2')),
      runOf('--every', '2', '--from', '2')];
    const all = Array.from({ length: 25 }, (_, seed) => seed);
    assert.equal(shares.flat().toSorted((a, b) => a - b), all);
    assert.equal(runOf().toSorted((a, b) => a - b), all);
    assert.throws(() => parseArguments(['--part', '4/3']), /--part takes I\/N, with I from 1 to N, got '4\/3'/);
  });
});
