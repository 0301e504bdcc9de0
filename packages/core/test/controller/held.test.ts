/** What the agents of a session hold: as much after a job as before it, however that ended. */

import { assert, suite } from '@stci/testkit';
import { open } from '../agent/open-session.js';

suite('what agents hold', (test) => {
  test('after a job that ends by itself, fails, or is killed, all hold what they held before', () => {
    const { session, submit, until, end } = open({});
    const held = (): string => {
      const agents: string[] = [];
      let isDone = false;
      session.gatherHeld({
        onAgent: (_host, agent, rows) =>
          agents.push(`${agent}: ${rows.map((row) => row.join(' ')).filter((row) => !row.includes('timer')).join()}`),
        onDone: () => (isDone = true),
      });
      until(() => isDone, 'all answers');
      return agents.sort().join('\n');
    };
    const before = held();
    for (const [program, text] of [['sleep', '1'], ['exit', '3'], ['sleep', '600']] as const) {
      const job = submit(program, text);
      if (text === '600') {
        until(() => held().includes('process of rank'), 'its processes');
        job.frontEnd.control({ verb: 'end', kill: true, reason: 'enough' });
      }
      until(() => job.report !== undefined, 'its end');
      until(() => held() === before, `what was held before, after ${program} ${text}`);
    }
    assert.match(before, /controller: /u);
    end();
  });
});
