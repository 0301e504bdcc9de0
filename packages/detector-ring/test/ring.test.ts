/** The ring: compliance, and the bounds of the IJHPCA paper. */

import { MemberView } from '@stci/core/component';
import { detectorRing } from '@stci/detector-ring';
import type { Detector, DetectorAction, MemberId, Position } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import {
  DetectorRun, detectorCompliance, detectorModule, firstSuspicionMs, type DetectorCase,
} from '@stci/testkit/compliance';

const PERIOD_MS = 100;
const TIMEOUT_MS = 10 * PERIOD_MS;
const LATENCY_MS = 5;

const PAPER: DetectorCase = { label: 'paper', params: { period: '100ms', grace: '0ms', 'lag.max': '0ms' } };

detectorCompliance(detectorRing, [
  PAPER,
  { label: 'tight', params: { period: '50ms', timeout: '100ms', grace: '300ms' }, graceMs: 300 },
  { label: 'one timeout to reconnect', params: { period: '100ms', timeout: '300ms', grace: '0ms', reconnect: '1' } },
  { label: 'cabinets', params: { period: '100ms', grace: '0ms', order: 'cabinets:0*3,1*3,2*5' } },
]);

const ring = detectorModule(detectorRing, PAPER.params);

/** Who sends to whom within a period. */
function heartbeats({ model }: DetectorRun): string[] {
  const seen = new Set<string>();
  model.onSend = (from, to) => void seen.add(`${from}>${to}`);
  model.run(model.nowMs + 1.2 * PERIOD_MS);
  return [...seen].sort();
}

function ringOf(positions: readonly Position[]): string[] {
  return positions.map((position, i) => `${position}>${positions[(i + 1) % positions.length]}`).sort();
}

suite('ring: stabilization (IJHPCA, 3.3)', (test) => {
  for (const size of [8, 16, 33, 64]) {
    for (let failures = 1; failures <= Math.floor(Math.log2(size)) - 1; failures++) {
      test(`${size} agents, ${failures} overlapping failures: stable again within T(f)`, () => {
        for (let seed = 1; seed <= 160 / size; seed++) checkStabilization(size, failures, seed);
      }, { timeoutMs: 60_000 });
    }
  }

  function checkStabilization(size: number, f: number, seed: number): void {
    // A broadcast of the paper takes 8 · latency · log2 n.
    const noticeBoundMs = 8 * LATENCY_MS * Math.log2(size);
    const run = new DetectorRun(ring, PAPER, size, seed, { noticeBoundMs });
    const { model, steadyMs } = run;
    const isContiguous = seed % 2 === 0;
    const base = model.below(size);
    const dead = new Set<Position>();
    for (let i = 0; dead.size < f; i++) {
      const position = 1 + (isContiguous ? (base + i) % (size - 1) : model.below(size - 1));
      dead.add(position);
      model.at(steadyMs + model.random() * TIMEOUT_MS, () => model.crash(position));
    }
    const stableMs = f * (f + 1) * TIMEOUT_MS + f * LATENCY_MS + ((f * (f + 1)) / 2) * noticeBoundMs;
    model.run(steadyMs + stableMs + TIMEOUT_MS);
    const reported = new Set(model.reports.map(({ failed }) => failed.position));
    assert.equal([...reported].sort(), [...dead].sort(), `seed ${seed}: exactly the dead are reported`);
    // Replaced observers had heartbeats for two timeouts more.
    model.run(model.nowMs + 2 * TIMEOUT_MS);
    assert.equal(heartbeats(run), ringOf(model.living), `seed ${seed}: the ring is closed again`);
  }
});

