// @timeoutMs 240000
/** Detectors of agents in whole sessions: who dies, stands still or is cut off is found, told to all, and ends. */

import type { FailureRecord } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { runHosts, type HostsSession } from '@stci/swarm';

const HOSTS = 8;

/** A heartbeat or ping takes much less than its period. */
const DETECTORS = {
  ring: { 'detector.ring.period': '100ms', 'detector.ring.timeout': '500ms', 'detector.ring.grace': '0' },
  mesh: { 'detector.mesh.period': '100ms', 'detector.mesh.timeout': '500ms', 'detector.mesh.grace': '0' },
  swim: { 'detector.swim.period': '100ms', 'detector.swim.grace': '0' },
} as const;

/** Who is waited for is reported after twice the timeout and a period, and the time of a message. */
const SPORADIC = { 'detector.sporadic.period': '100ms', 'detector.sporadic.timeout': '500ms' };
const SPORADIC_MS = 1100;
const LATENCY_MS = 20;

type Name = keyof typeof DETECTORS;

const recordsOf = ({ events }: HostsSession): FailureRecord[] =>
  events.flatMap((event) => (event.type === 'failure-record' ? [event.record] : []));

const OF = { ...DETECTORS, sporadic: SPORADIC };

interface Scene {
  readonly detector: Name | 'sporadic';
  readonly seed: number;
  readonly settings?: Readonly<Record<string, string>>;
}

interface Outcome {
  readonly records: readonly FailureRecord[];
  readonly states: readonly string[];
}

/** Runs `act` once all watch, and looks after `waitMs` at what became of the hosts. */
function play({ detector, seed, settings }: Scene, waitMs: number, act: (one: HostsSession) => void): Outcome {
  let outcome: Outcome | undefined;
  const all = { detector, 'launcher.tree.arity': '2', 'bootcom.lease': '20s', ...OF[detector], ...settings };
  const problems = runHosts({ seed, hosts: HOSTS, hostsMax: HOSTS, settings: all }, (one) => {
    one.clock.after(3000, () => act(one));
    one.clock.after(3000 + waitMs, () => {
      outcome = {
        records: recordsOf(one),
        states: one.session.hosts.map(({ state, incarnation }) => `${state} ${incarnation}`),
      };
      one.stop();
    });
  });
  assert.equal(problems, []);
  return outcome as Outcome;
}

const agentOf = (one: HostsSession, host: number): { host: string; pid: number } => {
  const found = one.world.livingProcesses()
    .find((each) => each.host === `n${host}` && each.command[0] === 'stci-agent');
  assert.ok(found !== undefined, `host ${host} has an agent`);
  return found;
};

suite('detectors in a session', (test) => {
  for (const detector of Object.keys(DETECTORS) as Name[]) {
    test(`${detector}: a host that stands still is given up once, and ends when it goes on; no other is`, () => {
      for (let host = 0; host < HOSTS; host++) {
        const { records, states } = play({ detector, seed: host }, 12_000, (one) => {
          const { host: name, pid } = agentOf(one, host);
          one.world.pauseProcess(name, pid);
          one.world.at(one.world.nowMs + 6000, () => one.world.resumeProcess(name, pid));
        });
        assert.equal(states, Array.from({ length: HOSTS }, (_, i) => (i === host ? 'fenced 1' : 'up 1')));
        assert.equal(records.map(({ hostName, cause, detector: by }) => [hostName, cause, by]),
          [[`n${host}`, 'silent', detector]]);
      }
    }, { timeoutMs: 60_000 });

    test(`${detector}: one that stands still for less than its timeout is nobody's failure`, () => {
      const { records, states } = play({ detector, seed: 1 }, 8000, (one) => {
        const { host, pid } = agentOf(one, 5);
        one.world.pauseProcess(host, pid);
        one.world.at(one.world.nowMs + 150, () => one.world.resumeProcess(host, pid));
      });
      assert.equal([records, states], [[], Array(HOSTS).fill('up 1')]);
    });
  }

  test('ring: hosts that are cut off are given up on the side of the controller, and end once mended', () => {
    const { states, records } = play({ detector: 'ring', seed: 3 }, 12_000, (one) => {
      const all = [...one.world.hosts].map(({ name }) => name);
      const cut = ['n3', 'n4'];
      const mend = one.world.partition(cut, all.filter((name) => !cut.includes(name)));
      one.world.at(one.world.nowMs + 5000, mend);
    });
    assert.equal(states, Array.from({ length: HOSTS }, (_, i) => (i === 3 || i === 4 ? 'fenced 1' : 'up 1')));
    assert.equal(records.map(({ hostName }) => hostName).sort(), ['n3', 'n4']);
  });

  test('ring: a killed agent is found by its parent, told to all, and started again as another incarnation', () => {
    const settings = { 'errmgr.loss': 'start-again' };
    const { states, records } = play({ detector: 'ring', seed: 4, settings }, 12_000, (one) => one.kill(2));
    assert.equal(states, Array.from({ length: HOSTS }, (_, i) => (i === 2 ? 'up 2' : 'up 1')));
    const [record, ...more] = records;
    assert.equal([record?.hostName, record?.cause, more], ['n2', 'exited', []]);
    assert.equal(record?.newParents.map(({ host }) => host).sort(), ['n6', 'n7']);
    assert.ok((record?.notified ?? 0) >= HOSTS - 2, `${record?.notified} agents were told`);
  });

  test('sporadic: one that stands still is found once somebody waits for it, in the promised time', () => {
    for (const waitsFrom of [undefined, 1000]) {
      const scene = { detector: 'sporadic', seed: 5, settings: { 'bootcom.lease': '60s' } } as const;
      let sinceWallMs = 0;
      const { states, records } = play(scene, 8000, (one) => {
        const { host, pid } = agentOf(one, 5);
        one.world.pauseProcess(host, pid);
        one.world.at(one.world.nowMs + 7500, () => one.world.resumeProcess(host, pid));
        if (waitsFrom === undefined) return;
        one.clock.after(waitsFrom, () => {
          sinceWallMs = one.clock.wallMs();
          one.session.gatherMetrics({ onAgent: () => undefined, onDone: () => undefined });
        });
      });
      if (waitsFrom === undefined) {
        assert.equal([states, records], [Array(HOSTS).fill('up 1'), []]);
        continue;
      }
      assert.equal(states, Array.from({ length: HOSTS }, (_, i) => (i === 5 ? 'fenced 1' : 'up 1')));
      assert.equal(records.map(({ hostName, detector }) => [hostName, detector]), [['n5', 'sporadic']]);
      const tookMs = (records[0]?.confirmedWallMs ?? 0) - sinceWallMs;
      assert.ok(tookMs >= SPORADIC_MS && tookMs <= SPORADIC_MS + LATENCY_MS, `${tookMs} ms`);
    }
  });
});
