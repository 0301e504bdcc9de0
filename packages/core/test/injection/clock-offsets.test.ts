/** Clocks of many hosts, of which some do not answer: what is known is told, in time, and few are asked at once. */

import { addressIndex, type Address, type ClockOffset } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { measureClocks, readClock } from '../../dist/injection/clock-offsets.js';
import type { AgentNode } from '../../dist/node/node.js';
import { testPlace } from '../world.js';

type Reply = (error: Error | undefined, reply?: { readonly wallMs: number }) => void;

/** `answers`: how often a host answers before it falls silent. */
function play(count: number, answers: (host: number) => number) {
  const place = testPlace();
  const { clock } = place.platform;
  const asked: number[] = [];
  let [open, most] = [0, 0];
  const request = (to: Address, _name: string, _body: unknown, done: Reply, { timeoutMs }: { timeoutMs: number }) => {
    const host = addressIndex(to);
    asked[host] = (asked[host] ?? 0) + 1;
    most = Math.max(most, ++open);
    const isAnswered = asked[host] <= answers(host);
    clock.after(isAnswered ? 4 : timeoutMs, () => {
      open -= 1;
      if (isAnswered) done(undefined, { wallMs: clock.wallMs() + 100 });
      else done(new Error('no answer'));
    });
  };
  const node = { platform: place.platform, messages: { request } } as unknown as AgentNode;
  const hosts = Array.from({ length: count }, (_, host) => ({ host, name: `h${host}` }));
  const found: (readonly ClockOffset[])[] = [];
  const startMs = clock.nowMs();
  let tookMs = 0;
  measureClocks(node, hosts, (clocks) => {
    found.push(clocks);
    tookMs = clock.nowMs() - startMs;
  });
  const atOnce = found.length;
  place.run(30_000);
  assert.is(found.length, 1, 'told once');
  assert.equal(place.world.scheduler.queue.pending(), []);
  return { clocks: found[0] ?? [], tookMs, most, atOnce };
}

suite('clocks', (test) => {
  test('hosts that do not answer keep the others waiting for a moment only', () => {
    const { clocks, tookMs, most } = play(600, (host) => (host < 300 ? 0 : Infinity));
    assert.equal(clocks.map(({ host, samples }) => [host, samples]),
      Array.from({ length: 300 }, (_, i) => [300 + i, 8]));
    assert.ok(tookMs < 8000, `${tookMs} ms`);
    assert.ok(most <= 16 * 11, `${most} were asked at the same time`);
    for (const { offsetMs, errorMs } of clocks) assert.ok(Math.abs(offsetMs - 100) <= errorMs && errorMs < 5);
  });

  test('where all answer, 16 at a time are asked', () => {
    const { clocks, most } = play(100, () => Infinity);
    assert.equal([clocks.length, most], [100, 16]);
  });

  test('it ends at its deadline with what it has, and a host that falls silent has told something', () => {
    const { clocks, tookMs } = play(2000, (host) => (host === 1 ? 3 : host % 100 === 0 ? Infinity : 0));
    assert.is(Math.round(tookMs), 10_000);
    assert.equal(clocks.slice(0, 3).map(({ host, samples }) => [host, samples]), [[0, 8], [1, 3], [100, 8]]);
    assert.ok(clocks.length > 5 && clocks.length < 20, String(clocks.length));
  });

  test('no hosts, no clocks', () => {
    const { clocks, atOnce } = play(0, () => 0);
    assert.equal([clocks, atOnce], [[], 1]);
  });

  test('one host, which answers as it reads its clock; it takes as long as that, and its error is that of both', () => {
    const { clocks, tookMs } = play(1, () => Infinity);
    const [{ offsetMs = 0, errorMs = 0 } = {}] = clocks;
    assert.ok(tookMs < 40, `${tookMs} ms`);
    assert.is(Math.round(errorMs), 3, 'half of 4 ms, and one of the ticks');
    assert.ok(Math.abs(offsetMs - 102) < 1, `${offsetMs} ms`);
    const { platform } = testPlace();
    const { wallMs, nowMs } = readClock({ platform } as AgentNode);
    assert.equal([wallMs, nowMs].map(Math.floor), [platform.clock.wallMs(), platform.clock.nowMs()].map(Math.floor));
  });
});
