/**
 * Copies of plugins for an agent that is being started, over the channel of its start, before the boot link: the agent
 * asks for those that its host lacks, its parent serves them, and the agent says that it is done. The boot record has
 * their hashes, which the agent compares with what comes.
 *
 *   agent                          parent
 *     ask: number of the copy ───▶
 *                             ◀─── parts: total bytes, then as many as fit; total 0: there is none
 *     end: what went wrong    ───▶ text, empty if nothing did; what follows is the boot link's
 *
 * Nothing is authenticated here: the boot record has come over the same channel.
 */

import { PLUGIN_BYTES_MAX, StciError, type Address, type Channel, type Clock } from '@stci/interface';
import { decode, encode } from '../codec/cbor.js';
import { frameBody, frameLayer, frameType, readU32, writeU32, LAYER, type Frame } from '../codec/frame.js';
import { check, str } from '../codec/shape.js';
import { LINK_FRAME, linkFrame } from './handshake.js';
import { openStage } from './channel-stage.js';

/** The list of copies among the parameters: `HASH PATH`. */
export const PLUGIN_COPIES = 'plugin.copies';

const PART_BYTES = 1 << 16;
const PART_HEAD = 4;
/** Files, and their names. */
const ARCHIVE_BYTES_MAX = 2 * PLUGIN_BYTES_MAX;
const TEXT_MAX = 2000;

interface TransferInit {
  readonly channel: Channel;
  readonly clock: Clock;
  /** The agent at this end. */
  readonly self: Address;
  /** Longest silence of the other end, ms. */
  readonly deadlineMs: number;
}

/**
 * Serves so many copies until the agent says that it has what it needs; then `onOver` gets the channel for its link.
 * The agent has proved nothing: each copy is sent once, one at a time, and queued as the channel has room.
 */
export function servePlugins(
  init: TransferInit,
  count: number,
  archiveOf: (index: number) => Uint8Array | undefined,
  events: {
    onOver(rest: Channel): void;
    /** `broken`: why the channel cannot be used; else the agent has said what is wrong. */
    onFailed(text: string, broken?: 'closed' | 'unknown'): void;
  },
): void {
  const { channel, self } = init;
  const asked = new Set<number>();
  /** Of the copy that is being sent; `at`: what comes next. */
  let sending: { readonly archive: Uint8Array; at: number } | undefined;
  let problem = '';
  const sendParts = (): void => {
    for (let hasRoom = true; hasRoom && sending !== undefined;) {
      const { archive, at } = sending;
      sending.at += PART_BYTES - PART_HEAD;
      if (sending.at >= archive.length) sending = undefined;
      hasRoom = channel.send([linkFrame(LINK_FRAME.pluginPart, self, partOf(archive, at))]);
    }
  };
  openStage({ ...init, bodyBytesMax: 4 * TEXT_MAX, what: 'word about plugins', peer: 'agent' }, {
    onFrame: (frame) => {
      const body = frameBody(frame);
      if (typeOf(frame) === LINK_FRAME.pluginEnd) {
        problem = check(str(TEXT_MAX), decode(body), 'word about plugins');
        return true;
      }
      if (typeOf(frame) !== LINK_FRAME.pluginAsk || body.length !== 4) throw unexpected(frame);
      const index = readU32(body, 0);
      if (sending !== undefined || index >= count || asked.has(index)) throw refusedAsk(index, count);
      asked.add(index);
      sending = { archive: archiveOf(index) ?? new Uint8Array(), at: 0 };
      sendParts();
      return false;
    },
    onDrain: sendParts,
    onOver: (rest) => (problem === '' ? events.onOver(rest) : events.onFailed(problem)),
    onFailed: ({ message, code }) => events.onFailed(message, code === 'STCI_LINK_CLOSED' ? 'closed' : 'unknown'),
  });
}

function partOf(archive: Uint8Array, at: number): Uint8Array {
  const bytes = archive.subarray(at, at + PART_BYTES - PART_HEAD);
  const part = new Uint8Array(PART_HEAD + bytes.length);
  writeU32(part, 0, archive.length);
  part.set(bytes, PART_HEAD);
  return part;
}

/**
 * Asks for the copies with these numbers, one after the other. `keep` stores one and throws what is wrong with it;
 * `problem`, if it is not empty, is told to the parent instead.
 */
export function fetchPlugins(
  init: TransferInit,
  missing: readonly number[],
  keep: (index: number, archive: Uint8Array) => void,
  done: (problem: string, rest?: Channel) => void,
  problem = '',
): void {
  const { channel, self } = init;
  const send = (type: number, body: Uint8Array): void => void channel.send([linkFrame(type, self, body)]);
  const end = (text: string): void => send(LINK_FRAME.pluginEnd, encode(text.slice(0, TEXT_MAX)));
  const [first, ...others] = missing;
  if (first === undefined || problem !== '') {
    end(problem);
    return done(problem, channel);
  }
  let archive: Uint8Array | undefined;
  let filled = 0;
  const ask = new Uint8Array(4);
  writeU32(ask, 0, first);
  send(LINK_FRAME.pluginAsk, ask);
  openStage({ ...init, bodyBytesMax: PART_BYTES, what: 'copy of a plugin', peer: 'parent' }, {
    onFrame: (frame) => {
      const body = frameBody(frame);
      if (typeOf(frame) !== LINK_FRAME.pluginPart || body.length < PART_HEAD) throw unexpected(frame);
      const total = readU32(body, 0);
      archive ??= new Uint8Array(Math.min(total, ARCHIVE_BYTES_MAX));
      if (total !== archive.length || filled + body.length - PART_HEAD > total) throw unexpected(frame);
      archive.set(body.subarray(PART_HEAD), filled);
      filled += body.length - PART_HEAD;
      return filled === total;
    },
    onOver: (rest) => {
      let wrong = '';
      try {
        keep(first, archive as Uint8Array);
      } catch (thrown) {
        wrong = thrown instanceof Error ? thrown.message : String(thrown);
      }
      fetchPlugins({ ...init, channel: rest }, others, keep, done, wrong);
    },
    onFailed: (error) => done(error.message),
  });
}

const typeOf = (frame: Frame): number | undefined => (frameLayer(frame) === LAYER.link ? frameType(frame) : undefined);

function unexpected(frame: Frame): StciError {
  return new StciError('STCI_FRAME_INVALID', `Expected a frame about plugins, got type ${frameType(frame)}`);
}

function refusedAsk(index: number, count: number): StciError {
  const text = `Expected an ask for one of ${count} copies that was not asked for, after the one before, got ${index}`;
  return new StciError('STCI_FRAME_INVALID', text);
}
