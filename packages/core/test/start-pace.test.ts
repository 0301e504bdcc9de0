/** Pace of starts: the window and the deadline follow what is observed. */

import { assert, suite } from '@stci/testkit';
import { StartPace } from '../dist/launcher/start-pace.js';

const pace = (windowMax = 8): StartPace => new StartPace({ windowMax, handshakeMs: 10_000 });

suite('pace of starts', (test) => {
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
