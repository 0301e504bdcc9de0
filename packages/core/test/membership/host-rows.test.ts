/** Rows of hosts under random events: starts, losses, removals, answers that come late or never. */

import { StciError, type Evidence, type HostIndex } from '@stci/interface';
import { assert, seeded, suite } from '@stci/testkit';
import { createTree } from '@stci/topology-tree';
import { Mender, type AdoptionAnswer, type MendAction } from '../../dist/membership/mender.js';
import { MembershipTable, type MemberState } from '../../dist/membership/table.js';
import { specOf, specs } from './specs.js';

const LEASE_MS = 10_000;
const ERROR = new StciError('STCI_AGENT_LOST', 'x');
const LIVE = ['up', 'suspect', 'orphaned'];

/** What does not hold of a host's row, and of those around it. */
function violations(table: MembershipTable, host: HostIndex): string[] {
  const { state, parent, mend, start, isDraining, isLeaving, isPausing, socket } = table.get(host);
  const isGone = table.isGone(host);
  const rules: [string, boolean][] = [
    ['a mend where its link is in doubt, and only there',
      (mend !== undefined) === ['suspect', 'orphaned'].includes(state)],
    ['a start that has begun where it is starting, and only there',
      (start?.waitMs !== undefined) === (state === 'starting')],
    ['a start that waits only where it is gone', start === undefined || start.waitMs !== undefined || isGone],
    ['a socket only where an agent has come up', socket === undefined || LIVE.includes(state) || isGone],
    ['leaving only if draining, and while it is there', !isLeaving || (isDraining && !isGone)],
    ['a pause only while nothing is done about it', !isPausing || (isGone && start === undefined)],
    ['a parent that is not gone', !['up', 'starting'].includes(state) || parent === undefined || !table.isGone(parent)],
    ['a child of its parent', isGone || table.children(parent).includes(host)],
    ['a parent above it', parent === undefined || table.isAbove(parent, host)],
  ];
  return rules.filter(([, holds]) => !holds).map(([rule]) => `host ${host}, ${state}: ${rule}`);
}

/** Random events of hosts of a tree; `check` after each. */
function explore(seed: number): void {
  const random = seeded(seed);
  const size = 3 + random.below(12);
  const table = new MembershipTable(createTree(40, 1 + random.below(3)), specs(size));
  for (const host of table.hosts()) for (const event of ['start', 'up'] as const) table.apply(host, event);
  const mender = new Mender({ table, leaseMs: LEASE_MS, handshakeMs: 1000 });
  let nowMs = 0;
  /** Attempts without an answer, starts asked for, and ends told, by host and incarnation. */
  const open: number[] = [];
  const asked = new Set<HostIndex>();
  const told = new Set<string>();
  const check = (): void => {
    const found = table.hosts().flatMap((host) => violations(table, host));
    assert.equal(found, [], `seed ${seed} at ${nowMs}`);
    const rows = table.hosts().map((host) => table.get(host));
    const isOpen = rows.some(({ mend, start }) => (mend ?? start) !== undefined);
    assert.is(mender.dueMs !== undefined, isOpen, `seed ${seed} at ${nowMs}: due ${mender.dueMs}`);
    assert.equal([...asked].filter((host) => !table.isRestarting(host)), [], `seed ${seed}: a start without an end`);
  };
  const take = (actions: readonly MendAction[]): void => {
    for (const action of actions) {
      if (action.type === 'attempt') open.push(action.id);
      if (action.type === 'unstarted') assert.ok(asked.delete(action.host), `seed ${seed}: an end without a start`);
      if (action.type !== 'lost') continue;
      const { host, was: { incarnation, start } } = action;
      const key = `${host}#${incarnation}`;
      assert.ok(!told.has(key), `seed ${seed}: ${key} is lost twice`);
      told.add(key);
      if (start !== undefined) assert.ok(asked.delete(host), `seed ${seed}: an end without a start`);
    }
    check();
  };
  const any = (...states: readonly MemberState[]): HostIndex | undefined => {
    const hosts = table.hosts(...states);
    return hosts.length === 0 ? undefined : random.pick(hosts);
  };
  const answers: readonly AdoptionAnswer['result'][] = ['adopted', 'dead', 'unreachable', 'busy'];
  const events: readonly (() => void)[] = [
    () => {
      const host = any('up', 'suspect', 'orphaned');
      if (host === undefined) return;
      const { parent, incarnation } = table.get(host);
      const evidence = random.pick(['exited', 'closed', 'silent'] as const);
      take(mender.lost({ reporter: parent, host, incarnation, evidence, text: evidence }, nowMs));
    },
    () => {
      const host = any('up', 'suspect', 'orphaned');
      const declared = { error: ERROR, notice: {} as Evidence };
      if (host !== undefined) take(mender.declare(host, table.get(host).incarnation, declared, nowMs));
    },
    () => {
      const id = open.length === 0 ? undefined : open.splice(random.below(open.length), 1)[0];
      if (id === undefined) return;
      const result = random.pick(answers);
      const parent = any('up');
      take(mender.answered(id, result === 'busy' ? { result, parent } : { result }, nowMs));
    },
    () => {
      const host = any('failed', 'fenced', 'left');
      if (host === undefined) return;
      mender.start(host, nowMs);
      asked.add(host);
    },
    () => {
      const host = any('starting');
      if (host === undefined) return;
      asked.delete(host);
      take(mender.up(host, { socket: 's' }, nowMs));
    },
    () => {
      const host = any('starting', 'failed');
      if (host !== undefined) take(mender.onStarts((starts) => starts.fail(host, ERROR, undefined), nowMs));
    },
    () => {
      const host = any();
      if (host !== undefined) take(mender.onStarts((starts) => starts.giveUp(host, ERROR), nowMs));
    },
    () => {
      const host = any('up', 'suspect', 'orphaned');
      if (host === undefined) return;
      table.drain(host, random.below(2) === 0);
      if (table.get(host).isDraining) table.note(host, { isLeaving: random.below(2) === 0 });
    },
    () => {
      const host = any('failed', 'fenced');
      if (host !== undefined && !table.isRestarting(host)) table.note(host, { isPausing: true });
    },
    () => {
      if (table.size < 30) table.add(specOf(`h${table.size}`));
    },
    () => take(mender.tick((nowMs += random.pick([1, 100, 1000, LEASE_MS])))),
  ];
  check();
  for (let count = 0; count < 100; count += 1) {
    random.pick(events)();
    check();
  }
  // Nobody answers any more: all that is open comes to an end, and nothing is due then.
  for (let steps = 0; mender.dueMs !== undefined; steps += 1) {
    assert.ok(steps < 2000, `seed ${seed}: it comes to no end`);
    take(mender.tick((nowMs = Math.max(nowMs, mender.dueMs))));
  }
  assert.equal([table.count('suspect', 'orphaned', 'starting', 'planned'), asked.size], [0, 0], `seed ${seed}`);
}

suite('rows of hosts', (test) => {
  test('whatever happens, each is what its state says, and every start and every loss has one end', () => {
    for (let seed = 1; seed <= 300; seed += 1) explore(seed);
  }, { timeoutMs: 60_000 });
});
