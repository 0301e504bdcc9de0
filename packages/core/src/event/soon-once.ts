/** A call that is made soon, once, however often it is asked for until then. */

import type { Clock } from '@stci/interface';

export function soonOnce(clock: Pick<Clock, 'soon'>, call: () => void): () => void {
  let isDue = false;
  return () => {
    if (isDue) return;
    isDue = true;
    clock.soon(() => {
      isDue = false;
      call();
    });
  };
}
