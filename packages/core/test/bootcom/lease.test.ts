/** Leases: on a clock of their own, when they send, suspect and expire; on links over a network that is cut. */

import { CONTROLLER, rootAddress, type Channel, type Clock, type Timer } from '@stci/interface';
import { createWorld, type World } from '@stci/platform-sim';
import { assert, seededIntegers, suite } from '@stci/testkit';
import { LISTEN_OPTIONS } from '@stci/testkit/compliance';
import { Lease } from '../../dist/bootcom/lease.js';
import { Link, type LinkEvents } from '../../dist/bootcom/link.js';

const LEASE_MS = 800;
const PERIOD_MS = LEASE_MS / 8;

/** A clock that the test advances; timers fire when they are due. */
class HandClock {
  now = 0;
  timers: { atMs: number; call: () => void; onOverdue: (() => void) | undefined }[] = [];
  timersMost = 0;
  /** What is read before the call of a later turn. */
  onSoon: () => void = () => undefined;

  readonly clock = {
    nowMs: () => this.now,
    wallMs: () => this.now,
    after: (delayMs: number, call: () => void, onOverdue?: () => void): Timer => {
      const timer = { atMs: this.now + delayMs, call, onOverdue };
      this.timers.push(timer);
      this.timersMost = Math.max(this.timersMost, this.timers.length);
      return { cancel: () => void (this.timers = this.timers.filter((other) => other !== timer)) };
    },
    soon: (call: () => void) => {
      this.onSoon();
      call();
    },
  } as unknown as Clock;

  /** To `atMs`; timers that are due fire at their time. */
  to(atMs: number): void {
    for (;;) {
      const [next] = this.timers.sort((a, b) => a.atMs - b.atMs);
      if (next === undefined || next.atMs > atMs) break;
      this.timers.shift();
      this.now = Math.max(this.now, next.atMs);
      next.call();
    }
    this.now = atMs;
  }

  /** The process is stopped: time passes, nothing fires. */
  sleepTo(atMs: number): void {
    this.now = atMs;
  }
}

/** A turn of the process lasts until `atMs`, with an input at the end of each step. */
function longTurn(hand: HandClock, atMs: number, stepMs: number): void {
  while (hand.now < atMs) {
    hand.sleepTo(hand.now + stepMs);
    for (const { atMs: dueMs, onOverdue } of hand.timers) if (dueMs <= hand.now) onOverdue?.();
  }
}

function leasing(leaseMs = LEASE_MS, hand = new HandClock()) {
  const told: { what: string; atMs: number }[] = [];
  const tell = (what: string) => void told.push({ what, atMs: hand.now });
  const lease = new Lease(
    { clock: hand.clock, leaseMs },
    {
      sendKeepalive: () => {
        tell('alive');
        lease.onSent();
      },
      suspect: (isSuspect) => tell(isSuspect ? 'suspect' : 'trusted'),
      expire: () => tell('expired'),
    },
  );
  const of = (what: string) => told.filter((one) => one.what === what).map(({ atMs }) => atMs);
  return { hand, lease, told, of };
}

