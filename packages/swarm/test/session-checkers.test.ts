/** Each checker of sessions bites: a run that is well is changed, and the checker says so. */

import { assert, suite } from '@stci/testkit';
import {
  MemoryPeaks, checkSession, plainSession, rootAgent, runSession, type FrontEndRun, type SessionRun,
} from '@stci/swarm';

const PLAN = plainSession({ program: 'lines', args: ['300', '80', '0.002'], count: 4 }, {
  frontEnds: [
    { kind: 'submit', job: 0, atMs: 0, all: false, releaseMs: 0, leave: { how: 'detach', afterMs: 300, stoppedMs: 0 } },
    { kind: 'attach', job: 0, atMs: 500, all: false, releaseMs: 0, leave: undefined },
    { kind: 'wait', job: 0, atMs: 10, all: false, releaseMs: 0, leave: undefined },
  ],
});

/** `viewers`: the two that showed the job. */
type Change = (run: SessionRun, viewers: readonly [FrontEndRun, FrontEndRun]) => Partial<SessionRun> | void;

const WELL = runSession(PLAN);

/** A copy of a run, as far as it is changed here. */
function copyOf(run: SessionRun): SessionRun {
  const frontEnds = run.frontEnds.map((one) => {
    const streams: JobRecord['streams'] = new Map();
    for (const [key, stream] of one.record.streams) streams.set(key, { ...stream, chunks: [...stream.chunks] });
    return { ...one, record: { ...one.record, streams } };
  });
  return { ...run, frontEnds };
}

/** What the checkers say of a run that was well until `change`. */
function red(pattern: RegExp, change: Change): void {
  assert.equal(WELL.problems, []);
  const run = copyOf(WELL);
  const viewers = run.frontEnds.filter(({ plan }) => plan.kind !== 'wait');
  const changed = change(run, viewers as unknown as [FrontEndRun, FrontEndRun]) ?? {};
  const found = checkSession({ ...run, ...changed });
  assert.ok(found.some((text) => pattern.test(text)), `expected ${pattern}, got: ${found.join(' | ') || 'nothing'}`);
}

type JobRecord = FrontEndRun['record'];

function chunksOf({ record }: FrontEndRun): Uint8Array[] {
  return record.streams.get('0/stdout')?.chunks ?? [];
}

suite('checkers of sessions', (test) => {
  test('output: lost, doubled, changed, shown again, begun too late, counted wrong', () => {
    red(/^shown: .*is not what comes next/, (_run, [first]) => void chunksOf(first).splice(2, 1));
    red(/^shown: .*is not what comes next/, (_run, [, second]) =>
      void chunksOf(second).splice(4, 0, Uint8Array.of(65)));
    red(/^shown: .*is not what comes next/, (_run, [first, second]) =>
      void chunksOf(second).unshift(chunksOf(first).at(-1) as Uint8Array));
    red(/^shown: .*is not what comes next/, (_run, [, second]) => void chunksOf(second).shift());
    red(/^shown: .*it ends with/, (_run, [, second]) => void chunksOf(second).pop());
    red(/^shown: .*its end was told 2 times/, ({ frontEnds }) => {
      for (const { record } of frontEnds) for (const stream of record.streams.values()) stream.ends *= 2;
    });
  });

  test('ends: an exit code that differs between front-ends, reports and stci ps', () => {
    red(/^ends: job 0 ended with 0 by .*; 3 by stci ps/, ({ status }) => {
      assert.ok(status);
      return { status: { ...status, jobs: status.jobs.map((job) => ({ ...job, exitCode: 3 })) } };
    });
    red(/^ends: .*the process ended with 0, the run with 4/, (_run, [, { record }]) => void (record.exitCode = 4));
  });

  test('ranks and hosts: lost without a reason, not lost with one, missing, told differently', () => {
    const report = ({ record }: FrontEndRun) => record.report as NonNullable<typeof record.report>;
    red(/^ranks: .*rank 0 on n0: lost .*its host lives/, (_run, [, second]) => {
      const [first, ...others] = report(second).ranks;
      assert.ok(first);
      const ranks = [{ ...first, outcome: 'lost' as const }, ...others];
      second.record.report = { ...report(second), ranks };
    });
    red(/^ranks: .*3 ranks are reported of 4/, (_run, [, second]) => {
      second.record.report = { ...report(second), ranks: report(second).ranks.slice(1) };
    });
    const step = { kind: 'kill', victim: rootAgent(1), atMs: 0 } as const;
    const faults = [{ step, timeMs: 0, target: 'n1/100 stci-agent' }];
    red(/^hosts: n1 is up at the end/, () => ({ faults }));
    const without = ({ status }: SessionRun): Partial<SessionRun> => {
      assert.ok(status);
      const hosts = status.hosts.map((host) => (host.host === 1 ? { ...host, state: 'failed' as const } : host));
      return { status: { ...status, hosts }, faults };
    };
    red(/^hosts: the last job ran on 4 hosts of 3/, without);
    for (const loss of ['start-again', 'use-spare']) {
      red(/^hosts: n1 is failed at the end/, (run) => {
        const settings = { ...run.options.settings, 'errmgr.loss': loss, 'errmgr.loss.retries': '1' };
        return { ...without(run), options: { ...run.options, settings } };
      });
    }
  });

  test('memory: each bound', () => {
    const high = { unacknowledged: 0, broadcasts: 0, early: 0, queued: 1 << 30 };
    const full = (memory: typeof high): SessionRun['peaks'] => {
      const peaks = new MemoryPeaks();
      peaks.add('session:2', memory);
      return peaks;
    };
    red(/^memory: session:2, queue of a link: 1073741824 bytes/, () => ({ peaks: full(high) }));
    red(/^memory: session:2, unacknowledged/, () => ({ peaks: full({ ...high, queued: 0, unacknowledged: 1 << 25 }) }));
    red(/^memory: a front-end of job 0/, (_run, [, { record }]) => void (record.unreleasedBytesMax = 1 << 25));
    red(/^memory: disk/, () => ({ diskBytesMax: 1 << 25 }));
    red(/^memory: output that is not released/, () => ({ unreleasedBytesMax: 1 << 30 }));
  });

  test('liveness and faults: a phase that does not end, a link that its queue cut', () => {
    red(/^liveness: the jobs did not come/, () => ({ stuck: 'the jobs' }));
    const text = '9 bytes are queued for session:1, over bootcom.queue.max = 8';
    red(/^faults: .*bootcom\.queue\.max/, ({ world }) => ({
      world: Object.create(world, {
        faults: { value: [] }, livingProcesses: { value: () => [] },
        logLines: { value: [{ timeMs: 1, task: 'n1', level: 'warn', text }] },
      }) as typeof world,
    }));
  });
});
