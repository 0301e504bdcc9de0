/** Commands keep to the tree: only agents above may send them, and an overlay does not show who is above. */

import { NEIGHBOUR } from '@stci/interface';
import { SUBTREE } from '../am/transport.js';
import { FLAG, LAYER, frameDestination, frameFlags, frameLayer, frameType, type Frame } from '../codec/frame.js';
import { isCommand } from '../messages/messages.js';

/** Whether a frame is for the neighbour or for all below, or a message that only agents above may send. */
export function isCommandFrame(frame: Frame): boolean {
  const destination = frameDestination(frame);
  if (destination === NEIGHBOUR || destination === SUBTREE) return true;
  return frameLayer(frame) === LAYER.message && (frameFlags(frame) & FLAG.reply) === 0 && isCommand(frameType(frame));
}