suite('lease', (test) => {
  test('never expires while anything is heard within it', () => {
    const random = seededIntegers(11);
    const { hand, lease, of } = leasing();
    for (let at = 0; at < 200 * LEASE_MS;) {
      at += 1 + random(LEASE_MS - 1);
      hand.to(at - 0.001);
      lease.heard();
    }
    assert.equal(of('expired'), []);
  });

  test('is suspect at its half and expires at its end, exactly, whenever the last sign was', () => {
    for (const leaseMs of [LEASE_MS, 200, 1001, 86_400_000]) {
      for (let part = 0; part < 3; part += 0.007) {
        const { hand, lease, of } = leasing(leaseMs);
        const lastMs = part * leaseMs;
        for (let at = 0; at < lastMs; at += leaseMs / 16) {
          hand.to(at);
          lease.heard();
        }
        hand.to(lastMs);
        lease.heard();
        hand.to(lastMs + 10 * leaseMs);
        const [expiredMs = 0, ...more] = of('expired');
        const suspectMs = of('suspect')[0] ?? 0;
        assert.equal(more, []);
        const gone = [suspectMs - lastMs - leaseMs / 2, expiredMs - lastMs - leaseMs];
        // No earlier but for the last bits of the sums; no later than the shortest wait.
        assert.ok(gone.every((late) => late > -1e-6 && late <= 0.02), `${gone.join()} after ${lastMs} of ${leaseMs}`);
      }
    }
  });

  test('what arrived with the end of it, and is read after the timer, still counts', () => {
    const { hand, lease, of } = leasing();
    hand.onSoon = () => lease.heard();
    hand.to(1.5 * LEASE_MS);
    assert.equal(of('expired'), []);
    hand.onSoon = () => undefined;
    hand.to(2 * LEASE_MS);
    assert.equal(of('expired'), [2 * LEASE_MS]);
  });

  test('says something within a turn that is longer, in which it blames nobody', () => {
    const { hand, of } = leasing();
    longTurn(hand, 10 * LEASE_MS, LEASE_MS / 16);
    const times = of('alive');
    const gaps = times.map((atMs, i) => atMs - (times[i - 1] ?? 0));
    assert.ok(gaps.length > 30 && gaps.every((gap) => gap <= LEASE_MS / 4), gaps.join());
    assert.equal([of('suspect'), of('expired')], [[], []]);
    hand.to(10.2 * LEASE_MS);
    assert.equal([of('suspect'), of('expired')], [[], []], 'the turn does not count');
  });

  test('says something within a quarter of what it has sent, whenever that was', () => {
    const { hand, lease, of } = leasing();
    hand.to(30);
    lease.heard();
    lease.onSent();
    hand.to(230);
    assert.is(of('alive').length, 1);
  });

  test('counts from when it is read again', () => {
    const { hand, lease, of } = leasing();
    lease.listening(false);
    hand.to(5 * LEASE_MS + 90);
    lease.listening(true);
    hand.to(6 * LEASE_MS + 80);
    assert.equal(of('expired'), []);
    hand.to(6 * LEASE_MS + 91);
    assert.is(of('expired').length, 1);
  });

  test('gives no credit for a stall before the last sign, nor for timers that are a little late', () => {
    const stalled = leasing();
    stalled.hand.sleepTo(60_000);
    stalled.lease.heard();
    stalled.hand.to(60_000 + LEASE_MS + 1);
    assert.is(stalled.of('expired').length, 1);
    const { hand, of } = leasing();
    for (; of('expired').length === 0 && hand.now < 3 * LEASE_MS; hand.to(hand.now)) {
      hand.sleepTo(Math.min(...hand.timers.map(({ atMs }) => atMs)) + 5);
    }
    assert.ok((of('expired')[0] ?? Infinity) <= LEASE_MS + 6, `${of('expired')}`);
  });

  test('does not expire once it is stopped, though it was about to', () => {
    const { hand, lease, of } = leasing();
    hand.onSoon = () => lease.stop();
    hand.to(2 * LEASE_MS);
    assert.equal(of('expired'), []);
  });

  test('says something every quarter, not more often, and nothing where enough is said', () => {
    const { hand, lease, of } = leasing();
    const hear = (untilMs: number, speak: boolean): void => {
      for (let at = hand.now + 40; at <= untilMs; at += 40) {
        hand.to(at);
        lease.heard();
        if (speak) lease.onSent();
      }
    };
    hear(10 * LEASE_MS, false);
    const times = of('alive');
    const gaps = times.slice(1).map((atMs, i) => atMs - (times[i] as number));
    assert.ok(gaps.length > 30 && gaps.every((gap) => gap === LEASE_MS / 4), gaps.join());
    lease.onSent();
    hand.to(hand.now + LEASE_MS / 4 - 1);
    assert.is(of('alive').length, times.length, 'data counts from when it was sent');
    lease.heard();
    hear(20 * LEASE_MS, true);
    assert.equal(of('alive').filter((atMs) => atMs > 10.5 * LEASE_MS), []);
  });

  test('links of one process say it together, whenever they were made', () => {
    const hand = new HandClock();
    const made = [0, 10, 130, 170, 290, 310, 450].map((atMs) => {
      hand.to(atMs);
      return leasing(LEASE_MS, hand);
    });
    for (let at = 500; at <= 5 * LEASE_MS; at += 50) {
      hand.to(at);
      for (const { lease } of made) lease.heard();
    }
    const phases = made.map(({ of }) => new Set(of('alive').map((atMs) => atMs % (LEASE_MS / 4))));
    assert.ok(made.every(({ of }) => of('alive').length >= 16));
    assert.ok(new Set(phases.flatMap((each) => [...each])).size <= 2, phases.map((each) => [...each].join()).join(' '));
  });

  test('is suspect at half of it, and trusts again', () => {
    const { hand, lease, told } = leasing();
    const changes = () => told.filter(({ what }) => what !== 'alive').map(({ what }) => what);
    hand.to(LEASE_MS / 2 - 1);
    assert.equal(changes(), []);
    hand.to(LEASE_MS / 2 + PERIOD_MS);
    assert.equal(changes(), ['suspect']);
    lease.heard();
    hand.to(hand.now + PERIOD_MS);
    assert.equal(changes(), ['suspect', 'trusted']);
  });

  test('promised silence is added to it, can be taken back, and ends with the next word', () => {
    const quiet = leasing();
    quiet.lease.announce(5000);
    quiet.hand.to(5000 + 6 * PERIOD_MS);
    assert.equal(quiet.of('expired'), []);
    quiet.hand.to(5000 + LEASE_MS);
    assert.is(quiet.of('expired').length, 1);

    const back = leasing();
    back.lease.announce(1e9);
    back.hand.to(3 * LEASE_MS);
    back.lease.announce(0);
    back.hand.to(5 * LEASE_MS);
    assert.is(back.of('expired').length, 1, 'taken back');

    const chatty = leasing();
    chatty.lease.heard();
    chatty.lease.announce(1e9);
    for (let at = 10; at < 2 * LEASE_MS; at += 10) {
      chatty.hand.to(at);
      chatty.lease.heard();
    }
    chatty.hand.to(3.2 * LEASE_MS);
    assert.is(chatty.of('expired').length, 1, 'a peer that speaks again, and never says so, is held to the lease');
  });

  test('a word right after the promise does not end it', () => {
    const { hand, lease, of } = leasing();
    hand.to(30);
    lease.announce(1e9);
    hand.to(PERIOD_MS + 20);
    lease.heard();
    hand.to(10 * LEASE_MS);
    assert.equal(of('expired'), []);
  });

  test('time in which this process did not run does not count', () => {
    const { hand, lease, of } = leasing();
    hand.to(250);
    hand.sleepTo(60_000);
    hand.to(60_000 + 2 * PERIOD_MS);
    lease.heard();
    hand.to(60_000 + 6 * PERIOD_MS);
    assert.equal(of('expired'), []);
    hand.sleepTo(120_000);
    hand.to(120_000 + LEASE_MS);
    assert.is(of('expired').length, 1, 'and it goes on where it was');
  });

  test('nor does time in which the link was not read', () => {
    const { hand, lease, of } = leasing();
    lease.listening(false);
    hand.to(5 * LEASE_MS);
    assert.equal(of('expired'), []);
    lease.listening(true);
    hand.to(6 * LEASE_MS + PERIOD_MS);
    assert.is(of('expired').length, 1);
  });

  test('has one timer; none when stopped or expired', () => {
    const { hand, lease, told } = leasing();
    for (let at = 0; at < 5 * LEASE_MS; at += 33) {
      hand.to(at);
      lease.heard();
    }
    assert.equal([hand.timersMost, hand.timers.length], [1, 1]);
    lease.stop();
    const before = told.length;
    hand.to(20 * LEASE_MS);
    assert.equal([hand.timers.length, told.length - before], [0, 0]);
    const other = leasing();
    other.hand.to(2 * LEASE_MS);
    assert.equal([other.of('expired').length, other.hand.timers.length], [1, 0]);
  });
});

