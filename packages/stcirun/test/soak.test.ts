// @timeoutMs 150000
// @sameFor user, node: many jobs, each as in e2e-session.
/** The soak in its short form, and its checks: each finds what it is for. */

import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { assert, suite } from '@stci/testkit';

const script = (name: string): string => fileURLToPath(new URL(`../../../scripts/${name}`, import.meta.url));

interface Seen {
  status: number;
  err: string;
  events: Record<string, unknown>[];
}

interface Sample {
  jobs: number;
  heap: number;
  descriptors: number;
  processes: number;
  files: number;
  agents: Map<number, { rss: number; descriptors: number }>;
}

const { jobProblems, growthProblems } = (await import(script('lib/soak/checks.mjs'))) as {
  jobProblems(plan: object, seen: Seen, killed: ReadonlySet<string>): string[];
  growthProblems(samples: readonly Sample[]): string[];
};

const PLAN = { ranks: 2, status: 0, lines: 2 };

/** A job of two ranks, on a and b, after `change`. */
function job(change: (seen: Seen, report: Record<string, unknown>, ranks: Record<string, unknown>[]) => void): string {
  const ranks = ['a', 'b'].map((host, rank): Record<string, unknown> => ({ rank, host, outcome: 'exited', status: 0 }));
  const report: Record<string, unknown> = { job: 1, exitCode: 0, failures: [], ranks };
  const events = ranks.flatMap(({ rank }): Record<string, unknown>[] => [
    ...[0, 1].map((i) => ({ type: 'output', rank, line: `${rank}.${i}` })), { type: 'exited', rank },
  ]);
  const seen = { status: 0, err: '', events: [...events, { type: 'ended', report }] };
  change(seen, report, ranks);
  return jobProblems(PLAN, seen, new Set(['b'])).join('; ');
}

const sample = (jobs: number, change: Partial<Sample> = {}): Sample => ({
  jobs, heap: 2e7, descriptors: 40, processes: 20, files: 9, agents: new Map([[7, { rss: 5e7, descriptors: 60 }]]),
  ...change,
});

suite('soak', (test) => {
  test('short jobs while an agent is killed: nothing grows, gets lost or is left', async () => {
    const args = ['--jobs', '40', '--hosts', '4', '--at-once', '4', '--kills', '1', '--rounds', '4'];
    const { status, text } = await new Promise<{ status: number; text: string }>((resolve) => {
      execFile(process.execPath, [script('soak.mjs'), ...args], (error, stdout, stderr) => {
        resolve({ status: Number(error?.code ?? 0), text: stdout + stderr });
      });
    });
    assert.is(status, 0, text);
    assert.match(text, /\nagents killed: h\d\nnothing grew, got lost or was left\n$/);
  }, { timeoutMs: 120_000 });

  test('what a job can do wrong is found', () => {
    assert.is(job(() => undefined), '');
    assert.match(job((seen) => (seen.status = 1)), 'exit code 1, the report has 0');
    assert.match(job((seen, report) => (seen.status = report['exitCode'] = 3) && undefined), 'exit code 3, not 0');
    assert.match(job((seen) => void seen.events.pop()), '0 reports');
    assert.match(job((_, report) => (report['dropped'] = [])), 'output was dropped');
    assert.match(job((_, report) => (report['ranks'] = [])), 'ranks ');
    assert.match(job((seen) => void seen.events.shift()), 'rank 0: 1 exit statuses, 1 of 2 lines');
    assert.match(job(({ events }) => events.reverse()), 'rank 0: output out of order');
    assert.match(job(({ events }) => void events.push({ type: 'exited', rank: 1 })), 'rank 1 ended 2 times');
    assert.match(job((_, __, [first = {}]) => (first['status'] = 9)), 'rank 0 has status 9');
    assert.match(job((_, __, [first = {}]) => (first['outcome'] = 'lost')), 'rank 0 of a, alive, is lost');
    const hurt = (host: string): string => job((seen, report, [, second = {}]) => {
      second['outcome'] = 'lost';
      report['exitCode'] = seen.status = 204;
      report['failures'] = [{ host }];
      seen.events = seen.events.filter(({ type, rank }) => type !== 'exited' || rank !== 1);
    });
    assert.is(hurt('b'), '');
    assert.match(hurt('a'), 'rank 1 is lost without a lost host');
  });

  test('what grows is found', () => {
    const grown = (change: Partial<Sample>): string => growthProblems([sample(10), sample(1010, change)]).join();
    assert.is(grown({ heap: 2.2e7 }), '');
    assert.match(grown({ heap: 3e7 }), 'bytes in the heap of the session: 20000000, after 1000 more jobs 30000000');
    assert.match(grown({ descriptors: 50 }), 'descriptors of the session: 40');
    assert.match(grown({ processes: 21 }), 'processes: 20');
    assert.match(grown({ files: 10 }), 'files: 9');
    assert.match(grown({ agents: new Map([[7, { rss: 1e8, descriptors: 60 }]]) }), 'resident bytes of agent 7');
    assert.match(grown({ agents: new Map([[7, { rss: 5e7, descriptors: 200 }]]) }), 'descriptors of agent 7');
    assert.is(grown({ agents: new Map() }), '');
  });
});
