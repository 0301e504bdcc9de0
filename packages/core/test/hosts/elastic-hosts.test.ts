/** Hosts that come and leave while a session runs: what is refused, what each becomes, and when its agent ends. */

import { StciError, rootAddress, type HostIndex, type HostSpec } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { createTree } from '@stci/topology-tree';
import { Scope } from '../../dist/event/scope.js';
import { ElasticHosts, type ElasticHostsInit } from '../../dist/hosts/elastic-hosts.js';
import { MembershipTable } from '../../dist/membership/table.js';
import type { HostOutcome } from '../../dist/messages/session-messages.js';
import { specOf } from '../membership/specs.js';
import { testPlace } from '../world.js';

const LEAVE_MS = 1000 + 2 * 500;

/** Hosts a, b and c are up, c below a; s is a spare. */
function play() {
  const place = testPlace();
  const table = new MembershipTable(createTree(16, 2) as never, ['a', 'b', 'c'].map(specOf));
  for (let host = 0; host < 3; host += 1) {
    for (const event of ['start', 'up'] as const) table.apply(host, event, { socket: 'x' });
  }
  const log: string[] = [];
  const spares = [specOf('s')];
  const ranks = new Map<HostIndex, number>();
  const mender = {
    expel: (host: HostIndex, parent: HostIndex | undefined, reason: string) =>
      void log.push(`expel ${host} by ${parent}: ${reason}`),
    onStarts: (input: (starts: unknown) => void) => input({
      giveUp: (host: HostIndex, error: StciError) => {
        if (table.get(host).start === undefined) return;
        log.push(`given up ${host}`);
        table.note(host, { start: undefined });
        changes.onStarted(host, error);
      },
    }),
  };
  const bootstrap = {
    table, mender,
    recovery: {
      spares,
      takeSpare: (name: string) => {
        const at = spares.findIndex((spare) => spare.name === name);
        return at >= 0 && spares.splice(at, 1).length === 1;
      },
    },
    failureOf: (host: HostIndex, _kind: string, error: object) => ({ host, error }),
    startHost: (host: HostIndex, spec: HostSpec) => {
      log.push(`start ${spec.name}`);
      table.note(host, { start: { waitMs: undefined } });
    },
  };
  const job = {
    job: 7, ranksOn: (host: HostIndex) => ranks.get(host) ?? 0,
    onHostLost: ({ host, error }: { host: HostIndex; error: { data: object } }) => {
      log.push(`job loses ${host} ${JSON.stringify(error.data)}`);
    },
  };
  const params = { int: (name: string) => (name === 'tool.grace' ? 1000 : 500) };
  const node = {
    platform: place.platform, params,
    messages: { send: (to: number, name: string) => void log.push(`${name} to ${to - rootAddress(0)}`) },
  };
  let [sizeMax, looks] = [5, 0];
  const holds = new Scope('session');
  const changes: ElasticHosts = new ElasticHosts({
    node, holds, bootstrap, jobs: () => [job], placeSoon: () => (looks += 1),
    checkSize: (size: number) => {
      if (size > sizeMax) throw new StciError('STCI_PARAM_INVALID', `${size}`);
    },
  } as unknown as ElasticHostsInit);
  const done = (outcomes: readonly HostOutcome[]): void => void log.push(outcomes.map(({ name, error }) =>
    `${name} ${error === undefined ? 'done' : error.message}`).join());
  const next = (ms = 0): string[] => (place.run(ms), log.splice(0));
  const remove = (names: string, force = false, timeoutMs?: number): string[] =>
    (changes.remove(names.split(' '), { force, timeoutMs }, done), next());
  const add = (...names: string[]): string[] => (changes.add(names.map(specOf), done), next());
  const lose = (host: HostIndex): boolean => {
    const { isLeaving } = table.get(host);
    table.apply(host, 'leave');
    changes.onLost(host);
    return isLeaving;
  };
  const settle = (host: HostIndex, error?: StciError): string[] => {
    if (error === undefined) for (const event of ['plan', 'start', 'up'] as const) table.apply(host, event);
    table.note(host, { start: undefined });
    changes.onStarted(host, error);
    return next();
  };
  const isQuiet = (): boolean => place.world.scheduler.queue.pending().length === 0;
  return {
    changes, holds, table, ranks, spares, remove, add, lose, settle, next, isQuiet,
    /** How often those that wait for hosts were to be looked at since the last call. */
    looks: () => [looks, (looks = 0)][0],
    limit: (size: number) => void (sizeMax = size),
  };
}

