/** Each checker bites: a run that is well is broken on purpose, and the checker says so. */

import { assert, suite } from '@stci/testkit';
import { textBytes, type Flow, type World } from '@stci/platform-sim';
import { PLAIN, checkRun, drawOptions, runJob, type AppPlan, type RunHooks, type SwarmOptions } from '@stci/swarm';

const LINES: AppPlan = { program: 'lines', args: ['200', '80'], count: 4 };
const SLOW_LINES: AppPlan = { ...LINES, args: ['200', '80', '0.01'] };

function job(over: Partial<SwarmOptions> = {}): SwarmOptions {
  const settings = { launcherproc: 'local', 'launcher.root.method': 'process' };
  return { ...PLAIN, hosts: 2, slots: 2, apps: [LINES], settings, ...over };
}

function problems(over: Partial<SwarmOptions>, hooks: RunHooks = {}): readonly string[] {
  return runJob(job(over), hooks).problems;
}

function red(found: readonly string[], pattern: RegExp): void {
  const isFound = found.some((problem) => pattern.test(problem));
  assert.ok(isFound, `expected ${pattern}, got: ${found.join(' | ') || 'nothing'}`);
}

/** Changes the first piece that a tool writes. */
function tamperOutput(change: (chunk: Uint8Array) => Uint8Array | undefined): RunHooks {
  let isDone = false;
  const tamper = (chunk: Uint8Array): Uint8Array | undefined => {
    if (isDone || !/^\d+ out /.test(String.fromCharCode(...chunk.subarray(0, 8)))) return chunk;
    isDone = true;
    return change(chunk);
  };
  return onFlows((flow) => {
    if (flow.use === 'pipe') flow.tamper = tamper;
  });
}

function onFlows(change: (flow: Flow) => void): RunHooks {
  return {
    onWorld: (world) => {
      const before = world.onFlow;
      world.onFlow = (flow) => {
        before?.(flow);
        change(flow);
      };
    },
  };
}

function onWorld(change: (world: World) => void): RunHooks {
  return { onWorld: change };
}

