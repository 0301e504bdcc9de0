/**
 * Credit of output, from end to end: the windows (event/window.ts) of session agents. The bytes of one sender in flight
 * exceed its window by at most one chunk.
 */

import { HEADER_BYTES } from '../codec/frame.js';

/** Largest window of one session agent, and the smallest with which output makes progress. */
export const CREDIT_BYTES_MAX = 4 * 1024 * 1024;
export const CREDIT_BYTES_MIN = 512;

/** Bytes a sender may have in flight beyond its window: chunks that were on their way to it when it was stopped. */
export const OVERDRAFT_BYTES_MAX = 16 * 1024 * 1024;

/** Credit for a chunk of output beside its bytes: the header of its frame, and at most 28 bytes of CBOR. */
export const CHUNK_COST_BYTES = HEADER_BYTES + 28;
