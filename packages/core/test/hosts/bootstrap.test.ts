/** The bootstrap at the controller: hosts below one whose agent failed, and who may speak for whom before it is up. */

import {
  CONTROLLER, StciError, bootPosition, rootAddress, sessionAddress, type Address, type AgentsEvents, type AgentsStart,
  type BootTree, type HostIndex,
} from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import type { AgentLauncher } from '../../dist/boot/agent-launcher.js';
import { BootSubtree } from '../../dist/boot/boot-subtree.js';
import type { BootstrapEvents } from '../../dist/hosts/bootstrap-contracts.js';
import { Bootstrap } from '../../dist/hosts/bootstrap.js';
import { sessionTree } from '../../dist/hosts/session-tree.js';
import type { TreeMender, TreeMenderEvents } from '../../dist/hosts/tree-mender.js';
import { decodeBootDetails, type BootDetails } from '../../dist/launcher/boot-details.js';
import type { Launch } from '../../dist/messages/messages.js';
import type { AgentNode } from '../../dist/node/node.js';
import { makeNet } from '../am/net.js';
import { composition, resolved, type Settings } from '../assembly.js';

const HOSTS = 6;
const KEY = new Uint8Array(32);

/** Hosts 0 to 5 in a binary tree: 2 and 3 below 0, 4 and 5 below 1. All agents are started together, and wait. */
function play(more: Settings = {}, { count = HOSTS, stays = true, isLocal = false } = {}) {
  const settings = { 'launcher.tree.arity': '2', 'errmgr.launch': 'retry', launcherproc: 'local', ...more };
  const net = makeNet([0], settings);
  const node = net.nodes[0] as AgentNode;
  const { params, snapshot } = resolved(settings);
  const scope = composition.scope('controller', params, net.platform);
  const hosts = Array.from({ length: count }, (_, i) => ({ name: `h${i}`, slots: 1, slotsBound: true, origin: 't' }));
  let together: AgentsEvents | undefined;
  const [nothing, stop] = [(): void => undefined, (_: unknown, done: () => void): void => done()];
  const children = {
    launch: nothing, relaunch: nothing, adopt: nothing, stop, stopRest: (done: () => void) => done(),
  };
  const events: string[] = [];
  const details: BootDetails[] = [];
  const agentLauncher = {
    isLocal, supervise: () => children, ready: (done: () => void) => done(), problemOf: () => undefined,
    connection: () => ({ connect: [] }), close: () => undefined,
    rootSpec: (_start: unknown, _incarnation: number, encoded: Uint8Array) => {
      details.push(decodeBootDetails(encoded));
      return {};
    },
    launcherOfAll: {
      name: 'all',
      startAll: (_start: AgentsStart, given: AgentsEvents) => {
        together = given;
        return { phase: undefined, kill: () => void events.push('kill') };
      },
    },
  } as unknown as AgentLauncher;
  const tree = sessionTree(scope, hosts, params);
  const logged = <Events>(): Events => new Proxy({}, { get: (_, name) => () => events.push(String(name)) }) as Events;
  const bootstrap = new Bootstrap({
    node, agentLauncher, tree, errorManager: scope.errorManager(params), hosts,
    spares: [], stays, snapshot,
  }, logged<BootstrapEvents>(), logged<TreeMenderEvents>());
  bootstrap.start();
  for (const host of hosts.keys()) together?.onPlace(host, { addresses: [`tls://h${host}:1`], key: KEY });
  const up = (host: HostIndex): void => {
    bootstrap.onUp({ host, incarnation: 1, pid: 1, hostname: `h${host}`, socket: 's' } as never);
  };
  /** All are up, and the session begins. */
  const open = (): void => {
    for (const host of hosts.keys()) up(host);
    events.length = 0;
  };
  const fail = (host: HostIndex, code: 'STCI_AGENT_LOST' | 'STCI_LAUNCH_FAILED'): void => bootstrap.onFailed({
    host, reporter: undefined, incarnation: bootstrap.table.get(host).incarnation, evidence: 'closed', text: 'gone',
  }, new StciError(code, 'gone'));
  /** Whether its next start is to reach where it waits, and if it is not there is to start it; or is one of its own. */
  const next = (host: HostIndex): string => {
    const start = bootstrap.loginOf(host)[4];
    if (start === undefined || 'reason' in start) return 'start';
    return start.orStart === true ? 'reach or start' : 'reach';
  };
  const exit = (host: HostIndex): void => together?.onExit(host, { status: 0 });
  return { net, node, details, exit, agentLauncher, tree, bootstrap, events, up, open, fail, next };
}

