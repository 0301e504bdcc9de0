/** Flow control in bytes: what may be sent, what may come, and when it is granted again. */

import { assert, seededIntegers, suite } from '@stci/testkit';
import { ReceiveWindow, SendWindow } from '../../dist/event/window.js';

suite('windows', (test) => {
  test('a sender stops at the least that counts, and goes on once it has more', () => {
    const window = new SendWindow(100, 10);
    assert.equal([window.spend(89), window.leftBytes, window.spentBytes], [true, 11, 89]);
    assert.equal([window.fits(11), window.fits(12)], [true, false]);
    assert.equal([window.spend(1), window.available], [false, false]);
    assert.equal([window.grant(0), window.grant(1), window.grant(1)], [false, true, false]);
    assert.equal([window.spend(20), window.leftBytes], [false, -8]);
    assert.throwsCode('STCI_STREAM_CREDIT', () => window.grant(109));
    assert.equal([window.grant(108), window.leftBytes], [true, 100]);
  });

  test('a receiver grants half a window at a time, and takes no more than the overdraft beyond it', () => {
    const window = new ReceiveWindow(100, 50);
    window.receive(150);
    assert.throwsCode('STCI_STREAM_CREDIT', () => window.receive(1));
    assert.equal([window.consume(49), window.consume(1), window.consume(20), window.consume(40)], [0, 50, 0, 60]);
  });

  test('20 seeds: what is sent within a window is never too much, and all of it is sent in the end', () => {
    let stops = 0;
    for (let seed = 1; seed <= 20; seed++) {
      const pick = seededIntegers(seed);
      const sender = new SendWindow(1000, 200);
      const receiver = new ReceiveWindow(1000, 0);
      const held: number[] = [];
      for (let left = 20_000; left > 0;) {
        const bytes = Math.min(left, 1 + pick(500));
        if (sender.fits(bytes) && pick(3) > 0) {
          sender.spend(bytes);
          receiver.receive(bytes);
          held.push(bytes);
          left -= bytes;
        } else if (sender.grant(receiver.consume(held.shift() ?? 0))) stops += 1;
      }
    }
    assert.ok(stops > 0);
  });
});
