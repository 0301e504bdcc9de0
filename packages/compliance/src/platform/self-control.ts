/** Requirements on what a process does to itself for an injected fault: `killSelf` and `stopSelf` of `Processes`. */

import * as assert from '../kit/assert.js';
import { suite } from '../kit/suite.js';
import type { Until } from './channel.js';

/** A process of the platform that counts as long as it runs, and does this to itself. */
export interface SelfControlled {
  /** How far it has counted, as it said last. */
  readonly count: number;
  readonly isAlive: boolean;
  /** What `ready` of `stopSelf` was called with, which goes on with `go(true)`; undefined: it was not. */
  readonly answer: string | undefined;
}

export interface SelfControlSetup {
  readonly until: Until;
  /** Time of this platform, ms. */
  nowMs(): number;
  start(what: 'kill' | 'stop', forMs: number): SelfControlled;
  end?(): void | Promise<void>;
}

const FOR_MS = 600;

export function selfControlCompliance(name: string, open: () => SelfControlSetup): void {
  suite(`${name}: what a process does to itself`, (test) => {
    test('killSelf ends it at once', async () => {
      const setup = open();
      const one = setup.start('kill', 0);
      await setup.until(() => !one.isAlive, 'its end');
      assert.not.ok(one.isAlive);
      await setup.end?.();
    });

    test('stopSelf: told when it is ready, then nothing runs for so long, then it goes on', async () => {
      const setup = open();
      const one = setup.start('stop', FOR_MS);
      await setup.until(() => one.answer !== undefined, 'the answer');
      assert.is(one.answer, 'ready');
      let [lastMs, last, longestMs] = [setup.nowMs(), one.count, 0];
      await setup.until(() => {
        if (one.count !== last) {
          longestMs = Math.max(longestMs, setup.nowMs() - lastMs);
          [lastMs, last] = [setup.nowMs(), one.count];
        }
        return longestMs >= FOR_MS / 2;
      }, 'a pause and what comes after it');
      assert.ok(one.isAlive);
      const after = one.count;
      await setup.until(() => one.count > after + 2, 'more');
      await setup.end?.();
    });
  });
}
