/** The watch of tools: what is slow waits for the news of a failure, where somebody waits for that. */

import type { Params } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import type { AgentScope } from '../../dist/agent/composition.js';
import type { AgentNode } from '../../dist/agent/node.js';
import { ToolWatch } from '../../dist/agent/tool-watch.js';
import { detectorProcess } from '../../dist/detector/process.js';
import { detectorWatchdog } from '../../dist/detector/watchdog.js';
import { MetricStore } from '../../dist/metrics/store.js';
import { testPlace } from '../world.js';

const END = { rank: 3, pid: 9, outcome: 'signalled', endWallMs: 1, leftovers: 0, attempt: 1 } as const;

/** What was done, and when. */
function watching(overlay: string) {
  const place = testPlace();
  const startMs = place.world.nowMs;
  const log: string[] = [];
  const tell = (what: string) => (): void => void log.push(`${what} ${Math.floor(place.world.nowMs - startMs)}`);
  const node = {
    name: 'session:0', platform: place.platform, fault: (fault: unknown) => { throw fault as Error; },
    router: { parentLink: {} }, messages: { sendNeighbour: (_link: unknown, name: string) => tell(name)() },
  } as unknown as AgentNode;
  const modules = [detectorProcess.create({}, {}, undefined), detectorWatchdog.create({}, { grace: 0 }, undefined)];
  const scope = {
    detectors: () => modules.map((module, i) => ({ name: `d${i}`, module, notifier: 'auto', isNamed: false })),
  } as unknown as AgentScope;
  const metrics = new MetricStore(() => ({}));
  const onStuck = (rank: number): void => tell(`stuck ${rank}`)();
  const watch = new ToolWatch({ node, scope, metrics, attemptOf: () => 1, onStuck });
  watch.prepare({ string: () => overlay, bool: () => false, list: () => [] } as unknown as Params);
  return { place, log, tell, watch };
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
});
