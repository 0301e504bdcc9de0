/** The watch of tools: what is slow waits for the news of a failure, where somebody waits for that. */

import type { Params } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import type { AgentScope } from '../../dist/assembly/composition.js';
import { detectorProcess } from '../../dist/detector/process.js';
import { detectorWatchdog } from '../../dist/detector/watchdog.js';
import type { ToolEvidence } from '../../dist/messages/failure-shapes.js';
import { MetricStore } from '../../dist/metrics/store.js';
import type { AgentNode } from '../../dist/node/node.js';
import { ToolWatch } from '../../dist/tools/tool-watch.js';
import { testPlace } from '../world.js';

const END = { rank: 3, pid: 9, outcome: 'signalled', endWallMs: 1, leftovers: 0, attempt: 1 } as const;

/** What was done, and when. */
function watching(overlay: string, { client = false, detectors = [] as string[], isPrepared = true } = {}) {
  const place = testPlace();
  const startMs = place.world.nowMs;
  const log: string[] = [];
  const tell = (what: string) => (): void => void log.push(`${what} ${Math.floor(place.world.nowMs - startMs)}`);
  const found: ToolEvidence[] = [];
  const router: { parentLink: object | undefined } = { parentLink: {} };
  const metrics = new MetricStore();
  const node = {
    name: 'session:0', platform: place.platform, fault: (fault: unknown) => { throw fault as Error; },
    router, metrics,
    messages: {
      sendNeighbour: (_link: unknown, name: string, { ranks }: { readonly ranks: readonly ToolEvidence[] }) => {
        tell(name)();
        found.push(...ranks);
      },
    },
  } as unknown as AgentNode;
  const modules = [detectorProcess.create({}, {}, undefined), detectorWatchdog.create({}, { grace: 0 }, undefined)];
  const scope = {
    detectors: () => modules.map((module, i) => ({ name: `d${i}`, module, notifier: 'auto', isNamed: false })),
  } as unknown as AgentScope;
  const onStuck = (rank: number): void => tell(`stuck ${rank}`)();
  const watch = new ToolWatch({ node, scope, attemptOf: (rank) => 10 + rank, onStuck });
  const params = { string: () => overlay, bool: () => client, list: () => detectors } as unknown as Params;
  if (isPrepared) watch.prepare(params);
  return { place, log, tell, watch, found, router, metrics };
}