suite('ring: detection', (test) => {
  test('an agent that is asked before it starts sends nothing: heartbeats begin with the start', () => {
    const members = [0, 1, 2].map((position) => ({ position, incarnation: 1 }));
    const self = members[1] as MemberId;
    const view = new MemberView(self, members);
    const one = ring.open({ self, members: view, topologyOf: undefined, answerMs: 0, random: () => 0.5 });
    const from = members[2] as MemberId;
    assert.equal(one.on({ type: 'message', from, body: { type: 'observe' } }, 10), []);
    one.on({ type: 'start' }, 20);
    const sent = one.on({ type: 'due' }, 20).filter(({ type }) => type === 'send');
    assert.equal(sent, [{ type: 'send', to: 2, body: { type: 'heartbeat', lagMs: 0 } }]);
  });

  const start = (size: number, seed: number, more = {}): DetectorRun => new DetectorRun(ring, PAPER, size, seed, more);

  test('scattered deaths overlap, contiguous ones cost two timeouts each after the first', () => {
    const last = (dead: readonly Position[]): number => {
      const run = start(16, dead.length);
      run.model.at(run.steadyMs, () => dead.forEach((position) => run.model.crash(position)));
      run.model.run(run.steadyMs + 20 * TIMEOUT_MS);
      return Math.max(...dead.map((position) => run.delayOf(position) ?? Infinity));
    };
    assert.ok(last([3, 6, 9, 12]) <= TIMEOUT_MS + LATENCY_MS, 'scattered');
    const contiguous = last([3, 4, 5, 6]);
    assert.ok(contiguous > 6 * TIMEOUT_MS && contiguous <= 7 * TIMEOUT_MS + 8 * LATENCY_MS, `${contiguous} ms`);
  });

  test("the controller's neighbours, both at once", () => {
    for (let seed = 1; seed <= 20; seed++) {
      const run = start(6, seed);
      for (const position of [1, 5]) run.model.at(run.steadyMs, () => run.model.crash(position));
      run.model.run(run.steadyMs + 4 * TIMEOUT_MS);
      assert.equal(run.model.living, [0, 2, 3, 4]);
      assert.equal(new Set(run.model.reports.map(({ failed }) => failed.position)), new Set([1, 5]));
    }
  });

  test('NEW_OBSERVER mends the ring before the notice arrives', () => {
    for (let seed = 1; seed <= 20; seed++) {
      const run = start(8, seed, { noticeBoundMs: 20 * TIMEOUT_MS });
      run.model.at(run.steadyMs, () => run.model.crash(4));
      run.model.run(run.steadyMs + 10 * TIMEOUT_MS);
      assert.equal(run.model.reports.filter(({ failed }) => failed.position !== 4), [], `seed ${seed}`);
    }
  });

  test('an agent that comes back before the others are told is not suspected', () => {
    for (let seed = 1; seed <= 20; seed++) {
      const run = start(8, seed, { noticeBoundMs: TIMEOUT_MS / 2 });
      const { model, steadyMs } = run;
      model.at(steadyMs, () => model.crash(4));
      model.at(steadyMs + 5 * TIMEOUT_MS, () => model.restart(4));
      model.run(steadyMs + 20 * TIMEOUT_MS);
      assert.equal(model.reports.filter(({ isAlive }) => isAlive), [], `seed ${seed}`);
      assert.equal(heartbeats(run), ringOf(model.living), `seed ${seed}`);
    }
  });

  test('of a partition the side of the controller is left', () => {
    for (let seed = 1; seed <= 20; seed++) {
      const { model, steadyMs } = start(9, seed);
      const away = [3, 4, 7];
      model.at(steadyMs, () => model.cut(away));
      model.at(steadyMs + 60 * TIMEOUT_MS, () => model.cut([]));
      model.run(steadyMs + 90 * TIMEOUT_MS);
      assert.equal(model.living, [0, 1, 2, 5, 6, 8], `seed ${seed}`);
    }
  });
});