suite('changes of hosts', (test) => {
  test('one without ranks leaves at once, and is gone when its agent is lost, as was wanted', () => {
    const { remove, lose, next, table, isQuiet } = play();
    assert.equal(remove('b'), ['agent.leave to 1']);
    assert.equal([table.get(1).isDraining, lose(1), next()], [true, true, ['b done']]);
    assert.equal([isQuiet(), next(60_000)], [true, []]);
    assert.throwsCode('STCI_HOST_UNKNOWN', () => remove('b'));
  });

  test('one that does not leave in time is ended by the agent that started it', () => {
    const { remove, next } = play();
    remove('c');
    assert.equal([next(LEAVE_MS - 1), next(1)], [[], ['expel 2 by 0: it did not leave within 2 s']]);
  });

  test('one with ranks waits for the end of its jobs; by force they lose it', () => {
    const { changes, remove, ranks, next } = play();
    ranks.set(1, 1);
    assert.equal(remove('b'), []);
    changes.onJobOver();
    assert.equal(next(), [], 'another job');
    ranks.delete(1);
    changes.onJobOver();
    changes.onJobOver();
    assert.equal(next(), ['agent.leave to 1'], 'once');
    const forced = play();
    forced.ranks.set(1, 2);
    assert.equal(forced.remove('b', true), ['job loses 1 {"removed":true}', 'agent.leave to 1']);
  });

  test('one that still has ranks after the given time stays, and takes jobs again; one that leaves does not', () => {
    const { remove, ranks, next, table, lose, isQuiet } = play();
    ranks.set(1, 2);
    assert.equal(remove('b c', false, 700), ['agent.leave to 2']);
    assert.equal(next(699), []);
    next(1);
    assert.equal([table.get(1).isDraining, table.get(2).isDraining], [false, true]);
    lose(2);
    const [told = ''] = next();
    assert.match(told, /^b Host b stays: after 700 ms it still has ranks of job 7\..*,c done$/);
    assert.is(isQuiet(), true);
    const quick = play();
    quick.remove('b', false, 700);
    quick.lose(1);
    assert.equal([quick.isQuiet(), quick.next(1000)], [true, ['b done']]);
  });

  test('one that had failed has left at once, for good; and again, if it is asked to', () => {
    const { remove, table, add } = play();
    table.apply(1, 'fail', { evidence: 'x' });
    assert.equal([remove('b'), table.get(1).state], [['b done'], 'left']);
    assert.throwsCode('STCI_HOST_UNKNOWN', () => remove('b'));
    assert.equal(add('b'), ['start b']);
    assert.equal([remove('b'), table.get(1).isDraining], [['given up 1', 'b Host b was removed.', 'b done'], false]);
  });

  test('who asks while it leaves is told, too; force hastens one that waits', () => {
    const { remove, ranks, lose, next } = play();
    ranks.set(1, 2);
    remove('b');
    assert.equal(remove('b', true), ['job loses 1 {"removed":true}', 'agent.leave to 1']);
    assert.equal(remove('b', true), [], 'it leaves already');
    lose(1);
    assert.equal(next(), ['b done', 'b done', 'b done']);
  });

  test('the last host stays, as does one in whose process another agent runs; nothing has changed then', () => {
    const { remove, next, table, lose } = play();
    assert.throwsCode('STCI_SESSION_REFUSED', () => remove('a b c'));
    table.note(2, { socket: undefined });
    assert.throwsCode('STCI_SESSION_REFUSED', () => remove('a'));
    assert.equal([next(), [0, 1, 2].map((host) => table.get(host).isDraining)], [[], [false, false, false]]);
    table.note(2, { socket: 'x' });
    remove('b c');
    assert.throwsCode('STCI_SESSION_REFUSED', () => remove('a')); // The others are about to leave.
    for (const host of [1, 2]) lose(host);
  });

  test('a spare leaves at once, and a name that nobody knows is an error before anything happens', () => {
    const { remove, next, spares, lose } = play();
    assert.throwsCode('STCI_HOST_UNKNOWN', () => remove('b x'));
    assert.equal([next(), spares.length], [[], 1]);
    assert.equal([remove('s'), spares.length], [['s done'], 0]);
    const { remove: both, next: told, lose: gone } = play();
    both('s b');
    gone(1);
    assert.equal(told(), ['s done,b done']);
    assert.is(lose(2), false, 'a loss that nobody wanted');
  });

  test('new hosts are started, each with an outcome of its own; told when all have one', () => {
    const { add, settle, spares } = play();
    assert.equal(add('d', 's'), ['start d', 'start s']);
    assert.is(spares.length, 0, 'it is none any more');
    assert.equal(settle(4, new StciError('STCI_LAUNCH_FAILED', 'no')), []);
    assert.equal(settle(3), ['s no,d done']);
  });

  test('those that are there, or being started, or too many, are refused; nothing is started then', () => {
    const { add, next, limit, remove, settle } = play();
    const refused = (...names: string[]): string =>
      (assert.throwsCode('STCI_HOSTLIST_INVALID', () => add(...names)) as StciError).message;
    assert.is(refused('a'), 'Host a is in the session already.');
    assert.is(refused('d', 'b', 'a'), 'Host b and 1 more host are in the session already.');
    add('d');
    assert.throwsCode('STCI_HOSTLIST_INVALID', () => add('d'));
    settle(3);
    assert.throwsCode('STCI_PARAM_INVALID', () => add('e', 'f'));
    limit(6);
    assert.equal([next(), add('e', 'f').length], [[], 2]);
    remove('b');
    assert.throwsCode('STCI_HOSTLIST_INVALID', () => add('b')); // It leaves.
  });

  test('one that waits to leave stays if it is added again; one that has left is started again', () => {
    const { add, remove, ranks, table, lose, next } = play();
    ranks.set(1, 2);
    remove('b');
    assert.equal(add('b'), ['b Host b stays: it was added again.', 'b done']);
    assert.is(table.get(1).isDraining, false);
    ranks.delete(1);
    remove('b');
    lose(1);
    next();
    assert.equal(add('b'), ['start b']);
  });

  test('a start that is not wanted any more is given up; what is still open ends with the session', () => {
    const { holds, add, remove, isQuiet, next } = play();
    add('d');
    assert.equal(remove('d'), ['given up 3', 'd Host d was removed.', 'd done']);
    remove('b');
    holds.close();
    assert.equal([next(), isQuiet()], [['b done'], true]);
  });

  test('whoever waits is looked at when a host can be used no more, or again, or does not come up', () => {
    const { remove, add, ranks, next, settle, looks } = play();
    ranks.set(1, 1);
    remove('b', false, 700);
    assert.is(looks(), 1);
    next(700);
    assert.is(looks(), 1, 'it stays');
    add('d');
    assert.is(looks(), 0);
    settle(3, new StciError('STCI_LAUNCH_FAILED', 'x'));
    assert.is(looks(), 1, 'it is not awaited any more');
  });
});