interface Seen {
  readonly log: string[];
  link: Link | undefined;
  closedMs: number;
}

/** Two agents on two hosts, linked over the network between them. */
function joined(leaseMs: number) {
  const world = createWorld({ seed: 4, link: { timeoutMs: 600_000 } });
  const [near, far] = [world.platform('a'), world.platform('b')];
  const seen: Seen[] = [{ log: [], link: undefined, closedMs: 0 }, { log: [], link: undefined, closedMs: 0 }];
  const make = (which: number, channel: Channel): void => {
    const [platform, mine] = [which === 0 ? near : far, seen[which] as Seen];
    const self = which === 0 ? rootAddress(0) : CONTROLLER;
    const base = { self, session: new Uint8Array(8), secret: new Uint8Array(32), admit: () => undefined };
    const role = which === 0 ? ('connect' as const) : ('accept' as const);
    const limits = { frameBytesMax: 100_000, queueBytesMax: 100_000, handshakeMs: 1000, leaseMs };
    const events: LinkEvents = {
      onUp: () => void mine.log.push('up'),
      onFrame: () => undefined,
      onDrain: () => undefined,
      onClosed: (_link, reason, text) => {
        mine.log.push(`${reason}: ${text}`);
        mine.closedMs = world.nowMs;
      },
    };
    mine.link = new Link({ role: which === 0 ? 'parent' : 'child', channel, clock: platform.clock,
      handshake: { ...base, role, secrets: platform.secrets }, limits }, events);
  };
  far.network.listen({ ...LISTEN_OPTIONS, frameBytesMax: 100_000 }, (channel) => make(1, channel),
    (_error, listener) => make(0, near.network.connect(listener?.addresses[0] ?? '', 1000)));
  const run = (ms: number): void => {
    const untilMs = world.nowMs + ms;
    world.at(untilMs, () => undefined);
    world.run({ untilMs });
    if (world.faults[0] !== undefined) throw world.faults[0].error;
  };
  run(100);
  assert.equal(seen.map(({ log }) => log), [['up'], ['up']]);
  return { world, seen, run, states: () => seen.map(({ link }) => link?.state) };
}