suite('ring: one agent', (test) => {
  const member = (position: Position, incarnation = 1): MemberId => ({ position, incarnation });
  let members = new MemberView(member(2));
  const sends = (actions: readonly DetectorAction[]): string[] => {
    return actions.flatMap((action) => (action.type === 'send' ? [`${action.to} ${JSON.stringify(action.body)}`] : []));
  };
  /** At position 2: watches 1, sends to 3. */
  const open = (params: Readonly<Record<string, string>> = {}, answerMs = 0): Detector => {
    const module = detectorModule(detectorRing, { period: '100ms', grace: '0ms', ...params });
    members = new MemberView(member(2), [0, 1, 3].map((position) => member(position)));
    return module.open({ self: member(2), members, topologyOf: undefined, answerMs, random: () => 0 });
  };
  const heartbeat = (lagMs: number) => {
    return { type: 'message', from: member(1), body: { type: 'heartbeat', lagMs } } as const;
  };

  test('watching begins with the start, and the first heartbeat may take the grace longer', () => {
    const detector = open({ grace: '3s' });
    assert.is(detector.dueMs, undefined);
    detector.on({ type: 'start' }, 0);
    assert.equal(detector.on({ type: 'due' }, 3999).filter(({ type }) => type === 'report'), []);
    assert.is(detector.on({ type: 'due' }, 4000).filter(({ type }) => type === 'report').length, 1);
  });

  test('who joins may take the grace longer, too', () => {
    const module = detectorModule(detectorRing, { period: '100ms', timeout: '300ms', grace: '1s' });
    assert.is(firstSuspicionMs(module, 5000), 6300);
  });

  test('an emitter that was asked for heartbeats is asked again each period until it is heard', () => {
    const detector = open();
    detector.on({ type: 'start' }, 0);
    const asked = (nowMs: number): string[] =>
      sends(detector.on({ type: 'due' }, nowMs)).filter((text) => text.includes('observe'));
    assert.equal([asked(100), asked(150), asked(200)], [['1 {"type":"observe"}'], [], ['1 {"type":"observe"}']]);
    detector.on(heartbeat(0), 250);
    assert.equal(asked(300), []);
  });

  test('one that stays a member, as the controller does, is asked on, and reported once until it is heard', () => {
    const detector = open();
    detector.on({ type: 'start' }, 0);
    detector.on(heartbeat(0), 10);
    const until = (startMs: number, endMs: number): (string | number)[] => {
      let [reports, last] = [0, ''];
      for (let now = startMs; now < endMs; now += 50) {
        const actions = detector.on({ type: 'due' }, now);
        reports += actions.filter(({ type }) => type === 'report').length;
        last = sends(actions).find((text) => text.startsWith('1')) ?? last;
      }
      return [reports, last];
    };
    assert.equal(until(10, 5000), [1, '1 {"type":"observe"}']);
    detector.on(heartbeat(0), 5000);
    assert.equal([until(5000, 6000), until(6000, 6100)[0]], [[0, ''], 1]);
  });

  test('the lag that a heartbeat carries is granted, up to the bound', () => {
    const due = (lagMs: number): number => {
      const detector = open({ 'lag.max': '200ms' });
      detector.on({ type: 'start' }, 0);
      detector.on(heartbeat(lagMs), 10);
      for (let now = 0; ; now = detector.dueMs as number) {
        if (detector.on({ type: 'due' }, now).some(({ type }) => type === 'report')) return now;
      }
    };
    assert.equal([due(0), due(150), due(10_000)], [1010, 1160, 1210]);
  });

  test('it suspects in time for an answer, not a heartbeat that is late, and trusts one that is heard', () => {
    const found = (answerMs: number, params: Readonly<Record<string, string>> = {}): string[] => {
      const detector = open(params, answerMs);
      detector.on({ type: 'start' }, 0);
      const news: string[] = [];
      const take = (actions: readonly DetectorAction[], now: number): void => actions.forEach(({ type }) => {
        if (type === 'suspect' || type === 'trust' || type === 'report') news.push(`${type} ${now}`);
      });
      take(detector.on(heartbeat(0), 0), 0);
      for (let now = 0; now < 950; now = detector.dueMs as number) take(detector.on({ type: 'due' }, now), now);
      take(detector.on(heartbeat(0), 950), 950);
      for (let now = 950; now < 2000; now = detector.dueMs as number) take(detector.on({ type: 'due' }, now), now);
      return news;
    };
    assert.equal(found(200), ['suspect 800', 'trust 950', 'suspect 1750', 'report 1950']);
    assert.equal(found(5000), ['suspect 700', 'trust 950', 'suspect 1650', 'report 1950']);
    assert.equal(found(0), ['suspect 1950', 'report 1950']);
  });

  test('an agent that ran late says so in its heartbeats, less with each', () => {
    const detector = open();
    detector.on({ type: 'start' }, 0);
    detector.on({ type: 'lag', lagMs: 400 }, 400);
    const body = (now: number): string[] => sends(detector.on({ type: 'due' }, now)).filter((to) => to.startsWith('3'));
    assert.equal(body(400), ['3 {"type":"heartbeat","lagMs":400}']);
    assert.equal(body(500), ['3 {"type":"heartbeat","lagMs":200}']);
  });

  test('an observer that was replaced has heartbeats for two timeouts, unless it is dead', () => {
    const detector = open();
    detector.on({ type: 'start' }, 0);
    detector.on({ type: 'message', from: member(0), body: { type: 'observe' } }, 50);
    const targets = (now: number): string[] => {
      detector.on(heartbeat(0), now);
      return sends(detector.on({ type: 'due' }, now)).map((text) => text.slice(0, 1));
    };
    assert.equal(targets(100), ['3', '0']);
    members.lose(member(3), 'reported');
    detector.on({ type: 'gone', member: member(3) }, 150);
    assert.equal(targets(200), ['0']);
    members.refute(member(3));
    detector.on({ type: 'refuted', member: member(3) }, 250);
    assert.equal(targets(300), ['0', '3']);
    assert.equal(targets(2300), ['3']);
  });
});