suite('swarm checkers', (test) => {
  test('find nothing wrong with a job that is well', () => {
    const { problems: found, run } = runJob(job());
    assert.equal(found, []);
    assert.is(run.record.report?.exitCode, 0);
    assert.ok(run.wire.frames > 20 && run.wire.goodbyes === 2, 'the wire is read');
    assert.is([...run.record.streams.values()].reduce((sum, { bytes }) => sum + bytes, 0), 4 * 200 * 80);
  });

  test('output: a lost, doubled, changed or mixed piece', () => {
    red(problems({}, tamperOutput(() => undefined)), /^output: rank \d \(lines\) stdout/);
    red(problems({}, tamperOutput((chunk) => Uint8Array.from([...chunk, ...chunk]))), /^output: .*byte \d+ is/);
    red(problems({}, tamperOutput((chunk) => chunk.map((byte, at) => (at === 90 ? byte + 1 : byte)))), /byte 90 is/);
    red(problems({}, tamperOutput((chunk) => chunk.subarray(0, chunk.length - 80))), /^output: /);
    const mixed = Uint8Array.from([...textBytes('9 out 0 '), ...new Uint8Array(72)]);
    red(problems({}, tamperOutput((chunk) => Uint8Array.from([...mixed, ...chunk]))), /^output: .*byte 0 is 57/);
  });

  test('output: an end that is told twice, or never, or too early', () => {
    const { run } = runJob(job());
    const stream = run.record.streams.get('0/stdout');
    assert.ok(stream);
    stream.ends = 2;
    red(checkRun(run), /its end was reported 2 times/);
    stream.ends = 0;
    red(checkRun(run), /its end was never reported/);
    stream.ends = 1;
    stream.lateBytes = 7;
    red(checkRun(run), /7 bytes after its end/);
  });

  test('liveness: an agent that never goes on', () => {
    const hooks = onWorld((world) => world.at(8, () => world.pauseProcess('login', 101)));
    const settings = { ...job().settings, 'bootcom.lease': '24h' };
    red(problems({ apps: [SLOW_LINES], settings }, hooks), /^liveness: the job neither ended nor/);
  });

  test('liveness: a front-end that ends without a report, and what is left after the stop', () => {
    const hooks = onWorld((world) => world.at(20, () => world.killProcess('login', 100)));
    red(problems({ apps: [SLOW_LINES] }, hooks), /^liveness: the front-end ended without/);
    const { run } = runJob(job());
    red(checkRun({ ...run, leftEvents: 3 }), /^liveness: 3 timers or calls were left/);
    run.record.lateCalls = 2;
    red(checkRun(run), /^liveness: 2 calls after onStopped/);
    red(checkRun({ ...run, isQuiet: false }), /^liveness: the world does not become idle/);
  });

  test('outcome: one exit code in the process, the exit report and the JSON, whatever ends the job', () => {
    const interrupt = { kind: 'interrupt', kill: false, atMs: 20 } as const;
    const closed = { kind: 'output-fault', isClosed: true, atMs: 20 } as const;
    const failed = { ...closed, isClosed: false };
    for (const [control, exitCode] of [[interrupt, 130], [closed, 141], [failed, 202]] as const) {
      const { run, problems: found } = runJob(job({ apps: [SLOW_LINES], controls: [control] }));
      assert.equal(found, []);
      assert.is(run.frontEnd.end?.status, exitCode);
      const { record } = run;
      const other = { ...record, exitCode: 3 };
      red(checkRun({ ...run, record: other }), /^outcome: the process ended with \d+, the run with 3/);
      const exitReports = record.exitReports.map((text) => text.replace(/"exitCode": \d+/, '"exitCode": 0'));
      red(checkRun({ ...run, record: { ...record, exitReports } }), /^outcome: the exit report says 0/);
    }
    const late = [1, 2, 3, 4].flatMap((atMs) => [{ ...interrupt, atMs: 50 * atMs }, { ...closed, atMs: 50 * atMs }]);
    for (const control of late) {
      assert.equal(problems({ apps: [LINES], releaseMs: 300, controls: [control] }), [], `at ${control.atMs} ms`);
    }
    const { run } = runJob(job());
    const jsonLines = run.record.jsonLines.map((line) => line.replace('"exitCode":0', '"exitCode":7'));
    red(checkRun({ ...run, record: { ...run.record, jsonLines } }), /^outcome: the JSON says 7/);
    red(checkRun({ ...run, record: { ...run.record, jsonLines: [] } }), /^outcome: 0 lines of JSON report the end/);
  });

  test('processes: one that is left, one that nobody waited for', () => {
    const hooks = onWorld((world) => {
      world.start('login', ['stray'], (context) => context.platform.clock.after(1e6, () => context.exit(0)));
    });
    red(problems({}, hooks), /^processes: alive after the end: login\/\d+ stray/);
    const cutOff = { remote: true, settings: { launcherproc: 'remote' }, launchTimeoutMs: 60 };
    const deaf = onWorld((world) => world.program('stci-agent', ({ platform: { clock }, exit }) => {
      clock.after(100_000, () => exit(1)); // An agent that waits for its boot record waits for 40 s.
    }));
    const part = { atMs: 2000, kind: 'part', victim: { kind: 'side', hosts: [0] }, durationMs: 40_000 } as const;
    red(problems({ ...cutOff, faults: [part] }, deaf),
      /^processes: alive after the end: n\d\/\d+ stci-agent/);
    const { run } = runJob(job());
    const tool = run.world.processes().find((process) => process.command[0] === 'lines');
    assert.ok(tool);
    tool.state = 'zombie';
    red(checkRun(run), /^processes: zombie at the end: login\/\d+ lines/);
  });

  test('faults: what is thrown, and what is caught and logged', () => {
    const hooks = onWorld((world) => {
      world.start('login', ['oops'], () => {
        throw new Error('oops');
      });
    });
    red(problems({}, hooks), /^faults: thrown: Error: oops/);
    const { run } = runJob(job());
    run.world.logLines.push({ timeMs: 1, task: 'login/100', level: 'warn', text: 'TypeError: no\n    at somewhere' });
    red(checkRun(run), /^faults: login\/100 logged: TypeError/);
  });

  test('events: anything that is told twice, or after the end', () => {
    const { run } = runJob(job());
    const { events } = run.record;
    const exited = events.find(({ type }) => type === 'exited');
    assert.ok(exited);
    events.push(exited);
    red(checkRun(run), /^events: 'exited \d' after the end/);
    red(checkRun(run), /^events: 'exited \d' was reported twice/);
  });

  test('memory: more unreleased output than the window allows', () => {
    const settings = { ...job().settings, 'iof.window': '16777216' };
    const apps = [{ ...LINES, args: ['9000', '100'] }];
    const { run, problems: found } = runJob(job({ settings, apps, releaseMs: 300 }));
    assert.equal(found, []);
    assert.ok(run.record.unreleasedBytesMax > 1_000_000);
    const options = { ...run.options, settings: { ...settings, 'iof.window': '65536' } };
    red(checkRun({ ...run, options }), /^memory: \d+ bytes were unreleased/);
  });

  test('report: a wrong end, a wrong exit code, a rank that is missing or lost', () => {
    const { run } = runJob(job({ apps: [{ program: 'exit', args: ['3'], count: 1 }, LINES] }));
    assert.equal(checkRun(run), []);
    const { report } = run.record;
    assert.ok(report);
    assert.is(report.exitCode, 3);
    const doctored = (over: object): readonly string[] =>
      checkRun({ ...run, record: { ...run.record, report: { ...report, ...over } } });
    red(doctored({ exitCode: 0 }), /^report: exit code 0, and not every rank/);
    red(doctored({ exitCode: 4 }), /^report: exit code 4, expected 3/);
    red(doctored({ ranks: report.ranks.slice(1) }), /^report: 4 ranks in the report of 5/);
    const [first, ...others] = report.ranks;
    const change = (over: object): object => ({ ranks: [{ ...first, ...over }, ...others] });
    red(doctored(change({ end: { status: 0 } })), /^report: rank 0 \(exit\): exited/);
    red(doctored(change({ pid: 1 })), /^report: rank 0 \(exit\): pid 1 in the report/);
    red(doctored(change({ outcome: 'lost' })), /lost, though no agent was harmed/);
    red(doctored(change({ outcome: 'not-started' })), /reported as not started, and it was/);
  });

  test('wire: bytes after a goodbye, frames of nonsense', () => {
    const flows: Flow[] = [];
    const { run } = runJob(job(), onFlows((flow) => flows.push(flow)));
    for (const flow of flows) flow.onPiece?.(Uint8Array.of(1));
    red(checkRun(run), /^wire: 1 bytes after a goodbye/);
    const nonsense = onFlows((flow) => flow.onPiece?.(new Uint8Array(28).fill(9)));
    red(problems({}, nonsense), /^wire: a frame of version 9/);
  });
});

