import { suite, assert } from '@stci/testkit';
import { createWorld, EventQueue, SimEvent, SimRandom } from '@stci/platform-sim';

class Marked extends SimEvent {
  readonly code = 1;
  readonly mark: number;
  constructor(mark: number) {
    super(undefined);
    this.mark = mark;
  }
  fire(): void {
    throw new Error('not fired here');
  }
}

suite('event queue', (test) => {
  test('gives events in the order of time, then of insertion', () => {
    const random = new SimRandom('queue');
    const queue = new EventQueue();
    const expected: [number, number][] = [];
    for (let mark = 0; mark < 3000; mark++) {
      const timeMs = random.integer(100);
      queue.push(new Marked(mark), timeMs);
      expected.push([timeMs, mark]);
    }
    expected.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    const got: [number, number][] = [];
    for (let event = queue.pop(); event !== undefined; event = queue.pop()) {
      got.push([event.timeMs, (event as Marked).mark]);
    }
    assert.equal(got, expected);
  });

  test('merges the turn queue with the heap', () => {
    const queue = new EventQueue();
    queue.push(new Marked(2), 5);
    queue.pushTurn(new Marked(0), 1);
    queue.push(new Marked(1), 1);
    queue.pushTurn(new Marked(3), 5);
    const order = [0, 1, 2, 3].map(() => (queue.pop() as Marked).mark);
    assert.equal(order, [0, 1, 2, 3]);
    assert.is(queue.size, 0);
  });

  test('stays small when timers are set and cancelled for ever', () => {
    const world = createWorld({ seed: 1 });
    const { clock } = world.platform('h1');
    for (let round = 0; round < 100_000; round++) clock.after(30_000, () => undefined).cancel();
    assert.ok(world.scheduler.queue.size < 5000);
    assert.is(world.run(), 'idle');
    assert.ok(world.nowMs < 100, 'time does not go to cancelled timers');
  });

  test('a world in which only timers of ended processes are left is idle', () => {
    const world = createWorld({ seed: 1 });
    world.start('h1', ['main'], ({ platform, exit }) => {
      platform.clock.after(1_000_000, () => undefined);
      platform.clock.after(10, () => exit(0));
    });
    assert.is(world.run({ untilMs: 5 }), 'time');
    assert.is(world.run({ untilMs: 100 }), 'idle');
  });
});

suite('virtual time', (test) => {
  test('timers fire in order at their time, soon after what is ready', () => {
    const world = createWorld({ seed: 1 });
    const { clock } = world.platform('h1');
    const startMs = clock.nowMs();
    const log: string[] = [];
    clock.after(2, () => log.push(`two ${Math.round(clock.nowMs() - startMs)}`));
    clock.after(1, () => log.push('one'));
    clock.soon(() => log.push('soon'));
    clock.after(0, () => log.push('zero'));
    assert.equal(log, [], 'nothing runs within the call that registers it');
    world.run();
    assert.equal(log, ['zero', 'soon', 'one', 'two 2']);
  });

  test('run stops at its bounds and says why', () => {
    const world = createWorld({ seed: 1 });
    const { clock } = world.platform('h1');
    let ticks = 0;
    const tick = (): void => {
      ticks++;
      clock.after(1, tick);
    };
    tick();
    assert.is(world.run({ maxEvents: 10 }), 'events');
    assert.is(ticks, 11);
    assert.is(world.run({ until: () => ticks === 20 }), 'until');
    assert.is(world.run({ untilMs: world.nowMs + 100 }), 'time');
    assert.is(ticks, 120);
  });

  test('clocks of hosts differ by their offsets', () => {
    const world = createWorld({ seed: 1, wallStartMs: 1000 });
    world.host('h1').wallOffsetMs = 500;
    const one = world.platform('h1').clock;
    const two = world.platform('h2').clock;
    assert.is(Math.round(one.wallMs() - two.wallMs()), 500);
    assert.ok(two.wallMs() >= 1000);
  });
});
