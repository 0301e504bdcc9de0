/** The experiment file: all forms of its values, and what is said of wrong ones. */

import { assert, suite } from '@stci/testkit';
import type { Experiment, FaultEntry, Filter } from '@stci/finject/experiment';
import { FILTER, START, fileOf, fixed, read, texts } from './make.js';

function good(text: string): Experiment {
  const { experiment, problems } = read(text);
  assert.equal(texts(problems), []);
  assert.ok(experiment);
  return experiment!;
}

function fault(lines: string): FaultEntry {
  return good(fileOf(`faults:\n  - ${lines}\n`)).faults[0]!;
}

function wrong(lines: string): string[] {
  return texts(read(fileOf(lines)).problems);
}

const who = (text: string): unknown => fault(`{ kind: noop, who: ${text} }`).who;
const when = (text: string): FaultEntry['when'] => fault(`{ kind: noop, who: { ranks: 0 }, when: ${text} }`).when;
const of = (fields: object, filter: Partial<Filter> = {}): object =>
  ({ ...FILTER, choice: { pick: 'all' }, ...fields, ...filter });

suite('experiment file: values', (test) => {
  test('words with a slip, an empty file, a list: what was meant, without escapes', () => {
    assert.match(wrong('faults:\n  - { kind: noop, who: { ranks: randm 2 } }\n').join('\n'), /Did you mean random\?/);
    assert.match(wrong('checks:\n  - failed-ranks: victim\n').join('\n'), /Did you mean victims\?/);
    assert.match(texts(read('').problems).join('\n'), /the file is empty: expected an experiment/);
    assert.match(texts(read('- a\n').problems).join('\n'), /the experiment: \["a"\] is not/);
  });

  test('the shortest one, and its defaults', () => {
    const { faults, checks, ...rest } = good('name: a\ntarget: stcirun ./solver\n');
    assert.equal([faults, checks], [[], []]);
    assert.equal(rest, {
      name: 'a', description: '', target: { options: [], program: ['./solver'], session: undefined,
        simulated: undefined },
      hosts: [], repeats: 1, seed: 1, warmUpMs: 0, timeLimitMs: 300_000, stop: { failuresMax: 0, timeMs: undefined },
      outputs: { directory: undefined, outputBytesMax: 1_048_576 }, keepAlive: { ranks: [], hosts: [] }, allow: [],
      victimsMax: 100, configurations: [],
    });
  });

  test('JSON, also with tabs, is the same as YAML', () => {
    const json = '{\n\t"name": "a",\n\t"target": ["stcirun", "-n", 2, "./solver", "--x", "a b"],\n\t"seed": 3\n}';
    const yaml = 'name: a\ntarget: stcirun -n 2 ./solver --x "a b"\nseed: 3\n';
    assert.equal(good(json), good(yaml));
  });

  test('a target in parts; numbers as they are written', () => {
    assert.equal(good('name: a\ntarget: { options: [-n, 2], program: [./a, 0.10, 1e3, true], session: s }').target,
      { options: ['-n', '2'], program: ['./a', '0.10', '1e3', 'true'], session: 's', simulated: undefined });
    assert.equal(good(`name: a\ntarget: "stcirun ./a 'b c' \\"d \\\\$ e\\" f\\\\ g ''"`).target.program,
      ['./a', 'b c', 'd $ e', 'f g', '']);
  });

  test('what surrounds the faults', () => {
    const all = good(fileOf(`
description: all of it
hosts: [n1, "n[2-3]:4"]
repeats: 20
warm-up: 1s
time-limit: 2m
stop: { failures: 3, after: 1h }
outputs: { directory: out, target-output: 64KiB }
keep-alive: { ranks: [0, 2-3], hosts: "n1,2" }
allow: controller
victims-max: 5
configurations:
  ring: --detector ring
  swim: { options: [--detector, swim], hosts: "n[1-2]" }
`));
    assert.equal(all.hosts, ['n1', 'n2:4', 'n3:4']);
    assert.equal([all.repeats, all.warmUpMs, all.timeLimitMs, all.victimsMax], [20, 1000, 120_000, 5]);
    assert.equal([all.stop, all.outputs], [{ failuresMax: 3, timeMs: 3_600_000 },
      { directory: 'out', outputBytesMax: 65_536 }]);
    assert.equal([all.keepAlive, all.allow], [{ ranks: [0, 2, 3], hosts: ['n1', 2] }, ['controller']]);
    assert.equal(all.configurations, [{ name: 'ring', options: ['--detector', 'ring'] },
      { name: 'swim', options: ['--detector', 'swim'], hosts: ['n1', 'n2'] }]);
  });

  test('who: ranks and hosts', () => {
    assert.equal(who('{ ranks: all }'), of({ of: 'ranks', ranks: 'all' }));
    assert.equal(who('{ ranks: 3 }'), of({ of: 'ranks', ranks: [3] }));
    assert.equal(who('{ ranks: [1, 4-6], choose: random 2 }'),
      of({ of: 'ranks', ranks: [1, 4, 5, 6] }, { choice: { pick: 'random', count: 2 } }));
    assert.equal(who('{ ranks: all, choose: 50% }'),
      of({ of: 'ranks', ranks: 'all' }, { choice: { pick: 'percent', percent: 50 } }));
    assert.equal(who('{ ranks: random 1, not: [0] }'),
      of({ of: 'ranks', ranks: 'all' }, { choice: { pick: 'random', count: 1 }, not: [0] }));
    assert.equal(who('{ ranks: 12.5%, distinct: true, on: n1 }'), of({ of: 'ranks', ranks: 'all' },
      { choice: { pick: 'percent', percent: 12.5 }, notOf: ['noop'], on: ['n1'] }));
    assert.equal(who('{ hosts: contiguous 3, not: "n[1-2]" }'), of({ of: 'hosts', hosts: 'all' },
      { choice: { pick: 'contiguous', count: 3 }, not: ['n1', 'n2'] }));
    assert.equal(who('{ hosts: [0-1, n7] }'), of({ of: 'hosts', hosts: [0, 1, 'n7'] }));
  });

  test('who: agents, links, partitions', () => {
    assert.equal(who('{ agents: root, depth: 2, choose: random 1 }'),
      of({ of: 'agents', role: 'root' }, { depth: 2, choice: { pick: 'random', count: 1 } }));
    assert.equal(who('{ links: random 1 }'),
      of({ of: 'links', links: 'all' }, { choice: { pick: 'random', count: 1 } }));
    assert.equal(who('{ links: [[controller, n1], [n1, 3]] }'),
      of({ of: 'links', links: [['controller', { host: 'n1' }], [{ host: 'n1' }, { host: 3 }]] }));
    assert.equal(who('{ partition: bridge }'), { of: 'partition', shape: 'bridge' });
    assert.equal(who('{ partition: [[controller, "n[1-2]"], [n3]] }'),
      { of: 'sets', sets: [['controller', { host: 'n1' }, { host: 'n2' }], [{ host: 'n3' }]] });
  });

  test('when: times', () => {
    const every = (text: string): unknown => when(text).delay;
    assert.equal(when('2s'), { after: START, delay: fixed(2000), every: fixed(2000) });
    assert.equal(every('0'), fixed(0));
    assert.equal(every('uniform 1s 5s'), { type: 'uniform', minMs: 1000, maxMs: 5000 });
    assert.equal(every('exponential 5s'), { type: 'exponential', meanMs: 5000 });
    assert.equal(every('weibull 0.7 10s'), { type: 'weibull', shape: 0.7, scaleMs: 10_000 });
    assert.equal(every('normal 5s 1s'), { type: 'normal', meanMs: 5000, deviationMs: 1000 });
    assert.equal(every('{ delay: { weibull: { shape: 2, scale: 3s } } }'),
      { type: 'weibull', shape: 2, scaleMs: 3000 });
    assert.equal(every('{ delay: { uniform: { min: 0, max: 3s } } }'), { type: 'uniform', minMs: 0, maxMs: 3000 });
    assert.equal(every('{ delay: { exponential: { mean: 3s } } }'), { type: 'exponential', meanMs: 3000 });
    assert.equal(every('{ delay: { normal: { mean: 3s, deviation: 1s } } }'),
      { type: 'normal', meanMs: 3000, deviationMs: 1000 });
    assert.equal(every('{ delay: { fixed: 3s } }'), fixed(3000));
    const traced = fault('{ kind: noop, who: { ranks: 0 }, when: trace times.txt }');
    assert.equal([traced.when.delay, traced.count], [{ type: 'trace', timesMs: [10, 20.5, 3000] }, 3]);
  });

  test('when: triggers', () => {
    const after = (text: string): unknown => when(`{ after: ${text} }`).after;
    assert.equal(after('launch'), { ...START, event: 'launch' });
    assert.equal(after('first detection'), { ...START, event: 'detection' });
    assert.equal(after('detection 3'), { ...START, event: 'detection', nth: 3 });
    assert.equal(after('{ event: exit, nth: 2 }'), { ...START, event: 'exit', nth: 2 });
    assert.equal(after('{ output: "^step 5\\\\d$", rank: 0, nth: 2 }'),
      { on: 'output', pattern: '^step 5\\d$', rank: 0, nth: 2 });
    assert.equal(after('{ mark: phase-2 }'), { on: 'mark', name: 'phase-2', rank: undefined, nth: 1 });
    const faults = good(fileOf(`faults:
  - { kind: noop, who: { ranks: 0 } }
  - { kind: pkill, who: { ranks: 1 }, when: { after: second detection of noop } }
  - { name: p, kind: pkill, who: { ranks: 1 }, when: { after: { event: injection, of: pkill } } }
`)).faults;
    assert.equal(faults.slice(1).map((one) => one.when.after), [
      { ...START, event: 'detection', nth: 2, fault: 'noop' }, { ...START, event: 'injection', fault: 'pkill' }]);
  });

  test('faults: arguments, count, times, parts and their names', () => {
    const kill = fault('{ kind: pkill, who: { ranks: 0 }, args: { signal: SIGTERM, only: [a, 2] }, count: 3,'
      + ' when: { delay: 1s, every: 2s }, cool-down: 1s, timeout: 3s }');
    assert.equal([kill.name, kill.args], ['pkill', { signal: 'SIGTERM', only: ['a', '2'] }]);
    assert.equal([kill.count, kill.coolDownMs, kill.timeoutMs, kill.when.every], [3, 1000, 3000, fixed(2000)]);
    assert.equal(fault('{ kind: link, who: { links: all }, duration: 2s, args: { delay: 20ms } }').args, { delay: 20 });
    const storm = fault(`
      name: storm
      kind: sequence
      parts:
        - { kind: pause, who: { ranks: random 1 }, duration: 1s }
        - { kind: pkill, who: { ranks: random 1, same-host-as: pause, not-of: [pause, storm/pause] } }
`);
    assert.equal(storm.parts.map(({ name }) => name), ['storm/pause', 'storm/pkill']);
    const second = storm.parts[1]!.who as Filter;
    assert.equal([second.sameHostAs, second.notOf], ['storm/pause', ['storm/pause']]);
  });

  test('checks', () => {
    const { checks } = good(fileOf(`checks:
  - exit-code: [0, 10-12]
  - { output: converged, rank: 0, name: converges }
  - no-output: NaN
  - { command: test -e "a b", phase: before, timeout: 2s }
  - time-limit: 30s
  - failed-ranks: victims
  - failed-ranks: none
  - detected: 5s
  - injected: all
  - injected: 3
  - no-orphan
  - { no-false-detection: true }
`));
    assert.equal(checks.map(({ place: _, path: _path, ...check }) => check), [
      { name: 'exit-code', type: 'exit-code', anyOf: [0, 10, 11, 12] },
      { name: 'converges', type: 'output', pattern: 'converged', expect: 'some', rank: 0 },
      { name: 'no-output', type: 'output', pattern: 'NaN', expect: 'none', rank: undefined },
      { name: 'command', type: 'command', command: ['test', '-e', 'a b'], phase: 'before', timeoutMs: 2000 },
      { name: 'time-limit', type: 'time-limit', limitMs: 30_000 },
      { name: 'failed-ranks', type: 'failed-ranks', ranks: 'victims' },
      { name: 'failed-ranks-2', type: 'failed-ranks', ranks: [] },
      { name: 'detected', type: 'detected', withinMs: 5000 },
      { name: 'injected', type: 'injected', least: 'all' },
      { name: 'injected-2', type: 'injected', least: 3 },
      { name: 'no-orphan', type: 'no-orphan' },
      { name: 'no-false-detection', type: 'no-false-detection' }]);
  });

  test('aliases stand for what they name', () => {
    const faults = good(fileOf(`faults:
  - { name: a, kind: noop, who: &first { ranks: random 1 } }
  - { name: b, kind: noop, who: *first }
`)).faults;
    assert.equal(faults[0]!.who, faults[1]!.who);
  });
});

