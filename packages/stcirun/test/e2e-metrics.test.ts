/** Metrics of a session of real agents, one of which is killed. */
// @timeoutMs 300000

import { assert, suite } from '@stci/testkit';
import { sh } from './e2e.js';
import { LONG, soon, withPlace } from './e2e-place.js';
import { parseOpenMetrics } from './open-metrics.js';

suite('metrics', (test) => {
  test('heartbeats and lag of a detector, the failures of a rank and a host', withPlace(async (place) => {
    place.start('night', '--mca', 'detector=ring', '--mca', 'detector.ring.period=50ms');
    const total = (name: string, labels: string, ...options: string[]): number => {
      const { out, err, exitCode } = place.stci('metrics', 'night', ...options);
      assert.is(exitCode, 0, err);
      return parseOpenMetrics(out).get(name)?.samples.get(`${name}_total{${labels}}`) ?? 0;
    };
    const heartbeats = 'stci_detector_heartbeats';
    for (const agent of ['controller', 'root:0', 'root:1']) {
      await soon(() => total(heartbeats, `agent="${agent}",detector="ring"`, '--by-agent') > 3, `beats of ${agent}`);
    }
    assert.ok(total(heartbeats, 'detector="ring"') > 12, 'those of all');
    const killed = await place.run('night', ['-n', '1', '--host', 'a', ...sh('kill -9 $$')]).result;
    assert.is(killed.exitCode, 137, killed.err);
    await soon(() => total('stci_failures', 'kind="tool",cause="signalled"') === 1, 'the rank');
    await place.run('night', ['-n', '1', '--host', 'b', ...sh('kill -9 $PPID; sleep 60')]).result;
    await soon(() => place.stci('metrics', 'night').out.includes('stci_failures_total{kind="host"'), 'the host');
    place.stci('stop', 'night');
  }), LONG);
});