suite('swarm replay', (test) => {
  test('agreement: another result, a rank that lives called lost, one that is lost no more', () => {
    const settings = { ...job().settings, 'client.enable': 'true' };
    const options = job({ settings, apps: [{ program: 'agree', args: ['3'], count: 4 }] });
    /** Changes what rank 0, or each, is told in one round. */
    const found = (round: number, change: (line: string) => string, ranks = [0]): readonly string[] => {
      const { run, problems: before } = runJob(options);
      assert.equal(before, []);
      for (const rank of ranks) {
        const chunks = run.record.streams.get(`${rank}/stdout`)?.chunks ?? [];
        const lines = chunks.map((chunk) => String.fromCharCode(...chunk)).join('').split('\n');
        assert.is(lines.length, 4, 'a line for each round');
        lines[round] = change(lines[round] as string);
        chunks.splice(0, Infinity, textBytes(lines.join('\n')));
      }
      return checkRun(run);
    };
    red(found(1, (line) => line.replace('true', 'false')), /^agreement: rank \d, round 1: /);
    const lost = (line: string): string => line.replace('"failed":[]', '"failed":[[2,2]]');
    red(found(2, lost, [0, 1, 2, 3]), /^agreement: rank 2 ended well, and is called lost/);
    red(found(0, lost, [0, 1, 2, 3]), /^agreement: lost ranks by round: 1,0,0/);
  });

  test('the same seed gives the same trace, another seed another one', () => {
    const seeds = [1, 2, 3, 4, 5, 7, 8, 9]; // 6 has 200 hosts.
    const hashes = seeds.map((seed) => runJob(drawOptions(seed)).traceHash);
    const again = seeds.map((seed) => runJob(drawOptions(seed)).traceHash);
    assert.equal(again, hashes);
    assert.is(new Set(hashes).size, hashes.length);
  });

  test('watching a run does not change it', () => {
    let lines = 0;
    const { traceHash } = runJob(drawOptions(3), { onTrace: () => lines++ });
    assert.is(traceHash, runJob(drawOptions(3)).traceHash);
    assert.ok(lines > 100);
  });
});
