/** The mender: single decisions, then a model of a tree with random kills, crashes, broken links and cuts. */

import { StciError, bootPosition, type Evidence } from '@stci/interface';
import { createTree } from '@stci/topology-tree';
import { assert, suite } from '@stci/testkit';
import {
  Mender, type AdoptionAnswer, type Declared, type LossEvidence, type LossReport, type MendAction,
} from '../../dist/membership/mender.js';
import { MembershipTable, type ParentHost } from '../../dist/membership/table.js';
import { specs } from './specs.js';
import { ATTEMPT_MS, LEASE_MS, TreeModel } from './tree-model.js';

/** That an attempt succeeded is news of what the agent that made it knows. */
function isDecision(action: MendAction): action is Exclude<MendAction, { type: 'adopted' | 'kept' | 'unstarted' }> {
  return action.type !== 'adopted' && action.type !== 'kept' && action.type !== 'unstarted';
}

const declared = (text: string): Declared =>
  ({ error: new StciError('STCI_AGENT_LOST', text), notice: {} as Evidence });

/** Twelve hosts in a binary tree, all up. 0: 2, 3; 1: 4, 5; 2: 6, 7; 3: 8, 9; 4: 10, 11. */
function setup(): {
  table: MembershipTable;
  mender: Mender;
  lost(reporter: ParentHost, host: number, evidence: LossEvidence, nowMs?: number): string[];
  text(actions: readonly MendAction[]): string[];
} {
  const table = new MembershipTable(createTree(13, 2), specs(12));
  for (let host = 0; host < 12; host++) for (const event of ['start', 'up'] as const) table.apply(host, event);
  const mender = new Mender({ table, leaseMs: LEASE_MS, handshakeMs: 1000 });
  const name = (by: ParentHost): string => (by === undefined ? 'controller' : String(by));
  const text = (actions: readonly MendAction[]): string[] => actions.filter(isDecision).map((action) => {
    if (action.type === 'attempt') return `${action.id}: ${name(action.by)} tries ${action.host}`;
    const { state, evidence } = table.get(action.host);
    if (action.type === 'lost') return `${action.host} ${state} by ${action.cause}: ${evidence}`;
    return `${action.host} ${action.type} ${name(action.by)}`;
  });
  const lost = (reporter: ParentHost, host: number, evidence: LossEvidence, nowMs = 0): string[] =>
    text(mender.lost({ reporter, host, incarnation: 1, evidence, text: `link ${evidence}` }, nowMs));
  return { table, mender, lost, text };
}

