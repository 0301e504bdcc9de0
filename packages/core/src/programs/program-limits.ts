/**
 * Bounds of messages between ranks. The agent of a receiver keeps at most `QUEUE_BYTES_MAX` for it: half of that is
 * divided into windows of the agents that may send to it, who send short messages without asking; long ones, and
 * short ones without credit, ask for room in the other half; one that a receive waits for has as much room again, or,
 * where receives that ended before their messages came have left these there, as much as `UNREAD_FACTOR` times that.
 * What is on the way to one agent, by credit or to a room of its own, is bounded besides, by bytes and by number. What
 * is told together is one message between agents, so that `message.bytes.max` bounds it too; a part of it is left for
 * heads.
 */

import {
  PROGRAM_KEYS_BYTES_MAX, PROGRAM_MESSAGE_BYTES_MAX, PROGRAM_PARTS_BYTES_MAX, assert, type Params,
} from '@stci/interface';
import { OUTPUT_KEPT_MAX } from '../am/delivery.js';
import { chargeOf } from './rank-mailbox.js';

/** Of one rank, as charges; more where the least shares of many hosts are more. */
const QUEUE_BYTES_MAX = 2 * PROGRAM_MESSAGE_BYTES_MAX;

/** Of long messages that wait for one rank, as many longest ones. */
const UNREAD_FACTOR = 8;

/** Longest message that is sent without asking for room. */
export const SHORT_BYTES_MAX = 16 * 1024;

/** Most batches to one agent that are not answered; twice as many are less than an inbox takes of one source. */
export const BATCHES_MAX = 6;

/** Charges of short messages on the way to one agent. */
const FLIGHT_BYTES_MAX = 1024 * 1024;

/** Part of a link's queue that the messages of one job to one agent may take. */
const LINK_PART = 1 / 8;

/** Part of the largest message between agents that the messages of ranks in it have at most; the rest is of heads. */
const TOGETHER_PART = 0.8;

/** Most bytes of one that asks for room: numbers, and a tag of 64 characters. */
const ASK_BYTES_MAX = 256;

export interface MessagingLimits {
  /** Longest message. */
  readonly messageBytesMax: number;
  /** Window of one agent for one rank. Half of it is enough for any short message. */
  readonly windowBytes: number;
  /** Window of one agent for another: charges of messages that are on the way by credit. */
  readonly flightBytes: number;
  /** Charges of messages with room of their own, for one rank, or on the way to one agent; one is always permitted. */
  readonly longBytesMax: number;
  /** Charges of long messages for one rank that has not received them; a receive that needs more room fails. */
  readonly unreadBytesMax: number;
  /** Messages that ask for room in one batch; others ask in the next. */
  readonly asksMax: number;
}

/** Bytes of the parts of one collective, and of the keys of a job. */
export function collectiveLimits(params: Params): { readonly partsBytesMax: number; readonly keysBytesMax: number } {
  const bytes = Math.floor(params.int('message.bytes.max') / 2);
  return {
    partsBytesMax: Math.min(PROGRAM_PARTS_BYTES_MAX, bytes), keysBytesMax: Math.min(PROGRAM_KEYS_BYTES_MAX, bytes),
  };
}

/** `agentBytesMax`: of the largest message between agents. */
export function messagingLimits(hosts: number, linkQueueBytes: number, agentBytesMax: number): MessagingLimits {
  const linkBytes = Math.floor(linkQueueBytes * LINK_PART);
  const longestBytes = Math.min(QUEUE_BYTES_MAX / 2, Math.floor(agentBytesMax / 2));
  const leastWindow = 2 * chargeOf(SHORT_BYTES_MAX);
  const limits = {
    messageBytesMax: Math.min(PROGRAM_MESSAGE_BYTES_MAX, linkBytes, longestBytes),
    windowBytes: Math.max(leastWindow, Math.floor(QUEUE_BYTES_MAX / 2 / hosts)),
    flightBytes: Math.max(chargeOf(SHORT_BYTES_MAX), Math.min(
      FLIGHT_BYTES_MAX, Math.floor(agentBytesMax / 4), Math.max(leastWindow, Math.floor(linkBytes / hosts)),
    )),
    // Of charges: where the longest message waits, there is room for another of its size that a receive waits for.
    longBytesMax: chargeOf(longestBytes),
    unreadBytesMax: UNREAD_FACTOR * chargeOf(longestBytes),
    asksMax: Math.floor(agentBytesMax * (1 - TOGETHER_PART) / ASK_BYTES_MAX) - 1,
  };
  const { messageBytesMax, longBytesMax, flightBytes, asksMax } = limits;
  assert(limits.unreadBytesMax > 2 * longBytesMax, 'a receive fails for what others have left only');
  assert(asksMax > 0, 'any message may ask for room');
  assert(messageBytesMax >= SHORT_BYTES_MAX, 'any short message is possible');
  assert(longBytesMax >= chargeOf(SHORT_BYTES_MAX), 'a short message without credit finds room');
  const togetherBytes = longBytesMax + flightBytes;
  assert(togetherBytes <= agentBytesMax * TOGETHER_PART, 'what is sent together is one message between agents');
  // What is not taken is not acknowledged either, or hardly: delivery keeps all of it, and does not refuse more.
  assert(longBytesMax + messageBytesMax + flightBytes <= OUTPUT_KEPT_MAX + linkQueueBytes, 'delivery has room for it');
  return limits;
}
