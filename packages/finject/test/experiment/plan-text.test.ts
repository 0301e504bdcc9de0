/** The schedule as people read it. */

import { assert, suite } from '@stci/testkit';
import { planRepeats, planText } from '@stci/finject/experiment';
import { fileOf, makeShape, read } from './make.js';

suite('plan text', (test) => {
  test('times, victims by name, what is waited for, what comes after the end', () => {
    const { experiment, problems } = read(fileOf(`
time-limit: 10s
configurations: { one: -v, two: [] }
faults:
  - { name: kill, kind: pkill, who: { ranks: [0, 1, 2, 5] }, when: { delay: 9s, every: 2s }, count: 2 }
  - { name: cut, kind: link, who: { links: [[controller, h0]] }, duration: 2s, when: { after: detection 2 of kill } }
  - name: storm
    kind: sequence
    when: { after: { output: "^it", rank: 1 }, delay: 100ms }
    parts:
      - { kind: pause, who: { hosts: "h[1-2]" }, duration: 1500ms }
      - { kind: noop, who: { agents: root, on: h3 } }
      - { name: part, kind: noop, who: { partition: [[controller, h0], ["h[1-3]"]] } }
`));
    assert.equal(problems, []);
    const shape = makeShape(4, 8);
    const text = planText(experiment!, shape, planRepeats(experiment!, shape));
    const first = text.slice(0, text.indexOf('\nrepeat 1, two'));
    assert.equal(first.split('\n').map((line) => line.replace(/ {2,}/g, ' | ').trim()), [
      'test: seed 1, 1 repeat of each configuration',
      '',
      'repeat 1, one',
      '| when | injection | kind | victims | for',
      '| 9.000 s | kill.1 | pkill | ranks 0-2,5',
      '| 11.000 s (after the end) | kill.2 | pkill | ranks 0-2,5',
      '| 0.000 s after detection 2 of kill | cut.1 | link | controller-h0 | 2 s',
      '| 0.100 s after output /^it/ of rank 1 | storm/pause.1 | pause | h[1-2] | 1.5 s',
      '| 0.000 s after storm/pause.1 is over | storm/noop.1 | noop | root agent on h3',
      '| 0.000 s after storm/noop.1 is over | storm/part.1 | noop | controller,h0 | h[1-3]',
      '',
    ]);
  });
});