suite('mender: decisions', (test) => {
  test('an agent whose process exited has failed; those below are reached from above it', () => {
    const { table, mender, lost, text } = setup();
    assert.equal(lost(0, 2, 'exited'), ['2 failed by 2: link exited', '1: 0 tries 6', '2: 0 tries 7']);
    assert.equal(table.hosts('orphaned'), [6, 7]);
    assert.equal(text(mender.answered(1, { result: 'adopted' }, 5)), ['6 mended 0']);
    assert.equal(text(mender.answered(2, { result: 'dead' }, 6)), ['7 failed by 2: its agent has ended']);
    assert.equal([table.children(0), table.get(6).state, mender.dueMs], [[3, 6], 'up', undefined]);
  });

  test('those below an agent that is started again meanwhile are not linked to the new one', () => {
    const { table, mender, lost, text } = setup();
    assert.equal(lost(undefined, 0, 'exited').slice(1), ['1: controller tries 2', '2: controller tries 3']);
    for (const event of ['plan', 'start', 'up'] as const) table.apply(0, event);
    assert.equal(text(mender.answered(1, { result: 'unreachable' }, 5)), ['3: 0 tries 6', '4: 0 tries 7']);
    assert.equal(text(mender.answered(2, { result: 'busy', parent: 0 }, 6)), []);
    assert.equal(table.hosts('orphaned'), [2, 3, 6, 7]);
    assert.ok(mender.dueMs !== undefined && mender.dueMs < LEASE_MS);
  });

  test('of an agent that was started again, or taken out, while it was to be linked nothing is due any more', () => {
    for (const events of [['fail', 'plan', 'start', 'up'], ['leave']] as const) {
      const { table, mender, lost, text } = setup();
      assert.equal(lost(4, 10, 'closed'), ['1: 4 tries 10']);
      for (const event of events) table.apply(10, event);
      assert.equal(text(mender.tick(10)), []);
      assert.is(mender.dueMs, undefined, events[0]);
    }
  });

  test('an agent whose link closed is reached first, and those below it when it does not answer soon', () => {
    const { table, mender, lost, text } = setup();
    assert.equal(lost(0, 2, 'closed'), ['1: 0 tries 2']);
    assert.is(mender.dueMs, 300);
    assert.equal(text(mender.tick(300)), ['2: 0 tries 6', '3: 0 tries 7']);
    assert.equal(text(mender.answered(2, { result: 'busy', parent: 2 }, 310)), []);
    assert.equal(text(mender.answered(1, { result: 'adopted' }, 320)), ['2 mended 0']);
    assert.equal(text(mender.answered(3, { result: 'busy', parent: 2 }, 330)), ['7 mended 2']);
    assert.equal([table.count('up'), table.children(2), mender.dueMs], [12, [6, 7], undefined]);
  });

  test('one that a detector found dead is fenced at once, whatever is known of its links', () => {
    const { table, mender, lost, text } = setup();
    const found = mender.declare(2, 1, declared('silent'), 0);
    assert.equal(text(found), ['2 fenced by 2: silent', '1: 0 tries 6', '2: 0 tries 7']);
    assert.equal(text(mender.declare(2, 1, declared('silent'), 1)), []);
    assert.equal(text(mender.declare(6, 2, declared('another incarnation'), 1)), []);
    assert.equal(text(mender.declare(6, 1, declared('orphaned'), 1)), ['6 fenced by 6: orphaned']);
    assert.equal(lost(1, 4, 'closed', 2), ['3: 1 tries 4']);
    assert.equal(text(mender.declare(4, 1, declared('suspect'), 3)),
      ['4 fenced by 4: suspect', '4: 1 tries 10', '5: 1 tries 11']);
    assert.equal(text(mender.answered(3, { result: 'adopted' }, 4)), ['4 expel 1']);
    assert.equal(table.hosts('fenced'), [2, 4, 6]);
  });

  test('what was reported of a link is told with its host, unless it was mended, or came of another parent', () => {
    const { table, mender } = setup();
    const news = (text: string): LossReport['news'] => ({ error: new StciError('STCI_AGENT_LOST', text), wallMs: 1 });
    const report = (reporter: ParentHost, text: string): LossReport =>
      ({ reporter, host: 6, incarnation: 1, evidence: 'closed', text, news: news(text) });
    const told = (actions: readonly MendAction[]): unknown[] => actions.flatMap((action) =>
      action.type === 'lost' ? [[action.host, action.report?.text, action.declared?.error.message]] : []);
    mender.lost(report(2, 'mended'), 0);
    mender.answered(1, { result: 'adopted' }, 5);
    mender.lost(report(3, 'not its parent'), 6);
    // Its parent ends, and nobody reaches it.
    mender.lost({ reporter: 0, host: 2, incarnation: 1, evidence: 'exited', text: 'ended' }, 10);
    const cut: unknown[] = [];
    for (let nowMs = 20; table.get(6).state !== 'fenced'; nowMs += 50) {
      const actions = mender.tick(nowMs);
      cut.push(...told(actions));
      const tries = actions.flatMap((action) => (action.type === 'attempt' ? [action.id] : []));
      for (const id of tries) cut.push(...told(mender.answered(id, { result: 'unreachable' }, nowMs)));
    }
    assert.equal(cut.sort(), [[6, undefined, undefined], [7, undefined, undefined]]);
    const other = setup().mender;
    other.lost(report(2, 'link lost'), 0);
    // An end of its process that is found later says no more.
    other.lost({ ...report(2, 'process'), news: undefined }, 1);
    assert.equal(told(other.declare(6, 1, declared('silent'), 2)), [[6, 'link lost', 'silent']]);
  });

  test('a host that nobody reaches is fenced at the lease; after a silent lease there are two attempts', () => {
    for (const [evidence, atMs] of [['closed', LEASE_MS], ['silent', 100]] as const) {
      const { table, mender, lost, text } = setup();
      const seen = lost(4, 10, evidence);
      const triesMs: number[] = [];
      let nowMs = 0;
      while (mender.dueMs !== undefined) {
        if (seen.at(-1)?.includes('tries 10') === true) {
          triesMs.push(nowMs);
          seen.push(...text(mender.answered(Number(seen.at(-1)?.split(':')[0]), { result: 'unreachable' }, nowMs)));
        }
        nowMs = mender.dueMs ?? nowMs;
        seen.push(...text(mender.tick(nowMs)));
      }
      const tries = ['1: 4 tries 10', '2: 1 tries 10', '3: controller tries 10'];
      const few = ['1: 4 tries 10', '2: controller tries 10', '10 fenced by 10: link silent'];
      assert.equal(seen.slice(0, 3), evidence === 'silent' ? few : tries);
      // Pauses double, to a quarter of the lease.
      assert.equal(triesMs, evidence === 'silent' ? [0, 300] : [0, 100, 300, 700, 1500, 3100, 5600, 8100]);
      assert.is(seen.at(-1), `10 fenced by 10: link ${evidence}`);
      assert.is(evidence === 'silent' ? seen.length : nowMs, evidence === 'silent' ? 3 : LEASE_MS);
      assert.ok(nowMs >= atMs && seen.length <= 12, `${seen.length} actions, ${nowMs} ms`);
      assert.is(table.get(10).state, 'fenced');
    }
  });

  test('reports that come twice, late, from a former parent or of a former incarnation change nothing', () => {
    const { table, mender, lost, text } = setup();
    assert.equal(lost(1, 2, 'exited'), [], 'not its parent');
    lost(0, 2, 'exited');
    assert.equal(lost(0, 2, 'closed'), []);
    mender.answered(1, { result: 'adopted' }, 5);
    mender.answered(2, { result: 'adopted' }, 5);
    assert.equal(lost(2, 6, 'closed'), [], 'its former parent');
    assert.equal(text(mender.answered(2, { result: 'adopted' }, 6)), [], 'answered twice');
    for (const event of ['plan', 'start', 'up'] as const) table.apply(2, event);
    assert.equal(lost(0, 2, 'closed'), [], 'the former incarnation');
    assert.is(table.count('up'), 12);
  });

  test('a link of an incarnation that was given up meanwhile is closed again', () => {
    const { mender, lost, text } = setup();
    lost(0, 2, 'closed');
    assert.equal(lost(0, 2, 'exited', 50).slice(0, 1), ['2 failed by 2: link exited']);
    assert.equal(text(mender.answered(1, { result: 'adopted' }, 60)), ['2 expel 0']);
  });

  test('who links to an agent that was given up and is started again ends that link, unless it starts the next', () => {
    for (const parent of [0, 2]) {
      const { table, mender, lost, text } = setup();
      assert.equal(lost(2, 6, 'closed'), ['1: 2 tries 6']);
      mender.declare(6, 1, declared('silent'), 10);
      table.apply(6, 'plan', { parent });
      table.apply(6, 'start');
      assert.equal(text(mender.answered(1, { result: 'adopted' }, 20)), parent === 2 ? [] : ['6 expel 2']);
      assert.equal([table.get(6).state, table.get(6).parent], ['starting', parent]);
    }
  });

  test('who links to an agent by an earlier attempt takes those to be below it that were so then', () => {
    const { mender, lost } = setup();
    lost(0, 2, 'closed');
    mender.tick(300);
    mender.answered(3, { result: 'adopted' }, 310);
    mender.tick(ATTEMPT_MS);
    const [adopted, mended] = mender.answered(1, { result: 'adopted' }, ATTEMPT_MS + 10);
    assert.equal(adopted, { type: 'adopted', by: 0, host: 2, subtree: [2, 6, 7] });
    assert.equal(mended, { type: 'mended', host: 2, by: 0, isNew: true });
  });

  test('the agent that tries is lost itself: the next above tries, and a late answer counts', () => {
    const { table, mender, lost, text } = setup();
    assert.equal(lost(2, 6, 'closed'), ['1: 2 tries 6']);
    assert.equal(lost(0, 2, 'closed', 10), ['2: 0 tries 6', '3: 0 tries 2']);
    assert.equal(text(mender.answered(3, { result: 'adopted' }, 20)), ['2 mended 0']);
    assert.equal(text(mender.answered(1, { result: 'adopted' }, 30)), ['6 mended 2']);
    assert.equal(text(mender.answered(2, { result: 'busy', parent: 2 }, 40)), []);
    assert.equal([table.get(6).parent, table.count('up')], [2, 12]);
  });

  test('an orphan that lives waits with its parent', () => {
    const { table, mender, lost, text } = setup();
    lost(0, 2, 'closed');
    assert.equal(text(mender.tick(300)), ['2: 0 tries 6', '3: 0 tries 7']);
    assert.equal(text(mender.answered(2, { result: 'busy', parent: 2 }, 310)), []);
    assert.equal([table.hosts('orphaned'), table.isConnected(6)], [[6, 7], false]);
    mender.answered(3, { result: 'unreachable' }, 310);
    assert.equal(text(mender.answered(1, { result: 'adopted' }, 320)), ['2 mended 0']);
    assert.equal([table.count('up'), table.isConnected(6), mender.dueMs], [12, true, undefined]);
  });

  test('an orphan whose parent is cut off is asked again, as that parent lets it go', () => {
    const { table, mender, lost, text } = setup();
    lost(0, 2, 'closed');
    mender.tick(300);
    assert.equal(text(mender.answered(2, { result: 'busy', parent: 2 }, 310)), []);
    assert.equal(text(mender.tick(410)), ['4: 0 tries 6']);
    assert.equal(text(mender.answered(4, { result: 'adopted' }, 420)), ['6 mended 0']);
    assert.equal([table.get(6).state, table.get(2).state], ['up', 'suspect']);
  });

  test('an orphan that nobody reaches is not given up before its parent, which may live', () => {
    const { table, mender, lost } = setup();
    lost(0, 2, 'closed');
    const unreachable: AdoptionAnswer = { result: 'unreachable' };
    const busy: AdoptionAnswer = { result: 'busy', parent: 0 };
    let attempts: MendAction[] = [{ type: 'attempt', id: 1, by: 0, host: 2, incarnation: 1, subtree: [], waitMs: 1 }];
    for (let nowMs = 300; nowMs < 2 * LEASE_MS; nowMs = mender.dueMs ?? nowMs) {
      const next = mender.tick(nowMs);
      for (const one of attempts) {
        if (one.type === 'attempt') next.push(...mender.answered(one.id, one.host === 2 ? busy : unreachable, nowMs));
      }
      attempts = next;
    }
    assert.equal([table.get(2).state, table.hosts('orphaned'), table.count('fenced')], ['suspect', [6, 7], 0]);
  });

  test('of an agent that was given up no answer is taken, nor one from another than was asked', () => {
    const { table, mender, lost, text } = setup();
    assert.equal(lost(2, 6, 'closed'), ['1: 2 tries 6']);
    assert.equal(mender.answered(1, { result: 'adopted' }, 5, 1), [], 'another was asked');
    const then = lost(0, 2, 'exited', 10);
    const next = Number(then.find((each) => each.endsWith('0 tries 6'))?.split(':')[0]);
    assert.is(then[0], '2 failed by 2: link exited');
    assert.equal(mender.answered(1, { result: 'adopted' }, 20), []);
    assert.is(table.get(6).state, 'suspect');
    assert.equal(text(mender.answered(next, { result: 'adopted' }, 30)), ['6 mended 0']);
  });

  test('a host that says that it has a parent is waited for three leases, and no longer', () => {
    for (const host of [2, 10]) {
      const { table, mender, lost } = setup();
      const parent = table.get(host).parent;
      const first = { type: 'attempt', id: 1, by: parent, host, incarnation: 1, subtree: [], waitMs: 1 } as const;
      let actions: MendAction[] = [first];
      assert.equal(lost(parent, host, 'closed').slice(0, 1).length, 1);
      let nowMs = 0;
      for (let steps = 0; table.get(host).state !== 'fenced'; steps++) {
        assert.ok(steps < 1000 && nowMs <= 4 * LEASE_MS, `after ${nowMs} ms it is ${table.get(host).state}`);
        const next: MendAction[] = [];
        for (const action of actions) {
          if (action.type !== 'attempt') continue;
          const isIt = action.host === host;
          next.push(...mender.answered(action.id, isIt ? { result: 'busy', parent } : { result: 'adopted' }, nowMs));
        }
        if (table.get(host).state === 'fenced') break;
        nowMs = Math.max(nowMs, mender.dueMs ?? Infinity);
        assert.ok(nowMs < Infinity, 'it is waited for without a time');
        actions = [...next, ...mender.tick(nowMs)];
      }
      assert.ok(nowMs >= 3 * LEASE_MS && nowMs <= 3.5 * LEASE_MS, `given up after ${nowMs} ms`);
    }
  });

  test('hosts that a lost agent was starting have failed with it', () => {
    const { table, lost } = setup();
    table.apply(6, 'plan');
    table.apply(6, 'start');
    assert.equal(lost(0, 2, 'exited').slice(1, 2), ['6 failed by 2: the agent above it is lost']);
  });
});

