/** What the agents of a session hold: as much after a job as before it, however that ended. */

import type { JobSpec } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { watchService } from '../../dist/failure/service.js';
import { overlayService } from '../../dist/overlay/service.js';
import { HOSTS, open, type Job } from '../agent/open-session.js';
import { resolved } from '../assembly.js';

interface End {
  readonly what: string;
  readonly command: [string, string];
  readonly spec?: Partial<JobSpec>;
  readonly exitCode: number;
  /** Once its ranks run. */
  act?(job: Job): void;
}

suite('what agents hold', (test) => {
  test('after a job that ends, fails, is killed or ended, or outlives its time or a host, it is as before it', () => {
    const { world, session, login, pidOf, begin, until, stateOf, end } = open({ 'errmgr.loss': 'start-again' });
    const held = (): string => {
      const agents: string[] = [];
      let isDone = false;
      session.gatherHeld({
        onAgent: (_host, agent, rows) => {
          const lasting = rows.map((row) => row.join(' ')).filter((row) => !row.includes('timer'));
          // Links are in the order in which they came.
          agents.push(`${agent}: ${lasting.sort().join()}`);
        },
        onDone: () => (isDone = true),
      });
      until(() => isDone, 'all answers');
      return agents.sort().join('\n');
    };
    const before = held();
    assert.match(before, /controller: /u);
    const control = ({ frontEnd }: Job, kill: boolean): void =>
      frontEnd.control({ verb: 'end', kill, reason: 'enough' });
    const ends: readonly End[] = [
      { what: 'it ends', command: ['sleep', '1'], exitCode: 0 },
      { what: 'it fails', command: ['exit', '3'], exitCode: 3 },
      { what: 'its ranks are killed', command: ['crash', 'KILL'], exitCode: 137 },
      { what: 'its user ends it', command: ['sleep', '600'], exitCode: 143, act: (job) => control(job, false) },
      { what: 'its user kills it', command: ['sleep', '600'], exitCode: 137, act: (job) => control(job, true) },
      { what: 'its time is over', command: ['sleep', '600'], spec: { timeoutMs: 1000 }, exitCode: 199 },
      {
        what: 'a host is lost', command: ['sleep', '600'], exitCode: 200,
        act: (job) => {
          world.killProcess(login.host, pidOf('root:1'));
          until(() => stateOf(1) !== 'up', 'the loss');
          until(() => stateOf(1) === 'up', 'the next agent of that host');
          control(job, true);
        },
      },
    ];
    for (const { what, command, spec, exitCode, act } of ends) {
      const job = begin(HOSTS, command, { oversubscribe: true, ...spec });
      if (act !== undefined) {
        until(() => held().includes('process of rank'), 'its processes');
        act(job);
      }
      until(() => job.report !== undefined, `its end: ${what}`);
      assert.is(job.report?.exitCode, exitCode, what);
      until(() => held() === before, `what was held before: ${what}`);
    }
    end();
  });

  test('the watch and the overlay, from the start of an agent where the parameters ask for them', () => {
    for (const [settings, wanted] of [
      [{}, []],
      // Nobody is sent a message for a detector of tools.
      [{ detector: 'process' }, ['service watch']],
      [{ 'overlay.topology': 'bmg' }, ['service overlay', 'service watch']],
    ] as const) {
      const { nodes, end } = open(settings);
      const labels = nodes.get('root:1')?.holds.rows().map(([, label]) => label) ?? [];
      assert.equal(labels.filter((label) => label.startsWith('service ')).sort(), wanted, JSON.stringify(settings));
      const { params } = resolved(settings);
      const asked = [overlayService, watchService].filter(({ isOfAgents }) => isOfAgents?.(params));
      assert.equal(asked.map(({ name }) => `service ${name}`), wanted);
      end();
    }
  });
});
