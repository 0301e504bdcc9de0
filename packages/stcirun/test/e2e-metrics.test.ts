/** Metrics of a session of real agents, one of which is stopped for a moment, and one killed. */
// @timeoutMs 300000
// @sameFor user, node: core counts; the session is as in e2e-session.

import { assert, suite } from '@stci/testkit';
import { sh } from './e2e.js';
import { LONG, soon, withPlace, type Place } from './e2e-place.js';
import { parseOpenMetrics } from './open-metrics.js';

/** Of a rank that is started again once, and then runs. */
async function checkSessionAgent(place: Place): Promise<void> {
  const script = sh('[ "$STCI_ATTEMPT" = 2 ] || exit 3; sleep 60');
  const run = place.run('night', ['-n', '1', '--host', 'a', '--on-failure', 'tool=restart:1', ...script]);
  const samples = (): Map<string, number> => {
    const families = parseOpenMetrics(place.stci('metrics', 'night', '--by-agent').out);
    return new Map([...families.values()].flatMap((family) => [...family.samples]));
  };
  const agent = 'agent="session:0 of job 1"';
  await soon(() => samples().get(`stci_tool_restarts_total{${agent}}`) === 1, 'the restart');
  assert.is(samples().get(`stci_detector_reports_total{${agent},detector="process"}`), 1);
  run.child.kill('SIGINT');
  await run.result;
}

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
    // Links are measured where somebody asks for them.
    assert.is(place.stci('topology', 'night').exitCode, 0);
    const { out } = place.stci('metrics', 'night');
    const links = parseOpenMetrics(out).get('stci_link_round_trip_seconds')?.samples;
    assert.is(links?.get('stci_link_round_trip_seconds_count{role="parent"}'), 2, out);
    await checkSessionAgent(place);
    const killed = await place.run('night', ['-n', '1', '--host', 'a', ...sh('kill -9 $$')]).result;
    assert.is(killed.exitCode, 137, killed.err);
    await soon(() => total('stci_failures', 'kind="tool",cause="signalled"') === 1, 'the rank');
    assert.ok(total('stci_notifier_messages', 'notifier="tree"') >= 2, 'one to each of the others');
    await place.run('night', ['-n', '1', '--host', 'b', ...sh('kill -9 $PPID; sleep 60')]).result;
    await soon(() => place.stci('metrics', 'night').out.includes('stci_failures_total{kind="host"'), 'the host');
    place.stci('stop', 'night');
  }), LONG);
});
