/** The channel that came with the start of a child: its boot record, the plugins that its host lacks, then the link. */

import type { Channel } from '@stci/interface';
import { PLUGIN_COPIES, servePlugins } from '../bootcom/plugin-transfer.js';
import type { AgentNode } from '../node/node.js';
import { bootRecordOf, type Child } from './child.js';

/** The deadline of a link, or of a word about plugins, is this many times that of the start: its watch ends a start. */
export const LINK_PATIENCE = 2;

/** Handlers of the channel of a child that connects over ws; it ends when its channel is closed at this end. */
const NOTHING_EXPECTED = { onData: () => undefined, onDrain: () => undefined, onClose: () => undefined };

/** How long the end of a process is awaited that has closed its channel, or has said there what no agent says. */
const END_WAIT_MS = 300;

export interface ChildChannelInit {
  readonly nativeLink: boolean;
  readonly handshakeMs: number;
  /** The files of a plugin of the session, by its number among the copies. */
  archiveOf?(index: number): Uint8Array | undefined;
}

export interface ChildChannelEvents {
  /** The channel is to be the link. */
  onLink(channel: Channel): void;
  /** The child cannot have the plugins of the session. */
  onFailed(text: string): void;
}

export function openChildChannel(
  node: AgentNode,
  child: Child,
  channel: Channel,
  { nativeLink, handshakeMs, archiveOf }: ChildChannelInit,
  { onLink, onFailed }: ChildChannelEvents,
): void {
  const use = (rest: Channel): void => (nativeLink ? onLink(rest) : rest.bind(NOTHING_EXPECTED));
  const { params, platform, identity } = node;
  const copies = params.has(PLUGIN_COPIES) ? params.list(PLUGIN_COPIES) : [];
  // An agent in this process has the plugins of this process.
  const hasPlugins = copies.length > 0 && channel.kind !== 'memory';
  channel.send([bootRecordOf(node, child, { nativeLink, handshakeMs, hasPlugins })]);
  if (!hasPlugins) return use(channel);
  child.transfer = channel;
  const init = { channel, clock: platform.clock, self: identity.self, deadlineMs: LINK_PATIENCE * handshakeMs };
  servePlugins(init, copies.length, (index) => archiveOf?.(index), {
    onOver: (rest) => child.state === 'starting' && use(rest),
    onFailed: (text, broken) => {
      if (broken === undefined || child.exited) return onFailed(text);
      // What started the agent, and not it, has ended or is about to: its status says more.
      if (broken === 'unknown') child.saidFirst = text;
      platform.clock.after(END_WAIT_MS, () => onFailed(text));
    },
  });
}
