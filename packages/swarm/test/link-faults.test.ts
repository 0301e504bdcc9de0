// @timeoutMs 240000
/** Faults at links, in whole simulated sessions of shipped code: what is silent, late or closed is so for both ends. */

import type { FailureRecord, FaultOrder, FaultVictim, JobReport } from '@stci/interface';
import { lineBytes } from '@stci/platform-sim';
import { InjectionRun } from '@stci/swarm';
import { assert, suite } from '@stci/testkit';

const LEASE_MS = 2000;
const LINES = 400;
/** Each rank writes for 4 s. */
const WRITE = ['lines', String(LINES), '80', '0.01'];

type Args = FaultOrder['args'];

const expected = (rank: number): string =>
  Buffer.from(lineBytes(String(rank), 'stdout', 0, LINES, 80)).toString('latin1');

class LinkRun extends InjectionRun {
  readonly front = this.experimenter();

  order1(kind: string, victim: FaultVictim, durationMs: number, args: Args = {}): FaultOrder {
    return this.order({ kind, victim, durationMs, args });
  }

  get report(): JobReport | undefined {
    return this.events.flatMap((event) => (event.type === 'ended' ? [event.report] : []))[0];
  }

  get records(): FailureRecord[] {
    return this.events.flatMap((event) => (event.type === 'failure-record' ? [event.record] : []));
  }

  /** Everything but the login host's, on these hosts. */
  onHosts(...hosts: number[]): string[] {
    return this.left.filter((line) => hosts.some((host) => line.startsWith(`n${host}:`)));
  }

  states(id = '1.fault.1'): string[] {
    return [...new Set(this.front.reports.filter((each) => each.id === id).map(({ state }) => state))];
  }

  endJob(withinMs = 60_000): JobReport {
    this.until('the end of the job', () => this.report !== undefined, withinMs);
    return this.report as JobReport;
  }

  assertOutput(ranks: readonly number[]): void {
    for (const rank of ranks) assert.is(this.out[rank], expected(rank), `output of rank ${rank}`);
  }
}

function run(command: readonly string[], more: Partial<ConstructorParameters<typeof InjectionRun>[0]> = {}): LinkRun {
  return new LinkRun({ hosts: 4, ranks: 8, command, ...more });
}

const ALL = [0, 1, 2, 3, 4, 5, 6, 7];
const link = (a: number, b: number): FaultVictim => ({ kind: 'link', ends: [a, b] });
const WIDE = { timeoutMs: 60_000 };

/** The job has ended well, nobody was given up, no byte is missing, nothing is left. */
function assertHarmless(sim: LinkRun): void {
  assert.equal([sim.endJob().exitCode, sim.records.length], [0, 0]);
  sim.assertOutput(ALL);
  assert.equal(sim.states(), ['injected', 'undone']);
  assert.equal(sim.stop(), []);
}

suite('links that are silent for less than half of the lease', (test) => {
  for (const ends of [[0, 1], [0, 2], [1, 3]] as const) {
    for (const direction of ['both', 'in', 'out']) {
      test(`${ends.join(' and ')}, ${direction}: nobody is given up, no output is lost`, () => {
        const sim = run(WRITE);
        sim.inject(sim.front, sim.order1('link', link(ends[0], ends[1]), LEASE_MS / 2, { direction }));
        const before = sim.out.join('').length;
        sim.rest(LEASE_MS / 4);
        assert.ok(sim.out.join('').length > before, 'the others write');
        assertHarmless(sim);
      }, WIDE);
    }
  }

  test('nothing passes meanwhile', () => {
    const sim = run(WRITE);
    sim.rest(500);
    sim.inject(sim.front, sim.order1('link', link(0, 2), LEASE_MS / 2));
    sim.rest(100);
    const before = sim.out.map((text) => text.length);
    sim.rest(LEASE_MS / 2 - 300);
    const after = sim.out.map((text) => text.length);
    assert.equal(ALL.filter((rank) => after[rank] === before[rank]), [1, 5], 'the ranks of host 1');
    assertHarmless(sim);
  }, WIDE);

  test('undone by order', () => {
    const sim = run(WRITE);
    sim.inject(sim.front, sim.order1('link', link(0, 2), 60_000));
    sim.rest(LEASE_MS / 4);
    let left: readonly string[] | undefined;
    sim.front.client.experiment.undo('1.fault.1', (_error, names) => (left = names));
    sim.until('the undo', () => left !== undefined);
    assert.equal(left, []);
    assertHarmless(sim);
  }, WIDE);
});