suite('experiment file: problems', (test) => {
  test('all at once, each with its place, in order', () => {
    assert.equal(wrong(`repeats: 0
warm-up: 5
faults:
  - kind: pkil
    whom: 3
    who: { rank: 1, ranks: random 0 }
  - { kind: pause, who: { links: all }, count: two }
checks: [no-orphans]
colour: red
`).map((text) => text.split('. ')[0]), [
      '3:10: repeats: 0 is not what is expected: an integer in 1..100000.',
      '4:10: warm-up: 5 has no unit; write 5ms or 5s.',
      '6:11: faults[0].kind: there is no kind "pkil" of faults',
      '7:5: faults[0] has an unknown key "whom"',
      '8:12: faults[0].who has an unknown key "rank"',
      '8:28: faults[0].who.ranks: "random 0" is not random and how many, at least 1, such as random 2.',
      '9:5: faults[1]: kind pause is undone after a time, which is missing',
      '9:25: faults[1].who: kind pause is not for victims of type link',
      '9:48: faults[1].count: "two" is not what is expected: an integer in 1..10000.',
      '10:10: checks[0]: there is no check "no-orphans"',
      '11:1: the experiment has an unknown key "colour"',
    ]);
  });

  test('also below keys that are misspelt, at their places; what is meant twice is read once', () => {
    assert.equal(wrong(`fualts:
  - kind: pkil
    whoo: { rnks: 1, nott: [0] }
chekcs: [no-orphans]
checks: [no-orphan]
colour: { kind: 1 }
`).map((text) => text.split('. ')[0]), [
      '3:1: the experiment has an unknown key "fualts"',
      '4:11: faults[0].kind: there is no kind "pkil" of faults',
      '5:5: faults[0] has an unknown key "whoo"',
      '5:13: faults[0].who has an unknown key "rnks"',
      '5:22: faults[0].who has an unknown key "nott"',
      '6:1: the experiment has an unknown key "chekcs"',
      '8:1: the experiment has an unknown key "colour"',
    ]);
  });

  test('a few words that stand for many millions of ranks are refused at once', () => {
    const ranks = Array.from({ length: 90 }, (_, at) => `${at}000000-${at}999998`).join();
    // As a list, as one text, and a text that says the same numbers again and again.
    const again = Array(200).fill('0-999998').join();
    for (const given of [`[${ranks}]`, `"${ranks}"`, `"${again}"`, `[${again}]`, '"0-1000000"']) {
      const [problem = ''] = wrong(`checks: [{ failed-ranks: ${given} }]`);
      assert.match(problem, 'it has more than 1000000 numbers');
    }
  });

  const cases: readonly (readonly [string, string, RegExp])[] = [
    ['a key of the file', 'seeds: 1', /unknown key "seeds"\. Did you mean seed\?/],
    ['a duration', 'time-limit: 2 s', /time-limit: "2 s" is not a duration; expected an integer and a unit/],
    ['a host list', 'hosts: "n[1-"', /hosts: host list: column 2: expected a ]/],
    ['a host twice', 'hosts: [n1, "n[1-2]"]', /hosts\[1]: host "n1" is given twice/],
    ['a size', 'outputs: { target-output: 5 parsecs }', /target-output: "5 parsecs" is not a size/],
    ['allow', 'allow: [root]', /allow\[0]: "root" is not what is expected: controller or front-end/],
    ['a configuration', 'configurations: { "a b": x }', /"a b" is not a name/],
    ['a configuration of a fault', 'configurations: { ring: -v }\nfaults: [{ kind: noop, who: { ranks: 0 }, '
      + 'configurations: rign }]', /there is no configuration "rign"\. Did you mean ring\?/],
    ['who: none', 'faults: [{ kind: noop }]', /faults\[0]: it has no who/],
    ['who: two', 'faults: [{ kind: noop, who: { ranks: 1, hosts: all } }]', /but ranks and hosts are/],
    ['choose twice', 'faults: [{ kind: noop, who: { ranks: random 1, choose: all } }]', /says already how many/],
    ['a choice', 'faults: [{ kind: noop, who: { ranks: all, choose: some } }]', /"some" is not a choice/],
    ['a percentage', 'faults: [{ kind: noop, who: { ranks: 120% } }]', /at most 100%/],
    ['a range', 'faults: [{ kind: noop, who: { ranks: 7-3 } }]', /7-3, which is reversed: write 3-7/],
    ['a role', 'faults: [{ kind: noop, who: { agents: tool } }]', /"tool".*one of root, session/],
    ['a form of partition', 'faults: [{ kind: noop, who: { partition: halfes } }]', /Did you mean halves\?/],
    ['a filter of a partition', 'faults: [{ kind: noop, who: { partition: ring, depth: 1 } }]',
      /who\.depth: a partition/],
    ['a link', 'faults: [{ kind: noop, who: { links: [[n1]] } }]', /a link has 2 ends, but 1 are named/],
    ['a distribution', 'faults: [{ kind: noop, who: { ranks: 0 }, when: weibul 1 2s }]', /Did you mean weibull\?/],
    ['its parameters', 'faults: [{ kind: noop, who: { ranks: 0 }, when: weibull 2s }]', /with shape and scale/],
    ['its shape', 'faults: [{ kind: noop, who: { ranks: 0 }, when: weibull 0 2s }]', /a shape outside/],
    ['its mean', 'faults: [{ kind: noop, who: { ranks: 0 }, when: exponential 0 }]', /a mean of 0/],
    ['its bounds', 'faults: [{ kind: noop, who: { ranks: 0 }, when: uniform 3s 1s }]', /the least time first/],
    ['its object', 'faults: [{ kind: noop, who: { ranks: 0 }, when: { delay: { weibull: { shape: 1 } } } }]',
      /weibull has no scale/],
    ['a trace file', 'faults: [{ kind: noop, who: { ranks: 0 }, when: trace no.txt }]', /"no.txt": it does not exist/],
    ['more than a trace', 'faults: [{ kind: noop, who: { ranks: 0 }, when: trace times.txt, count: 4 }]',
      /the trace has 3 times, but 4/],
    ['a trace between', 'faults: [{ kind: noop, who: { ranks: 0 }, when: { every: trace times.txt } }]',
      /holds times from the trigger/],
    ['no time between', 'faults: [{ kind: noop, who: { ranks: 0 }, count: 2 }]', /nothing says how long/],
    ['an event', 'faults: [{ kind: noop, who: { ranks: 0 }, when: { after: detecton } }]', /Did you mean detection\?/],
    ['an event of no fault', 'faults: [{ kind: noop, who: { ranks: 0 }, when: { after: exit of noop } }]',
      /exit is not of a fault/],
    ['two triggers', 'faults: [{ kind: noop, who: { ranks: 0 }, when: { after: { mark: a, output: b } } }]',
      /exactly one of event, output, mark/],
    ['an expression', 'faults: [{ kind: noop, who: { ranks: 0 }, when: { after: { output: "(" } } }]',
      /no regular expression/],
    ['a fault', 'faults: [{ name: one, kind: noop, who: { ranks: 0, not-of: oen } }]', /Did you mean one\?/],
    ['itself', 'faults: [{ kind: noop, who: { ranks: 0, same-host-as: noop } }]',
      /victims of noop depend on those of noop/],
    ['equal names', 'faults: [{ kind: noop, who: { ranks: 0 } }, { kind: noop, who: { ranks: 1 } }]',
      /two faults are called "noop".*noop-2/],
    ['an argument', 'faults: [{ kind: pkill, who: { ranks: 0 }, args: { signl: SIGTERM } }]', /Did you mean signal\?/],
    ['its value', 'faults: [{ kind: exit, who: { ranks: 0 }, args: { status: 256 } }]', /256 is more than 255/],
    ['nothing to undo', 'faults: [{ kind: pkill, who: { ranks: 0 }, duration: 1s }]', /leaves nothing to undo/],
    ['parts of a kind', 'faults: [{ kind: noop, who: { ranks: 0 }, parts: [{ kind: noop }] }]',
      /only compose and sequence/],
    ['no parts', 'faults: [{ kind: compose }]', /compose has no parts/],
    ['a whole with victims', 'faults: [{ kind: compose, who: {}, parts: [{ kind: noop, who: { ranks: 0 } }] }]',
      /who: compose has none of its own/],
    ['a trigger of a part', 'faults: [{ kind: compose, parts: [{ kind: noop, who: { ranks: 0 }, when: { after: '
      + 'launch } }] }]', /a part begins with its whole/],
    ['a whole as another', 'faults: [{ kind: compose, parts: [{ kind: noop, who: { ranks: 0 } }] }, { kind: pkill, '
      + 'who: { ranks: 0, not-of: compose } }]', /consists of parts\. Name one of them: compose\/noop/],
    ['a check', 'checks: [exit-code]', /exit-code needs a value/],
    ['an exit code', 'checks: [{ exit-code: 300 }]', /exit-code: 300 is more than 255/],
    ['an option of a check', 'checks: [{ exit-code: 0, phase: after }]', /it belongs to command/],
    ['no check', 'checks: [{}]', /exactly one of exit-code/],
    ['a name twice', 'checks: [{ exit-code: 0, name: a }, { exit-code: 1, name: a }]', /two checks are called "a"/],
  ];
  for (const [name, lines, pattern] of cases) {
    test(name, () => {
      const found = wrong(lines);
      assert.ok(found.length > 0, lines);
      assert.match(found.join('\n'), pattern);
      assert.is(found.length, 1, found.join('\n'));
    });
  }

  test('faults that wait for each other, victims that depend on each other', () => {
    const found = wrong(`faults:
  - { name: a, kind: noop, who: { ranks: all, not-of: b }, when: { after: injection of b } }
  - { name: b, kind: noop, who: { ranks: all, same-host-as: a }, when: { after: detection of a } }
`).join('\n');
    assert.match(found, /a waits for b waits for a: none can come first/);
    assert.match(found, /the victims of b depend on those of a depend on those of b/);
  });

  test('wholes that are too deep', () => {
    const part = '{ kind: noop, who: { ranks: 0 } }';
    const deep = (levels: number): string => (levels === 0 ? part : `{ kind: compose, parts: [${deep(levels - 1)}] }`);
    assert.equal(wrong(`faults: [${deep(2)}]`), []);
    assert.match(wrong(`faults: [${deep(3)}]`).join('\n'), /may be 2 deep/);
  });

  test('with problems the rest is still there for further checks', () => {
    const text = 'repeats: 0\nfaults:\n  - { kind: noop, who: { ranks: 0 } }\n  - {}\n';
    const { experiment, problems } = read(fileOf(text));
    assert.is(problems.length, 2);
    assert.equal(experiment?.faults.map(({ name }) => name), ['noop']);
    assert.is(read('name: a\ntarget: mpirun x\n').experiment, undefined);
  });
});

