/** A channel that was closed before it opened: its receiver gets only `onClose` with the reason. */

import type { Channel } from '@stci/interface';

export function closedChannel(kind: string, label: string, reason: string): Channel {
  return {
    kind,
    label,
    queuedBytes: 0,
    bind: (events) => process.nextTick(() => events.onClose(reason)),
    send: () => false,
    readable: () => {},
    close: () => {},
    destroy: () => {},
  };
}
