/** The arbiter's code, which is loaded when it is needed: what comes of it where that takes a while. */

import { assert, suite } from '@stci/testkit';
import { arbiterCode } from '../../dist/failure/arbiter-code.js';
import { Arbiter } from '../../dist/failure/arbiter.js';
import { play as playFailures } from './play-failures.js';

/** As `play` of the other tests, with code that comes when the test says so. */
function play() {
  const waiting: ((code: typeof Arbiter) => void)[] = [];
  arbiterCode.use = (done) => void waiting.push(done);
  const playing = playFailures([0, 1, 2]);
  const come = (): void => {
    for (const done of waiting.splice(0)) done(Arbiter);
  };
  return { ...playing, come };
}

suite('an arbiter that is loaded late', (test) => {
  test('watches nobody where the session has ended meanwhile, whoever asks for it', () => {
    const { failures, holds, interest, come, sent, report, run, events, world } = play();
    holds.close();
    come();
    interest();
    report(0, 3);
    failures.onUp(1);
    assert.is(failures.tellsHosts, false);
    run(60_000);
    assert.equal([sent, events, world.scheduler.queue.pending().length], [[], [], 0]);
  });

  test('has all members told to watch where it is asked to, once', () => {
    const { failures, interest, come, sent } = play();
    assert.is(failures.tellsHosts, false);
    come();
    assert.equal([sent, failures.tellsHosts], [[], false]);
    interest();
    interest();
    assert.equal(sent, [0, 1, 2, 3].map((host) => `failure.watch to root:${host}`));
    assert.is(failures.tellsHosts, true);
  });

  test('tells nobody of members once the session has ended', () => {
    const { failures, holds, interest, come, sent } = play();
    come();
    interest();
    failures.onUp(1);
    assert.equal(sent.slice(-2), ['failure.changes to root:3', 'failure.watch to root:1']);
    holds.close();
    sent.length = 0;
    failures.onUp(2);
    failures.onLeft(2);
    assert.equal(sent, []);
  });
});
