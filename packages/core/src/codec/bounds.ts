/**
 * Bounds of what a message holds. No agent has more to say, by its parameters' bounds or those of the system; so one
 * that was taken over cannot have others keep or repeat more. Whoever writes a text for people cuts it first.
 */

import { ERROR_TEXT_CHARS_MAX, assert } from '@stci/interface';
import { bytes, list, str, u32, type Shape } from './shape.js';

/** The largest message there may be, and values that the receiver looks into; see message.bytes.max. */
export const MESSAGE_BYTES_MAX = 512 * 1024 * 1024;

/**
 * Items of CBOR, keys too, in a message of an agent of a host: for each its receiver takes up to half a microsecond,
 * and does nothing else meanwhile.
 */
export const ITEMS_MAX = 0x10_0000;

/** Items of a value that the message's type says nothing of, and of data of a stream. */
export const OPAQUE_ITEMS_MAX = 0x1_0000;

/** Entries of a list that is sent in several messages where it is longer. */
export const LIST_MAX = 0x4000;

/** Hosts of a session, with the controller; ranks of a host; ranges of ranks; programs and words of a command. */
export const MEMBERS_MAX = 0x10_0000;

/** Names: of hosts, users, agents, components, keys of records. */
export const NAME_CHARS_MAX = 1024;

/** A word of a command, a variable of its environment, a path: as long as a system takes one, with pages of 64 KiB. */
export const WORD_CHARS_MAX = 2 * 1024 * 1024;

/** Sentences for people: an error's, and what is said around it. */
export const TEXT_CHARS_MAX = 64 * 1024;
assert(ERROR_TEXT_CHARS_MAX <= TEXT_CHARS_MAX / 4, 'a sentence may quote errors');

/** A chunk of output or input: pipes and files are read in smaller ones. */
const CHUNK_BYTES_MAX = 4 * 1024 * 1024;

/** Bodies of detectors and notifiers, and parameters of a job. */
export const BODY_BYTES_MAX = 8 * 1024 * 1024;

export const name = str(NAME_CHARS_MAX);
export const word = str(WORD_CHARS_MAX);
export const text = str(TEXT_CHARS_MAX);
export const chunk = bytes(CHUNK_BYTES_MAX);

export function members<T>(item: Shape<T>): Shape<readonly T[]> {
  return list(item, MEMBERS_MAX);
}

/** Positions, hosts, ranks or processes. */
export const numbers = members(u32);
