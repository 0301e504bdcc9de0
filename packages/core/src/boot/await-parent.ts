/**
 * An agent that was started together with others waits for the agent above it: it listens, says where, and takes the
 * first connection of one that has the key and sends something. Until then another takes its place: one that has
 * crashed leaves a connection over which nothing comes. Loaded by such agents only.
 */

import {
  DeferredChannel,
  type AgentWait,
  type Channel,
  type Clock,
  type Listener,
  type Platform,
} from '@stci/interface';
import { formatDuration } from '@stci/registry';
import { selectEviction } from '../bootcom/eviction.js';

/** Connections that may wait: one is expected, and others do not have the key. */
const PENDING_MAX = 16;

/** Longest frame; a stream has no frames of its own. */
const FRAME_BYTES_MAX = 1 << 26;

export interface AwaitedParent {
  /** To the agent above; it ends if that does not connect. */
  readonly channel: Channel;
  /** Ends the wait; a connection that has been made stays. */
  giveUp(reason: string): void;
}

export function awaitParent(
  { clock, network }: Pick<Platform, 'clock' | 'network'>,
  { key, interfaces, ports, waitMs, say }: AgentWait,
): AwaitedParent {
  const channel = new DeferredChannel({ kind: 'tls', label: 'parent', soon: clock.soon });
  let listener: Listener | undefined;
  /** A connection over which nothing has come. */
  let silent: Channel | undefined;
  let isOver = false;
  const end = (): void => {
    isOver = true;
    timer.cancel();
    listener?.close();
  };
  const giveUp = (reason: string): void => {
    if (isOver) return;
    end();
    silent?.destroy(reason);
    channel.end(reason);
  };
  const timer = clock.after(waitMs, () => giveUp(`no agent has connected within ${formatDuration(waitMs)}`));
  network.listen(
    {
      interfaces, key, stream: true, pendingMax: PENDING_MAX, selectEviction, frameBytesMax: FRAME_BYTES_MAX,
      ...(ports !== undefined && { ports }),
    },
    (inner) => {
      if (isOver) return inner.destroy('another agent has connected');
      silent?.destroy('another agent has connected');
      silent = inner;
      onceHeard(inner, clock, (taken) => {
        silent = undefined;
        end();
        channel.become(taken);
      });
    },
    (error, opened) => {
      if (error !== undefined) return giveUp(error.message);
      listener = opened;
      if (isOver) opened?.close();
      else say((opened as Listener).addresses);
    },
  );
  return { channel, giveUp };
}

/** Receives from `inner` what comes first; `onHeard`: that has come, and a channel that begins with it. */
function onceHeard(inner: Channel, { soon }: Clock, onHeard: (taken: Channel) => void): void {
  const taken = new DeferredChannel({ kind: 'tls', label: 'parent', soon, inner });
  let isSilent = true;
  inner.bind({
    onData: (chunk) => {
      if (!isSilent) return taken.onData(chunk);
      isSilent = false;
      onHeard(taken);
      taken.open(chunk);
    },
    onDrain: () => taken.onDrain(),
    onClose: (reason) => taken.end(reason),
  });
}