suite('tool watch', (test) => {
  test('the news of a failure leaves at once; what is slow waits, what keeps the host busy longest', () => {
    const { place, log, tell, watch } = watching('bmg');
    watch.afterNews(tell('before'), true);
    place.run(1);
    watch.onEnded(END);
    watch.afterNews(tell('busy'), true);
    watch.afterNews(tell('slow'));
    place.run(1000);
    watch.afterNews(tell('later'), true);
    place.run(50);
    assert.equal(log, ['before 0', 'failure.report 1', 'slow 21', 'busy 101', 'later 1001']);
  });

  test('what waits for the news is done at once when the agent stops, and leaves no timer', () => {
    const { place, log, tell, watch } = watching('bmg');
    watch.onEnded(END);
    watch.afterNews(tell('busy'), true);
    watch.stop();
    watch.afterNews(tell('slow'));
    place.run(1);
    assert.equal(log, ['failure.report 0', 'busy 0', 'slow 0']);
    assert.equal(place.world.scheduler.queue.pending(), []);
  });

  test('a tool that breaks its promise is ended, and reported with its end; none is once the agent stops', () => {
    for (const isStopped of [false, true]) {
      const { place, log, watch } = watching('bmg');
      watch.onAlive(4, 100);
      if (isStopped) watch.stop();
      place.run(1000);
      if (!isStopped) watch.onEnded({ ...END, rank: 4 });
      assert.equal(log, isStopped ? [] : ['stuck 4 100', 'failure.report 1000']);
      assert.equal(place.world.scheduler.queue.pending(), []);
    }
  });

  test('a good end, and a failure of which nobody wants to hear at once, delay nothing', () => {
    for (const [overlay, outcome] of [['bmg', 'ended'], ['', 'signalled']] as const) {
      const { place, log, tell, watch } = watching(overlay);
      watch.onEnded({ ...END, outcome });
      watch.afterNews(tell('slow'), true);
      place.run(1000);
      assert.is(log.at(-1), 'slow 0', overlay);
    }
  });

  test('somebody wants to know at once where there is an overlay, a client, or a detector that is named', () => {
    const who: [string, { client?: boolean; detectors?: string[] }, number][] = [
      ['bmg', {}, 20], ['', { client: true }, 20], ['', { detectors: ['ring'] }, 20], ['', {}, 0],
    ];
    for (const [overlay, more, slowMs] of who) {
      const { place, log, tell, watch } = watching(overlay, more);
      watch.onEnded(END);
      watch.afterNews(tell('slow'));
      place.run(1000);
      assert.equal(log, ['failure.report 0', `slow ${slowMs}`]);
    }
    const { place, log, tell, watch } = watching('bmg', { isPrepared: false });
    watch.onEnded(END);
    watch.afterNews(tell('slow'));
    place.run(1000);
    assert.equal(log, ['failure.report 0', 'slow 0'], 'as long as nobody has said so');
  });

  test('what is slow waits 20 ms after the last failure, not longer, nor again when it has been done', () => {
    const { place, log, tell, watch } = watching('bmg');
    watch.onEnded(END);
    place.run(19);
    watch.afterNews(tell('in time'));
    watch.onEnded({ ...END, rank: 4 });
    watch.afterNews(tell('anew'));
    place.run(20);
    watch.afterNews(tell('at once'));
    place.run(1000);
    watch.stop();
    watch.stop();
    place.run(1000);
    assert.equal(log, ['failure.report 0', 'failure.report 19', 'in time 20', 'anew 39', 'at once 39']);
  });

  test('a failure is a signal or a status other than 0, of which the report says when, which attempt and how', () => {
    const { place, found, watch } = watching('bmg');
    place.run(5000);
    const wallMs = Math.floor(place.platform.clock.wallMs());
    const [exited, ended] = [{ ...END, outcome: 'exited', end: { status: 1 } }, { ...END, outcome: 'exited' }] as const;
    watch.onEnded({ ...exited, rank: 1, endWallMs: 60 });
    watch.onEnded({ ...ended, rank: 2, end: { status: 0 } });
    watch.onEnded({ ...END, rank: 3, outcome: 'launch-failed' } as never);
    watch.onEnded({ ...END, rank: 4, endWallMs: 70, end: { signal: 'SIGKILL' } });
    const facts = found.map(({ rank, attempt, cause, failedWallMs, detector }) =>
      [rank, attempt, cause, failedWallMs, detector]);
    assert.equal(facts, [[1, 11, 'exited', 60, 'd0'], [4, 14, 'signalled', 70, 'd0']]);
    for (const { suspectedWallMs, confirmedWallMs } of found) {
      assert.equal([suspectedWallMs, confirmedWallMs].map(Math.floor), [wallMs, wallMs]);
    }
  });

  test('a tool that has ended by itself is watched no more; one that is stuck has failed at no time', () => {
    const { place, log, found, watch, metrics } = watching('', { isPrepared: false });
    watch.onEnded({ ...END, rank: 4, outcome: 'exited', end: { status: 0 } });
    watch.onAlive(4, 100);
    watch.onAlive(5, 100);
    watch.onEnded({ ...END, rank: 4, outcome: 'exited', end: { status: 0 } });
    place.run(1000);
    assert.equal(log, ['stuck 5 100']);
    watch.onEnded({ ...END, rank: 5, endWallMs: 80 });
    watch.onAlive(5, 100);
    place.run(1000);
    assert.equal(log, ['stuck 5 100', 'failure.report 1000', 'stuck 5 1100']);
    watch.onEnded({ ...END, rank: 6 });
    const told = found.map(({ rank, cause, failedWallMs }) => [rank, cause, failedWallMs]);
    const stuck = [5, 'watchdog', undefined];
    assert.equal(told, [stuck, [5, 'signalled', 80], stuck, [6, 'signalled', 1]]);
    const counted = metrics.all().map(({ name, labels, values: [value] }) => [name, labels['detector'], value]);
    assert.equal(counted, [['reports', 'd1', 2], ['reports', 'd0', 2]]);
  });

  test('without a parent nothing is said, nor later when there is one; what failed since is', () => {
    const { place, log, found, router, watch } = watching('bmg');
    router.parentLink = undefined;
    watch.onEnded(END);
    assert.equal(log, []);
    router.parentLink = {};
    watch.onEnded({ ...END, rank: 4 });
    place.run(1000);
    assert.equal([log, found.map(({ rank }) => rank)], [['failure.report 0'], [4]]);
  });
});
