/** `stci info --held`: the order of agents, and what is shown of each. */
// @sameFor user, node: text.

import { assert, suite } from '@stci/testkit';
import { heldText, inOrder } from '../dist/stci/held.js';

suite('what agents hold, as text', (test) => {
  const held = (agent: string, host = 'h') => ({ agent, host, rows: [] });

  test('the controller, then by host its root agent and its session agents by job', () => {
    const wanted = [
      'controller', 'root:0', 'root:2', 'session:2 of job 9', 'session:2 of job 10', 'root:10', 'session:10 of job 1',
    ];
    for (const given of [[...wanted].reverse(), [...wanted].sort()]) {
      assert.equal(given.map((agent) => held(agent)).sort(inOrder).map(({ agent }) => agent), wanted);
    }
  });

  test('rows by depth, how many there are of one, and no control characters', () => {
    const rows = [[0, 'timer', 3], [0, 'job 1', 1], [1, 'a\x1b[2J', 2]] as const;
    assert.is(heldText([held('controller', ''), { ...held('root:0', 'a'), rows }]),
      'controller\n\nroot:0 on a\n  timer ×3\n  job 1\n    a\\u001b[2J ×2\n');
  });
});
