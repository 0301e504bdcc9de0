import type { Channel, ListenOptions } from '@stci/interface';
import { suite, assert } from '@stci/testkit';
import { LISTEN_OPTIONS } from '@stci/testkit/compliance';
import { createWorld, SimRandom, type World } from '@stci/platform-sim';

const LISTEN: ListenOptions = { ...LISTEN_OPTIONS, pendingMax: 10, frameBytesMax: 1_000_000 };

interface End {
  channel: Channel;
  bytes: number[];
  drains: number;
  closed: string[];
}

function bound(channel: Channel): End {
  const end: End = { channel, bytes: [], drains: 0, closed: [] };
  channel.bind({
    onData: (chunk) => {
      for (const byte of chunk) end.bytes.push(byte);
    },
    onDrain: () => end.drains++,
    onClose: (reason) => end.closed.push(reason),
  });
  return end;
}

/** A connection from h1 to h2, up. */
function connected(world: World): { near: End; far: End; nearPid: number; farPid: number } {
  const one = world.platform('h1');
  const two = world.platform('h2');
  let far: End | undefined;
  two.network.listen(LISTEN, (channel) => (far = bound(channel)), () => undefined);
  const near = bound(one.network.connect('ws://h2:40000', 1000));
  near.channel.send([Uint8Array.of(1)]);
  world.run({ until: () => far?.bytes.length === 1 });
  return { near, far: far as unknown as End, nearPid: one.env.pid, farPid: two.env.pid };
}

const numbers = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, i) => (from + i) & 0xff);

suite('simulated channel', (test) => {
  test('keeps bytes in order, whatever the cuts', () => {
    const world = createWorld({ seed: 3, link: { cutChance: 0.9, jitterMs: 5 } });
    const { near, far } = connected(world);
    const random = new SimRandom('chunks');
    const sent = [1];
    while (sent.length < 50_000) {
      const chunk = random.bytes(1 + random.integer(700));
      near.channel.send([chunk]);
      sent.push(...chunk);
    }
    near.channel.close();
    world.run();
    assert.is(Buffer.compare(Buffer.from(far.bytes), Buffer.from(sent)), 0);
    assert.equal(far.closed, ['end of file']);
    assert.equal(near.closed, ['closed']);
  });

  test('back-pressure: send says no, the queue waits, drain follows', () => {
    const world = createWorld({ seed: 4 });
    const { near, far } = connected(world);
    far.channel.readable(false);
    let taken = 0;
    while (near.channel.send([new Uint8Array(10_000)])) taken += 10_000;
    assert.ok(taken >= world.sizes.connectionBytes && taken < 500_000, `${taken}`);
    world.run();
    assert.ok(near.channel.queuedBytes > world.sizes.markBytes);
    assert.is(far.bytes.length, 1);
    assert.is(near.drains, 0);
    far.channel.readable(true);
    world.run();
    assert.is(near.drains, 1);
    assert.is(near.channel.queuedBytes, 0);
    assert.is(far.bytes.length, taken + 10_001);
  });

  test('a killed process closes its channels: what was sent arrives, what was queued is lost', () => {
    const world = createWorld({ seed: 5 });
    const { near, far, nearPid } = connected(world);
    near.channel.send([new Uint8Array(300_000)]);
    world.killProcess('h1', nearPid);
    world.run();
    assert.is(far.bytes.length, 1 + world.sizes.connectionBytes);
    assert.equal(far.closed, ['end of file']);
    assert.equal(near.closed, [], 'nothing of a dead process is called');
  });

  test('nothing is delivered before bind, and nothing is lost', () => {
    const world = createWorld({ seed: 6 });
    const one = world.platform('h1');
    const two = world.platform('h2');
    let accepted: Channel | undefined;
    two.network.listen(LISTEN, (channel) => (accepted = channel), () => undefined);
    const near = bound(one.network.connect('ws://h2:40000', 1000));
    near.channel.send([Uint8Array.of(1, 2, 3)]);
    near.channel.close();
    world.run();
    const far = bound(accepted as unknown as Channel);
    assert.equal(far.bytes, []);
    world.run();
    assert.equal(far.bytes, [1, 2, 3]);
    assert.equal(far.closed, ['end of file']);
  });

  test('destroy loses the queue and tells both ends once', () => {
    const world = createWorld({ seed: 7 });
    const { near, far } = connected(world);
    near.channel.send([new Uint8Array(300_000)]);
    near.channel.destroy('enough');
    near.channel.destroy('again');
    assert.equal(near.closed, []);
    world.run();
    assert.equal(near.closed, ['enough']);
    assert.equal(far.closed, ['end of file']);
    assert.is(far.bytes.length, 1 + world.sizes.connectionBytes);
  });

  test('refused where nobody listens, timed out where nobody is', () => {
    const world = createWorld({ seed: 8 });
    const one = world.platform('h1');
    world.platform('h2');
    world.host('h3');
    world.crashHost('h3');
    const refused = bound(one.network.connect('ws://h2:9', 1000));
    const silent = bound(one.network.connect('ws://h3:9', 1000));
    const startMs = world.nowMs;
    world.run();
    assert.equal(refused.closed, ['connection refused']);
    assert.equal(silent.closed, ['timed out after 1000 ms']);
    assert.ok(world.nowMs >= startMs + 1000);
  });
});

