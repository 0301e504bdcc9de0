// @timeoutMs 120000
/** Many hosts and a front-end that is slower than they: nobody holds more than is stated, and no queue cuts a link. */

import { assert, suite } from '@stci/testkit';
import { windowBytesMin } from '@stci/core';
import {
  MemoryPeaks, PLAIN, drawOptions, plainSession, resolveSettings, runJob, runSession, type SwarmOptions,
} from '@stci/swarm';
import { share } from './first-seed.js';

const LINES = 60;
const BYTES = 320;

function options(hosts: number, window: number, over: Partial<SwarmOptions> = {}): SwarmOptions {
  const apps = [{ program: 'lines', args: [String(LINES), String(BYTES)], count: hosts }];
  const settings = { launcherproc: 'local', 'launcher.root.method': 'process', 'iof.window': String(window) };
  return { ...PLAIN, hosts, apps, settings, releaseMs: 100, ...over };
}

suite('many hosts, a slow front-end', (test) => {
  const sizes = [[100, 65_536], [200, 1_048_576], [500, windowBytesMin(500)]] as const;
  for (const [hosts, window] of share(sizes, 3)) {
    test(`${hosts} hosts, a window of ${window} bytes`, () => {
      const peaks = new MemoryPeaks();
      const { run, problems } = runJob(options(hosts, window), { peaks });
      assert.equal(problems, []);
      assert.equal(peaks.problems(resolveSettings(run.options.settings).params, { hosts, jobs: 1 }), []);
      assert.ok(run.record.unreleasedBytesMax <= window);
      const bytes = [...run.record.streams.values()].reduce((sum, stream) => sum + stream.bytes, 0);
      assert.is(bytes, hosts * LINES * BYTES);
    }, { timeoutMs: 60_000 });
  }

  test('60 hosts of a session, its front-end stopped for a while', () => {
    const app = { program: 'lines', args: ['40', '1500', '0.05'], count: 60 };
    const leave = { how: 'stop', afterMs: 300, stoppedMs: 20_000 } as const;
    const plan = { job: 0, all: false, releaseMs: 20, leave: undefined };
    const frontEnds = [
      { ...plan, kind: 'submit' as const, atMs: 0, leave }, { ...plan, kind: 'attach' as const, atMs: 500 },
    ];
    assert.equal(runSession(plainSession(app, { hosts: 60, frontEnds, spoolBytes: 1 << 22 })).problems, []);
  }, { timeoutMs: 60_000 });

  test('a window that is too small for the hosts is refused, and drawn for none', () => {
    const { run } = runJob(options(500, windowBytesMin(500) - 1));
    assert.is(run.record.exitCode, 194);
    assert.match(run.record.report?.cause?.message ?? '', /iof\.window = \d+ is too small for 500 hosts/);
    assert.is(drawOptions(702_125).settings['iof.window'], String(windowBytesMin(500)));
  });
});
