/** The watch over one start: who makes progress may go on, to a bound; who comes up, or is given up, is not watched. */

import { assert, suite } from '@stci/testkit';
import { StartWatch } from '../../dist/boot/start-watch.js';
import { StartPace } from '../../dist/launcher/start-pace.js';
import { testPlace } from '../world.js';

const HANDSHAKE_MS = 8000;

function play() {
  const place = testPlace();
  const pace = new StartPace({ windowMax: 8, handshakeMs: HANDSHAKE_MS });
  const told: string[] = [];
  const spied = {
    get allowanceMs() { return pace.allowanceMs; },
    get startMsMax() { return pace.startMsMax; },
    onProgress: (ms: number) => void told.push(`step ${Math.round(ms)}`),
    onUp: (ms: number) => void told.push(`up ${Math.round(ms)}`),
  } as unknown as StartPace;
  const start: { mark: string; onAsked?: (() => void) | undefined } = { mark: 'a' };
  const watch = new StartWatch({
    clock: place.platform.clock, pace: spied, handshakeMs: HANDSHAKE_MS,
    mark: () => (start.onAsked?.(), start.mark),
    onOverdue: (startMs) => void told.push(`overdue ${Math.round(startMs)}`),
  });
  const after = (ms: number): string[] => (place.run(ms), told.splice(0));
  const isQuiet = (): boolean => place.world.scheduler.queue.pending().length === 0;
  return { watch, start, pace, after, isQuiet, place };
}

suite('watch over a start', (test) => {
  test('one without progress is overdue after the allowance, once', () => {
    const { after, isQuiet } = play();
    assert.equal(after(HANDSHAKE_MS - 1), []);
    assert.equal(after(2), [`overdue ${HANDSHAKE_MS}`]);
    assert.equal([isQuiet(), after(600_000)], [true, []]);
  });

  test('each progress begins the time anew, and tells the pace how long the step took', () => {
    const { start, after } = play();
    after(3500);
    start.mark = 'b';
    assert.equal(after(1000), ['step 4000'], 'at the next check');
    assert.equal(after(HANDSHAKE_MS - 1000), []);
    assert.equal(after(1000), ['overdue 12000']);
  });

  test('one that makes progress for ever is overdue after the longest time of a start', () => {
    const { start, pace, after, place } = play();
    const each = (): void => {
      start.mark += 'b';
      place.platform.clock.after(900, each);
    };
    each();
    const boundMs = pace.startMsMax;
    assert.equal(after(boundMs - 1).filter((what) => what.startsWith('overdue')), []);
    assert.equal(after(5).filter((what) => what.startsWith('overdue')), [`overdue ${boundMs}`]);
  });

  test('one that comes up tells its last step and all of its time, and is not watched any more', () => {
    const { watch, start, after, isQuiet } = play();
    after(2500);
    start.mark = 'b';
    after(1000);
    after(1600);
    watch.up();
    assert.equal(after(0), ['step 2000', 'up 5000']);
    assert.equal([isQuiet(), after(600_000)], [true, []]);
  });

  test('one that is cancelled is not watched any more', () => {
    const { watch, after, isQuiet } = play();
    watch.cancel();
    assert.equal([isQuiet(), after(600_000)], [true, []]);
  });

  test('what has arrived when it is overdue is read before it is given up', () => {
    for (const what of ['up', 'cancelled', 'moved'] as const) {
      const { watch, start, after, place } = play();
      after(HANDSHAKE_MS - 500);
      start.onAsked = () => {
        start.onAsked = undefined;
        place.platform.clock.soon(() => {
          if (what === 'up') watch.up();
          else if (what === 'cancelled') watch.cancel();
          else start.mark = 'b';
        });
      };
      const told = { up: ['step 8000', 'up 8000'], cancelled: [], moved: ['step 8000'] }[what];
      assert.equal(after(501), told);
      assert.equal(after(HANDSHAKE_MS - 2), []);
      assert.equal(after(2), what === 'moved' ? ['overdue 16000'] : []);
    }
  });
});
