// @timeoutMs 120000
// @sameFor user: jobs as in e2e-session; the session's place is session-place's.
/**
 * A session whose agents are started together, on real processes: they find their parents by their places, and when
 * one is killed, those below it are linked again, over the network.
 */

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createComposition, paramsSnapshot, resolveParams, type Composition } from '@stci/core';
import { Session } from '@stci/core/controller';
import type { JobEvent, JobReport } from '@stci/interface';
import { createNodePlatform } from '@stci/platform-node';
import { assert, eventually, suite } from '@stci/testkit';
import { assembleRegistry } from '../dist/assembly/registry.js';
import { createTogether } from './launcher-together.js';

const BUNDLE = fileURLToPath(new URL('../dist/bundle/agent.bundle.cjs', import.meta.url));

interface Place {
  readonly session: Session;
  readonly events: JobEvent[];
  /** Of root agents, by host: this process's children, in the order of their starts. */
  readonly agents: number[];
  run(script: string): { report?: JobReport; out: string };
}

function open(hosts: number, settings: Readonly<Record<string, string>>): Place {
  const registry = assembleRegistry();
  const commandLine = Object.entries({ launcherproc: 'local', 'bootcom.lease': '4s', ...settings })
    .map(([key, value]) => ({ key, value }));
  const { params } = resolveParams(registry.catalog, { commandLine }, registry.rules);
  const platform = createNodePlatform({ agentBundle: BUNDLE });
  const own = createComposition(registry);
  const launcherProc = createTogether(platform, BUNDLE);
  const composition: Composition = {
    ...own, scope: (...args) => ({ ...own.scope(...args), launcherProc: () => launcherProc }),
  };
  const spec = (_: unknown, host: number) => ({ name: `h${host}`, slots: 1, slotsBound: true, origin: 'test' });
  const allocation = { hosts: Array.from({ length: hosts }, spec), spares: [] };
  const events: JobEvent[] = [];
  const init = { platform, composition, params, snapshot: paramsSnapshot(registry.catalog, params), allocation };
  const session = new Session(init, {
    onEvent: (event) => void events.push(event),
    onReady: () => undefined,
    onAborted: () => undefined, onRoom: () => undefined,
    onEnding: () => undefined,
  });
  session.open();
  const run = (script: string): { report?: JobReport; out: string } => {
    const job: { report?: JobReport; out: string } = { out: '' };
    const frontEnd = session.follow({
      onJobEvent: (event) => {
        if (event.type !== 'ended') return;
        job.report = event.report;
        frontEnd.stop();
      },
      onOutput: (_rank, _stream, chunk, _wallMs, release) => {
        job.out += Buffer.from(chunk).toString();
        release();
      },
      onStdinDrain: () => undefined,
      onStdinClosed: () => undefined,
      onStopped: () => undefined,
    });
    frontEnd.submit({
      apps: [{ program: 'sh', args: ['-c', script], env: {}, count: hosts }], mapBy: { by: 'ppr', perHost: 1 },
      oversubscribe: false, env: { PATH: process.env['PATH'] ?? '' }, wdir: '/', stdin: { to: 'none' },
      launchTimeoutMs: 60_000, params: { errmgr: ['continue'] },
    });
    return job;
  };
  return { session, events, agents: launcherProc.pids, run };
}

const ups = ({ events }: Place): number => events.filter(({ type }) => type === 'host-up').length;

async function stop({ session, agents }: Place): Promise<void> {
  let isOver = false;
  session.stop(() => void (isOver = true));
  await eventually(() => isOver, { what: 'the end of the session', deadlineMs: 20_000 });
  const left = agents.filter((pid) => commandOf(pid).includes('stciShipped'));
  assert.equal(left, [], 'no agent is left');
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1');
  } catch {
    return '';
  }
}

suite('a session whose agents are started together', (test) => {
  for (const boot of ['native', 'ws']) {
    test(`bootcom.boot=${boot}: all come up along the tree, and a job runs on each`, async () => {
      const place = open(5, { 'launcher.tree.arity': '2', 'bootcom.boot': boot });
      await eventually(() => ups(place) === 5, { what: 'all hosts', deadlineMs: 20_000 });
      const job = place.run('echo $STCI_RANK');
      await eventually(() => job.report !== undefined, { what: 'the report', deadlineMs: 20_000 });
      assert.equal([job.report?.exitCode, job.out.split('\n').sort().join('')], [0, '01234']);
      await stop(place);
    }, { timeoutMs: 60_000 });
  }

  test('one is killed: those below it are linked to the one above, over the network', async () => {
    const place = open(3, { 'launcher.tree.arity': '1' });
    await eventually(() => ups(place) === 3, { what: 'all hosts', deadlineMs: 20_000 });
    const job = place.run('echo $STCI_RANK; sleep 3; echo done $STCI_RANK');
    await eventually(() => job.out.length === 6, { what: 'the first lines', deadlineMs: 20_000 });
    process.kill(place.agents[0] as number, 'SIGKILL');
    await eventually(() => job.report !== undefined, { what: 'the report', deadlineMs: 30_000 });
    assert.match(job.report?.failures[0]?.message ?? '', /^Agent root:0 on host h0 is lost: /);
    assert.equal(job.report?.ranks.map(({ outcome }) => outcome), ['lost', 'exited', 'exited']);
    assert.match(job.out, /done 1\n/);
    assert.match(job.out, /done 2\n/);
    const linked = place.events.flatMap((event) => event.type === 'member' && event.change === 'linked' ? [event] : []);
    assert.ok(linked.some(({ host, parent }) => host === 1 && parent === 'controller'), 'root:1 is linked again');
    await stop(place);
  }, { timeoutMs: 60_000 });
});