suite('links that are late, slow, closed', (test) => {
  test('a delay loses nothing and fails nobody', () => {
    const sim = run(WRITE);
    sim.inject(sim.front, sim.order1('link', link(0, 1), 3000, { mode: 'delay', delay: 150, jitter: 100 }));
    assertHarmless(sim);
  }, WIDE);

  test('a rate slows output down and loses nothing', () => {
    const sim = run(['lines', String(LINES), '80', '0.002']);
    sim.inject(sim.front, sim.order1('link', link(0, 1), 60_000, { mode: 'throttle', rate: 20_000 }));
    const startMs = sim.world.nowMs;
    // Four ranks below, each of which writes 32 000 bytes.
    sim.until('all output', () => ALL.every((rank) => sim.out[rank]?.length === LINES * 80), 60_000);
    const tookMs = sim.world.nowMs - startMs;
    assert.ok(tookMs > 6400 && tookMs < 30_000, `${tookMs} ms`);
    assert.equal([sim.endJob().exitCode, sim.records.length], [0, 0]);
    sim.assertOutput(ALL);
    assert.equal(sim.stop(), []);
  }, WIDE);

  for (const ends of [[0, 1], [3, 1]] as const) {
    test(`${ends.join(' and ')} closed: the tree mends, the job goes on`, () => {
      const sim = run(WRITE);
      sim.inject(sim.front, sim.order1('link', link(ends[0], ends[1]), 500, { mode: 'close' }));
      assertHarmless(sim);
    }, WIDE);
  }

  test('where there is no link, none can be closed', () => {
    const sim = run(['sleep', '600']);
    sim.inject(sim.front, sim.order1('link', link(1, 2), 500, { mode: 'close' }), 'failed');
    assert.match(sim.front.reports.at(-1)?.text ?? '', /there is no link to close/);
    assert.equal(sim.stop(), []);
  }, WIDE);
});