suite('faults of links', (test) => {
  test('a cut is silence, a mend lets the data flow on in order', () => {
    const world = createWorld({ seed: 9 });
    const { near, far } = connected(world);
    world.cutLink('h1', 'h2');
    near.channel.send([Uint8Array.from(numbers(2, 100))]);
    world.run({ untilMs: world.nowMs + 1000 });
    near.channel.send([Uint8Array.from(numbers(100, 200))]);
    world.run({ untilMs: world.nowMs + 1000 });
    assert.is(far.bytes.length, 1);
    assert.equal([...near.closed, ...far.closed], []);
    world.mendLink('h1', 'h2');
    world.run({ untilMs: world.nowMs + 1000 });
    assert.equal(far.bytes, numbers(1, 200));
    assert.equal([...near.closed, ...far.closed], []);
  });

  test('a cut that lasts longer than the timeout closes both ends', () => {
    const world = createWorld({ seed: 10, link: { timeoutMs: 5000 } });
    const { near, far } = connected(world);
    const mend = world.partition(['h1'], ['h2', 'h3']);
    near.channel.send([Uint8Array.of(9)]);
    world.run();
    assert.equal(near.closed, ['connection timed out']);
    assert.equal(far.closed, ['connection timed out']);
    mend();
    world.run();
    assert.equal(far.bytes, [1]);
  });

  test('a crashed host is silent until something is sent to it for too long', () => {
    const world = createWorld({ seed: 11, link: { timeoutMs: 5000 } });
    const { near } = connected(world);
    world.crashHost('h2');
    world.run({ untilMs: world.nowMs + 100_000 });
    assert.equal(near.closed, []);
    near.channel.send([Uint8Array.of(9)]);
    world.run();
    assert.equal(near.closed, ['connection timed out']);
  });

  test('a slow link takes its time', () => {
    const world = createWorld({ seed: 12 });
    const { near, far } = connected(world);
    world.slowLink('h1', 'h2', { bytesPerMs: 10 });
    const startMs = world.nowMs;
    near.channel.send([new Uint8Array(10_000)]);
    world.run({ until: () => far.bytes.length > 10_000 });
    assert.ok(world.nowMs - startMs > 990, `${world.nowMs - startMs}`);
  });

  test('a stopped process reads nothing and goes on where it was', () => {
    const world = createWorld({ seed: 13 });
    const { near, far, farPid } = connected(world);
    world.pauseProcess('h2', farPid);
    world.run({ untilMs: world.nowMs + 1 });
    near.channel.send([Uint8Array.from(numbers(2, 50))]);
    near.channel.close();
    world.run();
    assert.is(far.bytes.length, 1);
    world.resumeProcess('h2', farPid);
    world.run();
    assert.equal(far.bytes, numbers(1, 50));
    assert.equal(far.closed, ['end of file']);
  });
});
