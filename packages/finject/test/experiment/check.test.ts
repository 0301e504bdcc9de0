/** What is found wrong once the target's hosts and ranks are known. */

import { assert, suite } from '@stci/testkit';
import { checkExperiment } from '@stci/finject/experiment';
import type { TargetShape } from '@stci/finject/experiment';
import { KINDS, fileOf, makeShape, read, texts } from './make.js';

/** h0..h3 with ranks 0..7 in turn; h0 and h1 are linked to the controller, h2 and h3 to h0. */
const SHAPE = makeShape(4, 8);

function found(lines: string, shape: TargetShape = SHAPE): string[] {
  const file = read(fileOf(lines));
  assert.equal(texts(file.problems), []);
  return texts(checkExperiment(file.experiment!, shape, { kinds: KINDS, place: file.place }));
}

suite('experiment check', (test) => {
  test('nothing is wrong with what can be done', () => {
    assert.equal(found(`
keep-alive: { ranks: 0, hosts: h2 }
allow: controller
faults:
  - { kind: pkill, who: { ranks: random 1, distinct: true }, count: 5, when: exponential 2s }
  - { name: near, kind: pause, who: { ranks: all, same-host-as: pkill }, duration: 1s }
  - { name: cut, kind: link, who: { links: [[controller, h1]] }, duration: 1s, when: { after: detection of pkill } }
  - { name: part, kind: noop, who: { partition: isolate } }
checks: [{ failed-ranks: [1, 2] }]
`), []);
  });

  const cases: readonly (readonly [string, string, RegExp])[] = [
    ['a rank', 'faults: [{ kind: noop, who: { ranks: [3, 9] } }]', /3:38: There is no rank 9: .* ranks 0 to 7\./],
    ['a host', 'faults: [{ kind: noop, who: { hosts: h33 } }]', /no host h33: .*are h0, h1, h2, h3\. Did you mean h3/],
    ['a host by number', 'faults: [{ kind: noop, who: { hosts: 4 } }]', /no host 4: the target has hosts 0 to 3/],
    ['a filter', 'faults: [{ kind: noop, who: { ranks: random 1, on: x, not: 8 } }]', /no host x.*\n.*no rank 8/],
    ['a depth', 'faults: [{ kind: noop, who: { agents: root, depth: 3 } }]',
      /No agent has depth 3: .* 4 hosts is 2 deep/],
    ['too many', 'faults: [{ kind: noop, who: { ranks: random 9 } }]', /needs 9 ranks, but who names 8 ranks/],
    ['neighbours', 'faults: [{ kind: noop, who: { hosts: contiguous 5 } }]', /5 neighbours, but who names 4 hosts/],
    ['filters that leave nobody', 'faults: [{ kind: noop, who: { ranks: all, on: h1, not: [1, 5] } }]',
      /needs any of the ranks, but of 8 ranks only 0 are left by on, not/],
    ['victims that run out', 'faults: [{ kind: noop, who: { hosts: random 1, distinct: true }, count: 6, when: 1s }]',
      /Injection 5 of noop in repeat 1, and 1 more.* 0 are left by distinct/],
    ['the other fault has fewer', 'faults: [{ kind: noop, who: { ranks: random 1, same-host-as: one }, count: 2, '
      + 'when: 1s }, { name: one, kind: noop, who: { ranks: 0 } }]',
      /one, on whose host it is to be, has 1 injections/],
    ['a link to itself', 'faults: [{ kind: noop, who: { links: [[h1, 1]] } }]', /Both ends .* the same agent/],
    ['the controller', 'faults: [{ kind: noop, who: { agents: controller } }]', /not allowed.*allow: \[controller]/],
    ['the front-end', 'faults: [{ kind: noop, who: { agents: front-end } }]',
      /ends finject itself.*allow: \[front-end]/],
    ['a kept rank', 'keep-alive: { ranks: 3 }\nfaults: [{ kind: noop, who: { ranks: [2, 3] } }]',
      /would harm what keep-alive spares.*: rank 3\./],
    ['a rank on a kept host', 'keep-alive: { hosts: h1 }\nfaults: [{ kind: noop, who: { ranks: 5 } }]', /: rank 5\./],
    ['the host of a kept rank', 'keep-alive: { ranks: 3 }\nfaults: [{ kind: noop, who: { hosts: all, choose: all, '
      + 'on: h3 } }]', /of 4 hosts only 0 are left/],
    ['an agent above it', 'keep-alive: { ranks: 3 }\nfaults: [{ kind: noop, who: { hosts: 0 } }]', /: host 0\./],
    ['its link', 'keep-alive: { hosts: h3 }\nfaults: [{ kind: noop, who: { links: [[h0, h3]] } }]', /: link 1-4\./],
    ['its side', 'keep-alive: { hosts: h3 }\nfaults: [{ kind: noop, who: { partition: [[controller, h3], [h0]] } }]',
      /separates the controller from hosts .*: h0\./],
    ['a ring with it', 'keep-alive: { hosts: h3 }\nfaults: [{ kind: noop, who: { partition: ring } }]',
      /form ring separ/],
    ['the controller with it', 'allow: controller\nkeep-alive: { ranks: 0 }\nfaults: [{ kind: noop, who: { agents: '
      + 'controller } }]', /: controller\./],
    ['what is to be kept', 'keep-alive: { ranks: 8, hosts: h4 }', /no rank 8.*\n.*no host h4/],
    ['more victims than the limit', 'victims-max: 2\nfaults: [{ kind: noop, who: { ranks: random 3 } }]',
      /3:14: There are 3 victims in repeat 1, but victims-max is 2/],
    ['a rank of a check', 'checks: [{ failed-ranks: [8] }, { output: a, rank: 9 }]', /no rank 8.*\n.*no rank 9/],
    ['a rank of a trigger', 'faults: [{ kind: noop, who: { ranks: 0 }, when: { after: { mark: a, rank: 8 } } }]',
      /no rank 8/],
    ['after the end', 'time-limit: 10s\nfaults: [{ kind: noop, who: { ranks: 0 }, when: 10s }]',
      /4:\d+: noop: It comes at least 10 s after the trigger/],
    ['some after the end', 'time-limit: 10s\nwarm-up: 5s\nfaults: [{ kind: noop, who: { ranks: 0 }, count: 3, when: '
      + 'uniform 2s 3s }]', /Some injections come at least 6 s/],
    ['all that are drawn', 'time-limit: 10s\nfaults: [{ kind: noop, who: { ranks: 0 }, when: normal 10h 1s }]',
      /No injection of noop comes before the end.*earliest of all repeats is (10 h|9 h 59 min)/],
    ['a part after the end', 'time-limit: 10s\nfaults: [{ kind: compose, when: 6s, parts: [{ kind: noop, '
      + 'who: { ranks: 0 }, when: 5s }] }]', /compose\/noop: It comes at least 5 s/],
    ['a warm-up', 'time-limit: 10s\nwarm-up: 10s', /The warm-up of 10 s is not shorter than time-limit \(10 s\)/],
    ['a duration', 'time-limit: 10s\nfaults: [{ kind: pause, who: { ranks: 0 }, duration: 10s }]', /duration of 10 s/],
    ['a check that cannot fail', 'time-limit: 10s\nchecks: [{ detected: 11s }]', /allows 11 s, but a repeat ends/],
    ['what the kind refuses', 'faults: [{ kind: exit, who: { ranks: 0 }, args: { status: 77 } }]',
      /exit: status 77 is reserved\./],
    ['a run without end', 'repeats: 100000\nfaults: [{ kind: noop, who: { ranks: 0 }, count: 11, when: 1s }]',
      /1100000 injections; at most 1000000/],
    ['repeats without end', `repeats: 100000\nconfigurations: {${Array.from({ length: 11 }, (_, at) => `c${at}: -v`)}}`,
      /1100000 repeats; at most 1000000 are possible/],
  ];
  for (const [name, lines, pattern] of cases) {
    test(name, () => assert.match(found(lines).join('\n'), pattern));
  }

  test('all at once, in the order of the file; a fault with a problem hides none of the others', () => {
    assert.equal(found(`keep-alive: { hosts: x }
victims-max: 1
faults:
  - { name: a, kind: noop, who: { ranks: [0, 8] }, when: 1h }
  - { name: b, kind: noop, who: { ranks: random 2, not-of: a } }
  - { name: c, kind: noop, who: { ranks: random 9 } }
checks: [{ failed-ranks: [9] }]
`).map((text) => text.split(': ')[0]), ['3:22', '4:14', '6:42', '6:58', '8:33', '9:26']);
  });

  test('of configurations with other hosts', () => {
    const shape = { ...SHAPE, configurations: { small: makeShape(2, 2) } };
    const lines = 'configurations: { large: -v, small: { hosts: "h[0-1]" } }\n'
      + 'faults: [{ kind: noop, who: { ranks: 5 }';
    const all = found(`${lines} }]`, shape).join('\n');
    assert.match(all, /^4:\d+: There is no rank 5: .*0 to 1 in configuration small\.$/);
    assert.equal(found(`${lines}, configurations: large }]`, shape), []);
  });
});