const processOf = (world: World, host: string): number =>
  world.livingProcesses().find((process) => process.host === host)?.pid ?? -1;

suite('link with a lease', (test) => {
  test('stays up for ever where nobody has anything to say', () => {
    const { states, run } = joined(1000);
    run(600_000);
    assert.equal(states(), ['up', 'up']);
  });

  test('a cut ends it at both ends within the lease, after being suspect; the words say why', () => {
    const { world, seen, run, states } = joined(1000);
    run(3333);
    const cutMs = world.nowMs;
    world.cutLink('a', 'b');
    run(760);
    assert.equal(states(), ['suspect', 'suspect']);
    run(1000);
    assert.equal(states(), ['closed', 'closed']);
    for (const { log, closedMs } of seen) {
      assert.match(log[1] ?? '', /^silent: no data for [\d.]+ m?s \(bootcom\.lease\)/);
      assert.ok(closedMs - cutMs <= 1000, `${closedMs - cutMs} ms`);
    }
  });

  test('a cut that is mended in time harms nothing, again and again', () => {
    const { world, run, states } = joined(1000);
    for (let i = 0; i < 20; i++) {
      world.cutLink('a', 'b');
      run(600);
      world.mendLink('a', 'b');
      run(300);
    }
    assert.equal(states(), ['up', 'up']);
  });

  test('an end that is stopped is lost by its peer, unless it said so before', () => {
    const { world, run, states, seen } = joined(1000);
    seen[0]?.link?.announceSilence(0xffff_ffff);
    run(1);
    world.pauseProcess('a', processOf(world, 'a'));
    run(60_000);
    assert.is(states()[1], 'up');
    world.resumeProcess('a', processOf(world, 'a'));
    seen[0]?.link?.announceSilence(0);
    run(5000);
    assert.equal(states(), ['up', 'up'], 'nor does it take its own absence for the silence of its peer');
    world.pauseProcess('a', processOf(world, 'a'));
    run(1100);
    assert.is(states()[1], 'closed');
  });

  test('an end that is closed leaves nothing to do', () => {
    const { seen, run, states, world } = joined(1000);
    seen[0]?.link?.close();
    run(100);
    assert.equal(states(), ['closed', 'closed']);
    assert.is(world.run(), 'idle');
  });
});
