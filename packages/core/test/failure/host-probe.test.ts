/** Probes of hosts: whom the controller takes for silent where some of the tree's links are cut. */

import {
  CONTROLLER, addressName, bootPosition, rootAddress, type Address, type HostIndex, type MemberId,
} from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { Scope } from '../../dist/event/scope.js';
import { HostProbes, answerProbes } from '../../dist/failure/host-probe.js';
import type { MembershipTable } from '../../dist/membership/table.js';
import type { AgentNode } from '../../dist/node/node.js';
import { testPlace } from '../world.js';

const ROUND_TRIP_MS = 2;
/** Of one question: ten times the latency. */
const PROBE_MS = 200;

type Handler = (body: unknown, context: { readonly source: Address }) => unknown;

/** An agent that hears only those that `answers` names; what it posts is in `posted`. */
function agent(answers: (agent: Address) => boolean, roundTripMs = ROUND_TRIP_MS) {
  const place = testPlace();
  const { clock } = place.platform;
  const handlers = new Map<string, Handler>();
  const posted: string[] = [];
  const node = {
    platform: place.platform,
    holds: new Scope('agent'),
    params: { int: (name: string) => (name === 'bootcom.lease' ? 10_000 : PROBE_MS / 10) },
    messages: {
      on: (name: string, handler: Handler) => void handlers.set(name, handler),
      post: (to: Address, name: string, body: { readonly agent: Address }) =>
        void posted.push(`${name} ${addressName(body.agent)} to ${addressName(to)}`),
      request: (to: Address, _name: string, _body: unknown, done: (error?: Error) => void, options: {
        readonly timeoutMs: number;
      }) => {
        if (answers(to)) clock.after(roundTripMs, () => done());
        else clock.after(options.timeoutMs, () => done(new Error('no reply')));
      },
    },
  } as unknown as AgentNode;
  const receive = (name: string, body: unknown, source: Address): void => void handlers.get(name)?.(body, { source });
  return { place, node, posted, receive };
}

/** The controller asks after host 3 of a chain 0, 1, 2, 3, of which these answer it. */
function probe(
  answering: readonly HostIndex[], hasOverlay = true, answersOnce?: HostIndex, roundTripMs = ROUND_TRIP_MS,
  /** Those that are not up. */
  states = new Map<HostIndex, string>(),
  isReported = true,
) {
  const asked: Address[] = [];
  const one = agent((to) => {
    asked.push(to);
    const isFirst = asked.filter((at) => at === to).length === 1;
    if (answersOnce !== undefined && to === rootAddress(answersOnce)) return isFirst;
    return answering.some((host) => to === rootAddress(host));
  }, roundTripMs);
  const table = {
    get: (host: HostIndex) => ({
      state: states.get(host) ?? 'up', incarnation: 1, parent: host === 0 ? undefined : host - 1,
    }),
    isGone: () => false,
  } as unknown as MembershipTable;
  const { node } = one;
  const probes = new HostProbes({ node, holds: node.holds, table: () => table, hasOverlay: () => hasOverlay });
  const told: (HostIndex | string)[] = [];
  const member = { position: bootPosition(3), incarnation: 1 };
  const done = (silent: MemberId | undefined, isSilent: boolean): void => {
    told.push(silent === undefined ? 'all answer' : silent.position - 1, ...(isSilent ? ['so is the host'] : []));
  };
  if (isReported) probes.probe(member, done);
  else probes.suspect(member);
  return { ...one, told, asked, states, probes, member, done };
}

const suspected = (answering: readonly HostIndex[]) =>
  probe(answering, false, undefined, ROUND_TRIP_MS, new Map(), false);

