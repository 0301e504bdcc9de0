/** What the agents of a session hold: as much after a job as before it, however that ended. */

import type { JobSpec } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { LAYER, frameLayer, type Frame } from '../../dist/codec/frame.js';
import { watchService } from '../../dist/failure/service.js';
import type { AgentNode } from '../../dist/node/node.js';
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

/** Messages that an agent sends and hears, without acknowledgements and signs of life. */
function countMessages({ messages, router }: AgentNode): { sent: number; heard: number } {
  const count = { sent: 0, heard: 0 };
  const isMessage = (frame: Frame): boolean => frameLayer(frame) === LAYER.message;
  const onFrame = messages.onFrame.bind(messages);
  messages.onFrame = (link, frame) => {
    if (isMessage(frame)) count.heard += 1;
    onFrame(link, frame);
  };
  for (const link of router.links()) {
    const send = link.send.bind(link);
    link.send = (pieces) => {
      if (isMessage(pieces[0] as Frame)) count.sent += 1;
      return send(pieces);
    };
  }
  return count;
}

suite('what agents hold', (test) => {
  test('of 64 hosts, 4 below each: 4 messages, and 4 answers; what a stopped agent costs, and a killed one', () => {
    const { world, session, nodes, login, pidOf, pause, resume, until, end } = open(
      { 'launcher.tree.arity': '4' }, undefined, { hosts: 64 });
    const gather = (act?: () => void) => {
      const sinceMs = world.nowMs;
      let [isDone, told] = [false, 0];
      let hosts: number[] = [];
      session.gatherHeld({
        onAgent: () => void (told += 1),
        onDone: (silent) => {
          isDone = true;
          hosts = silent.map((name) => Number(name.replace('root:', ''))).sort((a, b) => a - b);
        },
      });
      act?.();
      until(() => isDone, 'all answers');
      return { told, hosts, forMs: world.nowMs - sinceMs };
    };
    const count = countMessages(nodes.get('controller') as AgentNode);
    const { told, hosts, forMs } = gather();
    assert.equal([told, hosts, count], [65, [], { sent: 4, heard: 4 }]);
    assert.ok(forMs < 200, `${forMs} ms`);
    const below = (host: number): number[] => {
      const children = [1, 2, 3, 4].map((nth) => 4 * (host + 1) + nth - 1).filter((child) => child < 64);
      return [host, ...children.flatMap(below)].sort((a, b) => a - b);
    };
    pause('root:9');
    const stopped = gather();
    assert.equal(stopped.hosts, below(9));
    assert.ok(stopped.forMs > 1000 && stopped.forMs < 2000, `${stopped.forMs} ms`);
    resume('root:9');
    const killed = gather(() => world.killProcess(login.host, pidOf('root:2')));
    assert.equal(killed.hosts, below(2));
    assert.ok(killed.forMs < 200, `${killed.forMs} ms`);
    end();
  });

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
    assert.is(/^controller: .*controller/mu.test(before), false, 'its agent is not within one of that name');
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
