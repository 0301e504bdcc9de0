// @timeoutMs 300000
// @sameFor user, node: pure computation and simulated jobs
/**
 * What is found is made simple, and what was lost is traced to its event: by itself, of made-up plans and of planted
 * bugs that are known.
 */

import { assert, suite } from '@stci/testkit';
import {
  KINDS, blame, classOf, decode, encode, explore, layout, parseArguments, plainFailures, readRegressions, rootAgent,
  runFailures, runJob, shrink, type FailurePlan, type Kind, type Regression, type ShrinkInit, type Shrunk,
  type SwarmOptions,
} from '@stci/swarm';

interface Made {
  readonly hosts: number;
  readonly settings: Readonly<Record<string, string>>;
  readonly faults: readonly { readonly atMs: number; readonly host: number; readonly args: readonly string[] }[];
}

const MADE: Made = {
  hosts: 40,
  settings: Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`key${index}`, `${index}`])),
  faults: Array.from({ length: 16 }, (_, host) => ({ atMs: 1234.5678 + host, host, args: ['a', `${host}`] })),
};

function shrunk(shows: (plan: Made) => boolean, more: Partial<ShrinkInit<Made>> = {}): Shrunk<Made> {
  return shrink<Made>({
    plan: MADE, plain: { hosts: 1, settings: { base: '1' }, faults: [] }, shows, fewer: () => [],
    fit: (plan) => plan, boundMs: 60_000, nowMs: () => 0, ...more,
  });
}

type Jobs = Kind<SwarmOptions>;
const [JOBS, , , SMALL] = KINDS as unknown as readonly [Jobs, Kind, Kind, Kind<FailurePlan>];

suite('shrink', (test) => {
  test('only what the finding needs is left: settings, elements of lists, and of these the simplest values', () => {
    const { plan, tries, isSmallest } = shrunk(({ hosts, settings, faults }) =>
      hosts >= 7 && settings['key13'] !== undefined && faults.some(({ host }) => host > 2)
      && faults.some(({ atMs }) => atMs > 100));
    assert.equal(plan, {
      hosts: 7, settings: { key13: '0' }, faults: [{ atMs: 101, host: 3, args: [] }],
    });
    assert.ok(isSmallest && tries < 300, `${tries} tries`);
  });

  test('two elements that are needed together are kept, wherever they stand', () => {
    for (const [one, other] of [[0, 15], [3, 4], [7, 8]] as const) {
      const needs = (plan: Made, host: number): boolean => plan.faults.some(({ args }) => args[1] === `${host}`);
      const { plan } = shrunk((candidate) => needs(candidate, one) && needs(candidate, other));
      assert.equal([plan.hosts, plan.faults.map(({ args }) => args[1])], [1, [`${one}`, `${other}`]]);
    }
  });

  test('a plan that does not fit is not tried, none is tried twice, and none after the bound', () => {
    const seen = new Set<string>();
    let nowMs = 0;
    const bounded = shrunk((plan) => {
      const text = encode(plan);
      assert.ok(!seen.has(text) && plan.hosts % 2 === 0, text);
      seen.add(text);
      nowMs += 10;
      return plan.faults.length > 0;
    }, { fit: (plan) => (plan.hosts % 2 === 0 ? plan : undefined), boundMs: 95, nowMs: () => nowMs });
    assert.equal([bounded.tries, bounded.isSmallest], [10, false]);
  });

  test('a plan as text: no value is lost, and as much is in a line as fits', () => {
    const value = { a: [1.5, Infinity, -Infinity], 'b c': 'it\\', d: { e: [] }, f: true };
    assert.equal([decode(encode(value)), decode(layout(value))], [value, value]);
    const line = String.raw`{ "a": [1.5, "Infinity", "-Infinity"], "b c": "it\\", "d": { "e": [] }, "f": true }`;
    assert.is(layout(value), line);
    const x = 'x'.repeat(100);
    assert.is(layout({ a: 1, b: x, c: { d: [2, x, 3] }, e: 4, f: [] }),
      `{\n  "a": 1,\n  "b": "${x}",\n  "c": {\n    "d": [\n      2, "${x}", 3\n    ]\n  },\n  "e": 4, "f": []\n}`);
  });

  test('problems are of one class if they differ by numbers only', () => {
    assert.is(classOf('decision: host 12 is up, and has 2 agents\n  more'), 'decision: host # is up, and has # agents');
    assert.is(classOf('report: ranks 1, 2, 30 of n7 at 0.25 ms'), 'report: ranks #, … of n# at # ms');
  });
});

const STRAY_MS = 40;

/** Jobs that leave a process behind, under a condition. */
function planted(isPlanted: (plan: SwarmOptions, chance: (probability: number) => boolean) => boolean): Kind {
  const kind: Jobs = {
    ...JOBS,
    run: (plan, hooks = {}) => JOBS.run(plan, {
      ...hooks,
      onWorld: (world) => {
        hooks.onWorld?.(world);
        world.at(STRAY_MS, () => {
          const random = world.random.fork('bug');
          if (isPlanted(plan, (probability) => random.chance(probability))) {
            world.start('login', ['stray'], () => undefined);
          }
        });
      },
    }),
  };
  return kind;
}

interface Explored {
  readonly lines: string[];
  readonly failed: readonly number[];
}