const KINDS = ['kill', 'break', 'crash', 'cut from parent', 'cut from controller', 'cut from all'] as const;

/** A run with random faults of the first `kinds` kinds. */
function explore(seed: number, kinds: number): TreeModel {
  const model = new TreeModel(seed, 3 + (seed % 40), 1 + (seed % 5));
  const hosts = model.table.size;
  const { random } = model;
  const faults = 1 + random.below(1 + Math.min(8, hosts / 2));
  const spanMs = random.pick([1, 100, 1000, 30_000]);
  for (let i = 0; i < faults; i++) {
    const host = random.below(hosts);
    model.after(random.below(spanMs), () => {
      const kind = KINDS[random.below(kinds)];
      if (kind === 'kill') model.kill(host);
      else if (kind === 'break') model.breakLink(host);
      else if (kind === 'crash') model.crash(host);
      else if (kind === 'cut from parent') model.cut(host, model.table.get(host).parent, random.below(40_000));
      else if (kind === 'cut from controller') model.cut(host, undefined, random.below(40_000));
      else for (const above of model.table.connectedAncestors(host)) model.cut(host, above, random.below(40_000));
    });
  }
  model.run();
  return model;
}

/**
 * The controller could not reach it itself, or it was orphaned before the silence of an agent above it was noticed:
 * that takes longer than the lease for which an orphan waits, and still longer if that agent lives.
 */
