/** The search of a repeat's hosts: how many at a time, how long, and what hosts that lie or are silent can do. */

import { searchHosts, type HostLook, type LeftBehind } from '@stci/finject/experiment';
import { assert, suite } from '@stci/testkit';
import { VirtualClock } from './fake-session.js';

const NONE: HostLook = { count: 0, processes: [] };
/** ms. */
const WAIT = 5000;

interface Asked {
  readonly host: string;
  readonly waitMs: number;
  readonly deadlineMs: number;
  readonly done: (found: HostLook | string) => void;
}

class Trial {
  readonly clock = new VirtualClock();
  readonly asked: Asked[] = [];
  readonly results: LeftBehind[] = [];
  pending = 0;
  mostPending = 0;

  constructor(hosts: readonly string[], answer: (asked: Asked, clock: VirtualClock) => void) {
    const look = (host: string, waitMs: number, deadlineMs: number, given: Asked['done']): void => {
      this.pending += 1;
      this.mostPending = Math.max(this.mostPending, this.pending);
      const done: Asked['done'] = (found) => {
        this.pending -= 1;
        given(found);
      };
      const asked = { host, waitMs, deadlineMs, done };
      this.asked.push(asked);
      answer(asked, this.clock);
    };
    searchHosts({ clock: this.clock, hosts, waitMs: WAIT, look }, (found) => this.results.push(found));
  }

  run(): LeftBehind {
    this.clock.run(() => this.results.length > 0);
    assert.is(this.results.length, 1);
    return this.results[0] as LeftBehind;
  }
}

const names = (count: number): string[] => Array.from({ length: count }, (_, at) => `h${at}`);

suite('search of hosts', (test) => {
  test('nothing left, in any number, answered at once', () => {
    for (const count of [0, 1, 100]) {
      const trial = new Trial(names(count), ({ done }) => done(NONE));
      assert.equal(trial.results, [{ orphans: 0, left: [], unknown: [] }]);
      assert.is(trial.asked.length, count);
    }
  });

  test('so many at a time; the result is in the order of the hosts', () => {
    const trial = new Trial(names(100), ({ host, done }, clock) => {
      const number = Number(host.slice(1));
      const processes = [{ pid: number + 1, command: 'sleep 9' }];
      clock.after(1000 - number, () => done(number % 50 === 7 ? 'refused' : { count: 1, processes }));
    });
    const { orphans, left, unknown } = trial.run();
    assert.is(trial.mostPending, 32);
    assert.is(orphans, 98);
    assert.equal(left.slice(0, 2), [0, 1].map((at) => ({ host: `h${at}`, pid: at + 1, command: 'sleep 9' })));
    assert.is(left.length, 60);
    assert.equal(unknown, [7, 57].map((at) => ({ host: `h${at}`, reason: 'refused' })));
  });

  test('a host that answers never, twice, or too late: not known, and the others are', () => {
    const late: Asked[] = [];
    const trial = new Trial(['a', 'b', 'c'], (asked) => {
      if (asked.host === 'a') return void late.push(asked);
      asked.done({ count: 2, processes: [] });
      asked.done('again');
    });
    const found = trial.run();
    assert.equal(found, { orphans: 4, left: [], unknown: [{ host: 'a', reason: 'no answer within 20000 ms' }] });
    late[0]?.done({ count: 7, processes: [] });
    assert.equal(trial.results, [found]);
  });

  test('it ends within a minute, beside the time that hosts wait; those that had no turn are told', () => {
    const trial = new Trial(names(1000), () => undefined);
    const { unknown } = trial.run();
    assert.ok(trial.clock.nowMs() <= WAIT + 61_000, `${trial.clock.nowMs()} ms`);
    assert.is(unknown?.length, 1000);
    assert.is(unknown?.at(-1)?.reason, 'it was not looked at within 65 s');
    assert.ok(trial.asked.every(({ waitMs, deadlineMs }) => deadlineMs >= waitMs + 1000));
    assert.is(trial.asked.at(-1)?.waitMs, 0, 'what ends just now has had its time');
  });

  test('what a host says takes no room from others, and is one line', () => {
    const many = Array.from({ length: 50 }, (_, pid) => ({ pid: pid + 1, command: `x\n\u001b[2J${'y'.repeat(500)}` }));
    const trial = new Trial(['liar', 'b', 'c'], ({ host, done }) => {
      if (host === 'c') return done(`first\n  second ${'z'.repeat(2000)}`);
      done(host === 'liar' ? { count: 50, processes: many } : { count: 1, processes: [{ pid: 9, command: 'a' }] });
    });
    const { orphans, left, unknown } = trial.run();
    assert.is(orphans, 51);
    assert.equal(left.map(({ host }) => host), ['liar', 'liar', 'liar', 'b']);
    assert.ok(left.every(({ command }) => command.length <= 80 && !/[\n\u001b]/u.test(command)));
    assert.match(unknown?.[0]?.reason ?? '', /^first second z{200}/u);
    assert.ok((unknown?.[0]?.reason.length ?? 0) <= 300);
  });
});