suite('experiment file: what is no file', (test) => {
  const cases: readonly (readonly [string, string, RegExp])[] = [
    ['nothing', '', /1:1: the file is empty: expected an experiment/],
    ['a list', '- a', /\["?a|\[\\"a/],
    ['a key twice', fileOf('seed: 1\nseed: 2'), /4:1: This key is given twice/],
    ['a tag', 'name: !secret a', /Tags/],
    ['two documents', 'name: a\n--- \nname: b', /A second document begins here/],
    ['an unknown alias', 'name: *a', /can't be followed/],
    ['an alias of itself', fileOf('faults: &a [{ kind: compose, parts: *a }]'), /nest deeper than 50/],
    ['many aliases', `a: &a [x,x,x,x,x,x,x,x,x]\n${'bcdefgh'.replace(/./g, (letter) =>
      `${letter}: &${letter} [${`*${String.fromCharCode(letter.charCodeAt(0) - 1)},`.repeat(9)}]\n`)}`,
      /Excessive alias/],
    ['deep nesting', '['.repeat(100_000), /1:\d+: It nests too deep\. Expected at most 50 levels\./],
    ['a long file', '#'.repeat(1_000_001), /has 1000001 characters/],
    ['brackets in braces', fileOf('configurations: { a: { hosts: n[1-2] } }'), /needs quotes, such as "n\[1-4]"/],
  ];
  for (const [name, text, pattern] of cases) {
    test(name, () => {
      const { experiment, problems } = read(text);
      assert.is(experiment, undefined);
      assert.match(texts(problems).join('\n'), pattern);
      assert.ok(problems.length <= 10);
    });
  }
});