function isExcused({ wasCut, givenUpMs, silencedMs }: TreeModel, host: number): boolean {
  const endedMs = givenUpMs.get(host) ?? 0;
  const hiddenMs = (wasCut.size > 0 ? 4.25 : 2.25) * LEASE_MS + ATTEMPT_MS;
  return wasCut.has(host) || silencedMs.some((ms) => ms <= endedMs && endedMs <= ms + hiddenMs);
}

/** From the end of an agent until it is declared lost: what fell silent is noticed late, and hides what is below it. */
function boundMs({ silencedMs }: TreeModel): number {
  return silencedMs.length === 0 ? 1.25 * LEASE_MS + ATTEMPT_MS : 5 * LEASE_MS + Math.max(...silencedMs);
}

/** Violations of what the mender promises, empty if there is none. */
function violations(model: TreeModel): string[] {
  const found: string[] = [];
  const { table } = model;
  for (const { at, runs, parent } of model.agents.slice(1)) {
    const host = at - 1;
    const { state } = table.get(host);
    const known = bootPosition(table.get(host).parent ?? -1);
    if (!runs && !table.isGone(host)) found.push(`${host} has ended and is ${state}`);
    if (runs && !model.isConnected(at)) found.push(`${host} lives without a way to the controller and is ${state}`);
    if (runs && state !== 'up') found.push(`${host} lives and is ${state}`);
    if (runs && parent?.above.at !== known) found.push(`${host} has another parent`);
    const isKilled = model.killedMs.has(host);
    if (!runs && !isKilled && !isExcused(model, host)) found.push(`${host} could be reached and was lost`);
    const lateMs = (model.declared.get(host) ?? Infinity) - (model.killedMs.get(host) ?? 0);
    if (isKilled && lateMs > boundMs(model)) found.push(`${host} was declared after ${lateMs} ms`);
  }
  return found;
}

