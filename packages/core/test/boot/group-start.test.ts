/** The controller's part of agents that are started together: what each comes to, and the end of what started them. */

import { StciError, type AgentGroup, type AgentPlace, type AgentsEvents, type AgentsStart } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { GroupStart } from '../../dist/boot/group-start.js';
import type { AgentNode } from '../../dist/node/node.js';
import { testPlace, type TestPlace } from '../world.js';

const PARAMS: Readonly<Record<string, number>> = { 'launcher.handshake': 1000, 'launcher.stop': 5000 };
const KEY = new Uint8Array(32);

interface Fake extends TestPlace {
  readonly together: GroupStart;
  readonly start: AgentsStart;
  readonly events: AgentsEvents;
  /** What happened, in order. */
  readonly log: string[];
  phase: string | undefined;
}

/** Of a launcher that does nothing by itself. */
function begin(
  hosts = 3,
  onKill: (fake: Fake) => void = ({ events }) => events.onOver(),
  bounds: Pick<AgentGroup, 'settleMs' | 'endMs'> = {},
): Fake {
  const place = testPlace();
  const log: string[] = [];
  const node = { platform: place.platform, params: { int: (name: string) => PARAMS[name] } } as unknown as AgentNode;
  let given: [AgentsStart, AgentsEvents] | undefined;
  const launcherOfAll = {
    name: 'fake',
    startAll: (...args: [AgentsStart, AgentsEvents]) => {
      given = args;
      return {
        ...bounds,
        get phase() {
          return fake.phase;
        },
        kill: () => {
          log.push('killed');
          onKill(fake);
        },
      };
    },
  };
  const specs = Array.from({ length: hosts }, (_, i) => ({ name: `n${i}`, slots: 1, slotsBound: true, origin: 't' }));
  const together = new GroupStart({ node, agentLauncher: { launcherOfAll }, hosts: specs, levels: 2 }, {
    onExited: (host) => log.push(`exited ${host}`),
    onEnding: ({ message }) => log.push(`ending: ${message}`),
  });
  const fake = { ...place, together, log, phase: undefined } as { -readonly [K in keyof Fake]: Fake[K] };
  together.start(() => log.push('ready'));
  [fake.start, fake.events] = given as [AgentsStart, AgentsEvents];
  return fake;
}

const place = (host: number): AgentPlace => ({ addresses: [`tls://n${host}:1`], key: KEY });
const reasonOf = ({ together }: Fake, host: number): string | undefined => {
  const start = together.startOf(host);
  return start !== undefined && 'reason' in start ? start.reason : undefined;
};

