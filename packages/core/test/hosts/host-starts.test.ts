/** Starts of hosts while a session runs: along the planned tree, each told once what became of it. */

import { StciError, rootAddress, sessionAddress, type HostIndex } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { createTree } from '@stci/topology-tree';
import { HostStarts } from '../../dist/hosts/host-starts.js';
import { MembershipTable } from '../../dist/membership/table.js';
import type { AgentNode } from '../../dist/node/node.js';
import { specOf, specs } from '../membership/specs.js';
import { testPlace } from '../world.js';

/** Hosts 0 and 1 are up; 2 and 3 are planned below host 0, 4 below host 1, 6 below host 2. */
function play() {
  const place = testPlace();
  const table = new MembershipTable(createTree(16, 2) as never, specs(2));
  for (const host of [0, 1]) for (const event of ['start', 'up'] as const) table.apply(host, event);
  for (let host = 2; host < 8; host += 1) table.add(specOf(`h${host}`));
  const log: string[] = [];
  const started: string[] = [];
  const dropped: number[] = [];
  const node = {
    platform: place.platform, params: { int: () => 1000 },
    messages: {
      send: (to: number, name: string) => log.push(`${name} to ${to & 0xff}`),
      drop: (agent: number) => dropped.push(agent),
    },
  } as unknown as AgentNode;
  const starts = new HostStarts({
    node, table, below: { startLate: (login: unknown) => log.push(`here ${String(login)}`) } as never,
    loginOf: (host) => host as never,
    onStarting: (host) => log.push(`starting ${host}`),
    onFailed: ({ host, cause }) => log.push(`failed ${host} ${cause}`),
    onGivenUp: (host) => log.push(`given up ${host}`),
  });
  const start = (host: HostIndex): void =>
    starts.start(host, (error) => started.push(`${host} ${error?.code ?? 'up'}`));
  const next = (): string[] => (place.run(1), log.splice(0));
  return { ...place, table, starts, start, started, dropped, next };
}

suite('starts of hosts', (test) => {
  test('one waits for its planned parent that is being started, and is told that it may wait for another later', () => {
    const { starts, start, started, next, table } = play();
    for (const host of [6, 2]) start(host);
    assert.equal([next(), starts.has(6)], [['starting 2', 'tree.start to 0'], true]);
    starts.onUp(2, {});
    assert.equal([next(), started], [['session.ready to 2', 'starting 6', 'tree.start to 2'], ['2 up']]);
    assert.equal([table.get(6).parent, table.get(6).incarnation, table.get(2).state], [2, 1, 'up']);
    starts.onUp(6, {});
    assert.equal([next(), started, starts.has(6)], [['session.ready to 6'], ['2 up', '6 up'], false]);
  });

  test('one that fails lets those begin that have waited for it, below another', () => {
    const { starts, start, started, next, table } = play();
    for (const host of [2, 6]) start(host);
    next();
    starts.fail(2, new StciError('STCI_LAUNCH_FAILED', 'no', { data: { reach: 'unreachable' } }), 0);
    assert.equal(next(), ['failed 2 unreachable', 'starting 6', 'tree.start to 0']);
    assert.equal([started, table.get(2).state, table.get(6).parent], [['2 STCI_LAUNCH_FAILED'], 'failed', 0]);
  });

  test('one that is not up in time is given up; its own time begins with its start', () => {
    const { starts, start, started, next, run, until } = play();
    for (const host of [2, 6]) start(host);
    next();
    until(() => started.length > 0, 'its end');
    assert.equal([started, next()], [['2 STCI_LAUNCH_FAILED'],
      ['failed 2 not-started', 'starting 6', 'tree.start to 0', 'given up 2']]);
    run(100);
    assert.is(starts.has(6), true);
    starts.giveUp(6, new StciError('STCI_SESSION_REFUSED', 'not wanted'));
    assert.equal([next(), started.at(-1), starts.has(6)], [['given up 6'], '6 STCI_SESSION_REFUSED', false]);
  });

  test('as the session stops, those that wait end, too, and are not begun', () => {
    const { starts, start, started, next, run } = play();
    for (const host of [2, 6]) start(host);
    next();
    start(4); // In the turn in which it stops.
    starts.close(new StciError('STCI_SESSION_REFUSED', 'stops'));
    assert.equal(next(), [], 'none begins');
    run(60_000);
    assert.equal([started, next()], [[2, 6, 4].map((host) => `${host} STCI_SESSION_REFUSED`), []]);
  });

  test('what waits for former agents of the host is dropped, before anything is sent to the new one', () => {
    const { start, dropped, next } = play();
    start(4);
    next();
    assert.equal(dropped, [rootAddress(4), sessionAddress(4)]);
  });

  test('one without connected agents above is started by the controller', () => {
    const { table, start, next } = play();
    for (const host of [0, 1]) table.apply(host, 'fail', { evidence: 'x' });
    start(4);
    assert.equal([next(), table.get(4).parent], [['starting 4', 'here 4'], undefined]);
  });

  test('each that is being started gives all more time; no timer is left of one that is up or has failed', () => {
    const { world, starts, start, started, next, run } = play();
    for (const host of [2, 3]) start(host);
    next();
    run(6000 + 2 * 500 - 2);
    assert.equal(started, []);
    run(2);
    assert.equal(started.length, 2);
    next();
    for (const host of [4, 5]) start(host);
    next();
    starts.onUp(4, {});
    starts.fail(5, new StciError('STCI_LAUNCH_FAILED', 'no'), 0);
    starts.fail(5, new StciError('STCI_LAUNCH_FAILED', 'again'), 0);
    next();
    assert.equal([world.scheduler.queue.pending(), started.length], [[], 4]);
    starts.giveUp(4, new StciError('STCI_LAUNCH_FAILED', 'late'));
    assert.equal([next(), started.length], [[], 4], 'it is up');
  });
});
