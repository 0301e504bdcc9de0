/** Faults in real sessions: processes are stopped and go on, are killed, are loaded, and nothing is left. */
// @timeoutMs 600000
// @sameFor user, node: signals to processes of one user, as in e2e-signals; links are core's.

import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { ExperimentTerms, FaultOrder, FaultReport } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { sh } from './e2e.js';
import { LONG, soon, withPlace, type Place } from './e2e-place.js';

const FRONT_END = fileURLToPath(new URL('inject-front-end.js', import.meta.url));
const CLIENT = fileURLToPath(new URL('../../client/dist/index.js', import.meta.url));
const HOUR_MS = 3_600_000;

const TERMS: ExperimentTerms = {
  leaseMs: 60_000, ownsSession: false, allow: ['controller'], victimsMax: 20, keepRanks: [], keepHosts: [],
};

/** State letter in /proc; undefined: it is gone. */
function stateOf(pid: number): string | undefined {
  try {
    return / ([A-Za-z]) \d+/u.exec(readFileSync(`/proc/${pid}/stat`, 'latin1').split(')').at(-1) ?? '')?.[1];
  } catch {
    return undefined;
  }
}

const started = new Set<ChildProcess>();

class FrontEnd {
  readonly child: ChildProcess;
  readonly lines: Partial<FaultReport & { readonly begun: boolean; readonly undone: string; readonly left: string[] }>[]
    = [];

  constructor(place: Place, session: string, terms: Partial<ExperimentTerms> = {}) {
    const args = [FRONT_END, session, JSON.stringify({ ...TERMS, ...terms })];
    const env = { ...process.env, ...place.env };
    this.child = spawn(process.execPath, args, { env, stdio: ['pipe', 'pipe', 'inherit'] });
    started.add(this.child);
    let text = '';
    this.child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
      const lines = (text + chunk).split('\n');
      text = lines.pop() as string;
      for (const line of lines) this.lines.push(JSON.parse(line) as FaultReport);
    });
  }

  async begun(): Promise<this> {
    await soon(() => this.lines.some(({ begun }) => begun === true), 'the experiment');
    return this;
  }

  say(line: object): void {
    this.child.stdin?.write(`${JSON.stringify(line)}\n`);
  }

  async inject(order: Partial<FaultOrder>, ...states: string[]): Promise<FaultReport> {
    this.say({ args: {}, job: 1, timeoutMs: 20_000, ...order });
    return this.report(order.id as string, ...states);
  }

  async report(id: string, ...states: string[]): Promise<FaultReport> {
    const find = (): unknown => this.lines.find((line) => line.id === id && states.includes(line.state as string));
    const isRefused = (): boolean =>
      this.lines.some((line) => line.id === id && ['failed', 'skipped'].includes(line.state as string));
    const hasEnded = (): boolean => this.child.exitCode !== null || this.child.signalCode !== null;
    await soon(() => find() !== undefined || isRefused() || hasEnded(), `${states.join(' or ')} of ${id}`);
    assert.ok(find(), JSON.stringify(this.lines));
    return find() as FaultReport;
  }

  async undo(id: string): Promise<readonly string[] | undefined> {
    this.say({ undo: id });
    await soon(() => this.lines.some(({ undone }) => undone === id), `the undo of '${id}'`);
    return this.lines.find(({ undone }) => undone === id)?.left;
  }
}

interface Running {
  /** By rank. */
  readonly pids: readonly number[];
  readonly agents: ReadonlyMap<string, number>;
}

/**
 * A job of two ranks on each of two hosts. They start no processes: a shell that is stopped while it does waits for the
 * child, which is stopped before it has its program, in state D instead of T.
 */
async function startJob(place: Place, options: readonly string[] = []): Promise<Running> {
  const job = place.run('lab', ['-n', '4', '--on-failure', 'continue', ...options,
    ...sh('echo $STCI_RANK $STCI_HOST $$ $PPID; exec sleep 1000')], { limitMs: 200_000 });
  await soon(() => job.out().split('\n').length === 5, 'the ranks');
  const rows = job.out().trim().split('\n').map((line) => line.split(' ') as [string, string, string, string]);
  const pids = rows.sort(([a], [b]) => Number(a) - Number(b)).map(([, , pid]) => Number(pid));
  return { pids, agents: new Map(rows.map(([, host, , agent]) => [host, Number(agent)])) };
}