suite('links that are silent for longer than the lease', (test) => {
  for (const host of [0, 1, 3]) {
    test(`host ${host} is given up, its ranks are lost, and it ends itself while it is cut off`, () => {
      const sim = run(['sleep', '20']);
      const sets = [[0, 1, 2, 3, 4].filter((position) => position !== host + 1)];
      sim.inject(sim.front, sim.order1('partition', { kind: 'partition', sets }, 600_000));
      sim.until('its end', () => sim.onHosts(host).length === 0, 4 * LEASE_MS);
      // Host 0 has its own part: it is silent to the agents below it.
      assert.equal(sim.states(), host === 0 ? ['injected', 'lapsed'] : ['injected']);
      sim.until('a record', () => sim.records.length > 0, 4 * LEASE_MS);
      assert.equal(sim.records.map(({ hostName }) => hostName), [`n${host}`]);
      const report = sim.endJob();
      assert.equal(report.ranks.filter(({ outcome }) => outcome === 'lost').map(({ rank }) => rank), [host, host + 4]);
      assert.equal(sim.stop(), []);
    }, WIDE);
  }

  for (const direction of ['in', 'out']) {
    test(`only ${direction}, to a leaf: as well`, () => {
      const sim = run(['sleep', '20']);
      sim.inject(sim.front, sim.order1('link', link(0, 2), 600_000, { direction }));
      sim.until('its end', () => sim.onHosts(1).length === 0, 6 * LEASE_MS);
      const lost = sim.endJob().ranks.filter(({ outcome }) => outcome === 'lost');
      assert.equal(lost.map(({ rank }) => rank), [1, 5]);
      assert.equal(sim.stop(), []);
    }, WIDE);
  }

  test('a link between two agents alone: the one below gets another parent', () => {
    const sim = run(WRITE);
    sim.inject(sim.front, sim.order1('link', link(1, 3), 600_000));
    assert.equal([sim.endJob().exitCode, sim.records.length], [0, 0]);
    sim.assertOutput(ALL);
    assert.equal(sim.stop(), []);
  }, WIDE);

  test('undone after the far side has ended: the session goes on without it', () => {
    const sim = run(['sleep', '30']);
    sim.inject(sim.front, sim.order1('link', link(0, 2), 600_000));
    sim.until('its end', () => sim.onHosts(1).length === 0, 4 * LEASE_MS);
    let left: readonly string[] | undefined;
    sim.front.client.experiment.undo('', (_error, names) => (left = names));
    sim.until('the undo', () => left !== undefined);
    assert.equal([left, sim.states()], [[], ['injected', 'undone']]);
    assert.is(sim.endJob().ranks.filter(({ outcome }) => outcome === 'lost').length, 2);
    assert.equal(sim.stop(), []);
  }, WIDE);

  test('the session is stopped meanwhile: nothing is left of either side', () => {
    for (const afterMs of [0, LEASE_MS / 2, LEASE_MS * 1.2, LEASE_MS * 3]) {
      const sim = run(['sleep', '600']);
      sim.inject(sim.front, sim.order1('partition', { kind: 'partition', sets: [[0, 1, 3]] }, 600_000));
      sim.rest(afterMs);
      assert.equal(sim.stop(), [], `after ${afterMs} ms`);
    }
  }, WIDE);

  test('a host is given up early: it is not killed over the silent link, and started again only after it', () => {
    const settings = {
      detector: 'ring', 'detector.ring.period': '100ms', 'detector.ring.timeout': '500ms',
      'errmgr.loss': 'start-again', 'errmgr.loss.pause': '0ms',
    };
    const sim = run(['sleep', '60'], { settings, jobParams: { errmgr: ['restart'] } });
    sim.inject(sim.front, sim.order1('link', link(0, 2), 8000));
    sim.until('the host is given up', () => sim.events.some(({ type }) => type === 'recovery'), LEASE_MS / 2);
    sim.rest(LEASE_MS / 3);
    assert.equal(sim.onHosts(1).filter((line) => line.endsWith('sleep 60')).length, 2, 'its ranks run until its lease');
    sim.until('the undo', () => sim.states().includes('undone'), 10_000);
    const isUp = (): boolean => sim.events.some((event) => event.type === 'host-up' && event.host === 1);
    assert.equal([isUp(), sim.tools.filter(({ host }) => host === 'n1').length], [false, 0]);
    sim.until('the host', isUp, 1000);
    assert.is(sim.tools.length, 8, 'all ranks run');
    assert.equal(sim.stop(), []);
  }, WIDE);

  test('an agent that dies meanwhile is as silent as one that lives', () => {
    const sim = run(['sleep', '20']);
    sim.inject(sim.front, sim.order1('link', link(0, 2), 600_000));
    sim.rest(100);
    const startMs = sim.world.nowMs;
    const agent = sim.agents.find(({ host }) => host === 'n1');
    sim.world.killProcess('n1', agent?.pid ?? 0);
    sim.until('a record', () => sim.records.length > 0, 4 * LEASE_MS);
    assert.ok(sim.world.nowMs - startMs > LEASE_MS * 0.9, `${sim.world.nowMs - startMs} ms`);
    assert.equal(sim.records.map(({ cause }) => cause), ['silent']);
    assert.equal(sim.stop(), []);
  }, WIDE);
});

suite('partitions', (test) => {
  const sets: Readonly<Record<string, readonly (readonly number[])[]>> = {
    halves: [[0, 1, 2, 3], [4, 5, 6]],
    bridge: [[0, 1, 2, 3], [3, 4, 5, 6]],
    ring: [[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 6], [6, 0]],
    'each alone': [],
  };
  const overlays = { 'no overlay': {}, overlay: {
    'overlay.topology': 'bmg', 'overlay.open': 'eager', 'bootcom.ws.interface': 'eth0',
  } };
  for (const [form, parts] of Object.entries(sets)) {
    for (const [name, settings] of Object.entries(overlays)) {
      const started = (): LinkRun => run(WRITE, { hosts: 6, ranks: 8, settings });

      test(`${form}, ${name}: soon over, it harms nobody`, () => {
        const sim = started();
        sim.inject(sim.front, sim.order1('partition', { kind: 'partition', sets: parts }, 600));
        if (name === 'no overlay') return assertHarmless(sim);
        assert.is(sim.endJob().ranks.length, 8);
        assert.equal(sim.stop(), []);
      }, WIDE);

      test(`${form}, ${name}: for long, those that nobody reaches end; nothing is left`, () => {
        const sim = started();
        sim.inject(sim.front, sim.order1('partition', { kind: 'partition', sets: parts }, 15_000));
        sim.rest(20_000);
        const report = sim.endJob();
        for (const { rank, outcome } of report.ranks) if (outcome === 'exited') sim.assertOutput([rank]);
        assert.ok(!sim.states().includes('failed'), sim.front.reports.map(({ text }) => text).join('; '));
        assert.equal(sim.stop(), []);
      }, WIDE);
    }
  }
});