suite('bootstrap', (test) => {
  test('below an agent that was linked and is lost, those that wait may have ended with it; else they wait', () => {
    const linked = play();
    linked.up(0);
    linked.fail(0, 'STCI_AGENT_LOST');
    assert.equal([2, 3, 4, 5].map(linked.next), ['reach or start', 'reach or start', 'reach', 'reach']);
    // It said no word to the controller, but its link was there.
    const broken = play();
    broken.fail(0, 'STCI_AGENT_LOST');
    assert.equal([2, 3, 4, 5].map(broken.next), ['reach or start', 'reach or start', 'reach', 'reach']);
    const unlinked = play();
    unlinked.fail(0, 'STCI_LAUNCH_FAILED');
    assert.equal([0, 2, 3, 4, 5].map(unlinked.next), ['reach or start', 'reach', 'reach', 'reach', 'reach']);
  });

  test('a host that is to be started again, after a pause or at once, is awaited until it is up', () => {
    const { net, bootstrap, bootstrap: { table }, open } = play({ 'errmgr.loss': 'start-again' });
    open();
    assert.is(table.isRestarting(5), false);
    for (const state of ['suspect', 'fail'] as const) table.apply(5, state, { evidence: 'e' });
    bootstrap.decide('idle', bootstrap.failureOf(5, 'agent-lost', { code: 'STCI_AGENT_LOST', message: 'gone' }));
    assert.equal([table.isRestarting(5), table.isRestarting(4)], [true, false]);
    net.until(() => table.get(5).state === 'starting', 'its start');
    assert.is(table.isRestarting(5), true);
    bootstrap.onUp({ host: 5, incarnation: table.get(5).incarnation, socket: 's' } as never);
    assert.equal([table.isRestarting(5), table.get(5).state], [false, 'up']);
  });

  test('a root agent leads to those that it knows to be below it, and to none that was linked to another', () => {
    const { agentLauncher, tree } = play();
    for (const isLate of [false, true]) {
      const router: { rule?: (to: Address) => Address | undefined; clearReachable(): void } =
        { clearReachable: () => undefined };
      const node = { router, messages: { transport: { keepBroadcasts: () => undefined } } } as unknown as AgentNode;
      const logins = (isLate ? [0] : [0, 2, 3]).map((host) => [host, `h${host}`, '', 1] as const);
      const common = { hosts: HOSTS, tree: tree.part, outlivesParent: true, params: new Uint8Array(0) };
      const subtree = new BootSubtree({
        node, agentLauncher, treeOf: (hosts) => tree.treeOf(hosts), position: bootPosition(0), logins, common,
      }, { onUp: () => undefined, onFailed: () => undefined });
      const way = (host: HostIndex): unknown => router.rule?.(rootAddress(host));
      assert.equal([way(0), way(2), way(4)], [rootAddress(0), isLate ? undefined : rootAddress(2), undefined]);
      subtree.route(3, [2, 3]);
      assert.equal([way(2), router.rule?.(sessionAddress(2))], [rootAddress(3), rootAddress(3)]);
      subtree.route(0, [2]); // By its parent.
      assert.equal([way(2), way(3)], [undefined, rootAddress(3)]);
    }
  });

  test('a launch is split among the children by one look at each host, however many children there are', () => {
    const count = 300;
    const { agentLauncher, tree } = play({ launcher: 'flat' }, { count });
    let looks = 0;
    const counted = (hosts: number): BootTree => new Proxy(tree.treeOf(hosts), {
      get: (target, name) => {
        looks += 1;
        const value: unknown = Reflect.get(target, name);
        return typeof value === 'function' ? (value.bind(target) as unknown) : value;
      },
    });
    const hosts = Array.from({ length: count }, (_, host) => host);
    const parts = new Map<Address, unknown>();
    const router = { clearReachable: () => undefined, childLinks: () => hosts.map((h) => ({ peer: rootAddress(h) })) };
    const messages = {
      sendNeighbour: ({ peer }: { readonly peer: Address }, _name: string, { hosts: part }: Launch) =>
        void parts.set(peer, part.map(([host]) => host)),
    };
    const subtree = new BootSubtree({
      node: { router, messages } as unknown as AgentNode, agentLauncher, treeOf: counted, position: 0,
      logins: hosts.map((host) => [host, `h${host}`, '', 1] as const),
      common: { hosts: count, tree: tree.part, outlivesParent: true, params: new Uint8Array(0) },
    }, { onUp: () => undefined, onFailed: () => undefined });
    looks = 0;
    subtree.route(8, [7]); // Linked again below another.
    subtree.passLaunch({ hosts: hosts.slice(5).map((host) => [host, 0, []]) } as unknown as Launch, 1);
    const expected = hosts.slice(5).filter((host) => host !== 7)
      .map((host) => [rootAddress(host), host === 8 ? [7, 8] : [host]]);
    assert.equal([...parts], expected);
    assert.ok(looks <= 10 * count, `${looks} looks at the tree`);
  });

  test('at the end those that are up are waited for, and not those that are lost or were started again', () => {
    for (const renewed of [undefined, 5]) {
      const { net, bootstrap, events, up, exit } = play();
      for (let host = 0; host < HOSTS; host++) up(host);
      if (renewed !== undefined) for (const state of ['suspect', 'fail', 'plan', 'start', 'up'] as const) {
        bootstrap.table.apply(renewed, state, { evidence: 'e' });
      }
      events.length = 0;
      bootstrap.stop((settled) => settled(), () => undefined);
      for (let host = 0; host < HOSTS - 1; host++) exit(host);
      net.run(600);
      assert.is(events.includes('kill'), renewed !== undefined);
    }
  });

  test('an agent that comes up after its host was given up is ended, once the session has begun', () => {
    const { bootstrap, events, up, open } = play();
    open();
    bootstrap.mender = { expel: (host: HostIndex) => events.push(`expel ${host}`) } as unknown as TreeMender;
    for (const state of ['suspect', 'fail'] as const) bootstrap.table.apply(5, state, { evidence: 'e' });
    bootstrap.onUp({ host: 5, incarnation: 2, socket: 's' } as never);
    assert.equal(events, [], 'of no incarnation that there was');
    up(5);
    assert.equal([events, bootstrap.table.get(5).state], [['expel 5'], 'failed']);
  });

  test('an agent below another may be spoken for by it before it is known, and by no other', () => {
    const { node: { isPlannedBelow } } = play();
    const [above, below] = [rootAddress(0), rootAddress(2)];
    assert.equal([isPlannedBelow(below, above), isPlannedBelow(sessionAddress(2), above)], [true, true]);
    assert.equal([isPlannedBelow(above, above), isPlannedBelow(sessionAddress(0), above)], [true, true]);
    for (const [agent, by] of [
      [above, below], [rootAddress(4), above], [CONTROLLER, above], [below, CONTROLLER], [below, sessionAddress(0)],
      [rootAddress(HOSTS), rootAddress(1)], [rootAddress(HOSTS), rootAddress(2)], [rootAddress(HOSTS), rootAddress(9)],
    ] as const) assert.is(isPlannedBelow(agent, by), false, `${agent} by ${by}`);
  });

  test('the one agent of a session of one job on this machine ends with its link; others wait for another', () => {
    const outlives = (count: number, stays: boolean, isLocal: boolean): boolean[] =>
      play({}, { count, stays, isLocal }).details.map(({ outlivesParent }) => outlivesParent);
    assert.equal(outlives(1, false, true), [false]);
    assert.equal([outlives(1, true, true), outlives(1, false, false)], [[true], [true]]);
    assert.equal(outlives(2, false, true), [true, true]);
  });

  test('each agent is told its host, those below it, and how many there are', () => {
    const { details } = play();
    const told = details.map(({ host, hosts, subtree }) => [host, hosts, subtree.map(([each]) => each)]);
    assert.equal(told, [[0, HOSTS, [0, 2, 3]], [1, HOSTS, [1, 4, 5]]]);
  });
});