suite('mender: a model of a tree', (test) => {
  test('a host that falls silent alone is declared within half a lease from when its parent notices', () => {
    for (let hosts = 1; hosts <= 16; hosts++) {
      for (let host = 0; host < hosts; host++) {
        const model = new TreeModel(1 + host, hosts, 2);
        model.crash(host);
        model.run();
        const lateMs = model.declared.get(host) ?? Infinity;
        assert.ok(lateMs <= (1.25 + 0.4) * LEASE_MS + 100, `host ${host} of ${hosts} was declared after ${lateMs} ms`);
        assert.equal(violations(model), [], `host ${host} of ${hosts}`);
      }
    }
  });

  test('of hosts that fall silent together, those below another take two attempts, and a tenth of the lease', () => {
    for (let hosts = 3; hosts <= 16; hosts++) {
      for (let top = 0; top < hosts; top++) {
        const model = new TreeModel(1 + top, hosts, top % 2 === 0 ? 2 : 1);
        const depth = (host: number): number => model.table.ancestors(host).length;
        const silent = model.table.hostsBelow(top).map((host) => [host, depth(host) - depth(top)] as const);
        for (const [host] of silent) model.crash(host);
        model.run();
        for (const [host, levels] of silent) {
          const lateMs = model.declared.get(host) ?? Infinity;
          // Of two attempts, each takes a third of the lease at most.
          const boundMs = (1.25 + (levels === 0 ? 0.4 : 2 / 3) + levels / 10) * LEASE_MS + 100;
          assert.ok(lateMs <= boundMs, `host ${host} of ${hosts}, below ${top}, was declared after ${lateMs} ms`);
        }
        assert.equal(violations(model), [], `below ${top} of ${hosts}`);
      }
    }
  });

  test('an agent above that does not answer gives a silent host no more time', () => {
    const { mender, lost, text } = setup();
    assert.equal(lost(4, 10, 'silent'), ['1: 4 tries 10']);
    assert.equal(text(mender.tick(LEASE_MS / 5)), ['2: controller tries 10']);
    assert.equal(text(mender.tick((2 * LEASE_MS) / 5)), ['10 fenced by 10: link silent']);
    assert.is(mender.dueMs, undefined);
  });

  // A host that cannot be reached is tried until the lease is over, one that can at once.
  const runs = [[2, 'kills and broken links', 3], [3, 'crashes, too', 10], [6, 'cuts, too', 10]] as const;
  for (const [kinds, title, attemptsMax] of runs) {
    test(`${title}: all that can be is linked, all else declared`, () => {
      for (let seed = 1; seed <= 2000; seed++) {
        const model = explore(seed, kinds);
        assert.equal(violations(model), [], `seed ${seed}`);
        const mostAttempts = attemptsMax * new Set(model.attempted).size;
        assert.ok(model.attempted.length <= mostAttempts, `seed ${seed}: ${model.attempted.length} attempts`);
      }
    }, { timeoutMs: 60_000 });
  }
});