suite('probes of hosts', (test) => {
  test('those that are silent are asked by the last above them that answers, and are not given up if they do', () => {
    const { place, posted, receive, told } = probe([0, 1]);
    place.run(PROBE_MS / 2 + 1);
    assert.equal([posted, told], [['probe.ask root:2 to root:1', 'probe.ask root:3 to root:1'], []]);
    for (const host of [2, 3]) receive('probe.answered', { probe: 1, agent: rootAddress(host) }, rootAddress(1));
    place.run(ROUND_TRIP_MS);
    assert.equal(told, ['all answer']);
    receive('probe.answered', { probe: 1, agent: rootAddress(3) }, rootAddress(1));
    place.run(10 * PROBE_MS);
    assert.equal(told.length, 1, 'an answer that comes late changes nothing');
  });

  test('one that answered and died since is told of, not the one below whose answer was lost with it', () => {
    for (const [answering, silent] of [[[0, 1], 2], [[0], 1], [[], 0]] as const) {
      const { place, told } = probe(answering, false, silent);
      place.run(3 * PROBE_MS + ROUND_TRIP_MS);
      assert.equal(told, [silent, 'so is the host'], `host ${silent}`);
    }
  });

  test('one above that does not answer is asked once more, and is not given up if it answers then', () => {
    const standing = probe([0], false);
    standing.place.run(2 * PROBE_MS - 1);
    assert.equal([standing.told, standing.asked.filter((to) => to === rootAddress(1)).length], [[], 2]);
    standing.place.run(2);
    assert.equal(standing.told, [1, 'so is the host']);
    const answering: HostIndex[] = [0];
    const thawed = probe(answering, false);
    thawed.place.run(PROBE_MS - 1);
    answering.push(1, 2);
    thawed.place.run(PROBE_MS + 2);
    assert.equal(thawed.told, [3, 'so is the host']);
  });

  test('where answers are late, what is silent is asked once more, and not again', () => {
    const { place, asked, told } = probe([0, 1, 2], false, undefined, 0.75 * PROBE_MS);
    place.run(1.5 * PROBE_MS);
    assert.equal([told, asked.filter((to) => to === rootAddress(3)).length], [[], 2]);
    place.run(PROBE_MS);
    assert.equal(told, [3, 'so is the host']);
  });

  test('below one that is being linked again nobody is told of until it is, for no longer than the lease', () => {
    const { place, told, states } = probe([0, 1, 2], false);
    states.set(2, 'orphan');
    place.run(5 * PROBE_MS);
    assert.equal(told, []);
    states.delete(2);
    place.run(2 * PROBE_MS);
    assert.equal(told, [3, 'so is the host']);
    const other = probe([0, 1, 2], false);
    other.states.set(2, 'orphan');
    other.place.run(9000);
    assert.equal(other.told, []);
    other.place.run(1000 + 2 * PROBE_MS);
    assert.equal(other.told, [3, 'so is the host']);
  });

  test('one that is linked while it is asked is asked again', () => {
    const { place, told, asked, states } = probe([0, 1, 2], true, undefined, ROUND_TRIP_MS, new Map([[3, 'orphaned']]));
    place.run(PROBE_MS - 1);
    states.delete(3);
    place.run(2);
    assert.equal(told, [], 'the question may have come too late');
    place.run(PROBE_MS);
    assert.equal(told, [3, 'so is the host']);
    assert.is(asked.filter((to) => to === rootAddress(3)).length, 2);
  });

  test('an agent above many hosts is asked once for all that are suspected within the expected latency', () => {
    const asked: Address[] = [];
    const { place, node } = agent((to) => {
      asked.push(to);
      return to === rootAddress(0);
    });
    const table = {
      get: (host: HostIndex) => ({ state: 'up', incarnation: 1, parent: host === 0 ? undefined : 0 }),
      isGone: () => false,
    } as unknown as MembershipTable;
    const probes = new HostProbes({ node, holds: node.holds, table: () => table, hasOverlay: () => false });
    const silent: (HostIndex | undefined)[] = [];
    const suspect = (from: HostIndex, to: HostIndex): void => {
      for (let host = from; host < to; host += 1) {
        probes.probe({ position: bootPosition(host), incarnation: 1 }, (first) => {
          silent.push(first === undefined ? undefined : first.position - 1);
        });
      }
    };
    const ofParent = (): number => asked.filter((to) => to === rootAddress(0)).length;
    suspect(1, 50);
    suspect(50, 100);
    assert.is(ofParent(), 1);
    assert.is(asked.length, 100, 'each suspected host is asked itself');
    place.run(PROBE_MS / 10 + 1);
    suspect(100, 101);
    assert.is(ofParent(), 2, 'an old answer says nothing about now');
    place.run(3 * PROBE_MS);
    assert.equal(silent, Array.from({ length: 100 }, (_none, i) => i + 1));
  });

  test('one that is silent is asked anew for those that are suspected after the expected latency', () => {
    const asked: Address[] = [];
    const { place, node } = agent((to) => {
      asked.push(to);
      return false;
    });
    const table = {
      get: (host: HostIndex) => ({ state: 'up', incarnation: 1, parent: host === 0 ? undefined : 0 }),
      isGone: () => false,
    } as unknown as MembershipTable;
    const probes = new HostProbes({ node, holds: node.holds, table: () => table, hasOverlay: () => false });
    const ofParent = (): number => asked.filter((to) => to === rootAddress(0)).length;
    const counts = [1, 2, 3].map((host) => {
      probes.probe({ position: bootPosition(host), incarnation: 1 }, () => undefined);
      const count = ofParent();
      place.run(PROBE_MS / 10 / 2 + 1);
      return count;
    });
    assert.equal(counts, [1, 1, 2]);
  });

  test('what one did not answer while it was suspected counts when it is reported', () => {
    const answering: HostIndex[] = [0, 1, 2];
    const { place, told, probes, asked, member, done } = suspected(answering);
    place.run(PROBE_MS - 1);
    assert.is(asked.filter((to) => to === rootAddress(3)).length, 1);
    place.run(2);
    probes.probe(member, done);
    assert.equal([told, probes.isOpen(member)], [[3, 'so is the host'], false], 'at once');
    place.run(5 * PROBE_MS);
    assert.is(told.length, 2);
  });

  test('one that is reported while it is asked, or answered after all, has its time for an answer', () => {
    const early = suspected([0, 1, 2]);
    early.place.run(PROBE_MS / 4);
    early.probes.probe(early.member, early.done);
    early.place.run(PROBE_MS / 4 * 3 - 1);
    assert.equal(early.told, []);
    early.place.run(2);
    assert.equal(early.told, [3, 'so is the host']);
    // It stood still, and runs again.
    for (const afterMs of [0, PROBE_MS + 2 * ROUND_TRIP_MS]) {
      const answering: HostIndex[] = [0, 1, 2, ...(afterMs === 0 ? [3] : [])];
      const { place, told, probes, asked, member, done } = suspected(answering);
      place.run(afterMs);
      answering.push(3);
      place.run(PROBE_MS);
      const before = asked.length;
      probes.probe(member, done);
      assert.equal(told, [], 'it is asked anew');
      place.run(ROUND_TRIP_MS);
      assert.equal([told, asked.length > before], [['all answer'], true]);
    }
    // It has answered, and one above it has not yet.
    const answering: HostIndex[] = [0, 1, 2];
    const late = suspected(answering);
    late.place.run(PROBE_MS - 1);
    answering.splice(2, 1, 3);
    late.place.run(2 * ROUND_TRIP_MS);
    late.probes.probe(late.member, late.done);
    assert.equal(late.told, []);
  });

  test('one that is suspected and neither reported nor heard is asked for the lease at most', () => {
    const { place, asked } = suspected([0, 1, 2]);
    place.run(10_000 + 3 * PROBE_MS);
    const before = asked.length;
    place.run(10_000);
    assert.equal([asked.length, before > 4 * 10_000 / PROBE_MS - 8], [before, true]);
  });

  test('others cannot answer for them', () => {
    const { place, receive, told } = probe([0, 1, 2]);
    place.run(PROBE_MS / 2 + 1);
    for (const from of [0, 1, 3]) receive('probe.answered', { probe: 1, agent: rootAddress(3) }, rootAddress(from));
    receive('probe.answered', { probe: 2, agent: rootAddress(3) }, rootAddress(2));
    receive('probe.answered', { probe: 1, agent: rootAddress(7) }, rootAddress(2));
    place.run(PROBE_MS);
    assert.equal(told, [3, 'so is the host']);
  });

  test('nobody is asked where all answer, none above does, or there is no way but the tree', () => {
    for (const [answering, hasOverlay] of [[[0, 1, 2, 3], true], [[], true], [[0, 1, 2], false]] as const) {
      const { place, posted, told } = probe(answering, hasOverlay);
      place.run(2 * PROBE_MS + 1);
      assert.equal(posted, []);
      assert.ok(told.length > 0, 'it is decided');
    }
  });

  test('nobody is asked once it has stopped', () => {
    const { place, posted, node } = probe([0, 1]);
    place.run(PROBE_MS / 2 - 10);
    node.holds.close();
    place.run(PROBE_MS);
    assert.equal(posted, []);
  });

  test('an agent tells who asked it of those that answer, and asks a bounded number at a time', () => {
    const { place, node, posted, receive } = agent((to) => to !== rootAddress(9));
    answerProbes(node);
    for (const host of [5, 9]) receive('probe.ask', { probe: 1, agent: rootAddress(host) }, CONTROLLER);
    place.run(PROBE_MS + 1);
    assert.equal(posted, ['probe.answered root:5 to controller']);
    posted.length = 0;
    for (let i = 0; i < 2000; i++) receive('probe.ask', { probe: i, agent: rootAddress(5) }, CONTROLLER);
    place.run(PROBE_MS);
    assert.equal(posted.length, 1024);
    receive('probe.ask', { probe: 1, agent: rootAddress(5) }, CONTROLLER);
    place.run(PROBE_MS);
    assert.equal(posted.length, 1025, 'those that are over count no more');
  });
});