function explored(kind: Kind, args: readonly string[]): Explored {
  const lines: string[] = [];
  const plan = { ...parseArguments(args), kinds: [kind] };
  const { failedSeeds } = explore(plan, { print: (line) => void lines.push(line), nowMs: () => performance.now() });
  return { lines, failed: failedSeeds };
}

suite('swarm, with a planted bug', (test) => {
  const isBad = ({ hosts, faults }: SwarmOptions): boolean =>
    hosts >= 3 && faults.some(({ kind }) => kind !== 'cut');

  test('it goes on past red seeds; of their class it tells the smallest plan, to be pasted and replayed', () => {
    const kind = planted(isBad);
    const { lines, failed } = explored(kind, ['--from', '1', '--seeds', '25', '--shrink', '120']);
    const red = Array.from({ length: 25 }, (_, index) => index + 1)
      .filter((seed) => isBad(JOBS.draw(seed, {})));
    assert.ok(red.length > 1, 'several');
    assert.equal(failed, red);
    const text = lines.join('\n');
    assert.is(text.match(/smallest plan/g)?.length, 1, text);
    const entry = /\n( {2}\{\n {4}"found":[^]*?\n {2}\})\n/.exec(text)?.[1] ?? '';
    const [{ found, plan }] = readRegressions(JOBS, `[${entry}]`) as [Regression<SwarmOptions>];
    assert.match(found, /^processes: .*stray/);
    const { hosts, faults: { length }, apps, settings } = plan;
    assert.equal([hosts, length, apps, settings], [3, 1, [], JOBS.plain.settings]);
    assert.ok(!runJob(plan).problems.join().includes('stray'), 'without the bug it is well');
    const json = /--plan '(.*)' --trace/.exec(text)?.[1] ?? '';
    const replayed = explored(kind, ['--plan', json]);
    assert.equal(replayed.failed, [1]);
    assert.match(replayed.lines.join('\n'), /stray/);
    assert.match(text, new RegExp(`jobs +1 to 25 +25 +\\S+ +${red.length} +1\n`));
    assert.is(lines.at(-1), `jobs: ${found}\n  ${red.length} red: ${red.join(', ')}`);
  }, { timeoutMs: 240_000 });

  test('blame finds the event at which a run is lost, and says the same again', () => {
    const kind = planted((_plan, chance) => chance(0.3));
    const plan = { ...JOBS.plain, apps: [{ program: 'sleep', args: ['0.1'], count: 2 }], slots: 2, hosts: 2 };
    const isRed = (seed: number): boolean => kind.run({ ...plan, seed }).problems.length > 0;
    const seed = Array.from({ length: 50 }, (_, index) => index + 1).find(isRed) ?? 0;
    const told = (): string => {
      const lines: string[] = [];
      assert.is(blame(kind, { ...plan, seed }, { moments: 6, runs: 8 }, (line) => void lines.push(line)), true);
      return lines.join('\n');
    };
    const text = told();
    const line = `${STRAY_MS}\\.000 call task -`;
    assert.match(text, new RegExp(`rises most, from \\d+ % to 100 %, by event \\d+:\n {2}${line}\n`));
    assert.match(text, new RegExp(`login/\\d+ is task \\d+: stray`));
    assert.is(told(), text);
  }, { timeoutMs: 240_000 });

  test('blame of what does not depend on chance, and of what is not red', () => {
    const lines: string[] = [];
    const print = (line: string): void => void lines.push(line);
    const plan = { ...JOBS.plain, apps: [{ program: 'true', args: [], count: 1 }] };
    assert.is(blame(planted(() => true), plan, { moments: 2, runs: 2 }, print), true);
    assert.match(lines.at(-1) ?? '', /other random numbers change nothing/);
    assert.is(blame(planted(() => false), plan, { moments: 2, runs: 2 }, print), false);
    assert.match(lines.at(-1) ?? '', /it is not red/);
  }, { timeoutMs: 60_000 });

  test('hosts that are not needed are taken away, with what befalls them; the others get their places', () => {
    const plan = plainFailures({
      hosts: 8, faults: [
        { kind: 'kill', victim: rootAgent(6), atMs: 500 },
        { kind: 'cut', victim: { kind: 'link', ends: [3, 0] }, atMs: 400, durationMs: 9 },
        { kind: 'part', victim: { kind: 'side', hosts: [1, 6] }, atMs: 600 },
      ],
    });
    const all = [...SMALL.fewer(plan)];
    assert.equal(all.map(({ hosts }) => hosts), [4, 7, 7, 7, 7, 7, 7, 7, 7]);
    assert.equal(all[0]?.faults, [plan.faults[1]]);
    assert.equal(all[1]?.faults, plan.faults, 'without host 7');
    assert.equal(all[2]?.faults, [plan.faults[1]], 'without host 6');
    assert.equal(all.at(-1)?.faults, [
      { kind: 'kill', victim: rootAgent(5), atMs: 500 },
      { kind: 'cut', victim: { kind: 'link', ends: [2, 0] }, atMs: 400, durationMs: 9 },
      { kind: 'part', victim: { kind: 'side', hosts: [0, 5] }, atMs: 600 },
    ], 'without host 0');
    const { problems } = runFailures(SMALL.fit(all[0] as FailurePlan) as FailurePlan);
    assert.equal(problems, []);
  });
});
