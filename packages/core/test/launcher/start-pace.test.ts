/** Pace of starts: the window and the deadline follow what is observed. */

import { assert, suite } from '@stci/testkit';
import { bootcomFramework, launcherFramework } from '@stci/core';
import type { AnyFramework } from '@stci/interface';
import { LINK_PATIENCE } from '../../dist/boot/child-channel.js';
import { BOOT_RANGES } from '../../dist/bootcom/boot-record.js';
import { StartPace, hostWaitMs } from '../../dist/launcher/start-pace.js';

const pace = (windowMax = 8): StartPace => new StartPace({ windowMax, handshakeMs: 10_000 });

const boundsOf = ({ params }: AnyFramework, name: string): readonly [number, number] => {
  const { min, max } = params[name] as { min?: number; max?: number };
  return [min, max] as [number, number];
};

suite('pace of starts', (test) => {
  test('whatever a user sets, a host waits longer than its starter, and no timer overflows', () => {
    for (const handshakeMs of boundsOf(launcherFramework, 'handshake')) {
      const p = new StartPace({ windowMax: 1, handshakeMs });
      p.onProgress(Infinity);
      assert.ok(hostWaitMs(handshakeMs) > p.allowanceMs, `${handshakeMs} ms`);
      const [low, high] = BOOT_RANGES.handshakeMs;
      assert.ok(p.allowanceMs >= low && LINK_PATIENCE * p.startMsMax <= high && hostWaitMs(handshakeMs) <= high);
    }
    for (const [name, range] of [['lease', 'leaseMs'], ['frame.max', 'frameBytesMax']] as const) {
      const [min, max] = boundsOf(bootcomFramework, name);
      assert.ok(min >= BOOT_RANGES[range][0] && max <= BOOT_RANGES[range][1], name);
    }
  });

  test('nothing observed: the whole window, and the handshake time', () => {
    const p = pace();
    p.onCpuTimes(undefined);
    assert.equal([p.window, p.allowanceMs, p.startMsMax], [8, 10_000, 60_000]);
  });

  test('slow steps that end well give the others more time, up to a bound', () => {
    const p = pace();
    p.onProgress(1000);
    assert.is(p.allowanceMs, 10_000);
    p.onProgress(6000);
    p.onProgress(10);
    assert.is(p.allowanceMs, 18_000);
    p.onProgress(60_000);
    assert.is(p.allowanceMs, 30_000);
  });

  test('slow starts halve the window, quick ones widen it again, within 1 and the parameter', () => {
    const p = pace();
    const windows = [6000, 6000, 6000, 6000, 4000, 100, 100].map((startMs) => (p.onUp(startMs), p.window));
    assert.equal(windows, [4, 2, 1, 1, 1, 2, 3]);
    for (let i = 0; i < 20; i++) p.onUp(100);
    assert.is(p.window, 8);
  });

  test('an agent that waits for the processor starts fewer at a time; a little contention changes nothing', () => {
    const p = pace();
    const at = (ranMs: number, waitedMs: number): number => (p.onCpuTimes({ ranMs, waitedMs }), p.window);
    assert.is(at(100, 200), 8, 'three times as long');
    assert.is(at(110, 290), 3, 'ten times as long since');
    assert.is(at(111, 290), 3, 'too little to measure');
    assert.is(at(120, 1280), 1, 'a hundred times as long since');
    assert.is(at(220, 1280), 8, 'nobody else is there any more');
    assert.is(at(220, 1280), 8);
    const one = pace(1);
    one.onCpuTimes({ ranMs: 1, waitedMs: 1000 });
    assert.is(one.window, 1);
  });
});