suite('agents that are started together, at the controller', (test) => {
  test('one call for all hosts; it is over when each waits or has failed', () => {
    const fake = begin();
    assert.equal(fake.start.agents.map(({ host }) => host.name), ['n0', 'n1', 'n2']);
    assert.is(fake.start.waitMs, 24_000);
    assert.equal(fake.together.hosts, [0, 1, 2]);
    fake.events.onPlace(1, place(1));
    fake.events.onFailed(0, { code: 'STCI_LAUNCH_FAILED', message: 'drained' });
    assert.equal(fake.log, []);
    fake.events.onPlace(2, place(2));
    assert.equal(fake.log, ['ready']);
    assert.equal(fake.together.startOf(1), place(1));
    assert.is(reasonOf(fake, 0), 'drained');
  });

  test('without progress for the time of a handshake the rest has failed; a phase that changes is progress', () => {
    const fake = begin();
    fake.events.onPlace(0, place(0));
    fake.run(600);
    fake.phase = 'the step waits';
    fake.run(900);
    assert.equal(fake.log, []);
    fake.events.onDiagnostic(undefined, 'queued');
    fake.until(() => fake.log.length > 0, 'the end of the start');
    assert.equal(fake.log, ['ready']);
    assert.match(reasonOf(fake, 1) ?? '', /^no word from its agent within 2\.1 s \(launcher\.handshake\)/);
    assert.match(reasonOf(fake, 1) ?? '', /it got as far as phase the step waits\n {2}it printed: queued$/);
    fake.events.onPlace(1, place(1)); // Too late.
    assert.is.not(reasonOf(fake, 1), undefined);
  });

  test('progress for ever is no reason to wait for ever', () => {
    const fake = begin();
    for (let step = 0; step < 40; step++) {
      fake.phase = `step ${step}`;
      fake.run(200);
    }
    assert.equal(fake.log, ['ready', 'killed']);
  });

  test('one that tells of silent hosts by itself is given its time; those that wait are not given up', () => {
    const fake = begin(2, undefined, { settleMs: 60_000 });
    fake.events.onPlace(0, place(0));
    fake.run(60_500);
    assert.equal(fake.log, []);
    fake.until(() => fake.log.length > 0, 'the end of the start');
    assert.equal([fake.log, fake.together.startOf(0)], [['ready'], place(0)]);
    assert.match(reasonOf(fake, 1) ?? '', /^no word from its agent within [67]\d s \(the bound of what started it\)/);
  });

  test('what started agents of which none waits is ended when it is given up', () => {
    const fake = begin(2);
    fake.until(() => fake.log.length > 1, 'the end of the start');
    assert.equal(fake.log, ['ready', 'killed']);
    fake.together.end(() => false, () => fake.log.push('over'));
    assert.is(fake.log.at(-1), 'over');
  });

  test('a place that is of no use is the failure of that host', () => {
    const many = Array<string>(65).fill('tls://n0:1');
    const bad = [[], ['ws://evil:1'], ['tls://n0:1', 'unix:/x'], many, [`tls://${'n'.repeat(400)}`]];
    const fake = begin(bad.length + 2);
    for (const [host, addresses] of bad.entries()) fake.events.onPlace(host, { addresses, key: KEY });
    fake.events.onPlace(bad.length, { addresses: ['tls://n:1'], key: KEY.slice(1) });
    fake.events.onPlace(bad.length + 1, place(9));
    assert.equal(fake.log, ['ready']);
    for (let host = 0; host <= bad.length; host++) assert.match(reasonOf(fake, host) ?? '', /of no use: expected /);
    assert.equal(fake.together.startOf(bad.length + 1), place(9));
  });

  test('a start is spent by what came of it; an agent that ends while it waits does not wait', () => {
    const fake = begin();
    for (const host of [0, 1, 2]) fake.events.onPlace(host, place(host));
    fake.together.onUp(0);
    assert.is(fake.together.startOf(0), undefined);
    fake.events.onExit(1, { signal: 'SIGKILL' });
    assert.is(reasonOf(fake, 1), 'its process was killed by SIGKILL while it waited');
    assert.equal(fake.together.failures().map(({ error }) => error.message), [
      'Agent root:1 on host n1 did not come up: its process was killed by SIGKILL while it waited',
    ]);
    fake.together.spend(1);
    assert.equal([fake.together.startOf(1), fake.together.failures()], [undefined, []]);
    assert.equal([fake.together.hasEnded(1, 1), fake.together.hasEnded(1, 2)], [true, false]);
    fake.events.onExit(2, { status: 0, evidence: 'connection' });
    assert.is(fake.together.hasEnded(2, 1), false);
  });

  test('below an agent that is lost, one that waits is reached where it waits; what has no place starts anew', () => {
    const fake = begin(4);
    fake.events.onFailed(0, { code: 'STCI_LAUNCH_FAILED', message: 'drained' });
    for (const host of [1, 2, 3]) fake.events.onPlace(host, place(host));
    fake.together.onUp(3);
    for (const host of [0, 1, 2, 3]) fake.together.doubt(host);
    assert.equal([0, 1, 2, 3].map((host) => fake.together.startOf(host)), [
      undefined, { ...place(1), orStart: true }, { ...place(2), orStart: true }, undefined,
    ]);
    fake.events.onExit(1, { status: 1 });
    assert.equal([fake.together.startOf(1), fake.together.failures()], [undefined, []], 'it ended with that one');
  });

  test('one that was not reached where it waits is tried there once more; one that has failed to start is not', () => {
    const fake = begin(2);
    fake.events.onPlace(0, place(0));
    fake.events.onFailed(1, { code: 'STCI_LAUNCH_FAILED', message: 'drained' });
    for (const host of [0, 1]) fake.together.failed(host);
    assert.equal([0, 1].map((host) => fake.together.startOf(host)), [{ ...place(0), orStart: true }, undefined]);
    fake.together.failed(0);
    assert.is(fake.together.startOf(0), undefined);
  });

  test('an error gets what its agent printed, and a plugin that ended it', () => {
    const fake = begin();
    const error = new StciError('STCI_AGENT_LOST', 'Agent root:1 on host n1 is lost', { host: 'n1', agent: 'root:1' });
    assert.is(fake.together.explained(1, 1, error), error);
    fake.events.onDiagnostic(1, 'stci warn: agent ended: plugin /p/q: launcherproc:own.start failed: boom');
    fake.events.onExit(1, { status: 1 });
    const { message, host, agent, data } = fake.together.explained(1, 1, error);
    assert.equal([host, agent, data['plugin']], ['n1', 'root:1', '/p/q']);
    assert.match(message, /^Agent root:1 on host n1 is lost \(its process ended with status 1\): plugin .* boom/);
    assert.is(fake.together.explained(1, 2, error), error, 'a later start');
  });

  test('what started agents that all have ended is given time to end, and then killed', () => {
    const fake = begin(1);
    fake.events.onPlace(0, place(0));
    fake.together.onUp(0);
    fake.together.end(() => false, () => fake.log.push('over'));
    fake.events.onExit(0, { status: 0 });
    fake.run(4900);
    assert.equal(fake.log, ['ready', 'exited 0']);
    fake.run(200);
    assert.equal(fake.log, ['ready', 'exited 0', 'killed', 'over']);
    const quick = begin(1);
    quick.events.onPlace(0, place(0));
    quick.together.onUp(0);
    quick.together.end(() => false, () => quick.log.push('over'));
    quick.events.onOver();
    quick.run(15_000);
    assert.equal(quick.log, ['ready', 'over']);
  });

  test('agents that nobody connected to are killed at once; no end is awaited for ever', () => {
    for (const known of [true, false]) {
      const fake = begin(2, () => undefined);
      if (known) for (const host of [0, 1]) fake.events.onPlace(host, place(host));
      fake.together.onUp(0);
      fake.together.end(() => false, () => fake.log.push('over'));
      assert.equal(fake.log.filter((word) => word !== 'ready'), ['killed']);
      fake.run(5100);
      assert.is(fake.log.at(-1), 'over');
    }
  });

  test('when all but lost agents have ended, what started them is not waited for', () => {
    const fake = begin(3, undefined, {});
    for (const host of [0, 1, 2]) fake.events.onPlace(host, place(host));
    for (const host of [0, 1, 2]) fake.together.onUp(host);
    fake.events.onExit(0, { status: 0 });
    const { together, log, events } = fake;
    together.end((host) => host === 2, () => log.push('over'));
    fake.run(3000);
    assert.equal(log, ['ready', 'exited 0']);
    events.onExit(1, { status: 0 });
    fake.run(400); // It may notice by itself.
    assert.equal(log, ['ready', 'exited 0', 'exited 1']);
    fake.run(200);
    assert.equal(log, ['ready', 'exited 0', 'exited 1', 'killed', 'over']);
  });

  test('the end of what is killed is awaited for as long as it may take', () => {
    const fake = begin(1, () => undefined, { endMs: 8000 });
    fake.together.end(() => false, () => fake.log.push('over'));
    fake.run(7900);
    assert.equal(fake.log, ['killed']);
    fake.run(200);
    assert.equal(fake.log, ['killed', 'over']);
  });

  test('what has ended by itself is not waited for, and the rest of its agents have failed', () => {
    const fake = begin();
    fake.events.onPlace(0, place(0));
    fake.events.onDiagnostic(undefined, 'srun: error: no');
    fake.events.onOver();
    assert.equal(fake.log, ['ready']);
    assert.is(reasonOf(fake, 2), 'what started it has ended\n  it printed: srun: error: no');
    fake.together.end(() => false, () => fake.log.push('over'));
    assert.equal(fake.log, ['ready', 'over']);
  });
});