const continuers = (): number => readdirSync('/proc').filter((pid) => {
  try {
    return /^\d+$/u.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes('SIGCONT');
  } catch {
    return false;
  }
}).length;

/** Front-ends are part of what is not to be left. */
function withLab(body: (place: Place) => Promise<void>): () => Promise<void> {
  return withPlace((place) => body(place).finally(() => {
    for (const child of started) child.kill('SIGKILL');
    started.clear();
  }));
}

const RANK_2 = { kind: 'rank', rank: 2 } as const;

suite('faults in real sessions', (test) => {
  test('a rank is stopped, and continued after its time, when it is undone, when the front-end is killed',
    withLab(async (place) => {
      place.start('lab');
      const { pids } = await startJob(place);
      const pid = pids[2] as number;
      const stopped = (): boolean => stateOf(pid) === 'T';
      const front = await new FrontEnd(place, 'lab').begun();
      const pause = { kind: 'pause', victim: RANK_2 } as const;
      const injected = await front.inject({ ...pause, id: 'a', durationMs: 700 }, 'injected');
      const undone = await front.report('a', 'undone');
      assert.ok(undone.monotonicMs - injected.monotonicMs >= 699);
      assert.is(stopped(), false);
      await front.inject({ ...pause, id: 'b', durationMs: HOUR_MS }, 'injected');
      await soon(stopped, 'the stop');
      assert.equal([await front.undo('b'), stopped()], [[], false]);
      await front.inject({ ...pause, id: 'c', durationMs: HOUR_MS }, 'injected');
      await soon(stopped, 'the stop');
      front.child.kill('SIGKILL');
      await soon(() => !stopped() && stateOf(pid) !== undefined, 'the rank to go on');
    }), LONG);

  test('an agent is stopped and goes on, and so is a host; who continues it is not left',
    withLab(async (place) => {
      place.start('lab', '--mca', 'bootcom.lease=10m');
      const { pids, agents } = await startJob(place);
      const agent = agents.get('b') as number;
      const front = await new FrontEnd(place, 'lab').begun();
      const victim = { kind: 'agent', role: 'root', host: 1 } as const;
      const host = { kind: 'host', host: 1 } as const;
      const stopped = (): readonly number[] => [agent, ...pids].filter((pid) => stateOf(pid) === 'T');
      // A short one is over before this process looks, on a busy machine: only reports tell of it.
      for (const [id, whom] of [['a', victim], ['b', host]] as const) {
        const injected = await front.inject({ id, kind: 'pause', victim: whom, durationMs: 700 }, 'injected');
        const undone = await front.report(id, 'undone');
        // It is stopped once its report has left: within moments, or it would not be in force when it says so.
        assert.ok(undone.monotonicMs - injected.monotonicMs >= 699, JSON.stringify(front.lines));
        await soon(() => stopped().length === 0, `all to go on after ${id}`);
      }
      // A long one is seen; the test itself continues the agent, which can be told again.
      await front.inject({ id: 'h', kind: 'pause', victim: host, durationMs: HOUR_MS }, 'injected');
      const [, , third = 0, fourth = 0] = pids;
      await soon(() => stopped().join() === [agent, third, fourth].join(), 'the stop of all on the host');
      process.kill(agent, 'SIGCONT');
      assert.equal(await front.undo('h'), []);
      await soon(() => stopped().length === 0, 'all to go on');
      // Its starter is killed while it is stopped: it goes on, and ends.
      await front.inject({ id: 'l', kind: 'pause', victim, durationMs: HOUR_MS }, 'injected');
      await soon(() => stateOf(agent) === 'T', 'the stop');
      const controller = { kind: 'agent', role: 'controller', host: 0 } as const;
      await front.inject({ id: 'k', kind: 'agent', victim: controller }, 'injected');
      await soon(() => [agent, ...pids].every((pid) => stateOf(pid) === undefined), 'the end of all');
      await soon(() => continuers() === 0, 'the end of those that continue others');
    }), LONG);

  test('load ends with its time, and with a killed agent; a session of its own ends with the front-end',
    withLab(async (place) => {
      place.start('lab');
      const { pids } = await startJob(place);
      const front = await new FrontEnd(place, 'lab', { ownsSession: true }).begun();
      const loads = (): string[] => readdirSync('/proc').filter((pid) => {
        try {
          if (!/^\d+$/u.test(pid)) return false;
          return /while kill -0 .*i + 1|1048576/u.test(readFileSync(`/proc/${pid}/cmdline`, 'latin1'));
        } catch {
          return false;
        }
      });
      const load = { kind: 'load', args: { cpu: 1, memory: 1_048_576 }, victim: { kind: 'host', host: 1 } } as const;
      await front.inject({ ...load, id: 'a', durationMs: 500 }, 'undone');
      await soon(() => loads().length === 0, 'the end of the load');
      await front.inject({ ...load, id: 'b', durationMs: HOUR_MS }, 'injected');
      await soon(() => loads().length >= 3, 'two shells, head or sleep, tail');
      await front.inject({ id: 'r', kind: 'host', victim: { kind: 'host', host: 1 } }, 'injected');
      await soon(() => loads().length === 0, 'the end of the load with its agent');
      await soon(() => [2, 3].every((rank) => stateOf(pids[rank] as number) === undefined), 'the end of the ranks');
      await front.inject({ ...load, id: 'c', victim: { kind: 'host', host: 0 }, durationMs: HOUR_MS }, 'injected');
      front.child.kill('SIGKILL');
      await soon(() => place.names().length === 0 && loads().length === 0, 'the end of the session');
    }), LONG);

  test('a link is silent for a time, and all go on; beyond the lease, its host ends', withLab(async (place) => {
    place.start('lab', '--mca', 'bootcom.lease=4s');
    const { pids, agents } = await startJob(place);
    const front = await new FrontEnd(place, 'lab').begun();
    const silent = { kind: 'link', victim: { kind: 'link', ends: [0, 2] } } as const;
    await front.inject({ ...silent, id: 'a', durationMs: 1000 }, 'injected');
    await front.report('a', 'undone');
    assert.ok(pids.every((pid) => stateOf(pid) !== undefined), 'all ranks run');
    await front.inject({ ...silent, id: 'b', durationMs: HOUR_MS }, 'injected');
    const far = [agents.get('b') as number, pids[2] as number, pids[3] as number];
    await soon(() => far.every((pid) => stateOf(pid) === undefined), 'the end of all behind the link');
    assert.ok([0, 1].every((rank) => stateOf(pids[rank] as number) !== undefined), 'the others go on');
    assert.equal(await front.undo('b'), []);
  }), LONG);

  test('a rank ends with a status; its marks are events of the job', withLab(async (place) => {
    place.start('lab');
    const program = `import { connect } from '${CLIENT}'; const c = await connect(); c.mark('ready ' + c.rank);
      try { c.mark('\\n'); } catch (error) { c.mark(error.code); }
      setInterval(() => undefined, 1000);`;
    const job = place.run('lab', ['--client', '--json', '--on-failure', 'continue', '-n', '2', '--',
      process.execPath, '--input-type=module', '-e', program], { limitMs: 100_000 });
    const marks = (): string[] => job.out().split('\n').filter((line) => line.startsWith('{"type":"mark"'));
    await soon(() => marks().length === 4, 'the marks');
    const [first] = marks().map((line) => JSON.parse(line) as Record<string, unknown>).filter(({ rank }) => rank === 0);
    assert.equal([first?.['name'], first?.['host'], typeof first?.['time']], ['ready 0', 'a', 'string']);
    assert.is(marks().filter((line) => line.includes('STCI_CLIENT_ARGUMENT')).length, 2);
    const front = await new FrontEnd(place, 'lab').begun();
    await front.inject({ id: 'e', kind: 'exit', args: { status: 7 }, victim: { kind: 'rank', rank: 0 } }, 'injected');
    await front.inject({ id: 'f', kind: 'exit', args: { status: 0 }, victim: { kind: 'rank', rank: 1 } }, 'injected');
    const { exitCode, out } = await job.result;
    assert.equal([exitCode, /"status":7/u.test(out)], [7, true]);
  }), LONG);
});
